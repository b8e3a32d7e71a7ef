// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in GPU memory, made of known images.
#pragma once

#include "cuda/device.h"
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/support/gpu.h"

#define GST_USE_UNSTABLE_API  // what every user of GstCuda says
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

#include <cstring>

namespace framequality::test {

using ContextPtr = std::unique_ptr<GstCudaContext, Free<gst_object_unref>>;
using GpuPoolPtr = std::unique_ptr<GstBufferPool, Free<gst_object_unref>>;

inline std::string on_device(std::string caps) {
  return caps.insert(std::strlen("video/x-raw"), "(" GST_CAPS_FEATURE_MEMORY_CUDA_MEMORY ")");
}

/// Copies of pictures in GPU memory of one context.
class GpuFrames {
 public:
  GpuFrames(GstCudaContext* context, const std::string& caps)
      : caps_(caps), info_(video_info(on_device(caps))), pool_(gst_cuda_buffer_pool_new(context)) {
    const CapsPtr c(gst_caps_from_string(on_device(caps).c_str()));
    GstStructure* config = gst_buffer_pool_get_config(pool_.get());
    gst_buffer_pool_config_set_params(config, c.get(), static_cast<guint>(info_.size), 0, 0);
    EXPECT_TRUE(gst_buffer_pool_set_config(pool_.get(), config));
    EXPECT_TRUE(gst_buffer_pool_set_active(pool_.get(), TRUE));
  }
  ~GpuFrames() { gst_buffer_pool_set_active(pool_.get(), FALSE); }
  GpuFrames(const GpuFrames&) = delete;
  GpuFrames& operator=(const GpuFrames&) = delete;

  /// random_buffer(caps, i) on the device.
  BufferPtr frame(std::uint64_t i) {
    GstBuffer* buffer = nullptr;
    EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool_.get(), &buffer, nullptr), GST_FLOW_OK);
    const BufferPtr picture = random_buffer(caps_, i);
    const GstVideoInfo plain = video_info(caps_);
    GstVideoFrame from, to;
    EXPECT_TRUE(gst_video_frame_map(&from, &plain, picture.get(), GST_MAP_READ));
    EXPECT_TRUE(gst_video_frame_map(&to, &info_, buffer, GST_MAP_WRITE));
    EXPECT_TRUE(gst_video_frame_copy(&to, &from));
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
    GST_BUFFER_PTS(buffer) = gst_util_uint64_scale(i, GST_SECOND, 30);
    return BufferPtr(buffer);
  }
  double score(std::uint64_t i) const { return expected(caps_, random_buffer(caps_, i).get()).score; }

 private:
  std::string caps_;
  GstVideoInfo info_;
  GpuPoolPtr pool_;
};

/// A CUDA context to make frames in; the test is skipped without a GPU.
class GpuMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    if (IsSkipped() || HasFatalFailure()) return;
    ASSERT_TRUE(gst_cuda_load_library());
    gst_cuda_memory_init_once();
    context_ = new_context();
    ASSERT_TRUE(context_);
  }
  static ContextPtr new_context() {
    return ContextPtr(gst_cuda_context_new(static_cast<guint>(cuda::find_device().id)));
  }
  ContextPtr context_;
};

}  // namespace framequality::test
