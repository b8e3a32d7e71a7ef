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

template <typename T>
double quantile(std::vector<T>& values, double q) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::lround(q * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

}  // namespace

void ViewTemplate::learn(const View& view) {
  const double by = view.seconds;
  const std::size_t n = view.levels.size();
  if (n == 0) return;
  std::vector<double> sorted = view.levels;
  const double middle = quantile(sorted, 0.5);
  if (learned() && usual.size() != n) *this = {};
  seconds += by;
  if (learned()) {
    const double step = by * kRate * (1 + kYoungRate / (1 + std::pow(seconds / kYoung, 2)));
    for (std::size_t i = 0; i < n; ++i) sorted[i] = view.levels[i] - usual[i];
    const double common = quantile(sorted, 0.5);
    floor += std::clamp(view.floor - common - floor, -step, step);
    for (std::size_t i = 0; i < n; ++i) {
      const double d = view.levels[i] - common - usual[i];
      usual[i] += std::clamp(d, -step, step);
      spread[i] += std::abs(d) > spread[i] ? 2 * step * kWithin : -std::min(spread[i], 2 * step * (1 - kWithin));
    }
    return;
  }
  if (!first_.empty() && first_.front().size() != n) first_.clear(), floors_.clear();
  since_ += by;
  if (!first_.empty() && since_ < kFirstEvery) return;
  since_ = 0;
  std::vector<float>& next = first_.emplace_back(n);
  for (std::size_t i = 0; i < n; ++i) next[i] = static_cast<float>(view.levels[i] - middle);
  floors_.push_back(view.floor - middle);
  if (first_.size() < kFirst) return;
  usual.resize(n);
  spread.resize(n);
  std::vector<float> column(kFirst), apart(n);
  // The middle of all zones moves where many of them are in motion: centre views on what they have in common.
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k < kFirst; ++k) column[k] = first_[k][i];
      usual[i] = quantile(column, 0.5);
      for (float& v : column) v = std::abs(v - static_cast<float>(usual[i]));
      spread[i] = quantile(column, kWithin);
    }
    for (std::size_t k = 0; k < kFirst; ++k) {
      for (std::size_t i = 0; i < n; ++i) apart[i] = first_[k][i] - static_cast<float>(usual[i]);
      const float common = static_cast<float>(quantile(apart, 0.5));
      for (float& v : first_[k]) v -= common;
      floors_[k] -= common;
    }
  }
  floor = quantile(floors_, 0.5);
  first_ = {};
  floors_ = {};
}

bool ViewWindow::add(std::span<const double> levels, double floor, double seconds) {
  time_ += seconds;
  if (levels.empty()) return false;
  if (count_ > 0 && samples_[(next_ + kMost - 1) % kMost].levels.size() != levels.size()) count_ = 0;
  if (count_ > 0 && time_ - sampled_ < kSampleEvery) return false;
  sampled_ = time_;
  Sample& s = samples_[next_];
  s.levels.assign(levels.begin(), levels.end());
  s.floor = floor;
  s.time = time_;
  next_ = (next_ + 1) % kMost;
  count_ = std::min(count_ + 1, kMost);
  if (time_ - viewed_ < kViewEvery || count_ < kFewest) return false;
  view_.seconds = std::min(time_ - viewed_, kLongest);
  viewed_ = time_;
  std::size_t n = 0;
  while (n < count_ && (n < kFewest || samples_[(next_ + 2 * kMost - 1 - n) % kMost].time > time_ - kWindow)) ++n;
  view_.levels.resize(levels.size());
  column_.resize(n);
  const auto at = [&](std::size_t k) -> const Sample& { return samples_[(next_ + 2 * kMost - 1 - k) % kMost]; };
  for (std::size_t i = 0; i < levels.size(); ++i) {
    for (std::size_t k = 0; k < n; ++k) column_[k] = at(k).levels[i];
    view_.levels[i] = quantile(column_, 0.5);
  }
  for (std::size_t k = 0; k < n; ++k) column_[k] = static_cast<float>(at(k).floor);
  view_.floor = quantile(column_, 0.5);
  return true;
}

void ViewWindow::forget() {
  count_ = 0;
  viewed_ = sampled_ = time_ = 0;
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

ViewFit ViewMatcher::fit(std::span<const double> levels, double floor, const ViewTemplate& usual) {
  ViewFit fit;
  const std::size_t n = levels.size();
  levels_.clear();
  if (n == 0 || usual.usual.size() != n) return fit;
  variance_.resize(n);
  weights_.resize(n);
  differences_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    variance_[i] = usual.spread[i] * usual.spread[i];
  }
  // Both are raised to the higher floor, which follows from the common part, which follows from the floor.
  double common = 0, highest = usual.floor;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < n; ++i) {
      const double level = levels[i] - common, was = usual.usual[i];
      differences_[i] = std::max(level, highest) - std::max(was, highest);
      // Next to the floor it is noise that makes the level.
      const double counts = std::max(level, was) < highest + kAbove ? kNoise : 1;
      weights_[i] = (round == 0 ? 1 : counts) / (kUnsure * kUnsure + variance_[i]);
    }
    common += common_of(differences_, weights_, order_);
    highest = std::max(usual.floor, floor - common);
  }
  levels_.resize(n);
  usual_.resize(n);
  is_calm_.resize(n);
  sorted_.clear();
  for (std::size_t i = 0; i < n; ++i) {
    levels_[i] = std::max(levels[i] - common, highest);
    usual_[i] = std::max(usual.usual[i], highest);
    differences_[i] = levels_[i] - usual_[i];
    is_calm_[i] = usual.spread[i] <= kCalm && usual_[i] >= highest + kAbove;
    if (is_calm_[i]) sorted_.push_back(differences_[i]);
  }
  misfit_ = fit.misfit = misfit_of(differences_, weights_, 0);
  fit.calm = static_cast<int>(sorted_.size());
  if (fit.calm == 0) return fit;
  // Half of the lens smeared is not a common loss.
  const double sharp = quantile(sorted_, kSharpHalf);
  int stays = 0, softer = 0, sharper = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double spread = usual.spread[i], d = differences_[i];
    if (!is_calm_[i]) continue;
    stays += std::abs(d) < std::max(kStays, kTimesStays * spread);
    softer += d - sharp < -std::max(kSofter, kTimes * spread);
    sharper += d - sharp > std::max(kSharper, kTimes * spread);
  }
  fit.stays = static_cast<double>(stays) / fit.calm;
  fit.softer = static_cast<double>(softer) / fit.calm;
  fit.sharper = static_cast<double>(sharper) / fit.calm;
  return fit;
}

/// The share of the misfit that this place takes away. What is not in the template counts as a constant misfit, so that
/// places that show little of it are not preferred.
double ViewMatcher::gain(const Place& place) const {
  const double a = place.degrees * std::numbers::pi / 180, c = std::cos(a) / place.scale, s = std::sin(a) / place.scale;
  const double mx = (grid_.columns - 1) / 2.0, my = (rows_ - 1) / 2.0, right = 2 * mx, bottom = 2 * my;
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
      elsewhere_.push_back(levels_[here] - mix(usual_));
      elsewhere_weights_.push_back(1 / (kUnsure * kUnsure + std::max(variance_[here], mix(variance_))));
    }
  }
  const double inside = static_cast<double>(elsewhere_.size()) / static_cast<double>(levels_.size());
  if (inside < kOverlap) return 0;
  const double misfit = misfit_of(elsewhere_, elsewhere_weights_, mean_of(elsewhere_, elsewhere_weights_));
  return 1 - (misfit * inside + kNew * (1 - inside)) / misfit_;
}

ViewFound ViewMatcher::search(const ZoneGrid& grid) {
  ViewFound found;
  if (grid.columns < kFewestColumns || !(misfit_ > 0)) return found;
  rows_ = static_cast<int>(levels_.size() / static_cast<std::size_t>(grid.columns));
  if (rows_ < kFewestColumns ||
      static_cast<std::size_t>(rows_) * static_cast<std::size_t>(grid.columns) != levels_.size())
    return found;
  grid_ = grid;
  const auto consider = [&](const Place& place) {
    const double g = gain(place);
    if (g <= found.gain) return false;
    found = {g, place};
    return true;
  };
  const auto share = [](int by, int of) { return 1 - std::abs(by) / static_cast<double>(of); };
  for (int y = -rows_ / 2; y <= rows_ / 2; ++y)
    for (int x = -grid.columns / 2; x <= grid.columns / 2; ++x)
      if ((x != 0 || y != 0) && share(x, grid.columns) * share(y, rows_) >= kOverlap)
        consider({.right = static_cast<double>(x), .down = static_cast<double>(y)});
  for (const double degrees : {-16.0, -12.0, -8.0, -4.0, 4.0, 8.0, 12.0, 16.0})
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x)
        consider({.right = static_cast<double>(x), .down = static_cast<double>(y), .degrees = degrees});
  for (const double scale : {0.8, 0.9, 1.1, 1.25}) consider({.scale = scale});
  // Then between these, about the best.
  for (const double step : {0.5, 0.25})
    for (bool better = true; better;) {
      better = false;
      const Place at = found.place;
      for (const double by : {-step, step}) {
        better |= consider({at.right + by, at.down, at.degrees, at.scale});
        better |= consider({at.right, at.down + by, at.degrees, at.scale});
        better |= consider({at.right, at.down, at.degrees + 4 * by, at.scale});
        better |= consider({at.right, at.down, at.degrees, at.scale * (1 + by / 10)});
      }
    }
  return found;
}

}  // namespace framequality
