// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of the CPU and CUDA denoisers: frames in, filtered frames out.
#pragma once

#include "algorithms/denoise/weight.h"
#include "algorithms/picture.h"
#include "algorithms/worker.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace framequality::denoise {

/// A frame of the stream. Equal serial numbers mean equal pixels: data computed for one window is reused for the
/// next one.
using Source = NumberedFrame;

/// Filters window[center] into `out`, which may not overlap any source. Components outside of all passes, alpha and
/// filler are copied.
struct Task {
  /// The frames to average over, in order of time, 1...2 * kMaxTemporalRadius + 1; a single one means spatial
  /// filtering. Must stay valid for as long as the frames.
  std::span<const Source> window;
  std::size_t center = 0;
  Canvas out;
  Settings settings;
  /// 2: the frames are two interleaved fields, rows y of field y mod 2, filtered as separate images.
  int fields = 1;
};

using Filter = Worker<Task, void>;

}  // namespace framequality::denoise
