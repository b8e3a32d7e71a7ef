// SPDX-License-Identifier: LGPL-2.1-or-later
// The usual image of a camera at each level of light, learned from its readings.
//
// Every number is a slow quantile: a value that goes up by a small step when a reading lies above it and down when one
// lies below, each in proportion to time, so that it comes to rest where the wanted share of readings lies below and
// never moves faster than its rate, whatever it sees. (Robbins, Monro, Annals of Mathematical Statistics 22 (1951);
// with steps of one size they follow slow change.) The first values are quantiles of the first readings.
// A camera behaves differently by night and by day, hence the levels: octaves of mean luma.
#pragma once

#include "algorithms/saturate.h"
#include "algorithms/watch/reading.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace framequality {

/// Octaves of the mean luma above black, in 8-bit grey levels: below 2, 2...4, ..., 128 and above. One if the mean is
/// unknown.
inline constexpr int kLightLevels = 8;
/// Upper bound of all logarithms.
inline constexpr double kHighest = 200;

/// Differences between an image's zones: binary logarithms of their energy, over the square of the
/// light, none below the floor, under which noise hides them. Empty if there are too few zones or all are
/// empty.
class Pattern {
 public:
  void set(const WatchedFrame& f) {
    logs_.clear();
    floor_ = 0;
    if (f.zones.size() < kFewest) return;
    double sum = 0;
    for (const double z : f.zones) sum += std::max(z, 0.0);
    const double mean = sum / static_cast<double>(f.zones.size());
    if (!(mean > 0)) return;
    const double floor = kLeastFloor * mean + (f.energy_noise > 0 ? kNoiseFloor * f.energy_noise : 0);
    const double light = f.mean > 1 ? 2 * std::log2(f.mean) : 0;
    floor_ = std::log2(floor) - light;
    if (!std::isfinite(floor_)) return;
    for (const double z : f.zones) logs_.push_back(std::log2(std::max(z, floor)) - light);
  }
  bool empty() const { return logs_.empty(); }
  std::size_t size() const { return logs_.size(); }
  std::span<const double> logs() const { return logs_; }
  double floor() const { return floor_; }

  /// 1 - Pearson's correlation with another pattern, whose zones are raised to `floor`: 0 if equal, about
  /// 1 if unrelated. Empty if one is empty or flat. b_unit: b holds logarithms over this, a sum of 1 / b_unit of them.
  std::optional<double> difference(std::span<const double> b, double floor, double b_unit = 1) const {
    if (logs_.empty() || logs_.size() != b.size()) return std::nullopt;
    floor = std::max(floor, floor_);
    const auto n = static_cast<double>(b.size());
    double mean_a = 0, mean_b = 0;
    for (std::size_t i = 0; i < b.size(); ++i)
      mean_a += std::max(logs_[i], floor) / n, mean_b += std::max(b[i] * b_unit, floor) / n;
    double aa = 0, bb = 0, ab = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      const double x = std::max(logs_[i], floor) - mean_a, y = std::max(b[i] * b_unit, floor) - mean_b;
      aa += x * x, bb += y * y, ab += x * y;
    }
    if (aa < kFlat * kFlat * n || bb < kFlat * kFlat * n) return std::nullopt;
    return std::max(0.0, 1 - ab / std::sqrt(aa * bb));  // rounding can make it negative
  }

  /// Standard deviation of the logarithms, none of them below the floor.
  static double spread(std::span<const double> logs, double floor) {
    const auto n = static_cast<double>(logs.size());
    double mean = 0, squares = 0;
    for (const double v : logs) mean += std::max(v, floor) / n;
    for (const double v : logs) squares += (std::max(v, floor) - mean) * (std::max(v, floor) - mean);
    return logs.empty() ? 0 : std::sqrt(squares / n);
  }

  /// Differences of the zones from others, in octaves, less their median, the common part. Not empty, and
  /// of equal size; valid until the next call.
  std::span<const double> differences(std::span<const double> from, double floor) {
    floor = std::max(floor, floor_);
    differences_.resize(logs_.size());
    for (std::size_t i = 0; i < logs_.size(); ++i)
      differences_[i] = std::max(logs_[i], floor) - std::max(from[i], floor);
    const double common = median_of(differences_);
    for (double& d : differences_) d -= common;
    return differences_;
  }
  /// Share of the zones, 0...1, that differ by more than half an octave after removing the common part.
  double changed(std::span<const double> from, double floor) {
    const std::span<const double> all = differences(from, floor);
    const auto count = std::count_if(all.begin(), all.end(), [](double v) { return std::abs(v) > kChanged; });
    return static_cast<double>(count) / static_cast<double>(all.size());
  }

 private:
  static constexpr std::size_t kFewest = 12;   ///< least zones of a pattern: fewer look alike by chance
  static constexpr double kNoiseFloor = 0.5;   ///< of the energy of noise
  static constexpr double kLeastFloor = 1e-3;  ///< of the mean
  static constexpr double kFlat = 0.15;        ///< standard deviation of the logarithms: of a uniform image
  static constexpr double kChanged = 0.5;

  double median_of(std::span<const double> values) {
    sorted_.assign(values.begin(), values.end());
    const auto middle = sorted_.begin() + static_cast<std::ptrdiff_t>(sorted_.size() / 2);
    std::nth_element(sorted_.begin(), middle, sorted_.end());
    return *middle;
  }

  std::vector<double> logs_, differences_, sorted_;
  double floor_ = 0;
};

/// Learned values of one light level. Logarithms are binary.
struct LevelBaseline {
  double seconds = 0;           ///< of readings that it was learned from
  double score = 0;             ///< logarithm of the median
  double low = 0;               ///< logarithm of the 2% quantile
  double noise = 0;             ///< logarithm of the median; standard deviation, 8-bit grey levels
  double energy = 0;            ///< the same of the gradient's energy over the square of the mean luma
  double restless = 0;          ///< 98% quantile of the differences of patterns
  double activity = 0;          ///< 5% quantile of readings' distances from all before; 0: some repeat exactly
  double longest_still = 0;     ///< s: the longest that the image stood still
  std::vector<double> pattern;  ///< logarithms; empty if there are no zones
  double floor = -kHighest;     ///< of the pattern
  ViewTemplate view;            ///< may be learned later than the rest

  bool learned() const { return seconds > 0; }
};

/// How one reading compares with the baseline, as far as known.
struct Likeness {
  double noise = kUnknown, energy = kUnknown;  ///< as in LevelBaseline
  std::optional<double> difference;            ///< of the pattern from the level's
  double distance = kUnknown;                  ///< from the nearest recent reading, by zone in octaves
  double still = 0;                            ///< s: length of a standstill that has just ended
};

/// Light levels and how they are learned. Memory: constant once the number of zones is known.
class Baseline {
 public:
  /// Level of a mean luma; near a boundary `before` is kept.
  int level_of(double mean, int before) const {
    if (!(mean >= 0)) return 0;
    const auto at = [](double m) { return std::min(saturated<int>(std::log2(std::max(m, 1.0))), kLightLevels - 1); };
    if (before >= 0 && at(mean * kHysteresis) >= before && at(mean / kHysteresis) <= before) return before;
    return at(mean);
  }

  /// Baseline for readings of this level: its own or, before that is learned, the nearest level's; null if
  /// nothing is learned yet.
  const LevelBaseline* nearest(int level) const {
    for (int away = 0; away < kLightLevels; ++away)
      for (const int other : {level - away, level + away})
        if (other >= 0 && other < kLightLevels && levels_[static_cast<std::size_t>(other)].learned())
          return &levels_[static_cast<std::size_t>(other)];
    return nullptr;
  }
  /// The template of views in this light; empty until it is learned.
  const ViewTemplate& usual_view(int level) const { return levels_[static_cast<std::size_t>(level)].view; }
  void learn(int level, const View& view) { levels_[static_cast<std::size_t>(level)].view.learn(view); }
  bool knows(int level) const { return levels_[static_cast<std::size_t>(level)].learned(); }
  bool empty() const { return nearest(0) == nullptr; }

  /// Learns from a reading without faults. learn: s of a level's readings that make its baseline.
  void learn(int level, const Reading& reading, Pattern& pattern, const Likeness& likeness, double learn) {
    LevelBaseline& l = levels_[static_cast<std::size_t>(level)];
    if (l.learned())
      follow(l, reading, pattern, likeness);
    else
      start(l, begun_[static_cast<std::size_t>(level)], reading, pattern, likeness, learn);
  }
  /// Seconds of this level learned so far.
  double progress(int level) const {
    const auto at = static_cast<std::size_t>(level);
    return knows(level) ? levels_[at].seconds : begun_[at].seconds;
  }
  /// Seconds learned of the most advanced level.
  double progress() const {
    double most = 0;
    for (int level = 0; level < kLightLevels; ++level) most = std::max(most, progress(level));
    return most;
  }

  void forget() {
    levels_ = {};
    forget_begun();
  }
  /// Discards levels that are not learned yet.
  void forget_begun() {
    for (First& f : begun_) f.clear();
    for (LevelBaseline& l : levels_)
      if (!l.view.learned()) l.view = {};
  }

  std::array<LevelBaseline, kLightLevels>& levels() { return levels_; }
  const std::array<LevelBaseline, kLightLevels>& levels() const { return levels_; }

  static double log_of(double v) { return std::log2(std::max(v, kLeast)); }

 private:
  static constexpr double kLeast = 1e-9;
  static constexpr double kHysteresis = 1.1;
  static constexpr double kHour = 3600;
  // Octaves an hour. Score: half a per cent an hour, an eighth a day, so that a lens that drifts by day is not
  // followed.
  static constexpr double kScoreRate = 0.0144, kNoiseRate = 0.2, kRestlessRate = 0.3;
  static constexpr double kPatternTime = kHour;  ///< s: shadows go round with the sun
  /// How much faster a baseline follows that was learned from little, and the seconds over which that fades.
  static constexpr double kYoung = 600, kYoungRate = 20;

  /// The first readings of a level, thinned out where they are many.
  struct First {
    static constexpr std::size_t kMost = 256;
    int count = 0, every = 1, skipped = 0;
    double seconds = 0;
    std::array<double, kMost> score{}, noise{}, energy{}, difference{}, distance{};
    std::vector<double> pattern;  ///< sums of logarithms
    double floor = 0;             ///< the same
    int patterns = 0;
    double longest_still = 0;

    void clear() {
      count = skipped = patterns = 0;
      every = 1;
      seconds = floor = longest_still = 0;
      pattern.clear();
    }
  };

  static double quantile(std::array<double, First::kMost> values, int count, double q) {
    const auto end = std::remove_if(values.begin(), values.begin() + count, [](double v) { return !(v == v); });
    const auto n = end - values.begin();
    if (n == 0) return kUnknown;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::lround(q * static_cast<double>(n - 1)));
    std::nth_element(values.begin(), at, end);
    return *at;
  }

  static void step(double& value, double reading, double q, double rate, double seconds) {
    if (!(reading == reading)) return;
    if (!(value == value)) {
      value = reading;
      return;
    }
    value += rate / kHour * seconds * (reading > value ? q : reading < value ? q - 1 : 0);
  }

  void follow(LevelBaseline& l, const Reading& r, Pattern& pattern, const Likeness& likeness) {
    const double seconds = r.seconds, young = 1 + kYoungRate / (1 + std::pow(l.seconds / kYoung, 2));
    const double score = log_of(r.frame.score);
    step(l.score, score, 0.5, 2 * kScoreRate * young, seconds);
    step(l.low, score, 0.02, kScoreRate * young, seconds);
    step(l.noise, likeness.noise, 0.5, 2 * kNoiseRate * young, seconds);
    step(l.energy, likeness.energy, 0.5, 2 * kNoiseRate * young, seconds);
    if (likeness.difference) step(l.restless, *likeness.difference, 0.98, kRestlessRate * young, seconds);
    l.restless = std::max(0.0, l.restless);
    // Learn only less activity: a quiet night must not make the next day look frozen.
    if (likeness.distance < l.activity) l.activity += (likeness.distance - l.activity) * 0.02;
    l.longest_still = std::max(l.longest_still, likeness.still);
    if (l.pattern.empty()) {
      l.pattern.assign(pattern.logs().begin(), pattern.logs().end());
      l.floor = pattern.floor();
    }
    if (pattern.size() == l.pattern.size() && !pattern.empty()) {
      l.floor += (pattern.floor() - l.floor) * std::min(1.0, seconds * young / kPatternTime);
      const double share = std::min(1.0, seconds * young / kPatternTime);
      for (std::size_t i = 0; i < l.pattern.size(); ++i) l.pattern[i] += (pattern.logs()[i] - l.pattern[i]) * share;
    }
    l.seconds += seconds;
  }

  static void start(LevelBaseline& l, First& f, const Reading& r, Pattern& pattern, const Likeness& likeness,
                    double learn) {
    if (f.patterns == 0) f.pattern.assign(pattern.size(), 0);
    f.seconds += r.seconds;
    f.longest_still = std::max(f.longest_still, likeness.still);
    if (pattern.size() == f.pattern.size() && !pattern.empty()) {
      for (std::size_t i = 0; i < f.pattern.size(); ++i) f.pattern[i] += pattern.logs()[i];
      f.floor += pattern.floor();
      ++f.patterns;
    }
    if (++f.skipped >= f.every) {
      f.skipped = 0;
      if (f.count == static_cast<int>(First::kMost)) thin(f);
      const auto i = static_cast<std::size_t>(f.count++);
      f.score[i] = log_of(r.frame.score);
      f.noise[i] = likeness.noise;
      f.energy[i] = likeness.energy;
      f.difference[i] = mean_difference(f, pattern);
      f.distance[i] = likeness.distance;
    }
    if (f.seconds < learn) return;
    l.seconds = f.seconds;
    l.score = quantile(f.score, f.count, 0.5);
    l.low = quantile(f.score, f.count, 0.02);
    l.noise = quantile(f.noise, f.count, 0.5);
    l.energy = quantile(f.energy, f.count, 0.5);
    const double restless = quantile(f.difference, f.count, 0.98), activity = quantile(f.distance, f.count, 0.05);
    l.restless = restless == restless ? restless : 0;
    l.activity = activity == activity ? activity : 0;
    l.longest_still = f.longest_still;
    l.pattern.clear();
    if (f.patterns > 0) {
      for (const double sum : f.pattern) l.pattern.push_back(sum / f.patterns);
      l.floor = f.floor / f.patterns;
    }
    f.clear();
  }

  /// The difference from the mean of those before, NaN for the first.
  static double mean_difference(const First& f, const Pattern& pattern) {
    if (f.patterns < 2 || pattern.size() != f.pattern.size()) return kUnknown;
    return pattern.difference(f.pattern, f.floor / f.patterns, 1.0 / f.patterns).value_or(kUnknown);
  }

  static void thin(First& f) {
    for (auto* values : {&f.score, &f.noise, &f.energy, &f.difference, &f.distance})
      for (std::size_t i = 0; i < First::kMost / 2; ++i) (*values)[i] = (*values)[2 * i];
    f.count = static_cast<int>(First::kMost / 2);
    f.every *= 2;
  }

  std::array<LevelBaseline, kLightLevels> levels_;
  /// One per level, so that light that alternates between two, as where cars pass, disturbs neither.
  std::array<First, kLightLevels> begun_;
};

}  // namespace framequality
