// SPDX-License-Identifier: LGPL-2.1-or-later
// A coarse template of the view of a fixed camera: how much detail each zone usually holds, and how much that varies.
#include "algorithms/watch/view_template.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace framequality {

namespace {

constexpr double kSampleEvery = 0.45;  ///< s; the window is as long as its samples
constexpr double kWindow = 8;          ///< s
constexpr std::size_t kFewest = 5;     ///< samples of a view
constexpr double kViewEvery = 0.95;    ///< s
constexpr double kLongest = 4;         ///< s that a view stands for at most

constexpr std::size_t kFirst = 16;    ///< views that a template is learned from,
constexpr double kFirstEvery = 2.9;   ///< s apart
constexpr double kWithin = 0.85;      ///< share of the views
constexpr double kRate = 1.0 / 3600;  ///< octaves a second that levels follow at most
constexpr double kYoung = 600, kYoungRate = 20;

constexpr double kUnsure = 0.25;                    ///< octaves by which calm zones may differ
constexpr double kCalm = 0.4;                       ///< spread of calm zones, octaves
constexpr double kAbove = 1;                        ///< octave above the floor, from which on a zone holds something
constexpr double kNoise = 0.2;                      ///< weight of zones that do not
constexpr double kMost = 2;                         ///< octaves: a zone that differs by more differs altogether
constexpr double kStays = 0.25, kTimesStays = 1.5;  ///< octaves and spreads: as usual
constexpr double kSharper = 0.5, kSofter = 1;       ///< octaves, and
constexpr double kTimes = 3;                        ///< spreads
constexpr double kSharpHalf = 0.7;                  ///< quantile of the differences
constexpr double kNew = 1.5;       ///< octaves^2: misfit of zones that show what is not in the template
constexpr double kOverlap = 0.5;   ///< share of the zones that show what is
constexpr int kFewestColumns = 3;  ///< and rows
constexpr int kSteps = 16;         ///< across the view
constexpr int kRounds = 8;

template <typename T>
double quantile(std::vector<T>& values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::lround(q * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void ViewTemplate::learn(const View& view) {
  if (view.levels.empty()) return;
  if (learned() && usual.size() != view.levels.size()) *this = {};
  seconds += view.seconds;
  if (learned())
    follow(view);
  else
    start(view);
}

void ViewTemplate::follow(const View& view) {
  const std::size_t n = usual.size();
  const double step = view.seconds * kRate * (1 + kYoungRate / (1 + std::pow(seconds / kYoung, 2)));
  std::vector<double> differences(n);
  for (std::size_t i = 0; i < n; ++i) differences[i] = view.levels[i] - usual[i];
  const double common = quantile(differences, 0.5);
  floor += std::clamp(view.floor - common - floor, -step, step);
  for (std::size_t i = 0; i < n; ++i) {
    const double d = view.levels[i] - common - usual[i];
    usual[i] += std::clamp(d, -step, step);
    spread[i] += std::abs(d) > spread[i] ? 2 * step * kWithin : -std::min(spread[i], 2 * step * (1 - kWithin));
  }
}

void ViewTemplate::start(const View& view) {
  const std::size_t n = view.levels.size();
  if (!first_.empty() && first_.front().levels.size() != n) first_.clear();
  since_ += view.seconds;
  if (!first_.empty() && since_ < kFirstEvery) return;
  since_ = 0;
  first_.push_back(view);
  if (first_.size() < kFirst) return;
  usual.resize(n);
  spread.resize(n);
  std::vector<double> over_time(kFirst), differences(n);
  // Twice: what the views have in common is known once there are levels to compare them with.
  for (int round = 0; round < 2; ++round) {
    for (View& v : first_) {
      for (std::size_t i = 0; i < n; ++i) differences[i] = v.levels[i] - usual[i];
      const double common = quantile(differences, 0.5);
      for (double& level : v.levels) level -= common;
      v.floor -= common;
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < kFirst; ++k) over_time[k] = first_[k].levels[i];
      usual[i] = quantile(over_time, 0.5);
      for (double& v : over_time) v = std::abs(v - usual[i]);
      spread[i] = quantile(over_time, kWithin);
    }
  }
  for (std::size_t k = 0; k < kFirst; ++k) over_time[k] = first_[k].floor;
  floor = quantile(over_time, 0.5);
  first_ = {};
}

bool ViewWindow::add(std::span<const double> levels, double floor, double seconds) {
  time_ += seconds;
  if (levels.empty()) return false;
  if (!samples_.empty() && samples_.back().levels.size() != levels.size()) samples_.clear();
  if (!samples_.empty() && time_ - samples_.back().time < kSampleEvery) return false;
  while (samples_.full() || (samples_.size() >= kFewest && time_ - samples_[0].time > kWindow)) samples_.pop();
  Sample& s = samples_.next();  // reuses the memory of an old one
  s.levels.assign(levels.begin(), levels.end());
  s.floor = floor;
  s.time = time_;
  samples_.push();
  if (time_ - viewed_ < kViewEvery || samples_.size() < kFewest) return false;
  view_.seconds = std::min(time_ - viewed_, kLongest);
  viewed_ = time_;
  view_.levels.resize(levels.size());
  over_time_.resize(samples_.size());
  const auto median = [&](auto value_of) {
    for (std::size_t k = 0; k < samples_.size(); ++k) over_time_[k] = value_of(samples_[k]);
    return quantile(over_time_, 0.5);
  };
  for (std::size_t i = 0; i < levels.size(); ++i)
    view_.levels[i] = median([i](const Sample& sample) { return sample.levels[i]; });
  view_.floor = median([](const Sample& sample) { return sample.floor; });
  return true;
}

void ViewWindow::forget() {
  samples_.clear();
  viewed_ = time_ = 0;
}

namespace {

/// Their weighted median.
double common_of(std::span<const double> values, std::span<const double> weights, std::vector<std::size_t>& order) {
  order.resize(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  const double half = std::accumulate(weights.begin(), weights.end(), 0.0) / 2;
  double sum = 0;
  for (const std::size_t i : order)
    if ((sum += weights[i]) >= half) return values[i];
  return 0;
}

/// Mean square of the differences from `common`, each at most kMost.
double misfit_of(std::span<const double> differences, std::span<const double> weights, double common) {
  double sum = 0, all = 0;
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const double d = differences[i] - common;
    sum += weights[i] * std::min(d * d, kMost * kMost);
    all += weights[i];
  }
  return all > 0 ? sum / all : 0;
}

/// The mean, without those that are far from it; a little faster than the median, for thousands of places.
double mean_of(std::span<const double> values, std::span<const double> weights) {
  double mean = 0;
  for (int round = 0; round < 3; ++round) {
    double sum = 0, all = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double d = values[i] - mean, w = round > 0 && std::abs(d) > kMost / 2 ? 0 : weights[i];
      sum += w * d, all += w;
    }
    if (all > 0) mean += sum / all;
  }
  return mean;
}

}  // namespace

/// Brings levels and template to a common light and floor.
void ViewMatcher::align(std::span<const double> levels, double floor, const ViewTemplate& to) {
  const std::size_t n = levels.size();
  for (auto* v : {&levels_, &usual_, &spread_, &differences_, &weights_}) v->resize(n);
  double common = 0;
  floor_ = to.floor;
  // The common part is that of what is above the floor, which follows from the common part.
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      const double level = levels[i] - common;
      differences_[i] = std::max(level, floor_) - std::max(to.usual[i], floor_);
      weights_[i] = weight(to.spread[i], to.usual[i]);
    }
    common += common_of(differences_, weights_, order_);
    floor_ = std::max(to.floor, floor - common);
  }
  for (std::size_t i = 0; i < n; ++i) {
    levels_[i] = std::max(levels[i] - common, floor_);
    usual_[i] = std::max(to.usual[i], floor_);
    spread_[i] = to.spread[i];
    differences_[i] = levels_[i] - usual_[i];
    weights_[i] = weight(spread_[i], std::max(levels_[i], usual_[i]));
  }
}

/// Zones count the less, the more they vary; next to the floor, noise makes the level.
double ViewMatcher::weight(double spread, double level) const {
  return (level < floor_ + kAbove ? kNoise : 1) / (kUnsure * kUnsure + spread * spread);
}

ViewFit ViewMatcher::fit(std::span<const double> levels, double floor, const ViewTemplate& usual) {
  ViewFit fit;
  misfit_ = 0;
  if (levels.empty() || usual.usual.size() != levels.size()) return fit;
  align(levels, floor, usual);
  misfit_ = fit.misfit = misfit_of(differences_, weights_, 0);
  const auto is_calm = [&](std::size_t i) { return spread_[i] <= kCalm && usual_[i] >= floor_ + kAbove; };
  calm_.clear();
  for (std::size_t i = 0; i < levels.size(); ++i)
    if (is_calm(i)) calm_.push_back(differences_[i]);
  if (calm_.empty()) return fit;
  // Half of the lens smeared is not a common loss.
  const double sharp = quantile(calm_, kSharpHalf);
  int stays = 0, softer = 0, sharper = 0;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (!is_calm(i)) continue;
    const double spread = spread_[i], d = differences_[i];
    stays += std::abs(d) < std::max(kStays, kTimesStays * spread);
    softer += d - sharp < -std::max(kSofter, kTimes * spread);
    sharper += d - sharp > std::max(kSharper, kTimes * spread);
  }
  fit.calm = static_cast<int>(calm_.size());
  fit.stays = static_cast<double>(stays) / fit.calm;
  fit.softer = static_cast<double>(softer) / fit.calm;
  fit.sharper = static_cast<double>(sharper) / fit.calm;
  return fit;
}

double ViewMatcher::gain(const ViewPlace& place) {
  const double a = place.degrees * std::numbers::pi / 180, c = std::cos(a) / place.scale, s = std::sin(a) / place.scale;
  const double right = grid_.columns - 1, bottom = rows_ - 1, mx = right / 2, my = bottom / 2;
  const auto columns = static_cast<std::size_t>(grid_.columns);
  elsewhere_.clear();
  elsewhere_weights_.clear();
  std::size_t here = 0;
  for (int y = 0; y < rows_; ++y) {
    const double dy = y - my - place.down;
    for (int x = 0; x < grid_.columns; ++x, ++here) {
      const double dx = x - mx - place.right;
      const double fx = mx + c * dx + s * dy / grid_.aspect, fy = my - s * dx * grid_.aspect + c * dy;
      if (fx < -0.5 || fy < -0.5 || fx > right + 0.5 || fy > bottom + 0.5) continue;
      const double cx = std::clamp(fx, 0.0, right), cy = std::clamp(fy, 0.0, bottom);
      const int ix = std::min(static_cast<int>(cx), grid_.columns - 2), iy = std::min(static_cast<int>(cy), rows_ - 2);
      const double u = cx - ix, v = cy - iy;
      const std::size_t at = static_cast<std::size_t>(iy) * columns + static_cast<std::size_t>(ix);
      const auto mix = [&](const std::vector<double>& f) {
        return (1 - v) * ((1 - u) * f[at] + u * f[at + 1]) + v * ((1 - u) * f[at + columns] + u * f[at + columns + 1]);
      };
      const double usual = mix(usual_);
      elsewhere_.push_back(levels_[here] - usual);
      elsewhere_weights_.push_back(weight(std::max(spread_[here], mix(spread_)), std::max(levels_[here], usual)));
    }
  }
  const double inside = static_cast<double>(elsewhere_.size()) / static_cast<double>(levels_.size());
  if (inside < kOverlap) return 0;
  const double misfit = misfit_of(elsewhere_, elsewhere_weights_, mean_of(elsewhere_, elsewhere_weights_));
  return 1 - (misfit * inside + kNew * (1 - inside)) / misfit_;
}

ViewFound ViewMatcher::search(const ZoneGrid& grid) {
  ViewFound found;
  if (grid.columns < kFewestColumns || misfit_ < kUnsure * kUnsure) return found;
  const auto columns = static_cast<std::size_t>(grid.columns), rows = levels_.size() / columns;
  if (rows < kFewestColumns || rows * columns != levels_.size()) return found;
  grid_ = grid;
  rows_ = static_cast<int>(rows);
  const auto consider = [&](const ViewPlace& place) {
    const double g = gain(place);
    if (g > found.gain) found = {g, place};
  };
  // Zones may be many; steps are not.
  const int wide = std::max(1, grid.columns / kSteps), high = std::max(1, rows_ / kSteps);
  const auto share = [](int by, int of) { return 1 - std::abs(by) / static_cast<double>(of); };
  for (int y = -rows_ / 2; y <= rows_ / 2; y += high)
    for (int x = -grid.columns / 2; x <= grid.columns / 2; x += wide)
      if (share(x, grid.columns) * share(y, rows_) >= kOverlap)
        consider({.right = static_cast<double>(x), .down = static_cast<double>(y)});
  for (const double degrees : {-16.0, -12.0, -8.0, -4.0, 4.0, 8.0, 12.0, 16.0})
    for (int y = -high; y <= high; y += high)
      for (int x = -wide; x <= wide; x += wide)
        consider({.right = static_cast<double>(x), .down = static_cast<double>(y), .degrees = degrees});
  for (const double scale : {0.8, 0.9, 1.1, 1.25}) consider({.scale = scale});
  // Then between these, about the best.
  for (const double step : {0.5, 0.25})
    for (int round = 0; round < kRounds; ++round) {
      const ViewPlace at = found.place;
      const double before = found.gain;
      for (const double by : {-step, step}) {
        consider({at.right + by * wide, at.down, at.degrees, at.scale});
        consider({at.right, at.down + by * high, at.degrees, at.scale});
        consider({at.right, at.down, at.degrees + 4 * by, at.scale});
        consider({at.right, at.down, at.degrees, at.scale * (1 + by / 10)});
      }
      if (!(found.gain > before)) break;
    }
  return found;
}

}  // namespace framequality
