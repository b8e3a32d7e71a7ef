// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel filters on frames in GPU memory: read and written where they lie, in whatever CUDA context they belong to.
#include "tests/gst/base/filter_rig.h"
#include "tests/gst/gpu_frames.h"

namespace framequality::test {
namespace {

class FilterCuda : public GpuMemory {
 protected:
  /// The rows of a frame in GPU memory.
  static std::vector<std::uint8_t> downloaded(const std::string& caps, GstBuffer* buffer) {
    const GstVideoInfo plain = video_info(caps), device = video_info(on_device(caps));
    const BufferPtr copy(gst_buffer_new_allocate(nullptr, plain.size, nullptr));
    GstVideoFrame from, to;
    EXPECT_TRUE(gst_video_frame_map(&from, &device, buffer, GST_MAP_READ));
    EXPECT_TRUE(gst_video_frame_map(&to, &plain, copy.get(), GST_MAP_WRITE));
    EXPECT_TRUE(gst_video_frame_copy(&to, &from));
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
    return rows_of(caps, copy.get());
  }
  /// Pulls frame i of total, which must be in GPU memory of this context and what the host twin makes of it.
  static void expect_frame(Rig& rig, const std::string& caps, std::uint64_t i, std::uint64_t total,
                           GstCudaContext* context, std::uint64_t radius = 0) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << i;
    GstMemory* memory = gst_buffer_peek_memory(out.get(), 0);
    ASSERT_TRUE(gst_is_cuda_memory(memory));
    EXPECT_EQ(GST_CUDA_MEMORY_CAST(memory)->context, context);
    std::vector<BufferPtr> frames;
    std::vector<GstBuffer*> window;
    const std::uint64_t first = i - std::min(i, radius);
    for (std::uint64_t n = first; n <= std::min(i + radius, total - 1); ++n) {
      frames.push_back(random_buffer(caps, n));
      window.push_back(frames.back().get());
    }
    EXPECT_TRUE(is_filtered(rig, filtered(caps, window, i - first, quick()), downloaded(caps, out.get())))
        << caps << " " << i;
  }
};

TEST_F(FilterCuda, FramesAreFilteredFromGpuMemoryToGpuMemory) {
  for (const char* format : {"NV12", "I420", "P010_10LE", "P016_LE", "Y444", "Y444_16LE", "RGBA", "BGRx"})
    for (const char* behind : {"0", "3"})
      for (const std::uint64_t radius : {0u, 1u}) {
        SCOPED_TRACE(std::string(format) + " " + behind + " " + std::to_string(radius));
        const std::string caps = video_caps(format, 66, 42);
        GpuFrames frames(context_.get(), caps);
        FilterRig rig{{"in-flight", behind}, {"temporal-radius", std::to_string(radius).c_str()}};
        rig.caps(on_device(caps));
        for (std::uint64_t i = 0; i < 6; ++i) ASSERT_EQ(rig.push(frames.frame(i)), GST_FLOW_OK);
        rig.send(gst_event_new_eos());
        for (std::uint64_t i = 0; i < 6; ++i) expect_frame(rig, caps, i, 6, context_.get(), radius);
        const Heard heard = rig.heard();
        EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
      }
}

TEST_F(FilterCuda, FramesOfAnotherContextAreFilteredInTheirs) {
  const std::string caps = video_caps("NV12", 66, 42);
  const ContextPtr other = new_context();
  ASSERT_TRUE(other);
  GpuFrames first(context_.get(), caps), second(other.get(), caps);
  for (const char* behind : {"0", "3"}) {
    FilterRig rig{{"in-flight", behind}};
    rig.caps(on_device(caps));
    for (std::uint64_t i = 0; i < 9; ++i) ASSERT_EQ(rig.push((i / 3 % 2 ? second : first).frame(i)), GST_FLOW_OK) << i;
    rig.send(gst_event_new_eos());
    for (std::uint64_t i = 0; i < 9; ++i) expect_frame(rig, caps, i, 9, (i / 3 % 2 ? other : context_).get());
    EXPECT_TRUE(rig.heard().errors.empty());
  }
}

TEST_F(FilterCuda, UpstreamIsOfferedGpuMemory) {
  const std::string caps = video_caps("NV12", 66, 42);
  GpuFrames frames(context_.get(), caps);
  FilterRig rig{{"in-flight", "2"}};
  rig.caps(on_device(caps));
  ASSERT_EQ(rig.push(frames.frame(0)), GST_FLOW_OK);
  const CapsPtr c(gst_caps_from_string(on_device(caps).c_str()));
  GstQuery* query = gst_query_new_allocation(c.get(), TRUE);
  ASSERT_TRUE(gst_pad_peer_query(rig.harness()->srcpad, query));
  ASSERT_EQ(gst_query_get_n_allocation_pools(query), 1u);
  GstBufferPool* pool = nullptr;
  guint min = 0;
  gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, &min, nullptr);
  const GpuPoolPtr owned(pool);
  gst_query_unref(query);
  ASSERT_TRUE(pool && GST_IS_CUDA_BUFFER_POOL(pool));
  EXPECT_EQ(GST_CUDA_BUFFER_POOL(pool)->context, context_.get());
  EXPECT_EQ(min, 3u);
}

TEST_F(FilterCuda, StreamChangesBetweenKindsOfMemory) {
  const std::string caps = video_caps("NV12", 66, 42);
  GpuFrames frames(context_.get(), caps);
  FilterRig rig{{"in-flight", "2"}};
  for (std::uint64_t i = 0; i < 9; ++i) {
    const bool device = i / 3 % 2 == 0;
    if (i % 3 == 0) rig.caps(device ? on_device(caps) : caps);
    ASSERT_EQ(rig.push(device ? frames.frame(i) : random_buffer(caps, i)), GST_FLOW_OK);
  }
  rig.send(gst_event_new_eos());
  for (std::uint64_t i = 0; i < 9; ++i) {
    if (i / 3 % 2 == 0)
      expect_frame(rig, caps, i, 9, context_.get());
    else
      EXPECT_TRUE(rig.pull()) << i;
  }
}

TEST_F(FilterCuda, OtherMemoryUnderItsCapsIsOneError) {
  const std::string caps = video_caps("NV12", 66, 42);
  FilterRig rig;
  rig.caps(on_device(caps));
  EXPECT_EQ(rig.push(random_buffer(caps, 1)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
}

}  // namespace
}  // namespace framequality::test
