// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel filters: where samples lie in every format, and that each is filtered as what it is.
#include "tests/gst/base/filter_rig.h"

namespace framequality::test {
namespace {

/// A format that a newer GStreamer brings fails this until it is listed, or named as one that GStreamer's table packs
/// otherwise than it says.
template <class Layout>
void expect_listed(std::vector<std::string> names, std::initializer_list<const char*> wrong, Layout&& layout) {
  std::vector<std::string> have;
  for (int f = GST_VIDEO_FORMAT_I420; gst_video_format_to_string(static_cast<GstVideoFormat>(f)); ++f) {
    const auto format = static_cast<GstVideoFormat>(f);
    if (layout(*gst_video_format_get_info(format))) have.emplace_back(gst_video_format_to_string(format));
  }
  for (const char* name : wrong) std::erase(have, name);
  std::sort(names.begin(), names.end());
  std::sort(have.begin(), have.end());
  EXPECT_EQ(difference(have, names), "") << "have a layout and are not listed";
  EXPECT_EQ(difference(names, have), "") << "are listed and have no layout";
}

TEST(LumaFormats, ThoseWithALayoutAreThoseListed) {
  expect_listed(listed_formats("sharpnessmeter"),
                {"BGR10A2_LE", "BGR10x2_LE", "RGB10A2_LE", "RGB10x2_LE", "r210", "v216", "Y210", "Y410", "Y412_BE",
                 "Y412_LE", "Y416_BE", "Y416_LE"},
                layout_of);
}

TEST(PictureFormats, ThoseWithALayoutAreThoseListed) {
  expect_listed(listed_formats("nlmeans"), {"v216"}, picture_layout_of);  // v216 is little endian, which is not said
  for (const char* not_said : {"A420", "AV12", "GBRA", "GRAY10_LE32", "NV12_4L4", "v210", "RGB16", "Y210", "Y212_LE"})
    EXPECT_FALSE(picture_layout_of(*gst_video_format_get_info(gst_video_format_from_string(not_said)))) << not_said;
}

TEST(PictureFormats, SamplesAreWhereGStreamerFindsThem) {
  for (const auto& format : listed_formats("nlmeans")) {
    const std::string caps = video_caps(format.c_str(), 32, 16);
    const GstVideoInfo info = video_info(caps);
    const PictureGeometry g = geometry_of(info);
    const PictureLayout& l = g.layout;
    const BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
    gst_buffer_memset(buffer.get(), 0, 0, info.size);
    Random random(5);
    std::vector<std::uint32_t> codes[3];
    {
      const MappedCanvas canvas(info, g, buffer.get());
      for (int c = 0; c < l.components; ++c)
        for (int y = 0; y < g.height_of(c); ++y)
          for (int x = 0; x < g.width_of(c); ++x) {
            const auto& at = l.component[c];
            codes[c].push_back(static_cast<std::uint32_t>(random.below(l.largest() + 1)));
            write_sample(l,
                         canvas.canvas().plane[at.plane] + y * canvas.canvas().stride[at.plane] + at.offset +
                             x * at.pixel_stride,
                         codes[c].back());
          }
    }
    GstVideoFrame frame;
    ASSERT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_READ));
    const GstVideoFormatInfo* f = info.finfo;
    const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
    std::vector<std::uint16_t> line(4 * 64);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(line.data());
    // Where chroma is halved both ways, a row of it is compared with the first luma row that it belongs to.
    int wrong = 0;
    for (int y = 0; y < info.height; ++y) {
      f->unpack_func(f, GST_VIDEO_PACK_FLAG_TRUNCATE_RANGE, line.data(), frame.data, info.stride, 0, y, info.width);
      for (int x = 0; x < info.width; ++x)
        for (int c = 0; c < l.components; ++c) {
          const int xs = l.component[c].x_shift, ys = l.component[c].y_shift;
          if ((x & ((1 << xs) - 1)) || (y & ((1 << ys) - 1))) continue;
          const std::size_t i = 4 * static_cast<std::size_t>(x) + 1 + static_cast<std::size_t>(c);
          const std::uint32_t got = (wide ? line[i] : bytes[i]) >> ((wide ? 16 : 8) - l.depth);
          wrong += got != codes[c][static_cast<std::size_t>((y >> ys) * g.width_of(c) + (x >> xs))];
        }
    }
    gst_video_frame_unmap(&frame);
    EXPECT_EQ(wrong, 0) << format;
  }
}

TEST(PictureFormats, EachIsFilteredAsTheTwinDoes) {
  // Odd sizes; alpha, filler and padding bits are random too.
  for (const auto& format : listed_formats("nlmeans"))
    for (const char* chroma : {"none", "joint"})
      for (const auto& [w, h] : {std::pair{17, 11}, {1, 1}}) {
        const std::string caps = video_caps(format.c_str(), w, h);
        FilterRig rig({{"chroma", chroma}});
        rig.caps(caps);
        BufferPtr buffer = random_buffer(caps, 7);
        denoise::Settings settings = quick();
        settings.chroma = chroma == std::string("joint") ? denoise::Chroma::kJoint : denoise::Chroma::kNone;
        const auto in = rows_of(caps, buffer.get());
        const Filtered want = filtered(caps, buffer.get(), settings);
        const BufferPtr out = rig.pass(std::move(buffer));
        ASSERT_TRUE(out) << caps;
        EXPECT_TRUE(is_filtered(rig, want, rows_of(caps, out.get()))) << caps << " " << chroma;
        EXPECT_TRUE(w == 1 || in != want.rows) << "nothing happened: " << caps;
        EXPECT_TRUE(rig.heard().errors.empty());
      }
}

TEST(PictureFormats, AlphaIsCopied) {
  for (const auto& format : listed_formats("nlmeans")) {
    const std::string caps = video_caps(format.c_str(), 16, 8);
    const GstVideoInfo info = video_info(caps);
    if (!GST_VIDEO_INFO_HAS_ALPHA(&info)) continue;
    FilterRig rig;
    rig.caps(caps);
    const BufferPtr in = random_buffer(caps, 3);
    const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(in.get())));
    std::vector<std::uint8_t> alpha[2];
    for (int i = 0; i < 2; ++i) {
      GstVideoFrame frame;
      ASSERT_TRUE(gst_video_frame_map(&frame, &info, i ? out.get() : in.get(), GST_MAP_READ));
      for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 16; ++x)
          alpha[i].push_back(static_cast<std::uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(
              &frame, GST_VIDEO_COMP_A))[y * GST_VIDEO_FRAME_COMP_STRIDE(&frame, GST_VIDEO_COMP_A) +
                                         x * GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, GST_VIDEO_COMP_A)]);
      gst_video_frame_unmap(&frame);
    }
    EXPECT_EQ(alpha[0], alpha[1]) << format;
  }
}

TEST(PictureFormats, OthersAreNotNegotiated) {
  for (const char* caps :
       {"video/x-raw,format=v210,width=64,height=48", "video/x-raw,format=A420,width=64,height=48",
        "video/x-raw,format=GRAY10_LE32,width=64,height=48", "video/x-raw,format=GRAY8,width=0,height=48",
        "video/x-raw,format=GRAY8,width=64,height=48,interlace-mode=fields",
        "video/x-raw(memory:GLMemory),format=RGBA,width=64,height=48",
        "video/x-raw(format:Interlaced),format=GRAY8,width=64,height=48,interlace-mode=alternate"}) {
    FilterRig rig;
    rig.caps(caps);
    EXPECT_EQ(rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 65536, nullptr))), GST_FLOW_NOT_NEGOTIATED) << caps;
    EXPECT_FALSE(rig.pull()) << caps;
  }
}

}  // namespace
}  // namespace framequality::test
