// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of moments of a clip, and statistics of its scores.
#include "apps/scan/moments.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace framequality::apps::scan {

std::uint64_t Windows::of(std::uint64_t position) const {
  if (position <= begin || length == 0) return 0;
  // ns times windows may pass 64 bits.
  __extension__ typedef unsigned __int128 Wide;
  const auto windows = static_cast<unsigned>(count);
  const auto index = static_cast<std::uint64_t>(static_cast<Wide>(position - begin) * windows / length);
  return open ? index : std::min<std::uint64_t>(index, windows - 1);
}

std::uint64_t Stretches::next(const Travel& travel, std::optional<std::uint64_t> time) {
  const std::uint64_t now = time.value_or(begin_);
  double part = 0;
  if (first_) {
    part = std::hypot(travel.x - first_->x, travel.y - first_->y) / step_;
    if (longest_ > 0 && now > begin_)
      part = std::max(part, static_cast<double>(now - begin_) / static_cast<double>(longest_));
  }
  const bool is_cut = first_ && travel.shot != first_->shot;
  if (!first_ || is_cut || part >= 1) {
    // One in between is left out, so that a choice at the end of a shot is never too close to the next shot's start.
    if (first_) stretch_ += is_cut ? 2 : 1;
    first_ = travel;
    begin_ = now;
    part = 0;
  }
  const auto inside = static_cast<std::uint64_t>(std::llround(part * static_cast<double>(kStretch)));
  return stretch_ * kStretch + std::min(inside, kStretch - 1);
}

WindowChoice::Step WindowChoice::offer(std::uint64_t position, double score) {
  Step step{false, false};
  if (const std::uint64_t window = std::max(window_, windows_.of(position)); window != window_) {
    if (has_) least_ = position_ + apart_;
    step.ended = std::exchange(has_, false);
    window_ = window;
  }
  if (position < least_) return step;
  step.best = !has_ || (highest_ ? score > score_ : score < score_);
  if (!step.best) return step;
  has_ = true;
  position_ = position;
  score_ = score;
  return step;
}

std::vector<std::size_t> choose_of_windows(const std::vector<Moment>& moments, std::uint64_t Moment::*position,
                                           const Windows& windows, std::uint64_t apart, bool highest) {
  WindowChoice choice(windows, apart, highest);
  std::vector<std::size_t> chosen;
  bool open = false;  // a later frame may still beat the last one
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (moments[i].damaged) continue;
    const auto step = choice.offer(moments[i].*position, moments[i].score);
    if (step.ended) open = false;
    if (!step.best) continue;
    if (!std::exchange(open, true)) chosen.emplace_back();
    chosen.back() = i;
  }
  return chosen;
}

std::vector<std::size_t> pick_moments(const std::vector<Moment>& moments, bool highest, std::size_t count,
                                      std::uint64_t apart) {
  std::vector<std::size_t> order(moments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return highest ? moments[a].score > moments[b].score : moments[a].score < moments[b].score;
  });
  std::vector<std::size_t> chosen;
  for (const std::size_t i : order) {
    if (chosen.size() == count) break;
    const bool close = std::any_of(chosen.begin(), chosen.end(), [&](std::size_t other) {
      const auto [low, high] = std::minmax(moments[i].time, moments[other].time);
      return high - low < apart;
    });
    if (!close) chosen.push_back(i);
  }
  return chosen;
}

Statistics statistics(std::vector<double> values) {
  Statistics s;
  const auto low = std::min_element(values.begin(), values.end());
  const auto high = std::max_element(values.begin(), values.end());
  s.min = *low;
  s.max = *high;
  s.min_at = static_cast<std::size_t>(low - values.begin());
  s.max_at = static_cast<std::size_t>(high - values.begin());
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  s.median = *middle;
  if (values.size() % 2 == 0) s.median = std::midpoint(*std::max_element(values.begin(), middle), s.median);
  return s;
}

void ZoneHistory::add(std::span<const double> zones) {
  if (zones_ == 0) {
    zones_ = zones.size();
    sums_.assign(zones_, 0);
  }
  if (steps() == limit_ && in_last_ == per_step_) halve();
  if (steps() == 0 || in_last_ == per_step_) {
    means_.resize(means_.size() + zones_, 0);
    in_last_ = 0;
  }
  ++in_last_;
  ++frames_;
  double* mean = means_.data() + means_.size() - zones_;
  for (std::size_t i = 0; i < zones_; ++i) {
    mean[i] += (zones[i] - mean[i]) / static_cast<double>(in_last_);
    sums_[i] += zones[i];
  }
}

void ZoneHistory::halve() {
  for (std::size_t step = 0; step < limit_ / 2; ++step)
    for (std::size_t i = 0; i < zones_; ++i)
      means_[step * zones_ + i] = std::midpoint(means_[2 * step * zones_ + i], means_[(2 * step + 1) * zones_ + i]);
  means_.resize(limit_ / 2 * zones_);
  per_step_ *= 2;
  in_last_ = per_step_;
}

std::vector<double> ZoneHistory::overall() const {
  std::vector<double> mean = sums_;
  for (double& v : mean) v /= static_cast<double>(frames_);
  return mean;
}

}  // namespace framequality::apps::scan
