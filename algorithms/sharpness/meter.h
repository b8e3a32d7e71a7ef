// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface that the CPU and CUDA twins share: frames in, exact integer totals out, in order.
#pragma once

#include "algorithms/sharpness/plan.h"

#include <cstdint>
#include <memory>
#include <span>

namespace framequality {

/// Measures frames of one Geometry on one device. Everything a frame needs is allocated when the meter is made or when
/// the first frame of its kind or a plan larger than any before arrives, never per frame. Thread-safety: one thread at
/// a time.
class Meter {
 public:
  Meter() = default;
  Meter(const Meter&) = delete;
  Meter& operator=(const Meter&) = delete;
  /// Waits until the device has let go of every submitted frame.
  virtual ~Meter() = default;

  /// Starts measuring a frame of the plan's geometry. The frame's memory must stay valid and unchanged until its
  /// totals have been collected. plan->refusal must be empty. Throws what its device throws (cuda::Error).
  virtual void submit(const Frame& frame, std::shared_ptr<const Plan> plan) = 0;

  /// Totals of the oldest frame not yet collected: plan.cells * plan.words integers, cell by cell, a cell's words
  /// being the metric's totals with the sum of samples at kMeanTotal, or the histogram's bins. Waits for them.
  /// Valid until the next call. One submit, one collect; how many may be pending is said where meters are made.
  virtual std::span<const std::int64_t> collect() = 0;
};

}  // namespace framequality
