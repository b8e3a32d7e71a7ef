// SPDX-License-Identifier: LGPL-2.1-or-later
// Flat patches of every method, their spectra and their means.
#include "apps/train_halftone/report.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/floyd_steinberg.h"
#include "algorithms/halftone/tables.h"
#include "algorithms/split_mix.h"
#include "apps/train_halftone/training.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

namespace framequality::tools {
namespace {

using namespace halftone;

constexpr int kPatterns = 4, kPatternSide = 256;

Dots floyd_steinberg_patch(int tone, bool serpentine) {
  Dots dots(kPatchWidth, kPatchHeight);
  const Levels levels{2};
  std::vector<std::uint16_t> kept(kPatchWidth + 2, static_cast<std::uint16_t>(levels.bias()));
  for (int y = 0; y < kPatchHeight; ++y)
    floyd_steinberg_row(
        kPatchWidth, y, serpentine, levels, kFullStrength, kept.data() + 1, [&](int) { return 16 * tone; },
        [&](int x, int level) { dots.dot(x, y) = static_cast<std::uint8_t>(level); });
  return dots;
}

Dots masked_patch(int tone) {
  Dots dots(kPatchWidth, kPatchHeight);
  for (int y = 0; y < kPatchHeight; ++y)
    for (int x = 0; x < kPatchWidth; ++x)
      dots.dot(x, y) = static_cast<std::uint8_t>(
          masked_level(16 * tone, threshold_of(rank_at(kBlueNoiseMask, x, y), kFullStrength), Levels{2}));
  return dots;
}

Dots noise(int width, int height, double a, std::uint64_t seed) {
  Dots dots(width, height);
  SplitMix random(seed);
  for (std::uint8_t& v : dots.values) v = random.uniform() < a ? 1 : 0;
  return dots;
}

double tone_error(const Dots& dots, double a) {
  double sum = 0;
  for (int y = kTopMargin; y < kTopMargin + kEvaluated; ++y)
    for (int x = kSideMargin; x < kSideMargin + kEvaluated; ++x) sum += dots.dot(x, y);
  return std::abs(sum / (double{kEvaluated} * kEvaluated) - a);
}

std::vector<Quality> methods() {
  std::vector<Quality> all = {{"floyd-steinberg"}, {"floyd-steinberg serpentine"}, {"blue-noise"}, {"white noise"}};
  for (const ToneTable* table : kToneTables)
    all.push_back({"tdfed, " + std::to_string(table->swath_rows) + (table->swath_rows == 1 ? " row" : " rows")});
  return all;
}

Dots patch_of(std::size_t method, int tone, std::uint64_t seed) {
  switch (method) {
    case 0:
    case 1:
      return floyd_steinberg_patch(tone, method == 1);
    case 2:
      return masked_patch(tone);
    case 3:
      return noise(kPatchWidth, kPatchHeight, tone / 255.0, seed);
    default:
      return tone_dependent_patch(tone, *kToneTables[method - 4], kDotPattern);
  }
}

/// The quality of every method at one tone.
std::vector<Quality> of_tone(int tone, std::uint64_t seed, Analyser& analyser) {
  const double a = tone / 255.0;
  const Spectrum dots = analyser.reference(reference_patterns(tone, kPatterns, kPatternSide, seed), a);
  std::vector<Dots> noises;
  for (std::uint64_t i = 0; i < kPatterns; ++i)
    noises.push_back(noise(kPatternSide, kPatternSide, a, (seed << 32) + static_cast<std::uint64_t>(tone) * 8 + i));
  std::vector<Quality> all = methods();
  for (std::size_t m = 0; m < all.size(); ++m) {
    const Dots patch = patch_of(m, tone, (seed << 32) + static_cast<std::uint64_t>(tone) * 8 + kPatterns);
    const Spectrum spectrum = analyser.patch(patch, a);
    all[m].cost = cost(m == 3 ? analyser.reference(noises, a) : dots, spectrum);
    all[m].anisotropy = anisotropy(spectrum);
    all[m].tone_error = tone_error(patch, a);
  }
  return all;
}

}  // namespace

std::vector<Quality> evaluate(int tone_step, std::uint64_t seed, int threads,
                              const std::function<void(int, int)>& progress) {
  std::vector<int> tones;
  for (int tone = 1; tone < kTones; tone += tone_step) tones.push_back(tone);
  std::vector<std::vector<Quality>> results(tones.size());
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  int done = 0;
  const auto work = [&] {
    Analyser analyser;
    for (std::size_t i; (i = next++) < tones.size();) {
      results[i] = of_tone(tones[i], seed, analyser);
      const std::lock_guard lock(mutex);
      progress(++done, static_cast<int>(tones.size()));
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& t : others) t.join();
  std::vector<Quality> mean = methods();
  for (std::size_t m = 0; m < mean.size(); ++m)
    for (const auto& r : results) {
      mean[m].cost += r[m].cost / static_cast<double>(tones.size());
      mean[m].anisotropy += r[m].anisotropy / static_cast<double>(tones.size());
      mean[m].tone_error = std::max(mean[m].tone_error, r[m].tone_error);
    }
  return mean;
}

}  // namespace framequality::tools
