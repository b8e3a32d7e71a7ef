// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all measuring elements: frames in, messages and metadata out. Pixels pass untouched.
#pragma once

#include "algorithms/layout.h"
#include "gst/base/device_base.h"

#include <memory>

namespace framequality {

/// What the frames of one stream have in common, from its caps.
struct StreamFormat {
  GstVideoInfo info;
  Geometry geometry;
  bool on_device = false;  ///< frames are CUDA memory
};

/// Measures the frames of one stream at one place: the part that each measuring element brings itself.
/// Thread-safety: streaming thread only. Throws cuda::Error (the base may then replay the frame on the CPU) or
/// ElementError.
class Measurer {
 public:
  Measurer() = default;
  Measurer(const Measurer&) = delete;
  Measurer& operator=(const Measurer&) = delete;
  virtual ~Measurer() = default;

  /// Starts measuring a frame with the options as they are now. It stays valid until collected. buffer: the frame's,
  /// for its flags and metadata. False: the frame cannot be measured and passes without a score. If this returns false
  /// or throws, the frame has not been submitted.
  virtual bool submit(const Frame& frame, GstBuffer* buffer) = 0;
  /// Waits for the oldest frame submitted; returns its score and adds the element's own fields to the result. If this
  /// throws, the frame is still the oldest.
  virtual double collect(GstStructure* result) = 0;
  /// Leaves a CUDA device that failed: frames submitted and not collected are measured on the CPU instead, with the
  /// options that they were submitted with, and so are all later ones.
  virtual void move_to_cpu() = 0;
  /// Waits until the device has let go of all frames submitted, and forgets them.
  virtual void drop() = 0;
  /// Adds to the frame last collected what metadata it gets beside the result. buffer is writable.
  virtual void annotate(GstBuffer* buffer) { (void)buffer; }
};

struct MeterState;

}  // namespace framequality

#define FQ_TYPE_METER_BASE (fq_meter_base_get_type())
#define FQ_METER_BASE(o) (G_TYPE_CHECK_INSTANCE_CAST((o), FQ_TYPE_METER_BASE, FqMeterBase))
#define FQ_METER_BASE_CLASS(c) (G_TYPE_CHECK_CLASS_CAST((c), FQ_TYPE_METER_BASE, FqMeterBaseClass))
#define FQ_METER_BASE_GET_CLASS(o) (G_TYPE_INSTANCE_GET_CLASS((o), FQ_TYPE_METER_BASE, FqMeterBaseClass))

struct FqMeterBase {
  FqDeviceBase parent;
  framequality::MeterState* state;
};

/// A subclass sets these and the category in its class_init, beside its element metadata; it has the pad templates of
/// the base.
struct FqMeterBaseClass {
  FqDeviceBaseClass parent_class;
  const char* message_name;  ///< of the message's structure
  const char* meta_name;     ///< of the custom meta, registered
  /// A measurer for frames of this format at this place, up to `depth` of them submitted and not collected. Throws as
  /// Measurer does.
  std::unique_ptr<framequality::Measurer> (*make_measurer)(FqMeterBase* self, const framequality::StreamFormat& format,
                                                           const framequality::Place& place, int depth);
};

GType fq_meter_base_get_type();

/// Posts a warning message, but only once for each caps and `which` (0...31).
void fq_meter_base_warn_once(FqMeterBase* self, unsigned which, const char* text);
