// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay in every format that can be drawn into, and at every size.
#include "gst/sharpnessoverlay/blend.h"
#include "gst/sharpnessoverlay/painter.h"
#include "tests/gst/sharpnessoverlay/rig.h"
#include "tests/support/effort.h"

#include <cmath>

namespace framequality::test {
namespace {

using overlay::Box;
using overlay::lay_out;

std::vector<std::string> formats() {
  std::vector<std::string> names;
  const CapsPtr caps(gst_caps_from_string(GST_VIDEO_CAPS_MAKE(GST_VIDEO_OVERLAY_COMPOSITION_BLEND_FORMATS)));
  const GValue* list = gst_structure_get_value(gst_caps_get_structure(caps.get(), 0), "format");
  for (guint i = 0; i < gst_value_list_get_size(list); i += is_quick() ? 3 : 1)
    names.emplace_back(g_value_get_string(gst_value_list_get_value(list, i)));
  return names;
}

bool has_palette(const std::string& format) {
  return GST_VIDEO_FORMAT_INFO_HAS_PALETTE(gst_video_format_get_info(gst_video_format_from_string(format.c_str())));
}

/// Unpacked codes for each 8-bit code.
double unit_of(const std::string& format) {
  const GstVideoFormatInfo* info = gst_video_format_get_info(gst_video_format_from_string(format.c_str()));
  return GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(info->unpack_format), 0) == 16 ? 256 : 1;
}

/// The box, grown to whole samples of chroma that is shared by up to 4 pixels.
Box with_chroma(const Box& b) {
  const int left = b.x & ~3, top = b.y & ~3;
  return {left, top, ((b.x + b.width + 3) & ~3) - left, ((b.y + b.height + 3) & ~3) - top};
}

TEST(OverlayFormats, TextChangesOnlyItsRegion) {
  const Box region = lay_out(322, 242, 1, 1).text;
  for (const std::string& format : formats()) {
    if (has_palette(format)) continue;  // a picture's own palette has no colours for text
    const std::string caps = video_caps(format.c_str(), 322, 242);
    OverlayRig rig{{"graph", "false"}};
    rig.caps(caps);
    const BufferPtr before = random_buffer(caps, 3);
    const BufferPtr after = rig.pass(with(random_buffer(caps, 3), {.score = 1234}));
    ASSERT_TRUE(after) << caps;
    const Box box = changed(Picture(caps, before.get()), Picture(caps, after.get()));
    EXPECT_TRUE(within(box, with_chroma(region)))
        << format << " " << box.x << "," << box.y << " " << box.width << "x" << box.height;
    EXPECT_TRUE(within({region.x + 2, region.y + 2, region.width - 4, region.height - 4}, box)) << format;
    EXPECT_TRUE(rig.heard().warnings.empty());
  }
}

TEST(OverlayFormats, PlateDarkensAndLettersBrightenAlike) {
  // The same picture in every format: the plate and the letters have the same luma, up to range and rounding.
  const Box region = lay_out(322, 242, 1, 1).text;
  for (const std::string& format : formats()) {
    // 10A2 is left to GStreamer, and 1.22 leaves black pixels there.
    if (has_palette(format) || format.find("10A2") != std::string::npos) continue;
    const std::string caps = video_caps(format.c_str(), 322, 242);
    OverlayRig rig{{"graph", "false"}};
    rig.caps(caps);
    const BufferPtr out = rig.pass(with(flat(caps, 120), {.score = 888888}));
    ASSERT_TRUE(out) << caps;
    const Picture picture(caps, out.get());
    const double unit = unit_of(format);
    double darkest = 255, brightest = 0;
    for (int y = region.y; y < region.y + region.height; ++y)
      for (int x = region.x; x < region.x + region.width; ++x) {
        darkest = std::min(darkest, picture.code(x, y) / unit);
        brightest = std::max(brightest, picture.code(x, y) / unit);
      }
    EXPECT_GT(darkest, 30) << format;
    EXPECT_LT(darkest, 75) << format;
    EXPECT_GT(brightest, 200) << format;
  }
}

/// A composition of one rectangle of these pixels.
overlay::CompositionPtr composition_of(int x, int y, guint width, guint height,
                                       const std::function<std::uint32_t(guint, guint)>& argb) {
  const BufferPtr pixels(gst_buffer_new_allocate(nullptr, gsize{width} * height * 4, nullptr));
  GstMapInfo map;
  gst_buffer_map(pixels.get(), &map, GST_MAP_WRITE);
  for (guint i = 0; i < width * height; ++i) reinterpret_cast<std::uint32_t*>(map.data)[i] = argb(i % width, i / width);
  gst_buffer_unmap(pixels.get(), &map);
  gst_buffer_add_video_meta(pixels.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, width,
                            height);
  const overlay::RectanglePtr rectangle(gst_video_overlay_rectangle_new_raw(
      pixels.get(), x, y, width, height, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA));
  return overlay::CompositionPtr(gst_video_overlay_composition_new(rectangle.get()));
}

/// What the frame looks like after blend(composition, frame).
template <class F>
Picture blended(const std::string& caps, int ground, const GstVideoInfo& info, F&& blend) {
  const BufferPtr buffer = flat(caps, ground);
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_READWRITE));
  EXPECT_TRUE(blend(&frame));
  gst_video_frame_unmap(&frame);
  return {caps, buffer.get()};
}

TEST(OverlayFormats, BlendsAsGStreamerDoes) {
  // Two implementations of one thing. GStreamer's has BT.709 and limited range whatever the caps say.
  Random random(5);
  for (const char* format : {"I420", "NV12", "YUY2", "UYVY", "Y444", "AYUV", "Y41B", "YUV9", "GRAY8", "RGB", "BGRx",
                             "ARGB", "RGBP", "I420_10LE", "P010_10LE", "I422_12LE", "Y444_16LE", "ARGB64_LE", "Y210"}) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format), 61, 45);
    if (!GST_VIDEO_INFO_IS_RGB(&info)) {
      info.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_BT709;
      info.colorimetry.range = GST_VIDEO_COLOR_RANGE_16_235;
    }
    // Blocks of 8 x 8 pixels on the grid of all chroma, so that no chroma sample lies half under one colour.
    std::array<std::uint32_t, 15> blocks;
    for (auto& block : blocks) {
      const int a = random.one_in(3) ? 255 : random.below(256);
      block = static_cast<std::uint32_t>(a) << 24;
      for (const int shift : {16, 8, 0}) block |= static_cast<std::uint32_t>(random.below(a + 1)) << shift;
    }
    const auto composition = composition_of(8, 16, 40, 24, [&](guint x, guint y) { return blocks[y / 8 * 5 + x / 8]; });
    const std::string caps = video_caps(format, 61, 45);
    overlay::Blender blender;
    const Picture ours =
        blended(caps, 90, info, [&](GstVideoFrame* frame) { return blender.blend(composition.get(), frame); });
    const Picture theirs = blended(caps, 90, info, [&](GstVideoFrame* frame) {
      return gst_video_overlay_composition_blend(composition.get(), frame);
    });
    double worst = 0;
    for (int y = 0; y < ours.height; ++y)
      for (int x = 0; x < ours.width; ++x)
        for (std::size_t k = 1; k < 4; ++k)
          worst = std::max(worst, std::abs(ours.at(x, y)[k] - theirs.at(x, y)[k]) / unit_of(format));
    EXPECT_LE(worst, 3) << format;
    EXPECT_EQ(changed(ours, Picture(caps, flat(caps, 90).get())), (Box{8, 16, 40, 24})) << format;
  }
}

TEST(OverlayFormats, BlendsInTheColoursOfTheFrame) {
  const auto matrices = {GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_MATRIX_BT709, GST_VIDEO_COLOR_MATRIX_BT2020,
                         GST_VIDEO_COLOR_MATRIX_SMPTE240M, GST_VIDEO_COLOR_MATRIX_FCC};
  const auto colours = {0xff000000u, 0xffffffffu, 0xff0000ffu, 0xff00ff00u, 0xffff0000u, 0xffffff00u,
                        0xff00ffffu, 0xffff00ffu, 0x80808080u, 0x01010101u, 0x00000000u, 0xfe0000feu};
  for (const char* format : {"I420", "NV12", "YUY2", "I420_10LE", "P010_10LE", "Y444_16LE"})
    for (const GstVideoColorMatrix matrix : matrices)
      for (const auto range : {GST_VIDEO_COLOR_RANGE_0_255, GST_VIDEO_COLOR_RANGE_16_235})
        for (const std::uint32_t argb : colours)
          for (const int ground : {0, 255}) {
            GstVideoInfo info;
            gst_video_info_set_format(&info, gst_video_format_from_string(format), 16, 16);
            info.colorimetry.matrix = matrix;
            info.colorimetry.range = range;
            const auto composition = composition_of(0, 0, 16, 16, [=](guint, guint) { return argb; });
            overlay::Blender blender;
            const std::string caps = video_caps(format, 16, 16);
            const Picture before(caps, flat(caps, ground).get());
            const Picture after = blended(
                caps, ground, info, [&](GstVideoFrame* frame) { return blender.blend(composition.get(), frame); });
            double kr = 0, kb = 0;
            gst_video_color_matrix_get_Kr_Kb(matrix, &kr, &kb);
            const bool full = range == GST_VIDEO_COLOR_RANGE_0_255;
            const double r = argb >> 16 & 255, g = argb >> 8 & 255, b = argb & 255, a = argb >> 24;
            const double y = kr * r + (1 - kr - kb) * g + kb * b;
            const std::array<double, 3> colour{y * (full ? 1 : 219.0 / 255) + (full ? 0 : 16) * a / 255,
                                               (b - y) / (2 - 2 * kb) * (full ? 1 : 224.0 / 255) + 128 * a / 255,
                                               (r - y) / (2 - 2 * kr) * (full ? 1 : 224.0 / 255) + 128 * a / 255};
            for (std::size_t k = 0; k < 3; ++k) {
              const double want = colour[k] + before.at(7, 7)[k + 1] / unit_of(format) * (255 - a) / 255;
              EXPECT_NEAR(after.at(7, 7)[k + 1] / unit_of(format), std::min(want, 255.0), 1.8)
                  << format << " matrix " << matrix << " range " << range << std::hex << " colour " << argb
                  << " component " << k << " on " << ground;
            }
            EXPECT_TRUE(argb != 0 || changed(before, after).empty()) << format;
          }
}

TEST(OverlayFormats, TransparentPixelsChangeNothing) {
  for (const std::string& format : formats()) {
    if (has_palette(format)) continue;
    GstVideoInfo info;
    gst_video_info_set_format(&info, gst_video_format_from_string(format.c_str()), 64, 32);
    const std::string caps = video_caps(format.c_str(), 64, 32);
    const BufferPtr before = random_buffer(caps, 9), after = random_buffer(caps, 9);
    const auto composition = composition_of(3, 5, 51, 21, [](guint, guint) { return 0u; });
    overlay::Blender blender;
    GstVideoFrame frame;
    ASSERT_TRUE(gst_video_frame_map(&frame, &info, after.get(), GST_MAP_READWRITE));
    EXPECT_TRUE(blender.blend(composition.get(), &frame));
    gst_video_frame_unmap(&frame);
    EXPECT_TRUE(changed(Picture(caps, before.get()), Picture(caps, after.get())).empty()) << format;
  }
}

/// A frame of random pixels with nothing but marks before and behind it in memory.
class Guarded {
 public:
  Guarded(const std::string& caps, std::uint64_t seed, GstClockTime pts = 0) : buffer_(gst_buffer_new()) {
    const BufferPtr pixels = random_buffer(caps, seed, pts);
    const gsize size = gst_buffer_get_size(pixels.get());
    bytes_.assign(size + 2 * kGuard, kMark);
    gst_buffer_extract(pixels.get(), 0, bytes_.data() + kGuard, size);
    gst_buffer_append_memory(
        buffer_.get(), gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), bytes_.data() + kGuard, size, 0, size,
                                              nullptr, nullptr));
    GST_BUFFER_PTS(buffer_.get()) = pts;
  }
  BufferPtr take() { return std::move(buffer_); }
  GstBuffer* get() { return buffer_.get(); }
  /// The frame is still in memory, wherever its buffer is.
  bool is_whole() const {
    return std::all_of(bytes_.begin(), bytes_.begin() + kGuard, [](std::uint8_t b) { return b == kMark; }) &&
           std::all_of(bytes_.end() - kGuard, bytes_.end(), [](std::uint8_t b) { return b == kMark; });
  }

 private:
  static constexpr std::ptrdiff_t kGuard = 1 << 16;
  static constexpr std::uint8_t kMark = 0xa5;
  std::vector<std::uint8_t> bytes_;
  BufferPtr buffer_;
};

TEST(OverlayFormats, WhatLiesOutsideTheFrameIsCutOff) {
  constexpr int kWidth = 61, kHeight = 45;
  const auto colour = [](int x, int y) {
    return 0xff000000u | static_cast<std::uint32_t>((x & 255) << 16 | (y & 255) << 8 | ((x ^ y) & 255));
  };
  const Box boxes[] = {{-9, 5, 30, 20},     {40, 5, 30, 20},     {10, -7, 30, 20}, {10, 40, 30, 20},
                       {-5, -3, 200, 150},  {-40, -30, 45, 35},  {60, 44, 90, 90}, {-30, 5, 30, 20},
                       {61, 5, 30, 20},     {10, -20, 30, 20},   {10, 45, 30, 20}, {-1000, 0, 9, 9},
                       {100000, 9, 30, 20}, {10, 100000, 30, 20}};
  for (const std::string& format : formats()) {
    if (has_palette(format)) continue;
    const std::string caps = video_caps(format.c_str(), kWidth, kHeight);
    const GstVideoInfo info = video_info(caps);
    const auto blend = [&](Guarded& frame, const Box& box) {
      const auto composition = composition_of(
          box.x, box.y, static_cast<guint>(box.width), static_cast<guint>(box.height),
          [&](guint x, guint y) { return colour(box.x + static_cast<int>(x), box.y + static_cast<int>(y)); });
      GstVideoFrame mapped;
      ASSERT_TRUE(gst_video_frame_map(&mapped, &info, frame.get(), GST_MAP_READWRITE));
      overlay::Blender blender;
      EXPECT_TRUE(blender.blend(composition.get(), &mapped));
      gst_video_frame_unmap(&mapped);
    };
    for (const Box& box : boxes) {
      Guarded ours(caps, 9), wanted(caps, 9);
      blend(ours, box);
      const Box inside = overlay::common(box, {0, 0, kWidth, kHeight});
      if (!inside.empty()) blend(wanted, inside);
      EXPECT_TRUE(ours.is_whole()) << format << " " << box.x << "," << box.y;
      // 10A2 is left to GStreamer, and 1.22 leaves black pixels there.
      if (format.find("10A2") != std::string::npos) continue;
      EXPECT_TRUE(same_pixels(caps, ours.get(), wanted.get())) << format << " " << box.x << "," << box.y;
    }
  }
}

TEST(OverlayFormats, RectanglesAreScaledAndPremultiplied) {
  const std::string caps = video_caps("I420", 64, 48);
  const GstVideoInfo info = video_info(caps);
  const BufferPtr pixels(gst_buffer_new_allocate(nullptr, 8 * 8 * 4, nullptr));
  gst_buffer_memset(pixels.get(), 0, 0x80, 8 * 8 * 4);
  gst_buffer_add_video_meta(pixels.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 8, 8);
  const overlay::RectanglePtr rectangle(
      gst_video_overlay_rectangle_new_raw(pixels.get(), 8, 8, 40, 24, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE));
  const overlay::CompositionPtr small(gst_video_overlay_composition_new(rectangle.get()));
  const auto full = composition_of(8, 8, 40, 24, [](guint, guint) { return 0x80404040u; });
  const auto drawn = [&](GstVideoOverlayComposition* composition) {
    return blended(caps, 90, info, [&](GstVideoFrame* frame) { return overlay::Blender().blend(composition, frame); });
  };
  EXPECT_TRUE(changed(drawn(small.get()), drawn(full.get())).empty());
}

TEST(OverlayFormats, PictureThatShrinksIsNotDrawnBeyond) {
  // Zones, text, graph and peaking of the larger picture, and no new score for the smaller one.
  for (const std::string& format : formats()) {
    if (has_palette(format)) continue;
    const std::string large = video_caps(format.c_str(), 322, 242);
    OverlayRig rig{{"peaking", "true"}};
    rig.caps(large);
    const Said said{.score = 7, .columns = 4, .rows = 4, .zones = std::vector<double>(16, 1)};
    for (GstClockTime i = 0; i < 2; ++i) rig.pass(with(random_buffer(large, i, i * GST_SECOND / 30), said));
    GstClockTime time = GST_SECOND / 10;
    for (const auto& [width, height] : {std::pair{64, 48}, {16, 200}, {300, 9}, {1, 1}}) {
      const std::string caps = video_caps(format.c_str(), width, height);
      rig.caps(caps);
      Guarded frame(caps, 3, time += GST_SECOND / 30);
      EXPECT_TRUE(rig.pass(frame.take())) << caps;
      EXPECT_TRUE(frame.is_whole()) << caps;
    }
  }
}

TEST(OverlayFormats, PaletteIsRefusedWithAdvice) {
  const std::string caps = video_caps("RGB8P", 640, 480);
  OverlayRig rig;
  rig.caps(caps);
  EXPECT_EQ(rig.push(with(random_buffer(caps, 1), {.score = 1})), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  EXPECT_NE(heard.errors[0].text.find("videoconvert"), std::string::npos);
}

TEST(OverlayFormats, EverySizeIsDrawn) {
  const std::pair<int, int> sizes[] = {{1, 1},   {1, 7},   {2, 2},    {3, 3},     {5, 1},   {16, 16},
                                       {17, 13}, {63, 47}, {99, 300}, {161, 121}, {400, 33}};
  for (const char* format :
       {"I420", "NV12", "YUY2", "GRAY8", "RGB", "BGRx", "P010_10LE", "Y444_16LE", "v210", "NV12_64Z32"})
    for (const auto& [width, height] : sizes) {
      const std::string caps = video_caps(format, width, height);
      OverlayRig rig{{"peaking", "true"}, {"peaking-threshold", "1"}};
      rig.caps(caps);
      for (GstClockTime i = 0; i < 3; ++i)
        EXPECT_TRUE(rig.pass(with(random_buffer(caps, i, i * GST_SECOND / 30),
                                  {.score = 5, .columns = 64, .rows = 64, .zones = std::vector<double>(4096, 1)})))
            << caps;
    }
}

TEST(OverlayFormats, LettersGrowWithThePicture) {
  for (const auto& [width, height] :
       {std::pair{320, 240}, std::pair{1920, 1080}, std::pair{3840, 2160}, std::pair{1080, 1920}}) {
    const std::string caps = video_caps("GRAY8", width, height);
    OverlayRig rig{{"graph", "false"}};
    rig.caps(caps);
    const Picture one(caps, rig.pass(with(flat(caps), {.score = 1111})).get());
    const Picture eight(caps, rig.pass(with(flat(caps, 100, 1), {.score = 8888})).get());
    const Box digits = changed(one, eight);
    // Digits that can be told apart: 1/40 of the picture's smaller side, never less than 9 pixels.
    EXPECT_GE(digits.height, std::max(9, std::min(width, height) / 40)) << caps;
    EXPECT_LE(digits.height, std::max(20, std::min(width, height) / 20)) << caps;
  }
}

TEST(OverlayFormats, PixelsThatAreNotSquareDoNotDistort) {
  const auto shape = [](const char* par) {
    const std::string caps = video_caps("GRAY8", 720, 576, par);
    OverlayRig rig{{"graph", "false"}};
    rig.caps(caps);
    const Picture one(caps, rig.pass(with(flat(caps), {.score = 1111})).get());
    const Picture eight(caps, rig.pass(with(flat(caps, 100, 1), {.score = 8888})).get());
    return changed(one, eight);
  };
  const Box square = shape(""), wide = shape(",pixel-aspect-ratio=2/1");
  EXPECT_NEAR(static_cast<double>(wide.width) / wide.height, 0.5 * square.width / square.height,
              0.12 * square.width / square.height);
}

}  // namespace
}  // namespace framequality::test
