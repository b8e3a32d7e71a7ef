// SPDX-License-Identifier: LGPL-2.1-or-later
// The route of a plan's frames through the host's kernels: the source and width of samples.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "cpu/sharpness/kernels.h"

#include <cstdint>
#include <string>

namespace framequality::cpu {

/// Source of working samples. Luma, summed by the downscale, is called values; rounded or prefiltered, samples.
enum class SamplePath : std::uint8_t {
  kInPlace,      ///< samples are the frame's own bytes or words, or some bits of these
  kCodes,        ///< codes are brought into a buffer, for other layouts and frames narrower than a vector may touch
  kRounded,      ///< values are rounded to a buffer
  kPrefiltered,  ///< values are prefiltered to a buffer
  kAsMeasured,   ///< values are prefiltered as they are measured; as kPrefiltered at edges that a metric reflects
};

/// One route for all regions, cells and tiles of a plan.
struct Route {
  SamplePath path = SamplePath::kInPlace;
  Lane lane = Lane::kByte;   ///< measures samples; kSplit: their buffer has its layout
  bool reads_frame = false;  ///< values may be used in place, as bytes, or as words with unused bits
  bool exposes = false;      ///< samples are luma whose exposure is measured with them
  int code_bytes = 1, value_bytes = 1, sample_bytes = 1;
  WordFormat words;           ///< of kLow and kHigh
  PrefilterFormat prefilter;  ///< of kAsMeasured
  int prefilter_kernel = 0;   ///< SharpnessKernels::prefilter[] of kPrefiltered and kAsMeasured

  bool is_split() const { return lane == Lane::kSplit; }
};

/// The route of a plan's frames through these kernels.
Route route(const sharpness::Plan& plan, const SharpnessKernels& kernels);

/// Text for logs, such as "samples as measured, values in place, lanes split".
std::string to_string(const Route& route);

}  // namespace framequality::cpu
