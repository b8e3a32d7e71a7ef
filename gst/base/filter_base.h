// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that change pixels: frames in, filtered frames out, in order, from pools both ways.
#pragma once

#include "algorithms/denoise/filter.h"
#include "algorithms/picture.h"
#include "gst/base/device_base.h"
#include "gst/buffer/frame.h"

#include <array>
#include <cstddef>
#include <memory>
#include <span>

namespace framequality {

/// What the frames of one stream have in common, from their caps.
struct FilterFormat {
  /// out: GST_VIDEO_FORMAT_ENCODED, with size and stride, where GStreamer has no name for the pixels.
  GstVideoInfo in, out;
  PlaneExtents in_extents, out_extents;
  bool on_device = false;      ///< frames come in CUDA memory
  bool out_on_device = false;  ///< and leave in it
};

/// A frame to be filtered: the frames around it, what it is made of, and where it goes.
struct FilterTask {
  std::array<denoise::Source, 2 * denoise::kMaxTemporalRadius + 1> frames;
  std::size_t count = 0, center = 0;
  Canvas out;
  int fields = 1;  ///< 2: two interleaved fields, pictures of their own

  std::span<const denoise::Source> window() const { return std::span(frames).first(count); }
};

/// Filters the frames of one stream at one place: the part that each element brings itself.
/// Thread-safety: streaming thread only. Throws cuda::Error (the base may then filter the frame on the CPU) or
/// ElementError.
class PixelFilter {
 public:
  PixelFilter() = default;
  PixelFilter(const PixelFilter&) = delete;
  PixelFilter& operator=(const PixelFilter&) = delete;
  /// Waits until the device has let go of all frames submitted.
  virtual ~PixelFilter() = default;

  /// Starts filtering a frame with the options as they are now. All memory of the task stays valid until it is
  /// collected. If this throws, the frame has not been submitted.
  virtual void submit(const FilterTask& task) = 0;
  /// Waits until the oldest frame submitted is complete. If this throws, it is still the oldest.
  virtual void collect() = 0;
  /// Leaves a CUDA device that failed: frames submitted and not collected are filtered on the CPU instead, with the
  /// options that they were submitted with, and so are all later ones.
  virtual void move_to_cpu() = 0;
  /// Waits until the device has let go of all frames submitted, and forgets them.
  virtual void drop() = 0;
};

struct FilterState;

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
  /// Frames before and after one that it is made of, 0...kMaxTemporalRadius; asked when a stream begins. Null: 0.
  int (*temporal_radius)(FqFilterBase* self);
  /// Format of the frames on both sides; false if they cannot be filtered. Unless set: pictures, the same on both.
  bool (*parse_caps)(GstCaps* in, GstCaps* out, framequality::FilterFormat& format);
  /// A filter for frames of this format at this place, up to `depth` of them submitted and not collected. threads: of
  /// the CPU, 0 for all cores. Throws as PixelFilter does.
  std::unique_ptr<framequality::PixelFilter> (*make_filter)(FqFilterBase* self,
                                                            const framequality::FilterFormat& format,
                                                            const framequality::Place& place, int depth, int threads);
};

GType fq_filter_base_get_type();
