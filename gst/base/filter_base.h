// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that change pixels: frames in, filtered frames out, in order, from pools both ways.
#pragma once

#include "gst/base/device_base.h"
#include "gst/buffer/frame.h"

#include <memory>
#include <string>

namespace framequality {

/// What the frames of one stream have in common, from their caps.
struct FilterFormat {
  /// out: GST_VIDEO_FORMAT_ENCODED, with size and stride, where GStreamer has no name for the pixels.
  GstVideoInfo in, out;
  PlaneExtents in_extents, out_extents;
  Memory memory = Memory::kHost;       ///< that frames come in
  Memory out_memory = Memory::kHost;   ///< and leave in
  std::uint32_t significant_bits = 0;  ///< of 16-bit words, on both sides; 0: as the format says
  std::string pixels;                  ///< what the element's output caps say of pixels without a name
};

/// Frames before and after one that it is made of, at most.
inline constexpr int kMaxRadius = 4;

struct FilterSettings {
  int threads = 0;
};

struct FilterState {
  Shared<FilterSettings> settings;

  // The sink pad's stream lock.
  FilterFormat format;  ///< of the stream
  bool missed = false;  ///< the last frame was dropped because it was late
};

}  // namespace framequality

#define FQ_TYPE_FILTER_BASE (fq_filter_base_get_type())
#define FQ_FILTER_BASE_CLASS(c) (G_TYPE_CHECK_CLASS_CAST((c), FQ_TYPE_FILTER_BASE, FqFilterBaseClass))
#define FQ_FILTER_BASE_GET_CLASS(o) (G_TYPE_INSTANCE_GET_CLASS((o), FQ_TYPE_FILTER_BASE, FqFilterBaseClass))

/// Has the properties n-threads and stats beside those of FqDeviceBase.
struct FqFilterBase {
  FqDeviceBase parent;
  framequality::FilterState* state;
};

/// A subclass sets these and the category in its class_init, beside its element metadata; it has the pad templates of
/// the base unless it brings others. One whose output has another format sets parse_caps, and overrides
/// GstBaseTransform::transform_caps and chains up.
struct FqFilterBaseClass {
  FqDeviceBaseClass parent_class;
  /// Format of the frames on both sides; false if they cannot be filtered. Unless set: pictures, the same on both.
  bool (*parse_caps)(GstCaps* in, GstCaps* out, framequality::FilterFormat& format);
  /// A FilterStream for frames of this format. threads: of the CPU, 0 for all cores. May throw what guard() takes.
  std::unique_ptr<framequality::Stream> (*make_stream)(FqFilterBase* self, const framequality::FilterFormat& format,
                                                       int threads);
};

GType fq_filter_base_get_type();

namespace framequality {

inline FqFilterBase* filter_base(gpointer instance) { return static_cast<FqFilterBase*>(instance); }

// What FilterStream does with every frame, whatever is made of it.

/// An output buffer with the metadata of `in`; null and why in `flow` if there is none to be had.
BufferPtr make_output(FqFilterBase* self, const FilterFormat& format, GstBuffer* in, GstFlowReturn& flow);

// filter_pools.cpp
gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query);
gboolean propose_allocation(GstBaseTransform* trans, GstQuery* decided, GstQuery* query);

}  // namespace framequality
