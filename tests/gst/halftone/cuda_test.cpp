// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone on a GPU that is there: from GPU memory and from system memory to the bits of the host twin.
#include "tests/gst/gpu_frames.h"
#include "tests/gst/halftone/rig.h"

#include <optional>

namespace framequality::test {
namespace {

constexpr const char* kMethods[] = {"floyd-steinberg", "tdfed", "blue-noise"};

class HalftoneCuda : public GpuMemory {
 protected:
  /// What frames of these caps are halftoned with.
  static halftone::Settings settings_for(const std::string& caps, const char* method, bool packed) {
    const GstVideoInfo info = video_info(caps);
    halftone::Settings s;
    s.method = method_of(method);
    s.packed = packed;
    s.tone.limited = GST_VIDEO_INFO_IS_YUV(&info);  // which is the default of all of them
    return s;
  }
  /// Pulls frame i: in system memory, the bits of the host twin.
  static void expect_picture(Rig& rig, const std::string& caps, std::uint64_t i, const halftone::Settings& settings) {
    const GstVideoInfo info = video_info(caps);
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << i;
    GstMemory* memory = gst_buffer_peek_memory(out.get(), 0);
    EXPECT_FALSE(gst_is_cuda_memory(memory));
    EXPECT_TRUE(gst_memory_is_type(memory, GST_ALLOCATOR_SYSMEM));
    const BufferPtr in = random_buffer(caps, i);
    EXPECT_TRUE(rows_of(out.get(), info.width, info.height, settings.packed) == halftoned(caps, in.get(), settings))
        << caps << " " << i;
  }
  static void expect_no_word(Rig& rig) {
    EXPECT_EQ(rig.string("active-device"), "cuda");
    EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
    const Heard heard = rig.heard();
    EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
  }
};

TEST_F(HalftoneCuda, BitsAreThoseOfTheHost) {
  // From GPU memory and from system memory; 66 and 27 columns end within a byte.
  for (const bool device : {true, false})
    for (const char* format : {"NV12", "P010_10LE", "RGBA", "GRAY8"}) {
      if (device && format == std::string("GRAY8")) continue;  // GstCuda has none
      const std::string caps = device ? video_caps(format, 66, 42) : video_caps(format, 27, 70);
      std::optional<GpuFrames> frames;
      if (device) frames.emplace(context_.get(), caps);
      for (const char* method : kMethods)
        for (const char* packed : {"false", "true"})
          for (const char* behind : {"0", "3"}) {
            SCOPED_TRACE(caps + " " + method + " " + packed + " " + behind);
            HalftoneRig rig{{"method", method}, {"packed", packed}, {"in-flight", behind}};
            rig.caps(device ? on_device(caps) : caps);
            for (std::uint64_t i = 0; i < 5; ++i)
              ASSERT_EQ(rig.push(device ? frames->frame(i) : random_buffer(caps, i)), GST_FLOW_OK);
            rig.send(gst_event_new_eos());
            for (std::uint64_t i = 0; i < 5; ++i)
              expect_picture(rig, caps, i, settings_for(caps, method, packed == std::string("true")));
            expect_no_word(rig);
          }
    }
}

TEST_F(HalftoneCuda, LargerPicturesAndWideSwathsToo) {
  const std::string caps = video_caps("NV12", 320, 240);
  GpuFrames frames(context_.get(), caps);
  for (const char* rows : {"1", "16", "64"}) {
    HalftoneRig rig{{"method", "tdfed"}, {"swath-rows", rows}, {"packed", "true"}, {"in-flight", "1"}};
    rig.caps(on_device(caps));
    for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(rig.push(frames.frame(i)), GST_FLOW_OK);
    rig.send(gst_event_new_eos());
    halftone::Settings s = settings_for(caps, "tdfed", true);
    s.swath_rows = std::stoi(rows);
    for (std::uint64_t i = 0; i < 3; ++i) expect_picture(rig, caps, i, s);
    expect_no_word(rig);
  }
}

TEST_F(HalftoneCuda, FramesOfAnotherContextAreHalftonedInTheirs) {
  const std::string caps = video_caps("NV12", 66, 42);
  const ContextPtr other = new_context();
  ASSERT_TRUE(other);
  GpuFrames first(context_.get(), caps), second(other.get(), caps);
  for (const char* behind : {"0", "3"}) {
    HalftoneRig rig{{"in-flight", behind}, {"packed", "true"}};
    rig.caps(on_device(caps));
    for (std::uint64_t i = 0; i < 9; ++i) ASSERT_EQ(rig.push((i / 3 % 2 ? second : first).frame(i)), GST_FLOW_OK) << i;
    rig.send(gst_event_new_eos());
    for (std::uint64_t i = 0; i < 9; ++i) expect_picture(rig, caps, i, settings_for(caps, "", true));
    expect_no_word(rig);
  }
}

TEST_F(HalftoneCuda, UpstreamIsOfferedGpuMemoryAndDownstreamNone) {
  const std::string caps = video_caps("NV12", 66, 42);
  GpuFrames frames(context_.get(), caps);
  HalftoneRig rig{{"in-flight", "2"}};
  rig.caps(on_device(caps));
  ASSERT_EQ(rig.push(frames.frame(0)), GST_FLOW_OK);
  const CapsPtr src(gst_pad_get_current_caps(rig.harness()->sinkpad));
  const CapsPtr want(gst_caps_from_string("video/x-raw,format=GRAY8,width=66,height=42,framerate=30/1"));
  EXPECT_TRUE(src && gst_caps_is_strictly_equal(src.get(), want.get()));
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

TEST_F(HalftoneCuda, StreamChangesBetweenKindsOfMemoryAndOfPictures) {
  const std::string caps = video_caps("NV12", 66, 42);
  GpuFrames frames(context_.get(), caps);
  HalftoneRig rig{{"in-flight", "2"}};
  for (std::uint64_t i = 0; i < 12; ++i) {
    const bool device = i / 3 % 2 == 0;
    if (i % 3 == 0) rig.caps(device ? on_device(caps) : caps);
    if (i == 7) rig.set("packed", "true");
    ASSERT_EQ(rig.push(device ? frames.frame(i) : random_buffer(caps, i)), GST_FLOW_OK);
  }
  rig.send(gst_event_new_eos());
  for (std::uint64_t i = 0; i < 12; ++i) expect_picture(rig, caps, i, settings_for(caps, "", i >= 7));
  expect_no_word(rig);
}

TEST_F(HalftoneCuda, FlushDropsWhatIsInFlight) {
  const std::string caps = video_caps("P010_10LE", 66, 42);
  GpuFrames frames(context_.get(), caps);
  HalftoneRig rig{{"in-flight", "3"}, {"method", "tdfed"}};
  rig.caps(on_device(caps));
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(rig.push(frames.frame(i)), GST_FLOW_OK);
  rig.flush();
  for (std::uint64_t i = 5; i < 8; ++i) ASSERT_EQ(rig.push(frames.frame(i)), GST_FLOW_OK);
  rig.send(gst_event_new_eos());
  for (std::uint64_t i = 5; i < 8; ++i) expect_picture(rig, caps, i, settings_for(caps, "tdfed", false));
  EXPECT_FALSE(rig.pull());
  expect_no_word(rig);
}

TEST_F(HalftoneCuda, OtherMemoryUnderItsCapsIsOneError) {
  const std::string caps = video_caps("NV12", 66, 42);
  HalftoneRig rig;
  rig.caps(on_device(caps));
  EXPECT_EQ(rig.push(random_buffer(caps, 1)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
}

}  // namespace
}  // namespace framequality::test
