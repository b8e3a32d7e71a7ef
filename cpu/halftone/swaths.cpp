// SPDX-License-Identifier: LGPL-2.1-or-later
// Each thread processes every n-th group of rows and stays behind the one above, whose progress it follows.
#include "cpu/halftone/swaths.h"

#include "algorithms/halftone/tables.h"

#include <algorithm>

namespace framequality::cpu {

using namespace halftone;

namespace {

/// Steps between two checks of the group above.
constexpr int kChunkSteps = 256;
constexpr int kGreys = 256;
/// Columns from an end of a row within which shares may have to be turned back into the image.
constexpr int kEdge = kDelay;

}  // namespace

SwathDiffusion::SwathDiffusion(int width, const HalftoneKernels& kernels, int threads)
    : kernels_(kernels),
      width_(width),
      wavefront_(threads),
      greys_(kGreys),
      signs_(std::size_t{kPatternSide} * kPatternSide),
      handed_down_(static_cast<std::size_t>(width) * wavefront_.places()),
      scratch_(static_cast<std::size_t>(threads)) {
  const auto columns = static_cast<std::size_t>(width);
  for (Scratch& s : scratch_) {
    s.codes.resize(columns * 2);
    for (auto& row : s.out) row.resize(columns);
    for (auto& row : s.tones) row.resize(columns);
    for (auto& row : s.sums) row.resize(columns);
  }
  for (int y = 0; y < kPatternSide; ++y)
    for (int x = 0; x < kPatternSide; ++x)
      signs_[static_cast<std::size_t>(y * kPatternSide + x)] = pattern_at(kDotPattern, x, y) ? -1 : 1;
}

std::int32_t* SwathDiffusion::handed_down(int index) {
  return &handed_down_[wavefront_.place(index) * static_cast<std::size_t>(width_)];
}

void SwathDiffusion::run(const ToneSource& source, const Target& out, const Settings& settings, Workers& workers,
                         int threads) {
  const ToneTable& table = *find_table(settings.swath_rows);
  for (int grey = 0; grey < kGreys; ++grey) {
    const int tone = std::min(grey, kGreys - 1 - grey);
    Grey& g = greys_[static_cast<std::size_t>(grey)];
    for (int i = 0; i < 4; ++i) g.weight[i] = table.row[tone].weight[i];
    for (int i = 1; i < 4; ++i) g.on[i - 1] = place_of(tone, i).on;
    // Tone 0 gives all of it straight down.
    if (tone == 0) g.weight[0] = 0, g.weight[1] = kWeightOne;
    g.margin = table.row[tone].threshold - kWhite / 2;
  }
  const int rows = settings.swath_rows, full = source.height / rows, rest = source.height % rows;
  const int swath_groups = (rows + kRows - 1) / kRows;
  const int steps = source.width + kSkew * (kRows - 1);
  const Job job{source,       out,
                settings,     table,
                swath_groups, full * swath_groups + (rest + kRows - 1) / kRows,
                steps,        (steps + kChunkSteps - 1) / kChunkSteps};
  std::fill(handed_down_.begin(), handed_down_.end(), 0);
  // The groups of a swath follow each other closely, swaths do not.
  wavefront_.begin(threads, job.chunks);
  workers.run(threads, [&](int thread) {
    Scratch& scratch = scratch_[static_cast<std::size_t>(thread)];
    for (auto& s : scratch.sums) std::fill(s.begin(), s.end(), 0);
    for (int i = thread; i < job.groups; i += threads) run_group(job, i, scratch);
  });
}

void SwathDiffusion::run_group(const Job& job, int index, Scratch& scratch) {
  const ToneSource& source = job.source;
  const int swath = index / job.swath_groups, in_swath = index % job.swath_groups;
  const int bottom = std::min((swath + 1) * job.settings.swath_rows, source.height);
  Group group{};
  group.y = swath * job.settings.swath_rows + in_swath * kRows;
  group.rows = std::min(kRows, bottom - group.y);
  group.direction = runs_leftward(group.y, job.settings.swath_rows) ? -1 : 1;
  group.sums[0] = handed_down(index - 1);
  for (int r = 0; r < group.rows; ++r) {
    const int y = group.y + r;
    read_tones(source, kernels_, y, scratch.codes.data(), scratch.tones[r].data());
    group.tones[r] = scratch.tones[r].data();
    group.out[r] = job.settings.packed ? scratch.out[r].data() : job.out.row0 + job.out.stride * y;
    group.sums[r + 1] = r + 1 < group.rows ? scratch.sums[r].data() : handed_down(index);
  }
  for (int chunk = 0; chunk < job.chunks; ++chunk) {
    const int t0 = chunk * kChunkSteps, t1 = std::min(t0 + kChunkSteps, job.steps);
    if (index > 0) {
      // Column t1 - 1 of the row above is complete once that row is kDelay columns further; the swath above runs
      // the other way.
      const int needed = in_swath == 0 ? job.steps : std::min(t1 + kSkew * kRows, job.steps);
      wavefront_.await(index - 1, (needed + kChunkSteps - 1) / kChunkSteps);
    }
    if (job.settings.levels == 2)
      diffuse<2>(job, group, t0, t1);
    else if (job.settings.levels == 4)
      diffuse<4>(job, group, t0, t1);
    else
      diffuse<16>(job, group, t0, t1);
    wavefront_.complete(index, chunk);
  }
  if (job.settings.packed)
    for (int r = 0; r < group.rows; ++r)
      kernels_.pack(group.out[r], source.width, job.out.row0 + job.out.stride * (group.y + r));
}

template <int kLevels>
void SwathDiffusion::diffuse(const Job& job, Group& group, int t0, int t1) const {
  const std::int8_t* signs[kRows];
  for (int r = 0; r < kRows; ++r)
    signs[r] = &signs_[static_cast<std::size_t>((group.y + r) % kPatternSide) * kPatternSide];
  const int strength = job.settings.strength;
  for (int t = t0; t < t1; ++t) {
    // All rows are away from both ends.
    const bool inner = kLevels == 2 && group.rows == kRows && t - kSkew * (kRows - 1) >= kEdge && t + kEdge < width_;
    if (inner && group.direction > 0) {
      for (int r = 0; r < kRows; ++r) inner_pixel<1>(group, r, t - kSkew * r, strength, signs[r]);
    } else if (inner) {
      for (int r = 0; r < kRows; ++r) inner_pixel<-1>(group, r, t - kSkew * r, strength, signs[r]);
    } else {
      for (int r = 0; r < group.rows; ++r)
        if (const int x = t - kSkew * r; x >= 0 && x < width_) pixel<kLevels>(job, group, r, x);
    }
  }
}

/// As pixel(), with two levels, `kEdge` columns or more from both ends.
template <int kDirection>
void SwathDiffusion::inner_pixel(Group& group, int r, int x, int strength, const std::int8_t* signs) const {
  const int column = kDirection > 0 ? x : width_ - 1 - x;
  const int tone = group.tones[r][column];
  const Grey& g = greys_[static_cast<std::size_t>((tone + 8) >> 4)];
  std::int32_t& sum = group.sums[r][column];
  const int u = tone + ((sum + group.carry[r] + kWeightOne / 2) >> kWeightBits);
  sum = 0;
  const bool white = u >= kWhite / 2 + signs[column % kPatternSide] * g.margin;
  group.out[r][column] = white ? 255 : 0;
  const int e = weaken(std::clamp(u - (white ? kWhite : 0), -kErrorLimit, kErrorLimit), strength);
  group.carry[r] = g.weight[0] * e;
  std::int32_t* below = group.sums[r + 1] + column;
  for (int i = 0; i < 3; ++i) below[std::ptrdiff_t{kDirection} * g.on[i]] += g.weight[i + 1] * e;
}

template <int kLevels>
void SwathDiffusion::pixel(const Job& job, Group& group, int r, int x) const {
  constexpr Levels kOf{kLevels};
  const auto at = [&](int along) { return group.direction > 0 ? along : width_ - 1 - along; };
  const int column = at(x);
  std::int32_t& sum = group.sums[r][column];
  const ToneDiffused d =
      tone_dependent(group.tones[r][column], sum + group.carry[r], pattern_at(kDotPattern, column, group.y + r),
                     job.table.row, kOf, job.settings.strength);
  sum = 0;
  group.carry[r] = 0;
  group.out[r][column] = static_cast<std::uint8_t>(kOf.code(d.level));
  give(d, x, width_, job.table, [&](int down, int along, int share) {
    if (down)
      group.sums[r + 1][at(along)] += share;
    else
      group.carry[r] += share;
  });
}

}  // namespace framequality::cpu
