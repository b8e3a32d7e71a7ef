// SPDX-License-Identifier: LGPL-2.1-or-later
// Creation and setup of the measuring element, as any application would do it.
#pragma once

#include "apps/common/owned.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace framequality::apps {

/// Settings of a measurement: properties of sharpnessmeter by the same names.
struct MeterOptions {
  std::string metric = "tenengrad", prefilter = "binomial3", normalize = "none", device = "auto";
  bool noise_correction = false, statistics = false, displacement = false;
  int cuda_device_id = -1;    ///< -1: the first that can be used
  std::string opencl_device;  ///< part of its name; empty: the first that can be used
  int downscale = 1;
  int significant_bits = 0;  ///< 0: as the format says
  int zone_columns = 1, zone_rows = 1;
  std::optional<std::array<int, 4>> roi;
  std::uint64_t interval = 0;  ///< ns
};

/// The values of its property `device`, separated by |; without OpenCL for programs that need doubles.
inline constexpr char kDevices[] = "auto|cpu|cuda|opencl", kDoubleDevices[] = "auto|cpu|cuda";

/// The metadata it attaches to frames.
inline constexpr char kMeterMeta[] = "GstSharpnessMeta";

/// A meter with these options; floating. Throws std::runtime_error if the element is missing, UsageError if an option
/// has a value that the element does not support.
GstElement* make_meter(const MeterOptions& options);

struct MeterFacts {
  std::string device;  ///< the device that it measures on; empty if the element chooses
  std::string plugin_version;
};

/// Makes a meter once to check that it works: throws as make_meter, and std::runtime_error without its device. With
/// device=auto no device is looked for: to begin on a GPU takes a good part of a second.
MeterFacts try_meter(const MeterOptions& options);

}  // namespace framequality::apps
