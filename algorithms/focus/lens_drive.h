// SPDX-License-Identifier: LGPL-2.1-or-later
// What a motor makes of the positions that it is sent to: it obeys late, takes its time, and has play.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framequality {

struct DriveSettings {
  int lag = 0;          ///< 0...LensDrive::kMaxLag: frames between a command and the first that could show it
  double slew = 0;      ///< most positions that the motor moves in one frame's time; 0: any number at once
  double backlash = 0;  ///< play between motor and lens, positions: moving up the lens is where the motor is, moving
                        ///< down so much above it
  double exposure = 0;  ///< share of a frame's time, up to its end, in which it is exposed, 0...1; 0: its end alone

  bool operator==(const DriveSettings&) const = default;
};

/// Where a lens is, frame by frame. Positions are in any unit. Allocates nothing.
class LensDrive {
 public:
  static constexpr int kMaxLag = 64;
  static constexpr std::size_t kMoments = 8;  ///< positions that stand for those of an exposure of a moving lens

  /// For the next frame on.
  void configure(const DriveSettings& settings) { settings_ = settings; }

  /// The next frame, `target` being where the lens has been sent by now. Returns positions that the lens has during the
  /// exposure, at equal distances of time: one if it does not move, else kMoments. Until `lag` frames are over, the lens
  /// stands where the first frame's target is. The span holds until the next call.
  std::span<const double> frame(double target) {
    if (frame_ == 0) {
      sent_.fill(target);
      motor_ = lens_ = target;
    }
    sent_[frame_ % sent_.size()] = target;
    const auto lag = static_cast<std::uint64_t>(std::clamp(settings_.lag, 0, kMaxLag));
    const double goal = sent_[(frame_ + sent_.size() - lag) % sent_.size()];
    ++frame_;
    const double from = motor_, way = goal - from;
    const double most = settings_.slew > 0 ? settings_.slew : std::abs(way);
    const auto go = [&](double time) {  // 0...1, within the frame
      // At once means before the exposure begins.
      const double gone = settings_.slew > 0 ? std::min(most * time, std::abs(way)) : most;
      motor_ = gone < std::abs(way) ? from + std::copysign(gone, way) : goal;
      lens_ = std::clamp(lens_, motor_, motor_ + std::max(0.0, settings_.backlash));
    };
    const double exposure = std::clamp(settings_.exposure, 0.0, 1.0);
    if (exposure == 0 || settings_.slew <= 0 || way == 0) {
      go(1);
      moments_[0] = lens_;
      return {moments_.data(), 1};
    }
    for (std::size_t i = 0; i < kMoments; ++i) {
      go(1 - exposure + exposure * (static_cast<double>(i) + 0.5) / kMoments);
      moments_[i] = lens_;
    }
    go(1);
    const bool moves = moments_.front() != moments_.back();
    return {moments_.data(), moves ? kMoments : 1};
  }

 private:
  DriveSettings settings_;
  std::array<double, kMaxLag + 1> sent_{};  ///< targets of the last frames, round and round
  std::uint64_t frame_ = 0;
  double motor_ = 0, lens_ = 0;
  std::array<double, kMoments> moments_{};
};

}  // namespace framequality
