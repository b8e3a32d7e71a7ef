// SPDX-License-Identifier: LGPL-2.1-or-later
// Ranges on the timeline of NVIDIA's profilers, if the toolkit has NVTX.
#pragma once

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#endif

namespace framequality::cuda {

/// Shows its lifetime in the calling thread in Nsight Systems, under this name; without a profiler it costs
/// some nanoseconds.
class Range {
 public:
#if __has_include(<nvtx3/nvToolsExt.h>)
  explicit Range(const char* name) noexcept { nvtxRangePushA(name); }
  ~Range() { nvtxRangePop(); }
#else
  explicit Range(const char*) noexcept {}
#endif
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
};

}  // namespace framequality::cuda
