// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that compute on a device: where, in whose CUDA context, and with how many frames in flight.
#pragma once

#include "device/backend.h"
#include "device/error.h"
#include "engine/session.h"
#include "gst/base/device_choice.h"
#include "gst/memory/cuda.h"
#include "gst/object/guard.h"
#include "gst/object/owned.h"
#include "gst/object/shared.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace framequality {

inline constexpr int kMaxInFlight = 16;

struct DeviceSettings {
  DeviceChoice device = DeviceChoice::kAuto;
  int cuda_device_id = -1;
  std::string opencl_device;
  int in_flight = 0;
  std::uint32_t significant_bits = 0;  ///< as it is now, whatever the stream was made for
};

/// What has been done since start.
struct WorkStats {
  std::uint64_t done = 0;      ///< frames measured or filtered
  std::uint64_t skipped = 0;   ///< frames that passed unmeasured
  std::uint64_t replayed = 0;  ///< of `done`, elsewhere after a fault of the device
  std::uint64_t moves = 0;     ///< between the CPU and a device, to find the cheaper one
  std::uint64_t busy_ns = 0;   ///< time spent on them
};

class Stream;

struct DeviceState {
  DeviceState();
  ~DeviceState();
  DeviceState(const DeviceState&) = delete;
  DeviceState& operator=(const DeviceState&) = delete;

  Shared<DeviceSettings> settings;
  Shared<WorkStats> stats;

  std::mutex mutex;            ///< of the following, up to the blank line
  std::optional<Place> place;  ///< chosen on the way to READY
  GstClockTime latency = 0;    ///< of the frames held back
  bool weighs = false;         ///< the place may change: the CPU at first, or the device that `found` finds
  std::optional<Place> found;  ///< that device, once it has been looked for

  CudaContext context;  ///< of frames in GPU memory

  // The sink pad's stream lock.
  std::unique_ptr<Stream> stream;      ///< from caps to stop
  std::uint32_t significant_bits = 0;  ///< of the stream's 16-bit words; 0: as the format says
  DeviceSettings chosen_for;
  const char* chosen_despite = nullptr;            ///< what unsupported_reason() said then
  bool (*chosen_among)(const Backend&) = nullptr;  ///< what had to be true then
  CapsPtr failed;                                  ///< the last caps, if there was an error for them
  bool wants_pool = false;                         ///< upstream asked the CPU for a pool and got none
  bool renegotiates = false;                       ///< it is to ask again before the next frame
  bool broken = false;  ///< there was an error where no flow could say so; until a flush or a new start
};

}  // namespace framequality

#define FQ_TYPE_DEVICE_BASE (fq_device_base_get_type())
#define FQ_DEVICE_BASE_CLASS(c) (G_TYPE_CHECK_CLASS_CAST((c), FQ_TYPE_DEVICE_BASE, FqDeviceBaseClass))
#define FQ_DEVICE_BASE_GET_CLASS(o) (G_TYPE_INSTANCE_GET_CLASS((o), FQ_TYPE_DEVICE_BASE, FqDeviceBaseClass))

/// Has the properties device, cuda-device-id, in-flight, active-device and significant-bits. Answers CONTEXT and
/// LATENCY queries, keeps frames in GPU memory out where no GPU works, and drains before serialised events and queries.
/// Makes the stream anew for other caps, and other significant bits.
struct FqDeviceBase {
  GstBaseTransform parent;
  framequality::DeviceState* device;
};

/// A subclass sets these in its class_init. Streaming thread, or state changes when it is at rest.
struct FqDeviceBaseClass {
  GstBaseTransformClass parent_class;
  GstDebugCategory* category;  ///< for the bases' log lines
  /// Whether a backend has the worker that this element needs; null: all do.
  bool (*makes)(const framequality::Backend& backend);
  /// With device=auto the CPU may be the cheaper one, so that streams begin there; false: a device is, if there is one.
  bool weighs;
  /// The same for what is asked for now, where that differs; asked when unsupported_reason() is. Null: `makes` says
  /// all.
  bool (*(*makes_now)(FqDeviceBase* self))(const framequality::Backend& backend);
  /// Why only the CPU can do what is asked for, as a literal, or null. Asked on the way to READY and to PAUSED, and for
  /// caps before; any thread. Null: all can, always.
  const char* (*unsupported_reason)(FqDeviceBase* self);
  /// A stream for frames of these caps, at the chosen place; null: they are not supported. May throw what guard()
  /// takes.
  std::unique_ptr<framequality::Stream> (*make_stream)(FqDeviceBase* self, GstCaps* in, GstCaps* out);
};

GType fq_device_base_get_type();

namespace framequality {

inline FqDeviceBase* device_base(gpointer instance) { return static_cast<FqDeviceBase*>(instance); }
inline GstElement* element(FqDeviceBase* self) { return GST_ELEMENT_CAST(self); }
inline GstDebugCategory* category(FqDeviceBase* self) { return FQ_DEVICE_BASE_GET_CLASS(self)->category; }

/// Where frames are worked on now. Streaming thread or state changes.
inline Place place_of(FqDeviceBase* self) { return self->device->place.value_or(cpu_place()); }

/// Pushes a frame that GstBaseTransform does not push: as there, POSITION queries are answered with its end.
GstFlowReturn push_frame(FqDeviceBase* self, BufferPtr buffer);

/// Pushes all frames held.
GstFlowReturn drain_frames(FqDeviceBase* self) noexcept;

/// True if frames of these caps come at a rate that tells how long so many of them take.
bool has_frame_rate(const GstVideoInfo& info);

/// Frames that may be in flight in a stream like this: as many as asked for where that is of use and the frame rate
/// tells how long it takes.
int frames_in_flight(FqDeviceBase* self, const GstVideoInfo& info);

/// Sets the latency of `frames` held back and tells the pipeline if it is another one. 0 without a frame rate.
void set_latency(FqDeviceBase* self, const GstVideoInfo& info, int frames);

}  // namespace framequality
