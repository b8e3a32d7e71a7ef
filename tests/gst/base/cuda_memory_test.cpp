// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in GPU memory: measured where they lie, passed on as they are, in whatever CUDA context they belong to.
#include "tests/gst/gpu_frames.h"

namespace framequality::test {
namespace {

class CudaMemory : public GpuMemory {
 protected:
  /// Pulls frame i, which must be `in` itself and have its score.
  static void expect_frame(Rig& rig, const GpuFrames& frames, std::uint64_t i, const GstBuffer* in) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << i;
    EXPECT_EQ(out.get(), in) << i;
    EXPECT_EQ(meta_score(out.get()), frames.score(i)) << i;
  }
};

TEST_F(CudaMemory, FramesAreScoredWhereTheyLieAndPassUncopied) {
  for (const char* format : {"NV12", "I420", "P010_10LE", "P016_LE", "Y444", "Y444_16LE", "RGBA", "BGRx"})
    for (const char* behind : {"0", "3"}) {
      SCOPED_TRACE(std::string(format) + " " + behind);
      const std::string caps = video_caps(format, 322, 242);
      GpuFrames frames(context_.get(), caps);
      Rig rig{{"in-flight", behind}};
      rig.caps(on_device(caps));
      std::vector<const GstBuffer*> in;
      for (std::uint64_t i = 0; i < 8; ++i) {
        BufferPtr buffer = frames.frame(i);
        in.push_back(buffer.get());
        ASSERT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
      }
      EXPECT_EQ(gst_harness_buffers_received(rig.harness()), std::string(behind) == "0" ? 8u : 5u);
      gst_harness_push_event(rig.harness(), gst_event_new_eos());
      for (std::uint64_t i = 0; i < 8; ++i) expect_frame(rig, frames, i, in[i]);
      const Heard heard = rig.heard();
      EXPECT_EQ(heard.results.size(), 8u);
      for (const auto& s : heard.results) EXPECT_EQ(text(s.get(), "device"), "cuda");
      EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
    }
}

TEST_F(CudaMemory, SharedFramesKeepTheirMemory) {
  const std::string caps = video_caps("NV12", 640, 480);
  GpuFrames frames(context_.get(), caps);
  Rig rig{{"in-flight", "1"}};
  rig.caps(on_device(caps));
  const BufferPtr held = frames.frame(1);
  ASSERT_EQ(rig.push(BufferPtr(gst_buffer_ref(held.get()))), GST_FLOW_OK);
  gst_harness_push_event(rig.harness(), gst_event_new_eos());
  const BufferPtr out = rig.pull();
  ASSERT_TRUE(out);
  EXPECT_NE(out.get(), held.get());
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0));
  EXPECT_EQ(meta_score(out.get()), frames.score(1));
}

TEST_F(CudaMemory, FramesOfAnotherContextAreMeasuredInTheirs) {
  const std::string caps = video_caps("RGBA", 320, 240);
  const ContextPtr other = new_context();
  ASSERT_TRUE(other);
  GpuFrames first(context_.get(), caps), second(other.get(), caps);
  for (const char* behind : {"0", "3"}) {
    Rig rig{{"in-flight", behind}};
    rig.caps(on_device(caps));
    std::vector<const GstBuffer*> in;
    for (std::uint64_t i = 0; i < 12; ++i) {
      BufferPtr buffer = (i / 5 % 2 ? second : first).frame(i);
      in.push_back(buffer.get());
      ASSERT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
    }
    gst_harness_push_event(rig.harness(), gst_event_new_eos());
    for (std::uint64_t i = 0; i < 12; ++i) expect_frame(rig, first, i, in[i]);
    EXPECT_TRUE(rig.heard().errors.empty());
  }
}

TEST_F(CudaMemory, ContextIsTakenFromNeighboursAndGivenToThem) {
  const std::string caps = video_caps("NV12", 320, 240);
  GpuFrames frames(context_.get(), caps);
  Rig rig;
  GstContext* shared = gst_context_new_cuda_context(context_.get());
  gst_element_set_context(rig.element(), shared);
  gst_context_unref(shared);
  rig.caps(on_device(caps));
  BufferPtr buffer = frames.frame(1);
  EXPECT_EQ(rig.score(std::move(buffer)), frames.score(1));
  for (GstPad* from : {rig.harness()->srcpad, rig.harness()->sinkpad}) {
    GstQuery* query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
    EXPECT_TRUE(gst_pad_peer_query(from, query));
    GstContext* answer = nullptr;
    gst_query_parse_context(query, &answer);
    ASSERT_TRUE(answer);
    GstCudaContext* context = nullptr;
    gst_structure_get(gst_context_get_structure(answer), GST_CUDA_CONTEXT_TYPE, GST_TYPE_CUDA_CONTEXT, &context,
                      nullptr);
    EXPECT_EQ(context, context_.get());
    if (context) gst_object_unref(context);
    gst_query_unref(query);
  }
}

TEST_F(CudaMemory, StreamChangesBetweenKindsOfMemory) {
  const std::string caps = video_caps("NV12", 320, 240);
  GpuFrames frames(context_.get(), caps);
  Rig rig{{"in-flight", "2"}};
  for (std::uint64_t i = 0; i < 12; ++i) {
    const bool device = i / 4 % 2 == 0;
    if (i % 4 == 0) rig.caps(device ? on_device(caps) : caps);
    ASSERT_EQ(rig.push(device ? frames.frame(i) : random_buffer(caps, i)), GST_FLOW_OK);
  }
  gst_harness_push_event(rig.harness(), gst_event_new_eos());
  for (std::uint64_t i = 0; i < 12; ++i) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << i;
    EXPECT_EQ(meta_score(out.get()), frames.score(i)) << i;
  }
}

TEST_F(CudaMemory, DroppedFramesAreLetGo) {
  const std::string caps = video_caps("NV12", 1920, 1080);
  GpuFrames frames(context_.get(), caps);
  Rig rig{{"in-flight", "3"}};
  rig.caps(on_device(caps));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(rig.push(frames.frame(i)), GST_FLOW_OK);
  gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
  gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.results.empty() && heard.errors.empty());
}

TEST_F(CudaMemory, OtherMemoryUnderItsCapsIsOneError) {
  const std::string caps = video_caps("NV12", 320, 240);
  Rig rig;
  rig.caps(on_device(caps));
  EXPECT_EQ(rig.push(random_buffer(caps, 1)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
}

}  // namespace
}  // namespace framequality::test
