// SPDX-License-Identifier: LGPL-2.1-or-later
// The frames that come to a pipeline's sink: when, and what the first one looks like.
#pragma once

#include <gst/gst.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::bench {

/// Watches one sink, whose pipeline it outlives. Everything else may be asked when that pipeline is no more.
class Arrivals {
 public:
  Arrivals() { at_.reserve(1 << 20); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  ~Arrivals();
  void watch(GstElement* sink);

  std::size_t count() const { return at_.size(); }
  /// From the first frame to the last one.
  double seconds() const;
  /// Frames a second, without those of the first `warm_up` seconds. Throws std::runtime_error if there are too few.
  double rate(double warm_up) const;

  struct Picture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> bytes;  ///< planes one after the other, rows without gaps
  };
  /// The first frame. Throws std::runtime_error if there is none, or if it cannot be read.
  Picture first() const;

 private:
  static GstPadProbeReturn arrive(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  std::vector<std::chrono::steady_clock::time_point> at_;
  GstBuffer* first_ = nullptr;
  GstCaps* caps_ = nullptr;
};

}  // namespace framequality::bench
