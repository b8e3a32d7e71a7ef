// SPDX-License-Identifier: LGPL-2.1-or-later
// What a filtering element knows, shared by filter_base.cpp (GObject, caps, events), filter_pools.cpp (allocation) and
// filter_frames.cpp (frames).
#pragma once

#include "gst/base/filter_base.h"
#include "gst/buffer/frame.h"

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace framequality {

struct FilterStats {
  std::uint64_t filtered = 0, replayed = 0, busy_ns = 0;
};

/// A frame from when it is taken until no other frame is made of it.
struct TakenFrame {
  BufferPtr in, out;  ///< out: from when it is submitted until it leaves
  std::optional<MappedPicture> source;
  std::optional<MappedCanvas> target;
  bool follows_gap = false;  ///< frames are missing before it
  bool replayed = false;

  void clear() {
    source.reset();
    target.reset();
    in.reset();
    out.reset();
    replayed = false;
  }
};

/// Exists from caps to stop: no half-configured stream can be filtered.
struct FilterStream {
  FilterFormat format;
  int in_flight = 0;  ///< frames that may stay behind, submitted, when one has been taken
  int radius = 0;     ///< frames before and after one that it is made of

  /// Frames by their serial number, round and round.
  std::array<TakenFrame, kMaxInFlight + 2 * denoise::kMaxTemporalRadius + 1> frames;
  /// Serial numbers: of the oldest frame held, the next to leave, the next to be submitted, the next to be taken.
  std::uint64_t first = 0, finished = 0, submitted = 0, taken = 0;
  std::unique_ptr<PixelFilter> filter;  ///< last, so that the device is done with the frames before they go

  TakenFrame& at(std::uint64_t serial) { return frames[serial % frames.size()]; }
  /// Input frames held at once, the one that comes included.
  guint most_held() const { return static_cast<guint>(in_flight + 2 * radius + 1); }
};

struct FilterState {
  std::mutex mutex;  ///< of the following, up to the blank line
  int threads = 0;
  FilterStats stats;

  // State changes and the streaming thread, never at once.
  std::unique_ptr<FilterStream> stream;
  bool missed = false;  ///< the last frame was dropped because it was late
};

inline FqFilterBase* filter_base(gpointer instance) { return static_cast<FqFilterBase*>(instance); }
inline GstElement* element(FqFilterBase* self) { return GST_ELEMENT_CAST(self); }
inline DeviceState& device(FqFilterBase* self) { return *self->parent.device; }

// --- filter_pools.cpp -----------------------------------------------------------------------------------------------

gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query);
gboolean propose_allocation(GstBaseTransform* trans, GstQuery* decided, GstQuery* query);

// --- filter_frames.cpp ----------------------------------------------------------------------------------------------

/// Begins to filter a stream of this format, at the chosen place. Throws ElementError.
void begin_filtering(FqFilterBase* self, const FilterFormat& format);
/// The buffer's memory belongs to another CUDA context than the last one's: filters in that one from now on.
GstFlowReturn change_context(FqFilterBase* self, GstBuffer* buffer);
/// Releases frames that have left and are kept for those after them.
void forget_past(FqFilterBase* self);
// The vfuncs of FqDeviceBase; at the end of the frames taken those that come next are missing.
void end_filtering(FqDeviceBase* base) noexcept;
void drop_taken(FqDeviceBase* base) noexcept;
BufferPtr finish_taken(FqDeviceBase* base);
/// GstBaseTransform::generate_output: takes the queued buffer, pushes what is complete.
GstFlowReturn filter_queued(FqFilterBase* self) noexcept;

}  // namespace framequality
