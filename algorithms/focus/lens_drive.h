// SPDX-License-Identifier: LGPL-2.1-or-later
// Model of a lens motor: delay, limited speed and play.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace framequality {

/// Settings of the motor. Values out of range are clamped; NaN counts as 0.
struct DriveSettings {
  int lag = 0;          ///< 0...LensDrive::kMaxLag: frames between a command and the first that could show it
  double slew = 0;      ///< largest move of the motor during one frame, positions; 0: instant
  double backlash = 0;  ///< play between motor and lens, positions: moving up the lens is where the motor is, moving
                        ///< down, this much above it
  double exposure = 0;  ///< share of a frame's time, up to its end, in which it is exposed, 0...1; 0: its end alone

  bool operator==(const DriveSettings&) const = default;
};

/// Where a lens is, frame by frame. Positions are in any unit. Allocates nothing.
class LensDrive {
 public:
  static constexpr int kMaxLag = 64;
  static constexpr std::size_t kMoments = 8;  ///< positions that stand for those of an exposure of a moving lens

  explicit LensDrive(const DriveSettings& settings = {}) { configure(settings); }

  /// Takes effect with the next frame. If the lag grows, the motor waits; it does not return to earlier targets.
  void configure(const DriveSettings& settings) {
    // With the bound as its first argument, std::max returns it for NaN.
    settings_ = {.lag = std::clamp(settings.lag, 0, kMaxLag),
                 .slew = std::max(0.0, settings.slew),
                 .backlash = std::max(0.0, settings.backlash),
                 .exposure = std::min(std::max(0.0, settings.exposure), 1.0)};
  }

  /// Where the lens was at the end of the last frame; 0 before the first.
  double position() const { return lens_; }

  /// Advances by one frame; `target`: the latest command; values that are not finite are not commands. Returns the
  /// positions during the exposure, evenly spaced in time: one if the lens does not move, else
  /// kMoments. Until `lag` frames are over, the lens stays at the first frame's target. The span is valid until the
  /// next call.
  std::span<const double> frame(double target) {
    if (!std::isfinite(target)) target = frame_ > 0 ? sent_[(frame_ - 1) % sent_.size()] : 0;
    if (frame_ == 0) motor_ = lens_ = target;
    sent_[frame_ % sent_.size()] = target;
    const auto lag = static_cast<std::uint64_t>(settings_.lag);
    obeyed_ = std::max(obeyed_, frame_ - std::min(frame_, lag));
    const double goal = sent_[obeyed_ % sent_.size()];
    ++frame_;
    const double from = motor_, way = goal - from;
    const bool at_once = settings_.slew == 0 || way == 0;
    const auto go = [&](double time) {  // 0...1, within the frame
      const double gone = settings_.slew * time;
      motor_ = at_once || gone >= std::abs(way) ? goal : from + std::copysign(gone, way);
      lens_ = std::clamp(lens_, motor_, motor_ + settings_.backlash);
    };
    // At once means before the exposure begins.
    if (at_once || settings_.exposure == 0) {
      go(1);
      moments_[0] = lens_;
      return {moments_.data(), 1};
    }
    for (std::size_t i = 0; i < kMoments; ++i) {
      const double middle = (static_cast<double>(i) + 0.5) / kMoments;
      go(1 - settings_.exposure + settings_.exposure * middle);
      moments_[i] = lens_;
    }
    go(1);
    // The lens moves in one direction during a frame, so the ends show whether it moved.
    const bool moved = moments_.front() != moments_.back();
    return {moments_.data(), moved ? kMoments : 1};
  }

 private:
  DriveSettings settings_;
  std::array<double, kMaxLag + 1> sent_{};  ///< targets of the last frames, round and round
  std::uint64_t frame_ = 0;
  std::uint64_t obeyed_ = 0;  ///< frame whose target the motor goes to
  double motor_ = 0, lens_ = 0;
  std::array<double, kMoments> moments_{};
};

}  // namespace framequality
