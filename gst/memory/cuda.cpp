// SPDX-License-Identifier: LGPL-2.1-or-later
// The CUDA context of frames in GPU memory.
#include "gst/memory/cuda.h"

#include "gst/memory/allocation.h"
#include "gst/object/guard.h"

#if FQ_HAVE_GSTCUDA
#define GST_USE_UNSTABLE_API  // what every user of GstCuda says
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudaloader.h>
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
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                       "Frames in GPU memory have no CUDA context: put cudadownload upstream");
}

bool CudaContext::owns(GstBuffer* buffer) {
  GstMemory* memory = gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!gst_is_cuda_memory(memory))
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                       "The caps say memory:CUDAMemory, but a buffer is in other memory: put cudadownload upstream");
  const std::lock_guard lock(mutex_);
  return GST_CUDA_MEMORY_CAST(memory)->context == context_;
}

void CudaContext::adopt(GstBuffer* buffer) {
  const std::lock_guard lock(mutex_);
  GstCudaContext* context = GST_CUDA_MEMORY_CAST(gst_buffer_peek_memory(buffer, 0))->context;
  gst_object_replace(reinterpret_cast<GstObject**>(&context_), GST_OBJECT_CAST(context));
}

void CudaContext::offer_pool(GstQuery* query, guint min) {
  GstCaps* caps = nullptr;
  GstVideoInfo info;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (!caps || !gst_video_info_from_caps(&info, caps)) return;
  GstCudaContext* context;
  {
    const std::lock_guard lock(mutex_);
    if (!context_) return;
    context = static_cast<GstCudaContext*>(gst_object_ref(context_));
  }
  GstBufferPool* pool = nullptr;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  const bool fits = pool && GST_IS_CUDA_BUFFER_POOL(pool) && GST_CUDA_BUFFER_POOL(pool)->context == context;
  gst_clear_object(&pool);
  if (!fits) {
    pool = gst_cuda_buffer_pool_new(context);
    GstStructure* config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)), min, 0);
    gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
    if (gst_buffer_pool_set_config(pool, config)) {
      guint size = 0;
      config = gst_buffer_pool_get_config(pool);  // now includes the size of a frame
      gst_buffer_pool_config_get_params(config, nullptr, &size, nullptr, nullptr);
      gst_structure_free(config);
      set_first_pool(query, pool, size, min, 0);
    }
    gst_object_unref(pool);
  }
  gst_object_unref(context);
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

bool CudaContext::push() {
  const std::lock_guard lock(mutex_);
  if (!context_) return false;
  if (!gst_cuda_context_push(context_))
    throw ElementError(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED, "The CUDA context of the frames no longer exists");
  return true;
}

void CudaContext::pop() noexcept { gst_cuda_context_pop(nullptr); }

#else

void CudaContext::set(GstElement*, GstContext*, int) {}
bool CudaContext::answer(GstElement*, GstQuery*) { return false; }
void CudaContext::ensure(GstElement*, int) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                     "This build cannot read frames in GPU memory: put cudadownload upstream");
}
bool CudaContext::owns(GstBuffer*) { return true; }
void CudaContext::adopt(GstBuffer*) {}
void CudaContext::offer_pool(GstQuery*, guint) {}
void CudaContext::finish_writes(GstBuffer*) {}
void CudaContext::clear() {}
bool CudaContext::push() { return false; }
void CudaContext::pop() noexcept {}

#endif

}  // namespace framequality
