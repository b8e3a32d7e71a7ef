// SPDX-License-Identifier: LGPL-2.1-or-later
// The route of a frame through a device: which kernels make its totals, decided from values alone. No CUDA headers.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "cuda/rows.h"
#include "cuda/sharpness/job.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace framequality::cuda {

/// Where a frame's luma lies in the device's memory, as far as kernels care.
struct Placement {
  std::size_t alignment = kLoadAlign;  ///< of the rows of all planes that hold luma: a power of two, at most kLoadAlign
  std::ptrdiff_t step = 0;             ///< bytes from one row of the luma plane to the next, without sign
  std::ptrdiff_t readable = 0;         ///< bytes of each of these rows that may be read
};

/// Placement of a frame of this geometry. is_ours: rows lie in memory that Upload allocated, where bytes behind a row
/// may be read.
Placement placement_of(const Geometry& geometry, const Frame& frame, bool is_ours);

/// Where the working samples come from.
enum class SampleRoute : std::uint8_t {
  kCodes,       ///< they are the luma codes
  kPlane,       ///< samples.cu makes a plane of 16-bit words first
  kAsMeasured,  ///< prefilter.cu makes them in registers
};

/// What is queued for a frame, in this order.
enum class Stage : std::uint8_t { kLuma, kSamples, kStatistics, kMeasure, kCompanions };
inline constexpr Stage kStages[] = {Stage::kLuma, Stage::kSamples, Stage::kStatistics, Stage::kMeasure,
                                    Stage::kCompanions};

/// Bytes of a luma code in a plane of its own.
inline int code_bytes(const PixelLayout& layout) { return layout.depth > 8 ? 2 : 1; }

/// How a companion of a plan is measured.
struct CompanionRoute {
  bool shares_samples = true;  ///< those of the plan; else they get a plane of their own
  Measure measure = Measure::kNothing;
  bool operator==(const CompanionRoute&) const = default;
};

struct Route {
  LumaRoute luma = LumaRoute::kInPlace;
  bool has_statistics = false;
  SampleRoute samples = SampleRoute::kCodes;
  Measure measure = Measure::kNothing;
  bool exposes = false;  ///< the kernel that measures does: the statistics' does not
  std::array<CompanionRoute, Plan::kMostCompanions> companions{};

  /// True if a kernel of this stage is launched.
  bool has(Stage stage) const;
  bool operator==(const Route&) const = default;
};

/// The route of frames with this plan. architecture: 10 times the compute capability that the kernels which run were
/// compiled for. Only `luma` depends on the placement.
Route route(const Plan& plan, const Placement& placement, int architecture);

/// For logs, such as "luma packed, statistics, samples in a plane, kernel stream-shorts".
std::string to_string(const Route& route);

}  // namespace framequality::cuda
