// SPDX-License-Identifier: LGPL-2.1-or-later
// The element that measures, found and set up as any application would.
#pragma once

#include "apps/scan/options.h"

#include <gst/gst.h>

#include <memory>
#include <string>

namespace framequality::scan {

struct Unref {
  void operator()(void* object) const { gst_object_unref(object); }
  void operator()(GstCaps* caps) const { gst_caps_unref(caps); }
  void operator()(GstSample* sample) const { gst_sample_unref(sample); }
  void operator()(GstMessage* message) const { gst_message_unref(message); }
};
template <class T>
using Owned = std::unique_ptr<T, Unref>;

/// The metadata it attaches to frames.
inline constexpr char kMeterMeta[] = "GstSharpnessMeta";

/// A meter with these options; floating. Throws std::runtime_error if there is no such element, UsageError if an option
/// has a value that the element does not know.
GstElement* make_meter(const MeterOptions& options);

struct MeterFacts {
  std::string device;  ///< cpu or cuda: what it measures on
  std::string plugin_version;
};

/// Makes a meter once to see that it works: as make_meter, and std::runtime_error without the device asked for.
MeterFacts try_meter(const MeterOptions& options);

}  // namespace framequality::scan
