// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter on a GPU that is there: red from GPU memory and from system memory, with the host twin's scores.
#include "tests/gst/bliindsmeter/rig.h"
#include "tests/gst/gpu_frames.h"

namespace framequality::test {
namespace {

class BliindsCuda : public GpuMemory {
 protected:
  static void expect_frame(Rig& rig, const std::string& caps, std::uint64_t i, bliinds::Channel channel) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << i;
    const GstStructure* s = bliinds_meta(out.get());
    ASSERT_TRUE(s) << i;
    const bliinds::Features wanted = features_of(caps, random_buffer(caps, i).get(), channel);
    EXPECT_TRUE(same_features(features_in(s), wanted)) << i;
    EXPECT_EQ(number(s, "score"), bliinds::score_of(bliinds::published_model(), wanted).score) << i;
    EXPECT_EQ(text(s, "device"), "cuda");
  }
};

TEST_F(BliindsCuda, EveryFormatInGpuMemoryScoresAsOnTheHost) {
  for (const char* format : {"NV12", "I420", "P010_10LE", "P016_LE", "Y444", "Y444_16LE", "RGBA", "BGRx"})
    for (const char* behind : {"0", "3"}) {
      SCOPED_TRACE(std::string(format) + " " + behind);
      const std::string caps = video_caps(format, 322, 242);
      GpuFrames frames(context_.get(), caps);
      BliindsRig rig{{"in-flight", behind}, {"features", "true"}, {"device", "cuda"}};
      rig.caps(on_device(caps));
      const auto channel = [](std::uint64_t i) { return i % 3 ? bliinds::Channel::kRed : bliinds::Channel::kLuma; };
      for (std::uint64_t i = 0; i < 8; ++i) {
        rig.set("channel", channel(i) == bliinds::Channel::kRed ? "red" : "luma");
        ASSERT_EQ(rig.push(frames.frame(i)), GST_FLOW_OK);
      }
      gst_harness_push_event(rig.harness(), gst_event_new_eos());
      for (std::uint64_t i = 0; i < 8; ++i) expect_frame(rig, caps, i, channel(i));
    }
}

TEST_F(BliindsCuda, RedOfYuvInSystemMemoryScoresAsOnTheHost) {
  for (const char* format : {"NV12", "I420", "YV12", "Y42B", "YUY2", "P010_10LE", "I420_12LE", "AYUV64"})
    for (const char* mode : {"", ",interlace-mode=interleaved"}) {
      SCOPED_TRACE(std::string(format) + mode);
      const std::string caps = video_caps(format, 322, 240, mode);
      BliindsRig rig{{"in-flight", "2"}, {"features", "true"}, {"device", "cuda"}};
      rig.caps(caps);
      for (std::uint64_t i = 0; i < 6; ++i) {
        BufferPtr buffer = random_buffer(caps, i, i * GST_SECOND / 30);
        if (*mode) GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
        ASSERT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
      }
      gst_harness_push_event(rig.harness(), gst_event_new_eos());
      for (std::uint64_t i = 0; i < 6; ++i) expect_frame(rig, caps, i, bliinds::Channel::kRed);
    }
}

}  // namespace
}  // namespace framequality::test
