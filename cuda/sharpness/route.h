// SPDX-License-Identifier: LGPL-2.1-or-later
// The route of a frame through a device: the kernels for its totals, decided from values alone. No CUDA headers.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "cuda/rows.h"
#include "cuda/sharpness/job.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace framequality::cuda {

/// Placement of a frame's luma in the device's memory, as far as it matters to kernels.
struct Placement {
  std::size_t alignment = kLoadAlign;  ///< of the rows of all planes that hold luma: a power of two, at most kLoadAlign
  std::ptrdiff_t step = 0;             ///< bytes from one row of the luma plane to the next, without sign
  std::ptrdiff_t readable = 0;         ///< bytes of each of these rows that may be read
};

/// Placement of a frame of this geometry. is_ours: rows lie in memory that Upload allocated, which is readable after
/// each row.
Placement placement_of(const Geometry& geometry, const Frame& frame, bool is_ours);

/// Source of the working samples.
enum class SampleRoute : std::uint8_t {
  kCodes,       ///< they are the luma values
  kPlane,       ///< samples.cu computes a plane of 16-bit words first
  kAsMeasured,  ///< the kernel that measures computes them in registers
};

/// The stages of a frame's work, in the order in which they are queued.
enum class Stage : std::uint8_t { kLuma, kSamples, kStatistics, kMeasure, kCompanions };
inline constexpr Stage kStages[] = {Stage::kLuma, Stage::kSamples, Stage::kStatistics, Stage::kMeasure,
                                    Stage::kCompanions};

/// Bytes of a luma value in a separate plane.
inline int code_bytes(const PixelLayout& layout) { return layout.depth > 8 ? 2 : 1; }

/// The route of a plan's companion.
struct CompanionRoute {
  bool shares_samples = true;  ///< those of the plan; else they get a separate plane
  Measure measure = Measure::kNothing;
  bool operator==(const CompanionRoute&) const = default;
};

struct Route {
  LumaRoute luma = LumaRoute::kInPlace;
  bool has_statistics = false;
  SampleRoute samples = SampleRoute::kCodes;
  Measure measure = Measure::kNothing;
  bool exposes = false;  ///< the kernel that measures does: the statistics' does not
  std::array<CompanionRoute, sharpness::Plan::kMostCompanions> companions{};

  /// True if a kernel of this stage is launched.
  bool has(Stage stage) const;
  bool operator==(const Route&) const = default;
};

/// The route of frames with this plan. architecture: 10 times the compute capability that the running kernels were
/// compiled for. Only `luma` depends on the placement.
Route route(const sharpness::Plan& plan, const Placement& placement, int architecture);

/// Text for logs, such as "luma packed, statistics, samples in a plane, kernel stream-shorts".
std::string to_string(const Route& route);

}  // namespace framequality::cuda
