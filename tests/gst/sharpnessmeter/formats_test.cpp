// SPDX-License-Identifier: LGPL-2.1-or-later
// Every format of the caps is scored by the luma values that GStreamer itself sees in it.
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"

namespace framequality::test {
namespace {

TEST(Formats, ContractIsListed) {
  const auto listed = listed_formats("sharpnessmeter");
  for (const char* name :
       {"GRAY8",     "GRAY10_LE32", "GRAY16_LE", "GRAY16_BE", "NV12",      "NV21",      "NV16",      "NV24",
        "I420",      "YV12",        "Y42B",      "Y444",      "I420_10LE", "I422_10LE", "Y444_10LE", "I420_12LE",
        "I422_12LE", "Y444_12LE",   "Y444_16LE", "YUY2",      "UYVY",      "YVYU",      "AYUV",      "VUYA",
        "AYUV64",    "P010_10LE",   "P012_LE",   "P016_LE",   "RGB",       "BGR",       "RGBx",      "BGRx",
        "xRGB",      "xBGR",        "RGBA",      "BGRA",      "ARGB",      "ABGR",      "GBR",       "RGBP",
        "BGRP",      "GBR_10LE",    "GBR_12LE",  "RGBA64_LE", "RGBA64_BE", "ARGB64"})
    EXPECT_NE(std::find(listed.begin(), listed.end(), name), listed.end()) << name;
}

TEST(Formats, RandomBytesScoreByTheirCodes) {
  // Odd width and height; alpha, chroma and padding bits are random too.
  for (const auto& format : listed_formats("sharpnessmeter"))
    for (const char* metric : {"tenengrad", "variance", "entropy"})
      for (const auto& [w, h] : {std::pair{61, 37}, {64, 2}, {3, 3}, {1, 1}}) {
        const std::string caps = video_caps(format.c_str(), w, h);
        Rig rig{{"metric", metric}};
        rig.caps(caps);
        BufferPtr buffer = random_buffer(caps, 7);
        const double want = expected(caps, buffer.get(), {.metric = metric_index(metric)}).score;
        EXPECT_EQ(rig.score(std::move(buffer)), want) << format << " " << w << "x" << h << " " << metric;
      }
}

/// One picture of 8-bit codes in any format, deepened by shifting.
BufferPtr shifted_picture(const std::string& caps, int w, int h) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  GstVideoInfo info;
  gst_video_info_from_caps(&info, c.get());
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, info.size);
  GstVideoFrame frame;
  gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_WRITE);
  const GstVideoFormatInfo* f = info.finfo;
  const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
  Random random(3);
  std::vector<std::uint16_t> line(static_cast<std::size_t>(w) * 4);
  auto* bytes = reinterpret_cast<std::uint8_t*>(line.data());
  for (int y = 0; y < h; ++y) {
    for (std::size_t i = 0; i < line.size(); i += 4) {
      const int code = random.below(256);
      for (std::size_t k = 0; k < 4; ++k) {
        if (wide)
          line[i + k] = static_cast<std::uint16_t>(code << 8);
        else
          bytes[i + k] = static_cast<std::uint8_t>(code);
      }
    }
    f->pack_func(f, GST_VIDEO_PACK_FLAG_NONE, line.data(), 0, frame.data, info.stride, GST_VIDEO_CHROMA_SITE_UNKNOWN, y,
                 w);
  }
  gst_video_frame_unmap(&frame);
  return buffer;
}

TEST(Formats, EqualCodesScoreEqualAtEveryDepth) {
  const double gray = [] {
    Rig rig;
    rig.caps(video_caps("GRAY8", 64, 48));
    return rig.score(shifted_picture(video_caps("GRAY8", 64, 48), 64, 48));
  }();
  EXPECT_GT(gray, 1000);
  for (const auto& format : listed_formats("sharpnessmeter")) {
    const std::string caps = video_caps(format.c_str(), 64, 48);
    Rig rig;
    rig.caps(caps);
    EXPECT_DOUBLE_EQ(rig.score(shifted_picture(caps, 64, 48)), gray) << format;
  }
}

TEST(Formats, VideoconvertedPicturesScoreAlike) {
  // videoconvert replicates bits when it deepens: codes grow by up to 0.4 %, their square by 0.8 %.
  const auto score = [](const std::string& format) {
    Heard heard =
        run("videotestsrc pattern=smpte num-buffers=1 ! video/x-raw,format=I420,width=320,height=240 ! "
            "videoconvert ! video/x-raw,format=" +
            format + " ! sharpnessmeter ! fakesink");
    EXPECT_TRUE(heard.errors.empty()) << format;
    return heard.results.empty() ? 0 : number(heard.results[0].get(), "score");
  };
  const double i420 = score("I420");
  EXPECT_EQ(score("NV12"), i420);
  EXPECT_EQ(score("Y444"), i420);
  for (const char* deep : {"P010_10LE", "I420_12LE", "AYUV64"}) {
    const double s = score(deep);
    EXPECT_GE(s, i420) << deep;
    EXPECT_LE(s, i420 * 1.0081) << deep;
  }
}

TEST(Formats, OthersAreNotNegotiated) {
  for (const char* caps :
       {"video/x-raw,format=v210,width=64,height=48", "video/x-raw,format=RGB16,width=64,height=48",
        "video/x-raw,format=GRAY8,width=0,height=48", "video/x-raw,format=NV12_4L4,width=64,height=48",
        "video/x-raw,format=GRAY8,width=64,height=48,interlace-mode=fields",
        "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48",
        "video/x-raw(format:Interlaced),format=GRAY8,width=64,height=48,interlace-mode=alternate"}) {
    Rig rig;
    rig.caps(caps);
    EXPECT_EQ(rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 65536, nullptr))), GST_FLOW_NOT_NEGOTIATED) << caps;
    EXPECT_TRUE(rig.heard().results.empty()) << caps;
  }
}

TEST(Formats, BlackFollowsTheRange) {
  const auto black_of = [](const std::string& caps) {
    Rig rig{{"normalize", "mean"}};
    rig.caps(caps);
    BufferPtr buffer = random_buffer(caps, 11);
    const double full = expected(caps, buffer.get(), {.mean = true}).score;
    const double limited = expected(caps, buffer.get(), {.mean = true, .limited = true}).score;
    EXPECT_NE(full, limited);
    const double score = rig.score(std::move(buffer));
    return score == full ? 0 : score == limited ? 16 : -1;
  };
  EXPECT_EQ(black_of(video_caps("GRAY8", 64, 48)), 0);
  EXPECT_EQ(black_of(video_caps("RGB", 64, 48)), 0);
  EXPECT_EQ(black_of(video_caps("I420", 64, 48)), 16);
  EXPECT_EQ(black_of(video_caps("P010_10LE", 64, 48)), 16);
  EXPECT_EQ(black_of(video_caps("I420", 64, 48, ",colorimetry=bt709")), 16);
  EXPECT_EQ(black_of(video_caps("I420", 64, 48, ",colorimetry=1:4:0:0")), 0);  // JPEG: full range
  EXPECT_EQ(black_of(video_caps("GRAY8", 64, 48, ",colorimetry=2:4:5:1")), 16);
}

TEST(Formats, InterlacedFramesAreTwoPictures) {
  const auto score = [](const char* mode, bool flag) {
    const std::string caps = video_caps("GRAY8", 40, 31, mode);
    Rig rig{{"metric", "laplacian"}};
    rig.caps(caps);
    BufferPtr buffer = random_buffer(caps, 5);
    if (flag) GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
    return rig.score(std::move(buffer));
  };
  const std::string caps = video_caps("GRAY8", 40, 31);
  const BufferPtr buffer = random_buffer(caps, 5);
  const double whole = expected(caps, buffer.get(), {.metric = metric_index("laplacian")}).score;
  const double fields = expected(caps, buffer.get(), {.metric = metric_index("laplacian"), .interlaced = true}).score;
  EXPECT_NE(whole, fields);
  EXPECT_EQ(score("", false), whole);
  EXPECT_EQ(score(",interlace-mode=progressive", false), whole);
  EXPECT_EQ(score(",interlace-mode=interleaved", false), fields);
  EXPECT_EQ(score(",interlace-mode=mixed", false), whole);
  EXPECT_EQ(score(",interlace-mode=mixed", true), fields);
}

}  // namespace
}  // namespace framequality::test
