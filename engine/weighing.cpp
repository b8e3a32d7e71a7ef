// SPDX-License-Identifier: LGPL-2.1-or-later
// The rule by which `device=auto` moves a stream between the CPU and a device.
#include "engine/weighing.h"

#include <algorithm>
#include <atomic>
#include <utility>

namespace framequality {

namespace {

std::atomic<Weighing::Time (*)()> clock_in_use = nullptr;

double ratio(Weighing::Time a, Weighing::Time b) {
  return static_cast<double>(a.count()) / static_cast<double>(std::max<std::int64_t>(b.count(), 1));
}

}  // namespace

Weighing::Time weighing_time() {
  const auto clock = clock_in_use.load(std::memory_order_relaxed);
  return clock ? clock() : std::chrono::steady_clock::now().time_since_epoch();
}

void use_weighing_clock(Weighing::Time (*clock)()) { clock_in_use = clock; }

void Weighing::open() {
  is_open_ = true;
  if (!is_heavy()) return forget();  // a trial is due after the next window
  if (filled_ > 0 && cost(Side::kCpu) == Time{}) costs_[index(Side::kCpu)] = median();
  begin_trial();
}

void Weighing::add(Side side, Time cost) {
  if (side != side_) return;  // begun before the move
  worked_ += cost;
  heavy_ = cost >= kHeavy ? heavy_ + 1 : 0;
  last_[next_++] = cost;
  filled_ = std::max(filled_, next_);
  if (next_ % kWindow != 0) return;
  if (next_ == kMemory) next_ = 0;
  const Time now = costs_[index(side_)] = median();
  if (side_ != home_) {
    forget();
    // The CPU has nothing to warm up.
    const int warm_up = side_ == Side::kDevice ? kWarmUp : 0;
    if (++windows_ > warm_up || ratio(now, costs_[index(home_)]) > kLost) end_trial();
  } else if (is_open_ && is_trial_due(now)) {
    begin_trial();
  }
}

Weighing::Time Weighing::median() const {
  auto sorted = last_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(filled_ / 2);
  std::nth_element(sorted.begin(), middle, sorted.begin() + static_cast<std::ptrdiff_t>(filled_));
  return *middle;
}

void Weighing::forget() { next_ = filled_ = 0; }

void Weighing::begin_trial() {
  side_ = other(home_);
  forget();
  windows_ = 0;
  worked_ = usual_ = {};
}

void Weighing::end_trial() {
  const bool is_won = ratio(cost(side_), cost(home_)) < kMargin;
  if (is_won) home_ = side_;
  side_ = home_;
  reference_ = cost(home_);
  trial_ = std::exchange(worked_, Time{});
  patience_ = is_won ? kPatience : std::min(2 * patience_, kMostPatience);
}

bool Weighing::is_trial_due(Time now) {
  const double change = ratio(now, reference_);
  if (change < kChange && change > 1 / kChange && cost(other(home_)) != Time{}) usual_ = worked_;
  if (worked_ - usual_ > kHaste * trial_) {
    patience_ = kPatience / 2;
    return true;
  }
  const Time cpu = cost(Side::kCpu);
  if (home_ == Side::kDevice && cpu >= kStalls && ratio(cpu, now) > kHopeless) return false;
  return worked_ >= patience_ * trial_;
}

}  // namespace framequality
