// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of frames in GPU memory, shared with neighbours by GStreamer's context handshake (GstCuda).
#pragma once

#include <gst/video/video.h>

#include <mutex>

// The formats that GstCuda has memory for and that NVIDIA's elements make.
#if GST_CHECK_VERSION(1, 26, 0)
#define FQ_CUDA_FORMATS \
  "{ NV12, I420, P010_10LE, P012_LE, P016_LE, Y444, Y444_16LE, GBR, GBR_16LE, RGBA, BGRA, RGBx, BGRx }"
#else
#define FQ_CUDA_FORMATS "{ NV12, I420, P010_10LE, P016_LE, Y444, Y444_16LE, RGBA, BGRA, RGBx, BGRx }"
#endif
#define FQ_CUDA_FEATURE "memory:CUDAMemory"

/// Caps to add to a template: frames in GPU memory, where a build can have them.
#if FQ_HAVE_GSTCUDA
#define FQ_GPU_CAPS ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES(FQ_CUDA_FEATURE, FQ_CUDA_FORMATS)
#else
#define FQ_GPU_CAPS ""
#endif

typedef struct _GstCudaContext GstCudaContext;

namespace framequality {

/// An element's part in the handshake. In a build without GstCuda there are no such frames: nothing does anything, and
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
  /// Has a context from now on: the one that neighbours or the application share, else a new one. Throws ElementError.
  void ensure(GstElement* element, int id);
  /// True if the buffer's memory belongs to this context. Throws ElementError if it is not CUDA memory.
  bool owns(GstBuffer* buffer);
  /// Takes the context of a buffer's memory for its own.
  void adopt(GstBuffer* buffer);
  /// Has an ALLOCATION query offer a pool of at least `min` buffers in this context, for frames of its caps: the one
  /// there if it is of this context, else a new one in its place.
  void offer_pool(GstQuery* query, guint min);
  /// Waits for what the buffer's writer has left running, where GstCuda knows of it (1.24). Before, writers wait.
  static void finish_writes(GstBuffer* buffer);
  void clear();

  /// Makes the context current until pop(); false if there is none, and nothing to pop. Throws ElementError.
  bool push();
  static void pop() noexcept;

 private:
  // Never held while GstCuda is called from ensure(): it holds a lock of its own then, and other elements' queries come
  // to answer() with that lock held.
  std::mutex mutex_;
  [[maybe_unused]] GstCudaContext* context_ = nullptr;
  /// Where GstCuda looks for what set() brings while ensure() runs.
  [[maybe_unused]] GstCudaContext** wanted_ = nullptr;
};

}  // namespace framequality
