// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as pixels and as image files.
#include "apps/common/exif.h"
#include "apps/common/pictures.h"
#include "apps/common/raster.h"

#include <gst/gst.h>
#include <gst/video/video.h>

#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace framequality::apps {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A frame of one plane with these rows, which lie in memory as its format wants.
Owned<GstSample> frame(const std::string& caps_text, const std::vector<Bytes>& rows) {
  gst_init(nullptr, nullptr);
  const Owned<GstCaps> caps(gst_caps_from_string((caps_text + ",framerate=1/1").c_str()));
  const Owned<GstCaps> plain(gst_caps_copy(caps.get()));
  gst_caps_set_features(plain.get(), 0, nullptr);
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, plain.get())) << caps_text;
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, info.size, nullptr);
  for (std::size_t y = 0; y < rows.size(); ++y)
    gst_buffer_fill(buffer, y * static_cast<std::size_t>(info.stride[0]), rows[y].data(), rows[y].size());
  Owned<GstSample> sample(gst_sample_new(buffer, caps.get(), nullptr, nullptr));
  gst_buffer_unref(buffer);
  return sample;
}

std::vector<Bytes> rows_of(const Raster& raster) {
  std::vector<Bytes> rows(static_cast<std::size_t>(raster.height));
  for (std::size_t y = 0; y < rows.size(); ++y) {
    const std::uint8_t* row = raster.row(static_cast<int>(y));
    rows[y].assign(row, row + static_cast<std::ptrdiff_t>(raster.width) * raster.pixel);
  }
  return rows;
}

View turned(GstVideoOrientationMethod how) {
  View view;
  view.orientation = how;
  return view;
}

TEST(Rasters, AllEightWaysToTurn) {
  const std::string caps = "video/x-raw,format=GRAY8,width=3,height=2";
  const std::vector<Bytes> stored{{1, 2, 3}, {4, 5, 6}};
  const std::map<GstVideoOrientationMethod, std::vector<Bytes>> seen{
      {GST_VIDEO_ORIENTATION_IDENTITY, stored},
      {GST_VIDEO_ORIENTATION_90R, {{4, 1}, {5, 2}, {6, 3}}},
      {GST_VIDEO_ORIENTATION_180, {{6, 5, 4}, {3, 2, 1}}},
      {GST_VIDEO_ORIENTATION_90L, {{3, 6}, {2, 5}, {1, 4}}},
      {GST_VIDEO_ORIENTATION_HORIZ, {{3, 2, 1}, {6, 5, 4}}},
      {GST_VIDEO_ORIENTATION_VERT, {{4, 5, 6}, {1, 2, 3}}},
      {GST_VIDEO_ORIENTATION_UL_LR, {{1, 4}, {2, 5}, {3, 6}}},
      {GST_VIDEO_ORIENTATION_UR_LL, {{6, 3}, {5, 2}, {4, 1}}},
  };
  for (const auto& [how, rows] : seen)
    EXPECT_EQ(rows_of(raster_of(frame(caps, stored).get(), turned(how))), rows) << how;
}

TEST(Rasters, PixelsOfAllSizesTurnAsAWhole) {
  const View view = turned(GST_VIDEO_ORIENTATION_90R);
  const auto rgb = frame("video/x-raw,format=RGB,width=2,height=1", {{1, 2, 3, 4, 5, 6}});
  EXPECT_EQ(rows_of(raster_of(rgb.get(), view)), (std::vector<Bytes>{{1, 2, 3}, {4, 5, 6}}));
  const auto gray = frame("video/x-raw,format=GRAY16_LE,width=2,height=1", {{2, 1, 4, 3}});
  EXPECT_EQ(rows_of(raster_of(gray.get(), view)), (std::vector<Bytes>{{1, 2}, {3, 4}}));
  const auto deep = frame("video/x-raw,format=ARGB64_BE,width=2,height=1",
                          {{255, 255, 1, 2, 3, 4, 5, 6, 255, 255, 7, 8, 9, 10, 11, 12}});
  EXPECT_EQ(rows_of(raster_of(deep.get(), view)),
            (std::vector<Bytes>{{1, 2, 3, 4, 5, 6, 255, 255}, {7, 8, 9, 10, 11, 12, 255, 255}}));
}

TEST(Rasters, PixelsBecomeSquareAndNoneIsLost) {
  const auto size = [](const std::string& par, int longest, GstVideoOrientationMethod how) {
    View view = turned(how);
    view.longest = longest;
    const auto sample = frame("video/x-raw,format=GRAY8,width=40,height=20,pixel-aspect-ratio=" + par, {});
    const Raster raster = raster_of(sample.get(), view);
    return std::pair(raster.width, raster.height);
  };
  const auto upright = GST_VIDEO_ORIENTATION_IDENTITY, right = GST_VIDEO_ORIENTATION_90R;
  EXPECT_EQ(size("1/1", 1000, upright), std::pair(40, 20));
  EXPECT_EQ(size("3/2", 1000, upright), std::pair(60, 20));
  EXPECT_EQ(size("1/4", 1000, upright), std::pair(40, 80));
  EXPECT_EQ(size("3/2", 1000, right), std::pair(20, 60));
  EXPECT_EQ(size("3/2", 30, right), std::pair(10, 30));
  EXPECT_EQ(size("1/1", 10, upright), std::pair(10, 5));
  // A damaged file may claim anything.
  EXPECT_EQ(size("100000/1", 1000, upright), std::pair(40, 20));
}

TEST(Rasters, BitsAreRepeatedAndRangesFilled) {
  const auto deep = [](const std::string& more, Bytes pixel) {
    return rows_of(raster_of(frame("video/x-raw,width=1,height=1," + more, {std::move(pixel)}).get(), {})).front();
  };
  // 10 bits, 0x3ab of 0x3ff: 1110101011 1110101011... cut at 16.
  EXPECT_EQ(deep("format=GRAY10_LE32,colorimetry=1:0:0:0", {0xab, 0x03, 0, 0}), (Bytes{0xea, 0xfa}));
  EXPECT_EQ(deep("format=GRAY8,colorimetry=2:0:0:0", {235}), Bytes{255});
  EXPECT_EQ(deep("format=GRAY8,colorimetry=2:0:0:0", {3}), Bytes{0});
  EXPECT_EQ(deep("format=GRAY8,colorimetry=1:0:0:0", {235}), Bytes{235});
  EXPECT_EQ(deep("format=GRAY8", {235}), Bytes{235});
  EXPECT_EQ(deep("format=GRAY16_LE,colorimetry=2:0:0:0", {0, 235}), (Bytes{255, 255}));
  EXPECT_EQ(deep("format=GRAY16_LE,colorimetry=2:0:0:0", {0, 16}), (Bytes{0, 0}));
}

TEST(Pictures, FramesOfOtherMemoryAreBroughtToOrdinary) {
  // What a GPU decoder leaves, as far as caps can say it: the converter would refuse the feature.
  const auto sample = frame("video/x-raw(memory:Elsewhere),format=GRAY8,width=6,height=4", {});
  EXPECT_EQ(png_of(sample.get()).substr(1, 3), "PNG");
  EXPECT_EQ(jpeg_of(sample.get(), {}, 85).substr(0, 2), "\xff\xd8");
  const auto copy = copy_of(sample.get());
  EXPECT_NE(gst_sample_get_buffer(copy.get()), gst_sample_get_buffer(sample.get()));
  EXPECT_EQ(png_of(copy.get()), png_of(sample.get()));
}

std::uint32_t number(const std::string& text, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<std::uint8_t>(text.at(at + i));
  return value;
}

/// Name and content of each, in order.
std::vector<std::pair<std::string, std::string>> chunks(const std::string& png) {
  std::vector<std::pair<std::string, std::string>> all;
  for (std::size_t at = 8; at < png.size(); at += 12 + number(png, at))
    all.emplace_back(png.substr(at + 4, 4), png.substr(at + 8, number(png, at)));
  return all;
}

TEST(Pictures, PngSaysDepthColoursAndExif) {
  const auto chunks_of = [](const std::string& format, const std::string& exif) {
    return chunks(png_of(frame("video/x-raw,width=2,height=2,format=" + format, {}).get(), {}, exif));
  };
  // Primaries of BT.2020 and HLG, as H.273 counts them; RGB; full range.
  const std::pair<std::string, std::string> hlg{"cICP", std::string("\x09\x12\0\x01", 4)};
  auto found = chunks_of("I420_10LE,colorimetry=bt2100-hlg", "II*");
  ASSERT_GE(found.size(), 4U);
  EXPECT_EQ(found[0].second.substr(8, 2), "\x10\x02");  // 16 bits, RGB
  EXPECT_EQ(found[1], hlg);
  EXPECT_EQ(found[2], (std::pair<std::string, std::string>{"eXIf", "II*"}));
  EXPECT_EQ(found[3].first, "IDAT");
  found = chunks_of("I420_10LE,colorimetry=bt2100-pq", "");
  EXPECT_EQ(found[1].second, std::string("\x09\x10\0\x01", 4));
  for (const char* plain : {"I420,colorimetry=bt709", "I420,colorimetry=bt601", "I420", "RGB,colorimetry=sRGB"}) {
    found = chunks_of(plain, "");
    EXPECT_EQ(found[0].second.substr(8, 2), "\x08\x02") << plain;
    EXPECT_EQ(found[1].first, "IDAT") << plain;
  }
  EXPECT_EQ(chunks_of("GRAY16_LE", "")[0].second.substr(8, 2), std::string("\x10\0", 2));
  EXPECT_EQ(chunks_of("GRAY8", "")[0].second.substr(8, 2), std::string("\x08\0", 2));
}

TEST(Pictures, JpegHasItsExifBehindItsHead) {
  const auto sample = frame("video/x-raw,format=I420,width=16,height=16", {});
  const std::string jpeg = jpeg_of(sample.get(), {}, 95, "II*block");
  EXPECT_EQ(jpeg.substr(2, 2), "\xff\xe0");
  const std::string segment(
      "\xff\xe1\0\x10"
      "Exif\0\0II*block",
      18);
  EXPECT_EQ(jpeg.substr(20, segment.size()), segment);
  // Too long for a marker: a picture without rather than none.
  EXPECT_EQ(jpeg_of(sample.get(), {}, 95, std::string(70'000, 'x')), jpeg_of(sample.get(), {}, 95));
}

TEST(Pictures, WhatCannotBeOneSaysWhy) {
  const auto sample = frame("video/x-raw,format=GRAY8,width=70000,height=1", {});
  try {
    jpeg_of(sample.get(), {}, 95);
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("cannot write an image: Maximum supported image dimension"), std::string::npos)
        << e.what();
  }
}

TEST(Exif, HoldsTheClipsTagsAndTheFramesTime) {
  gst_init(nullptr, nullptr);
  GstDateTime* begin = gst_date_time_new(0, 2020, 2, 29, 23, 59, 59);
  GstDateTime* day = gst_date_time_new_ymd(2019, 5, 6);
  GstTagList* clip = gst_tag_list_new(GST_TAG_DATE_TIME, begin, GST_TAG_DEVICE_MODEL, "Model 7",
                                      GST_TAG_IMAGE_ORIENTATION, "rotate-90", GST_TAG_DESCRIPTION, "holiday", nullptr);
  const auto has = [](const std::string& block, const char* text) { return block.find(text) != std::string::npos; };
  std::string block = exif_of(clip, 1'600'000'000, "clip.mp4, frame 48");
  EXPECT_EQ(block.substr(0, 4), std::string("II*\0", 4));
  EXPECT_TRUE(has(block, "2020:03:01 00:00:00") && has(block, "Model 7") && has(block, "clip.mp4, frame 48"));
  EXPECT_FALSE(has(block, "holiday"));
  // Tag 0x112, one SHORT: 1, upright.
  EXPECT_NE(block.find(std::string("\x12\x01\x03\0\x01\0\0\0\x01\0", 10)), std::string::npos);
  EXPECT_TRUE(has(exif_of(clip, std::nullopt, ""), "2020:02:29 23:59:59"));
  gst_tag_list_add(clip, GST_TAG_MERGE_REPLACE, GST_TAG_DATE_TIME, day, nullptr);
  EXPECT_TRUE(has(exif_of(clip, 1'600'000'000, ""), "2019:05:06"));
  EXPECT_TRUE(has(exif_of(nullptr, 5, "just this"), "just this"));
  gst_tag_list_unref(clip);
  gst_date_time_unref(begin);
  gst_date_time_unref(day);
}

}  // namespace
}  // namespace framequality::apps
