// SPDX-License-Identifier: LGPL-2.1-or-later
// What a measuring element knows, shared by meter_base.cpp (GObject, caps, events) and meter_frames.cpp (frames).
#pragma once

#include "gst/base/meter_base.h"
#include "gst/buffer/frame.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>

namespace framequality {

struct MeterSettings {
  GstClockTime interval = 0;
  bool post_messages = true, attach_meta = true;
};

struct MeterStats {
  std::uint64_t measured = 0, skipped = 0, replayed = 0, busy_ns = 0;
};

/// A frame between chain and push.
struct Held {
  BufferPtr buffer;
  StructurePtr result;                ///< null: the frame passes unmeasured
  std::optional<MappedFrame> mapped;  ///< of `buffer`
  bool post_message = false, attach_meta = false;
  bool replayed = false;

  void clear() {
    mapped.reset();
    result.reset();
    buffer.reset();
    replayed = false;
  }
};

/// Exists from caps to stop: no half-configured stream can be measured.
struct MeterStream {
  StreamFormat format;
  int in_flight = 0;                        ///< frames that may stay behind when one has been taken
  std::array<Held, kMaxInFlight + 1> held;  ///< `count` of them from `oldest` on, round and round
  std::size_t oldest = 0, count = 0;
  unsigned warned = 0;
  std::unique_ptr<Measurer> measurer;  ///< last, so that the device is done with the frames before they go
};

struct MeterState {
  std::mutex mutex;  ///< of the following, up to the blank line
  MeterSettings settings;
  MeterStats stats;
  double last_score = 0;

  // State changes and the streaming thread, never at once.
  std::unique_ptr<MeterStream> stream;
  std::uint64_t frames = 0;  ///< measured since start
  GstClockTime last_pts = GST_CLOCK_TIME_NONE;
};

inline FqMeterBase* meter(gpointer instance) { return static_cast<FqMeterBase*>(instance); }
inline GstElement* element(FqMeterBase* self) { return GST_ELEMENT_CAST(self); }
inline DeviceState& device(FqMeterBase* self) { return *self->parent.device; }

// --- meter_frames.cpp -----------------------------------------------------------------------------------------------

/// Begins to measure a stream of this format, at the chosen place. Throws ElementError.
void begin_stream(FqMeterBase* self, const StreamFormat& format);
// The vfuncs of FqDeviceBase; finish_frame() gives the frame its score.
void end_stream(FqDeviceBase* base) noexcept;
void discard_frames(FqDeviceBase* base) noexcept;
BufferPtr finish_frame(FqDeviceBase* base);
/// GstBaseTransform::generate_output: takes the queued buffer, hands out what is over the frames in flight.
GstFlowReturn generate_frame(FqMeterBase* self, GstBuffer** out) noexcept;

}  // namespace framequality
