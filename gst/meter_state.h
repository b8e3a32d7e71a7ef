// SPDX-License-Identifier: LGPL-2.1-or-later
// What a measuring element knows, shared by meter_base.cpp (GObject, caps, events) and meter_frames.cpp (frames).
#pragma once

#include "gst/cuda_context.h"
#include "gst/enums.h"
#include "gst/frame.h"
#include "gst/guard.h"
#include "gst/meter_base.h"
#include "gst/owned.h"

#include <array>
#include <memory>
#include <mutex>
#include <optional>

namespace framequality {

inline constexpr int kMaxInFlight = 16;

struct MeterSettings {
  DeviceChoice device = DeviceChoice::kAuto;
  int cuda_device_id = -1;
  int in_flight = 0;
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
  std::optional<Place> place;  ///< chosen on the way to READY
  MeterStats stats;
  double last_score = 0;
  GstClockTime latency = 0;  ///< of the frames in flight

  CudaContext context;  ///< of frames in GPU memory

  // State changes and the streaming thread, never at once.
  MeterSettings chosen_for;
  std::unique_ptr<MeterStream> stream;
  CapsPtr failed;            ///< the last caps, if there was an error for them
  bool broken = false;       ///< there was an error where no flow could say so; until a flush or a new start
  std::uint64_t frames = 0;  ///< measured since start
  GstClockTime last_pts = GST_CLOCK_TIME_NONE;
};

// --- meter_base.cpp -------------------------------------------------------------------------------------------------

inline FqMeterBase* meter(gpointer instance) { return static_cast<FqMeterBase*>(instance); }
inline GstElement* element(FqMeterBase* self) { return GST_ELEMENT_CAST(self); }
inline GstDebugCategory* category(FqMeterBase* self) { return FQ_METER_BASE_GET_CLASS(self)->category; }

void set_place(FqMeterBase* self, std::optional<Place> place);
/// Sets the latency of `in_flight` frames and tells the pipeline if it is another one.
void set_latency(FqMeterBase* self, const GstVideoInfo& info, int in_flight);

// --- meter_frames.cpp -----------------------------------------------------------------------------------------------

/// Begins to measure a stream of this format, at the chosen place. Throws ElementError.
void begin_stream(FqMeterBase* self, const StreamFormat& format);
/// Ends it: the device is done with the frames before they are released. Frames in flight are dropped.
void end_stream(FqMeterBase* self) noexcept;
/// Drops the frames in flight without a word; the stream goes on.
void discard_frames(FqMeterBase* self) noexcept;
/// Pushes all frames in flight, each with its score.
GstFlowReturn drain_frames(FqMeterBase* self) noexcept;
/// GstBaseTransform::generate_output: takes the queued buffer, hands out what is over the frames in flight.
GstFlowReturn generate_frame(FqMeterBase* self, GstBuffer** out) noexcept;

}  // namespace framequality
