// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of frames in GPU memory.
#include "gst/cuda_context.h"

#include "gst/guard.h"

#if FQ_HAVE_GSTCUDA
#define GST_USE_UNSTABLE_API  // what every user of GstCuda says
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>
#endif

namespace framequality {

#if FQ_HAVE_GSTCUDA

void CudaContext::set(GstElement* element, GstContext* context, int id) {
  if (!gst_cuda_load_library()) return;
  const std::lock_guard lock(mutex_);
  gst_cuda_handle_set_context(element, context, id, wanted_ ? wanted_ : &context_);
}

bool CudaContext::answer(GstElement* element, GstQuery* query) {
  const std::lock_guard lock(mutex_);
  return context_ && gst_cuda_handle_context_query(element, query, context_);
}

void CudaContext::ensure(GstElement* element, int id) {
  GstCudaContext* found = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (context_) return;
    wanted_ = &found;
  }
  const bool ok = gst_cuda_load_library() && gst_cuda_ensure_element_context(element, id, &found);
  {
    const std::lock_guard lock(mutex_);
    wanted_ = nullptr;
    context_ = found;
  }
  if (!ok)
    throw ElementError(
        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
        "There is no CUDA context for frames in GPU memory; cudadownload in front brings them to the CPU");
}

bool CudaContext::owns(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!gst_is_cuda_memory(memory))
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                       "The caps say memory:CUDAMemory, but a buffer holds other memory");
  const std::lock_guard lock(mutex_);
  return GST_CUDA_MEMORY_CAST(memory)->context == context_;
}

void CudaContext::adopt(GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  GstCudaContext* context = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context;
  gst_object_replace(reinterpret_cast<GstObject**>(&context_), GST_OBJECT_CAST(context));
}

void CudaContext::finish_writes(GstBuffer* buffer) {
#if GST_CHECK_VERSION(1, 24, 0)
  gst_cuda_memory_sync(GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0)));
#else
  (void)buffer;
#endif
}

void CudaContext::clear() {
  const std::lock_guard lock(mutex_);
  gst_clear_object(&context_);
}

CudaContext::Scope::Scope(CudaContext& context) {
  const std::lock_guard lock(context.mutex_);
  if (!context.context_) return;
  pushed_ = gst_cuda_context_push(context.context_);
  if (!pushed_)
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "The CUDA context of the frames is gone");
}

CudaContext::Scope::~Scope() {
  if (pushed_) gst_cuda_context_pop(nullptr);
}

#else

void CudaContext::set(GstElement*, GstContext*, int) {}
bool CudaContext::answer(GstElement*, GstQuery*) { return false; }
void CudaContext::ensure(GstElement*, int) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND, "This build cannot read frames in GPU memory");
}
bool CudaContext::owns(GstBuffer*) { return true; }
void CudaContext::adopt(GstBuffer*) {}
void CudaContext::finish_writes(GstBuffer*) {}
void CudaContext::clear() {}
CudaContext::Scope::Scope(CudaContext&) {}
CudaContext::Scope::~Scope() {}

#endif

}  // namespace framequality
