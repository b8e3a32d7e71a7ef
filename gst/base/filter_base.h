// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that change pixels: frames in, filtered frames out, in order, from pools both ways.
#pragma once

#include "gst/base/device_base.h"
#include "gst/buffer/frame.h"

#include <memory>
#include <string>

namespace framequality {

/// The format shared by all frames of a stream, from their caps.
struct FilterFormat {
  /// out: GST_VIDEO_FORMAT_ENCODED, with size and stride, if GStreamer has no name for the pixels.
  GstVideoInfo in, out;
  PlaneExtents in_extents, out_extents;
  Memory memory = Memory::kHost;       ///< of input frames
  Memory out_memory = Memory::kHost;   ///< of output frames
  std::uint32_t significant_bits = 0;  ///< of 16-bit words, on both sides; 0: as the format says
  std::string pixels;                  ///< description of nameless pixels in the element's output caps
};

/// Most frames before or after one that its output depends on.
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

/// Has the properties n-threads and stats in addition to those of FqDeviceBase.
struct FqFilterBase {
  FqDeviceBase parent;
  framequality::FilterState* state;
};

/// A subclass sets these and the category in its class_init, with its element metadata; it has the pad templates of
/// the base unless it sets others. One with a different output format sets parse_caps, and overrides
/// GstBaseTransform::transform_caps and chains up.
struct FqFilterBaseClass {
  FqDeviceBaseClass parent_class;
  /// Format of the frames on both sides; false if they cannot be filtered. Default: PictureLayout, the same on both.
  bool (*parse_caps)(GstCaps* in, GstCaps* out, framequality::FilterFormat& format);
  /// A FilterStream for frames of this format. threads: of the CPU, 0 for all cores. May throw what guard() catches.
  std::unique_ptr<framequality::Stream> (*make_stream)(FqFilterBase* self, const framequality::FilterFormat& format,
                                                       int threads);
};

GType fq_filter_base_get_type();

namespace framequality {

inline FqFilterBase* filter_base(gpointer instance) { return static_cast<FqFilterBase*>(instance); }

// Parts of FilterStream that do not depend on its worker.

/// An output buffer with the metadata of `in`; null, with the reason in `flow`, if none is available.
BufferPtr make_output(FqFilterBase* self, const FilterFormat& format, GstBuffer* in, GstFlowReturn& flow);

// filter_pools.cpp
gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query);
gboolean propose_allocation(GstBaseTransform* trans, GstQuery* decided, GstQuery* query);

}  // namespace framequality
