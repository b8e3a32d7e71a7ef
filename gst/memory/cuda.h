// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of frames in GPU memory, shared with neighbours by GStreamer's context handshake (GstCuda).
#pragma once

#include <gst/video/video.h>

#include <mutex>

// Formats that GstCuda has memory for and NVIDIA's elements produce.
#if GST_CHECK_VERSION(1, 26, 0)
#define FQ_CUDA_FORMATS \
  "{ NV12, I420, P010_10LE, P012_LE, P016_LE, Y444, Y444_16LE, GBR, GBR_16LE, RGBA, BGRA, RGBx, BGRx }"
#else
#define FQ_CUDA_FORMATS "{ NV12, I420, P010_10LE, P016_LE, Y444, Y444_16LE, RGBA, BGRA, RGBx, BGRx }"
#endif
#define FQ_CUDA_FEATURE "memory:CUDAMemory"

/// Caps to add to a template: frames in GPU memory, if the build supports them.
#if FQ_HAVE_GSTCUDA
#define FQ_GPU_CAPS ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES(FQ_CUDA_FEATURE, FQ_CUDA_FORMATS)
#else
#define FQ_GPU_CAPS ""
#endif

typedef struct _GstCudaContext GstCudaContext;

namespace framequality {

/// An element's part in the handshake. In a build without GstCuda there are no such frames: functions do nothing, and
/// ensure() throws. Thread-safety: set() and answer() any thread; the others streaming thread.
class CudaContext {
 public:
  CudaContext() = default;
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;
  ~CudaContext() { clear(); }

  /// For GstElement::set_context. id: cuda-device-id.
  void set(GstElement* element, GstContext* context, int id);
  /// For CONTEXT queries; true if answered.
  bool answer(GstElement* element, GstQuery* query);
  /// Ensures a context from now on: that of neighbours or the application, else a new one. Throws ElementError.
  void ensure(GstElement* element, int id);
  /// True if the buffer's memory belongs to this context. Throws ElementError if it is not CUDA memory.
  bool owns(GstBuffer* buffer);
  /// Adopts the context of a buffer's memory.
  void adopt(GstBuffer* buffer);
  /// Makes an ALLOCATION query offer a pool of at least `min` buffers in this context, for frames of its caps: the old
  /// one if it is of this context, else a new one in its place.
  void offer_pool(GstQuery* query, guint min);
  /// Waits for pending writes of the buffer's writer, if GstCuda tracks them (1.24). Before, writers wait.
  static void finish_writes(GstBuffer* buffer);
  void clear();

  /// Makes the context current until pop(); false if there is none, and nothing to pop. Throws ElementError.
  bool push();
  static void pop() noexcept;

 private:
  // Never held while ensure() calls GstCuda: it holds a lock of its own then, and other elements' queries call
  // answer() with that lock held.
  std::mutex mutex_;
  [[maybe_unused]] GstCudaContext* context_ = nullptr;
  /// Where GstCuda expects the context from set() while ensure() runs.
  [[maybe_unused]] GstCudaContext** wanted_ = nullptr;
};

}  // namespace framequality
