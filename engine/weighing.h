// SPDX-License-Identifier: LGPL-2.1-or-later
// The rule by which `device=auto` moves a stream between the CPU and a device: the cheaper one that has proved itself.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace framequality {

/// Decides from the cost of past tasks where the next one goes.
///
/// A stream begins on the CPU, which needs no preparation. To open a device (driver, context, kernels, memory) takes
/// about kOpening, even in vain, so it is opened as soon as the CPU has worked for that long: whoever rents
/// until the rent has reached the price has never paid more than twice what was necessary. Two tasks in succession of
/// kHeavy open it at once. Meanwhile the CPU continues, and works slower: opening uses memory and cores. So it works
/// for a window more, which counts; heavy tasks do not wait for that.
///
/// Then the device works on a trial. Buffers that come back are pinned on their third use and a pool of pinned ones
/// takes a few frames to arrive, so the first kWarmUp windows do not count. The median of the last one, compared with
/// the CPU's last, says where the stream stays.
///
/// Costs change (another plan, other programs), so the loser is tried again, at growing intervals. A trial that
/// took time T comes again after kPatience * T of work, then after twice that, and so on: trials take at most
/// 1 / kPatience, 2.5% of the time. A winner that lost before may have won by chance (the speed of a core changed
/// during the trial), so it is put to the test after kPatience * T again. With a challenger that must be kMargin
/// cheaper, 7%, a stream is at worst 1.075 * 1.025 - 1 = 10% slower than at the better place.
///
/// Thread-safety: one thread at a time.
class Weighing {
 public:
  using Time = std::chrono::nanoseconds;
  enum class Side : std::uint8_t { kCpu, kDevice };

  static constexpr Time kOpening = std::chrono::milliseconds(300);
  /// Time to make workers on a device that is open.
  static constexpr Time kReopening = std::chrono::milliseconds(20);
  /// A frame at 60 a second: a core that needs longer cannot wait for the device while a camera is running.
  static constexpr Time kHeavy = std::chrono::microseconds(16667);
  static constexpr std::size_t kWindow = 16;  ///< tasks of a trial whose median counts
  /// The winner's last tasks whose median counts: after a pause, caches are cold for a window or two.
  static constexpr std::size_t kMemory = 4 * kWindow;
  static constexpr int kWarmUp = 2;  ///< windows
  static constexpr double kMargin = 0.93;
  /// A trial ends with the first window that costs this many times the winner's: not even memory that is not pinned
  /// yet slows a potential winner that much, and a device may be an emulator.
  static constexpr double kLost = 4;
  static constexpr int kPatience = 40, kMostPatience = 640;
  /// The work counts as different if its cost has been changed by this factor for kHaste * T: other programs slow a
  /// core down for some milliseconds. The loser is then tried again, and patience restarts.
  static constexpr double kChange = 1.5;
  static constexpr int kHaste = 20;
  /// A CPU this many times slower whose tasks take kStalls is not tried again before the work changes: at 60 ms a task
  /// that would stall a live stream for a second. Lighter tasks stall nothing, and their cost may have been measured
  /// while something else slowed the core down.
  static constexpr double kHopeless = 2;
  static constexpr Time kStalls = kHeavy / 4;  ///< a stream at 60 a second has other work too

  /// opening: CPU time that opening the device may cost, kOpening or kReopening.
  explicit Weighing(Time opening) : opening_(opening) {}

  /// True from when the device should be opened until it has been.
  bool wants_device() const { return !is_open_ && (worked_ >= opening_ || is_heavy()); }
  /// The device can be used from now on.
  void open();
  /// Side of the next task.
  Side side() const { return side_; }
  /// Announces different work: the known cost of the loser no longer holds.
  void renew() { costs_[index(other(home_))] = {}; }
  /// Adds the cost of a task on this side.
  void add(Side side, Time cost);
  /// Median cost of a task on a side when it last worked; 0: unknown.
  Time cost(Side side) const { return costs_[index(side)]; }

 private:
  static std::size_t index(Side side) { return static_cast<std::size_t>(side); }
  static Side other(Side side) { return side == Side::kCpu ? Side::kDevice : Side::kCpu; }
  /// True if the CPU is too slow to be measured once more before a trial.
  bool is_heavy() const { return heavy_ >= 2; }
  /// The median of the last costs.
  Time median() const;
  void forget();
  void begin_trial();
  void end_trial();
  bool is_trial_due(Time now);

  Time opening_;
  bool is_open_ = false;
  int heavy_ = 0;  ///< tasks in succession
  Side side_ = Side::kCpu;
  Side home_ = Side::kCpu;            ///< of the winner; during a trial the other side works
  std::array<Time, kMemory> last_{};  ///< costs; the first `filled_` count
  std::size_t next_ = 0, filled_ = 0;
  int windows_ = 0;   ///< of the trial
  Time costs_[2]{};   ///< by side
  Time reference_{};  ///< the winner's cost when it won
  Time worked_{};     ///< since the start, since the last trial, or in the trial
  Time trial_{};      ///< time that the last trial took
  Time usual_{};      ///< worked_ when the cost was last the usual one
  int patience_ = kPatience / 2;
};

/// The current time, for costs.
Weighing::Time weighing_time();
/// For tests: replaces weighing_time(); null: the steady clock.
void use_weighing_clock(Weighing::Time (*clock)());

}  // namespace framequality
