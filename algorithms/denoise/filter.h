// SPDX-License-Identifier: LGPL-2.1-or-later
// The interface that the CPU and CUDA twins of the denoisers share: frames in, filtered frames out, in order.
#pragma once

#include "algorithms/denoise/weight.h"
#include "algorithms/picture.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace framequality::denoise {

/// A frame of the stream. The same serial number means the same pixels: what was made of it for one window serves the
/// next one.
struct Source {
  Frame frame;
  std::uint64_t serial = 0;
};

/// Filters frames of one PictureGeometry on one device. Everything a frame needs is allocated when the filter is made,
/// or when settings want more than any before, never per frame. Thread-safety: one thread at a time.
class Filter {
 public:
  Filter() = default;
  Filter(const Filter&) = delete;
  Filter& operator=(const Filter&) = delete;
  /// Waits until the device has let go of every submitted frame.
  virtual ~Filter() = default;

  /// Starts filtering window[center] into `out`, which may not overlap any source. window: the frames that are averaged
  /// over, in order of time, 1...2 * kMaxTemporalRadius + 1; one alone is spatial filtering. fields: 2 if the frames
  /// are two interleaved fields, rows y of field y mod 2, which are filtered as pictures of their own; else 1.
  /// Components outside of all passes, alpha and filler are copied. The memory of all of them must stay valid, and the
  /// sources unchanged, until the frame has been collected. Throws what its device throws (cuda::Error).
  virtual void submit(std::span<const Source> window, std::size_t center, const Canvas& out, const Settings& settings,
                      int fields) = 0;

  /// Waits until the oldest frame submitted is complete. One submit, one collect; how many may be pending is said where
  /// filters are made.
  virtual void collect() = 0;
};

}  // namespace framequality::denoise
