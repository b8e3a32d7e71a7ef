// SPDX-License-Identifier: LGPL-2.1-or-later
// The search for each tone: diffuse a patch, compare its spectrum with that of dot patterns, go downhill.
#include "apps/train_halftone/training.h"

#include "apps/train_halftone/dot_search.h"
#include "apps/train_halftone/downhill.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace framequality::tools {
namespace {

using namespace halftone;

constexpr int kGroup = 16;
/// w1, w2, w3 and t_u, as shares of one.
using Point = std::array<double, 4>;
/// A cost that no point in the simplex of weights can reach.
constexpr double kOutside = 1e3;

ToneRow row_of(const Point& p) {
  ToneRow row{};
  int rest = kWeightOne;
  for (std::size_t i = 0; i < 3; ++i) {
    row.weight[i] = static_cast<std::int16_t>(std::lround(p[i] * kWeightOne));
    rest -= row.weight[i];
  }
  row.weight[3] = static_cast<std::int16_t>(rest);
  row.threshold = static_cast<std::int16_t>(std::lround(p[3] * kWhite));
  return row;
}

Point point_of(const ToneRow& row) {
  Point p{};
  for (std::size_t i = 0; i < 3; ++i) p[i] = static_cast<double>(row.weight[i]) / kWeightOne;
  p[3] = static_cast<double>(row.threshold) / kWhite;
  return p;
}

/// Floyd and Steinberg's weights, where the tone has those places.
ToneRow plain_row(int tone) {
  if (tone == 0) return {{kWeightOne, 0, 0, 0}, kWhite / 2};
  if (tone < kFirstMiddleTone) return {{448, 320, 192, 64}, kWhite / 2};
  return {{448, 64, 320, 192}, kWhite / 2};
}

class ToneSearch {
 public:
  ToneSearch(const TrainingOptions& options, const std::uint32_t* pattern) : options_(options), pattern_(pattern) {
    table_.swath_rows = static_cast<std::int16_t>(options.swath_rows);
  }

  /// The best row found from any of the starts.
  ToneRow find(int tone, std::span<const ToneRow> starts) {
    const double a = tone / 255.0;
    const auto patterns = reference_patterns(tone, options_.patterns, options_.pattern_side, options_.seed);
    const Spectrum reference = analyser_.reference(patterns, a);
    const auto f = [&](const Point& p) {
      const ToneRow row = row_of(p);
      // How far outside, so that the search returns.
      int outside = std::max(0, kWhite / 2 - row.threshold) + std::max(0, row.threshold - kWhite);
      for (const int w : row.weight) outside += std::max(0, -w);
      if (outside > 0) return kOutside + outside;
      table_.row[tone] = row;
      return cost(reference, analyser_.patch(tone_dependent_patch(tone, table_, pattern_), a));
    };
    Minimum<4> best{{}, 2 * kOutside * kOutside};
    for (const ToneRow& start : starts) {
      const auto found =
          search_downhill<4>(f, point_of(start), {-0.08, -0.08, 0.08, 0.08}, options_.evaluations, 0.002);
      if (found.value < best.value) best = found;
    }
    return row_of(best.at);
  }

 private:
  const TrainingOptions& options_;
  const std::uint32_t* pattern_;
  ToneTable table_{};
  Analyser analyser_;
};

}  // namespace

std::vector<Dots> reference_patterns(int tone, int count, int side, std::uint64_t seed) {
  std::vector<Dots> patterns;
  patterns.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    patterns.push_back(search_dots(side, tone / 255.0, (seed << 32) + static_cast<std::uint64_t>(tone * count + i)));
  return patterns;
}

Dots tone_dependent_patch(int tone, const ToneTable& table, const std::uint32_t* pattern) {
  Dots dots(kPatchWidth, kPatchHeight);
  std::vector<std::int32_t> sums[2];
  for (auto& s : sums) s.resize(kPatchWidth);
  for (int y = 0; y < kPatchHeight; ++y)
    tone_dependent_row(
        kPatchWidth, y, table.swath_rows, table, pattern, Levels{2}, kFullStrength, sums[y & 1].data(),
        sums[~y & 1].data(), [&](int) { return 16 * tone; },
        [&](int x, int level) { dots.dot(x, y) = static_cast<std::uint8_t>(level); });
  return dots;
}

ToneTable train_tones(const TrainingOptions& options, const std::uint32_t* pattern,
                      const std::function<void(int, int)>& progress) {
  ToneTable table{};
  table.swath_rows = static_cast<std::int16_t>(options.swath_rows);
  for (int tone = 0; tone < kTones; ++tone) table.row[tone] = plain_row(tone);
  std::atomic<int> next_group = kTones / kGroup - 1;
  std::mutex mutex;
  int done = 0;
  const int all = options.last_tone - options.first_tone + 1;
  const auto work = [&] {
    ToneSearch search(options, pattern);
    for (int group; (group = next_group--) >= 0;) {
      const ToneRow* before = nullptr;
      for (int tone = (group + 1) * kGroup - 1; tone >= group * kGroup; --tone) {
        if (tone < options.first_tone || tone > options.last_tone) continue;
        ToneRow raised = plain_row(tone);
        raised.threshold = kWhite * 3 / 4;
        const ToneRow starts[] = {before ? *before : plain_row(tone), raised};
        table.row[tone] = search.find(tone, starts);
        before = &table.row[tone];
        const std::lock_guard lock(mutex);
        progress(++done, all);
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < options.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  return table;
}

std::string file_of(const ToneTable& table, const std::string& name, const std::string& command) {
  std::string text =
      "// SPDX-License-Identifier: LGPL-2.1-or-later\n"
      "// Weights and thresholds for swaths of " +
      std::to_string(table.swath_rows) + " rows, as written by\n// `" + command +
      "`.\n#include \"algorithms/halftone/tables.h\"\n\n"
      "namespace framequality::halftone {\n\n// clang-format off\nconst ToneTable " +
      name + " = {" + std::to_string(table.swath_rows) + ", {\n";
  for (const ToneRow& row : table.row) {
    text += "  {{";
    for (int i = 0; i < 4; ++i) text += (i ? ", " : "") + std::to_string(row.weight[i]);
    text += "}, " + std::to_string(row.threshold) + "},\n";
  }
  return text + "}};\n// clang-format on\n\n}  // namespace framequality::halftone\n";
}

}  // namespace framequality::tools
