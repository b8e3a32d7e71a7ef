// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all measuring elements: frames in, messages and metadata out. Pixels pass untouched.
#pragma once

#include "algorithms/layout.h"
#include "gst/base/device_base.h"

#include <cstdint>
#include <memory>

namespace framequality {

/// The format shared by all frames of a stream, from its caps.
struct StreamFormat {
  GstVideoInfo info;
  Geometry geometry;
  Memory memory = Memory::kHost;  ///< where frames lie
};

struct MeterSettings {
  GstClockTime interval = 0;
  bool post_messages = true, attach_meta = true;
};

struct MeterState {
  Shared<MeterSettings> settings;
  Shared<double> last_score;

  // The sink pad's stream lock.
  std::uint64_t frames = 0;  ///< measured since start
  GstClockTime last_pts = GST_CLOCK_TIME_NONE;
};

}  // namespace framequality

#define FQ_TYPE_METER_BASE (fq_meter_base_get_type())
#define FQ_METER_BASE(o) (G_TYPE_CHECK_INSTANCE_CAST((o), FQ_TYPE_METER_BASE, FqMeterBase))
#define FQ_METER_BASE_CLASS(c) (G_TYPE_CHECK_CLASS_CAST((c), FQ_TYPE_METER_BASE, FqMeterBaseClass))
#define FQ_METER_BASE_GET_CLASS(o) (G_TYPE_INSTANCE_GET_CLASS((o), FQ_TYPE_METER_BASE, FqMeterBaseClass))

struct FqMeterBase {
  FqDeviceBase parent;
  framequality::MeterState* state;
};

/// A subclass sets these and the category in its class_init, with its element metadata; it has the pad templates of
/// the base.
struct FqMeterBaseClass {
  FqDeviceBaseClass parent_class;
  const char* message_name;  ///< of the message's structure
  const char* meta_name;     ///< of the custom meta, registered
  /// A MeterStream for frames of this format. May throw what guard() catches.
  std::unique_ptr<framequality::Stream> (*make_stream)(FqMeterBase* self, const framequality::StreamFormat& format);
};

GType fq_meter_base_get_type();
