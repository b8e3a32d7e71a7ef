// SPDX-License-Identifier: LGPL-2.1-or-later
// virtuallenssrc in all its formats: the same luma and scores, colorimetry, range and clear chroma.
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/gst/virtuallenssrc/planes.h"

#include <array>
#include <cstring>

namespace framequality::test {
namespace {

const std::string kLively = "num-buffers=4 position=30 slew=3 exposure=1 breathing=0.002 noise=2 flicker=0.1 seed=4";

TEST(VirtualLensSrc, LumaIsTheSameInEveryFormat) {
  for (const auto& [width, height] : {std::pair{64, 48}, {33, 7}, {7, 33}, {2, 1}, {1, 2}, {1, 1}, {321, 241}}) {
    const std::string size = ",width=" + std::to_string(width) + ",height=" + std::to_string(height);
    const auto gray = planes_of(kLively, "video/x-raw,format=GRAY8" + size);
    ASSERT_EQ(gray.size(), 4u) << size;
    for (const std::string format : {"NV12", "I420"}) {
      const auto yuv = planes_of(kLively, "video/x-raw,format=" + format + size);
      ASSERT_EQ(yuv.size(), 4u) << format << size;
      for (std::size_t n = 0; n < 4; ++n) {
        EXPECT_EQ(yuv[n].format, format);
        EXPECT_EQ(yuv[n].colorimetry.range, GST_VIDEO_COLOR_RANGE_0_255);
        EXPECT_EQ(yuv[n].of[0], gray[n].of[0]) << format << size << " frame " << n;
        ASSERT_EQ(yuv[n].of.size(), format == "NV12" ? 2u : 3u);
        for (std::size_t p = 1; p < yuv[n].of.size(); ++p)
          EXPECT_EQ(yuv[n].of[p], std::vector<std::uint8_t>(yuv[n].of[p].size(), 128)) << format << size;
      }
    }
  }
}

TEST(VirtualLensSrc, ScoresAreTheSameInEveryFormat) {
  const auto scores = [](const std::string& caps) {
    std::vector<double> all;
    WatchedPipeline watched("virtuallenssrc num-buffers=3 position=42 noise=2 ! video/x-raw,width=65,height=47," +
                            caps + " ! sharpnessmeter normalize=mean ! fakesink name=sink");
    watched.on_frame = [&](GstBuffer* buffer, int) { all.push_back(meta_score(buffer)); };
    EXPECT_TRUE(watched.run_to_end().eos);
    return all;
  };
  const auto gray = scores("format=GRAY8");
  ASSERT_EQ(gray.size(), 3u);
  EXPECT_GT(gray[0], 0);
  EXPECT_EQ(scores("format=NV12"), gray);
  EXPECT_EQ(scores("format=I420"), gray);
  // In limited range only the rounding of codes differs: normalize=mean knows the level of black.
  const auto limited = scores("format=NV12,colorimetry=bt709");
  ASSERT_EQ(limited.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) EXPECT_NEAR(limited[n], gray[n], 0.01 * gray[n]);
}

TEST(VirtualLensSrc, GrayIsPreferred) {
  for (const char* caps : {"identity", "video/x-raw", "video/x-raw,format={NV12,GRAY8}",
                           "video/x-raw,format=I420;video/x-raw,format=GRAY8", "videoconvert"}) {
    const auto frames = planes_of("num-buffers=1", caps);
    ASSERT_EQ(frames.size(), 1u) << caps;
    EXPECT_EQ(frames[0].format, "GRAY8") << caps;
  }
  EXPECT_EQ(planes_of("num-buffers=1", "video/x-raw,format={I420,NV12}").at(0).format, "NV12");
}

TEST(VirtualLensSrc, ColorimetryIsWhatDownstreamAsksFor) {
  const std::string yuv = "video/x-raw,width=8,height=8,format=NV12";
  for (const auto& [colorimetry, range] : {std::pair{"", GST_VIDEO_COLOR_RANGE_0_255},
                                           {",colorimetry=bt709", GST_VIDEO_COLOR_RANGE_16_235},
                                           {",colorimetry=bt601", GST_VIDEO_COLOR_RANGE_16_235},
                                           {",colorimetry=1:3:5:1", GST_VIDEO_COLOR_RANGE_0_255},
                                           {",colorimetry={bt709,bt601}", GST_VIDEO_COLOR_RANGE_16_235},
                                           {",colorimetry={bt709,\"1:3:5:1\"}", GST_VIDEO_COLOR_RANGE_0_255}}) {
    const auto frames = planes_of("num-buffers=1", yuv + colorimetry);
    ASSERT_EQ(frames.size(), 1u) << colorimetry;
    EXPECT_EQ(frames[0].colorimetry.range, range) << colorimetry;
  }
}

TEST(VirtualLensSrc, LimitedRangeHasItsCodes) {
  const std::string lens = "num-buffers=2 position=45 noise=9 flicker=0.5 ", size = ",width=33,height=21";
  const auto full = planes_of(lens, "video/x-raw,format=GRAY8" + size);
  for (const std::string caps :
       {"format=NV12,colorimetry=bt601", "format=I420,colorimetry=bt709", "format=GRAY8,colorimetry=2:4:0:0"}) {
    const auto limited = planes_of(lens, "video/x-raw," + caps + size);
    ASSERT_EQ(limited.size(), 2u) << caps;
    for (std::size_t n = 0; n < 2; ++n)
      for (std::size_t i = 0; i < full[n].of[0].size(); ++i)
        ASSERT_NEAR(limited[n].of[0][i], 16 + full[n].of[0][i] * 219 / 255.0, 1) << caps;
  }
}

TEST(VirtualLensSrc, ChromaIsClearedInEveryFrame) {
  // What is painted on a frame is gone when its memory comes back from the pool.
  WatchedPipeline watched(
      "virtuallenssrc num-buffers=8 ! video/x-raw,format=NV12,width=16,height=16 ! identity name=paint ! fakesink "
      "name=sink sync=false");
  watched.on_frame = [&](GstBuffer* buffer, int n) {
    std::array<guint8, 16 * 8> chroma{};
    EXPECT_EQ(gst_buffer_extract(buffer, 16 * 16, chroma.data(), chroma.size()), chroma.size());
    EXPECT_EQ(std::count(chroma.begin(), chroma.end(), 128), 16 * 8) << n;
    GstMapInfo map;
    for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i)
      if (gst_memory_map(gst_buffer_peek_memory(buffer, i), &map, GST_MAP_WRITE)) {
        std::memset(map.data, 7, map.size);
        gst_memory_unmap(gst_buffer_peek_memory(buffer, i), &map);
      }
  };
  EXPECT_TRUE(watched.run_to_end().eos);
}

}  // namespace
}  // namespace framequality::test
