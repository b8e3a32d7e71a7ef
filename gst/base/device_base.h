// SPDX-License-Identifier: LGPL-2.1-or-later
// The base of all elements that compute on a device: its place, CUDA context, and number of frames in flight.
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
  std::uint32_t significant_bits = 0;  ///< the current value, whatever the stream was made for
};

/// Counts since start.
struct WorkStats {
  std::uint64_t done = 0;      ///< frames measured or filtered
  std::uint64_t skipped = 0;   ///< frames that passed unmeasured
  std::uint64_t replayed = 0;  ///< of `done`, repeated elsewhere after a fault of the device
  std::uint64_t moves = 0;     ///< between the CPU and a device, to find the cheaper one
  std::uint64_t busy_ns = 0;   ///< processing time
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
  bool weighs = false;         ///< the place may change: first the CPU, or the device in `found`
  std::optional<Place> found;  ///< that device, once found

  CudaContext context;  ///< of frames in GPU memory

  // The sink pad's stream lock.
  std::unique_ptr<Stream> stream;      ///< from caps to stop
  std::uint32_t significant_bits = 0;  ///< of the stream's 16-bit words; 0: as the format says
  DeviceSettings chosen_for;
  const char* chosen_despite = nullptr;            ///< result of unsupported_reason() then
  bool (*chosen_among)(const Backend&) = nullptr;  ///< required of backends then
  CapsPtr failed;                                  ///< the last caps, if they caused an error
  bool wants_pool = false;                         ///< upstream asked the CPU for a pool and got none
  bool renegotiates = false;                       ///< asks upstream for new allocation before the next frame
  bool broken = false;  ///< an error was posted without a flow to return; until a flush or a new start
};

}  // namespace framequality

#define FQ_TYPE_DEVICE_BASE (fq_device_base_get_type())
#define FQ_DEVICE_BASE_CLASS(c) (G_TYPE_CHECK_CLASS_CAST((c), FQ_TYPE_DEVICE_BASE, FqDeviceBaseClass))
#define FQ_DEVICE_BASE_GET_CLASS(o) (G_TYPE_INSTANCE_GET_CLASS((o), FQ_TYPE_DEVICE_BASE, FqDeviceBaseClass))

/// Has the properties device, cuda-device-id, in-flight, active-device and significant-bits. Answers CONTEXT and
/// LATENCY queries, refuses frames in GPU memory where no GPU is used, and drains before serialised events and queries.
/// Replaces the stream for other caps, and other significant bits.
struct FqDeviceBase {
  GstBaseTransform parent;
  framequality::DeviceState* device;
};

/// A subclass sets these in its class_init. Called in the streaming thread, or in state changes at rest.
struct FqDeviceBaseClass {
  GstBaseTransformClass parent_class;
  GstDebugCategory* category;  ///< for the bases' log lines
  /// Whether a backend has the worker that this element needs; null: all do.
  bool (*makes)(const framequality::Backend& backend);
  /// With device=auto the CPU may be the cheaper one, so that streams begin there; false: on a device, if there is one.
  bool weighs;
  /// The same for the current settings, if different; called when unsupported_reason() is. Null: `makes` is
  /// sufficient.
  bool (*(*makes_now)(FqDeviceBase* self))(const framequality::Backend& backend);
  /// Why only the CPU supports the current settings, as a literal, or null. Called on the way to READY and PAUSED, and
  /// before that for caps; any thread. Null: all devices do, always.
  const char* (*unsupported_reason)(FqDeviceBase* self);
  /// A stream for frames of these caps, at the chosen place; null: they are not supported. May throw what guard()
  /// catches.
  std::unique_ptr<framequality::Stream> (*make_stream)(FqDeviceBase* self, GstCaps* in, GstCaps* out);
};

GType fq_device_base_get_type();

namespace framequality {

inline FqDeviceBase* device_base(gpointer instance) { return static_cast<FqDeviceBase*>(instance); }
inline GstElement* element(FqDeviceBase* self) { return GST_ELEMENT_CAST(self); }
inline GstDebugCategory* category(FqDeviceBase* self) { return FQ_DEVICE_BASE_GET_CLASS(self)->category; }

/// The current place. Streaming thread or state changes.
inline Place place_of(FqDeviceBase* self) { return self->device->place.value_or(cpu_place()); }

/// Pushes a frame in place of GstBaseTransform: as there, POSITION queries are answered with its end.
GstFlowReturn push_frame(FqDeviceBase* self, BufferPtr buffer);

/// Pushes all frames held.
GstFlowReturn drain_frames(FqDeviceBase* self) noexcept;

/// True if frames of these caps have a fixed rate, which gives the duration of several.
bool has_frame_rate(const GstVideoInfo& info);

/// Frames that may be in flight in a stream like this: the requested number where it is useful and the frame rate
/// is fixed.
int frames_in_flight(FqDeviceBase* self, const GstVideoInfo& info);

/// Sets the latency of `frames` held back and reports changes to the pipeline. 0 without a frame rate.
void set_latency(FqDeviceBase* self, const GstVideoInfo& info, int frames);

}  // namespace framequality
