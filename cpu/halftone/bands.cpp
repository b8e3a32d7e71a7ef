// SPDX-License-Identifier: LGPL-2.1-or-later
// Each thread processes every n-th band and stays behind the one above, whose progress it follows.
#include "cpu/halftone/bands.h"

#include <algorithm>
#include <cstring>

namespace framequality::cpu {

using namespace halftone;

namespace {

/// Steps between two checks of the band above. Fewer let more threads work on narrow images, more wait less often.
constexpr int kChunkSteps = 128;
static_assert(kChunkSteps % kMostRows == 0);

int rounded_up(int n, int step) { return (n + step - 1) / step * step; }

}  // namespace

void read_tones(const ToneSource& source, const HalftoneKernels& kernels, int y, std::uint8_t* codes,
                std::int16_t* tones) {
  const std::uint8_t* rows[3] = {};
  source.rows_at(y, rows);
  kernels.luma(*source.layout, rows, 0, source.width, codes);
  if (source.layout->depth == 8) {
    for (int x = 0; x < source.width; ++x) tones[x] = source.tones[codes[x]];
    return;
  }
  for (int x = 0; x < source.width; ++x) {
    std::uint16_t code;
    std::memcpy(&code, codes + std::ptrdiff_t{x} * 2, sizeof code);
    tones[x] = source.tones[code];
  }
}

std::optional<ToneFormula> formula_of(const std::int16_t* tones, const ToneSettings& settings) {
  // 4080 / 219 is 18 + 0.6301, whose double must be rounded down: its fraction is off by less than any of 1/73.
  const ToneFormula f =
      settings.limited ? ToneFormula{16, 219, 18, 41297, settings.invert} : ToneFormula{0, 255, 16, 0, settings.invert};
  for (int code = 0; code < 256; ++code) {
    const int d = std::clamp(code - f.black, 0, int{f.range});
    const int tone = f.whole * d + (((2 * d * f.fraction) >> 16) + 1) / 2;
    if (tones[code] != (f.invert ? kWhite - tone : tone)) return {};
  }
  return f;
}

BandDiffusion::BandDiffusion(int width, const HalftoneKernels& kernels, int threads)
    : kernels_(kernels),
      wavefront_(threads),
      kept_pitch_(static_cast<std::size_t>(width) + std::size_t{2} * kKeptSlack),
      kept_(kept_pitch_ * wavefront_.places()),
      scratch_(static_cast<std::size_t>(threads)) {
  const auto pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(kernels_.lanes);
  for (Scratch& s : scratch_) {
    s.codes.resize(static_cast<std::size_t>(width) * 2);
    s.rows.resize(pixels * 2);
    s.out.resize(pixels);
  }
}

std::uint16_t* BandDiffusion::kept_row(int band) { return &kept_[wavefront_.place(band) * kept_pitch_] + kKeptSlack; }

void BandDiffusion::run(const ToneSource& source, const Target& out, const Settings& settings, Workers& workers,
                        int threads) {
  const int lanes = kernels_.lanes, steps = rounded_up(source.width + 2 * (lanes - 1), lanes);
  const Job job{
      source, out, settings, (source.height + lanes - 1) / lanes, steps, (steps + kChunkSteps - 1) / kChunkSteps};
  std::fill(kept_.begin(), kept_.end(), static_cast<std::uint16_t>(Levels{settings.levels}.bias()));
  wavefront_.begin(threads, job.chunks);
  workers.run(threads, [&](int thread) {
    for (int band = thread; band < job.bands; band += threads)
      run_band(job, band, scratch_[static_cast<std::size_t>(thread)]);
  });
}

void BandDiffusion::run_band(const Job& job, int band, Scratch& scratch) {
  const ToneSource& source = job.source;
  const Target& target = job.out;
  const int lanes = kernels_.lanes, y0 = band * lanes, width = source.width;
  const int rows = std::min(lanes, source.height - y0);
  const bool words = !source.formula, direct = !words && source.layout->is_plain();
  DiffusionBand b{};
  b.width = width;
  b.tones = words;
  if (source.formula) b.formula = *source.formula;
  b.levels = job.settings.levels;
  b.strength = job.settings.strength;
  b.above = kept_row(band - 1);
  b.below = kept_row(band);
  for (int r = 0; r < lanes; ++r) {
    // Rows below the image read its last one and write to scratch memory.
    const int y = y0 + std::min(r, rows - 1);
    std::uint8_t* own = &scratch.rows[static_cast<std::size_t>(r) * static_cast<std::size_t>(width) * 2];
    const std::uint8_t* planes[3] = {};
    source.rows_at(y, planes);
    if (words)
      read_tones(source, kernels_, y, scratch.codes.data(), reinterpret_cast<std::int16_t*>(own));
    else if (!direct)
      kernels_.luma(*source.layout, planes, 0, width, own);
    b.rows[r] = direct ? planes[0] : own;
    b.out[r] = job.settings.packed || r >= rows
                   ? &scratch.out[static_cast<std::size_t>(r) * static_cast<std::size_t>(width)]
                   : target.row0 + target.stride * y;
  }
  DiffusionState state;
  const auto bias = static_cast<std::uint16_t>(Levels{b.levels}.bias());
  for (auto* v : {state.left, state.above, state.above_left}) std::fill_n(v, kMostRows, bias);
  for (int chunk = 0; chunk < job.chunks; ++chunk) {
    const int t0 = chunk * kChunkSteps, t1 = std::min(t0 + kChunkSteps, job.steps);
    if (band > 0) {
      // The last step reads column t1 of the row above, which is ready 2 (lanes - 1) steps after the first row's.
      const int needed = std::min(t1 + 2 * (lanes - 1) + 1, job.steps);
      wavefront_.await(band - 1, (needed + kChunkSteps - 1) / kChunkSteps);
    }
    kernels_.diffuse(b, state, t0, t1 - t0);
    wavefront_.complete(band, chunk);
  }
  if (job.settings.packed)
    for (int r = 0; r < rows; ++r) kernels_.pack(b.out[r], width, target.row0 + target.stride * (y0 + r));
}

}  // namespace framequality::cpu
