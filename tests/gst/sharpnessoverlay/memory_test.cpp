// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay on frames whose planes lie oddly: drawn on right where they lie within the buffer, else refused with
// the reason, and nothing beside the planes is read or written. AddressSanitizer sees to the latter.
#include "tests/gst/sharpnessoverlay/rig.h"

namespace framequality::test {
namespace {

constexpr int kWidth = 161, kHeight = 83;  // GStreamer adds a row to odd heights of some formats
const Said kSaid{.score = 1234};

/// How a buffer's planes lie, against what GStreamer would choose.
struct PlaneLayout {
  const char* name;
  int shift = 0;  ///< bytes in front of the first plane
  int wider = 0;  ///< bytes more in each row
  bool upside_down = false;
  int missing = 0;  ///< bytes less at the end than the planes take
};

struct LaidOut {
  BufferPtr buffer;
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
};

int rows_of_plane(const GstVideoInfo& info, guint plane) {
  for (guint c = 0; c < GST_VIDEO_INFO_N_COMPONENTS(&info); ++c)
    if (GST_VIDEO_INFO_COMP_PLANE(&info, c) == plane) return GST_VIDEO_INFO_COMP_HEIGHT(&info, c);
  return 0;
}

/// Copies a frame in GStreamer's layout into one of another, or back.
void copy_rows(const GstVideoInfo& info, std::uint8_t* usual, std::uint8_t* other, const LaidOut& laid_out, bool back) {
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const gint stride = GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
    for (int y = 0; y < rows_of_plane(info, p); ++y) {
      std::uint8_t* from = usual + GST_VIDEO_INFO_PLANE_OFFSET(&info, p) + std::ptrdiff_t{y} * stride;
      std::uint8_t* to = other + laid_out.offset[p] + std::ptrdiff_t{y} * laid_out.stride[p];
      back ? std::copy_n(to, stride, from) : std::copy_n(from, stride, to);
    }
  }
}

/// The frame in memory of exactly the bytes that its planes take there.
LaidOut lay_out(const GstVideoInfo& info, GstBuffer* usual, const PlaneLayout& layout) {
  LaidOut laid_out;
  gsize size = static_cast<gsize>(layout.shift);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    const gint step = GST_VIDEO_INFO_PLANE_STRIDE(&info, p) + layout.wider;
    const int rows = rows_of_plane(info, p);
    laid_out.offset[p] = size + (layout.upside_down ? static_cast<gsize>(step) * static_cast<gsize>(rows - 1) : 0);
    laid_out.stride[p] = layout.upside_down ? -step : step;
    size += static_cast<gsize>(step) * static_cast<gsize>(rows);
  }
  size -= static_cast<gsize>(layout.wider);  // behind the last row there is nothing
  std::vector<std::uint8_t> bytes(size);
  GstMapInfo map;
  gst_buffer_map(usual, &map, GST_MAP_READ);
  copy_rows(info, map.data, bytes.data(), laid_out, false);
  gst_buffer_unmap(usual, &map);
  const gsize kept = size - static_cast<gsize>(layout.missing);
  auto* memory = static_cast<std::uint8_t*>(g_malloc(kept));
  std::copy_n(bytes.data(), kept, memory);
  laid_out.buffer.reset(gst_buffer_new_wrapped(memory, kept));
  gst_buffer_add_video_meta_full(laid_out.buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), kWidth,
                                 kHeight, GST_VIDEO_INFO_N_PLANES(&info), laid_out.offset, laid_out.stride);
  GST_BUFFER_PTS(laid_out.buffer.get()) = 0;
  return laid_out;
}

/// Formats that blending goes through in different ways.
std::vector<std::string> plain_formats() {
  return {"I420", "NV12",      "YUY2",      "AYUV", "Y41B",      "YUV9",      "GRAY8",     "RGB",       "BGRx",
          "GBR",  "I420_10LE", "I420_10BE", "A420", "P010_10LE", "GBRA_10LE", "ARGB64_LE", "GRAY16_LE", "RGB16"};
}

class OverlayMemory : public ::testing::Test {
 protected:
  void draw(const std::string& format, const PlaneLayout& layout) {
    SCOPED_TRACE(format + ", " + layout.name);
    const std::string caps = video_caps(format.c_str(), kWidth, kHeight);
    const GstVideoInfo info = video_info(caps);
    OverlayRig usual{{"graph", "false"}}, rig{{"graph", "false"}, {"peaking", "true"}};
    usual.set("peaking", "true");
    usual.caps(caps);
    rig.caps(caps);
    const BufferPtr plain = random_buffer(caps, 4);
    LaidOut laid_out = lay_out(info, plain.get(), layout);
    flow_ = rig.push(with(std::move(laid_out.buffer), kSaid));
    heard_ = rig.heard();
    if (flow_ != GST_FLOW_OK) return;
    const BufferPtr wanted = usual.pass(with(random_buffer(caps, 4), kSaid)), got = rig.pull();
    ASSERT_TRUE(wanted && got);
    // Back into GStreamer's layout, so that both can be looked at in the same way.
    const BufferPtr back = random_buffer(caps, 4);
    GstMapInfo to, from;
    gst_buffer_map(back.get(), &to, GST_MAP_READWRITE);
    gst_buffer_map(got.get(), &from, GST_MAP_READWRITE);
    if (layout.missing == 0) copy_rows(info, to.data, from.data, laid_out, true);
    gst_buffer_unmap(got.get(), &from);
    gst_buffer_unmap(back.get(), &to);
    EXPECT_TRUE(same_pixels(caps, wanted.get(), back.get()));
    EXPECT_FALSE(same_pixels(caps, plain.get(), back.get())) << "nothing was drawn";
  }
  GstFlowReturn flow_ = GST_FLOW_OK;
  Heard heard_;
};

TEST_F(OverlayMemory, OddLayoutsAreDrawnOnAlike) {
  for (const std::string& format : plain_formats())
    for (const PlaneLayout& layout :
         {PlaneLayout{.name = "as usual"}, PlaneLayout{.name = "at an odd address", .shift = 1},
          PlaneLayout{.name = "odd strides", .wider = 3}, PlaneLayout{.name = "upside down", .upside_down = true},
          PlaneLayout{.name = "all", .shift = 5, .wider = 7, .upside_down = true}}) {
      draw(format, layout);
      EXPECT_EQ(flow_, GST_FLOW_OK) << format << ", " << layout.name;
    }
}

TEST_F(OverlayMemory, MissingBytesAreAnErrorWithTheNumbers) {
  for (const std::string& format : plain_formats())
    for (const PlaneLayout& layout : {PlaneLayout{.name = "four rows less", .missing = 4 * kWidth},
                                      PlaneLayout{.name = "all but a byte", .missing = 12000}}) {
      draw(format, layout);
      EXPECT_EQ(flow_, GST_FLOW_ERROR) << format << ", " << layout.name;
      ASSERT_EQ(heard_.errors.size(), 1u) << format;
      EXPECT_TRUE(heard_.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard_.errors[0].text;
      EXPECT_NE(heard_.errors[0].text.find("but the buffer has "), std::string::npos) << heard_.errors[0].text;
    }
}

TEST_F(OverlayMemory, RowsLongerThanTheirStrideAreAnError) {
  for (const std::string& format : plain_formats()) {
    const std::string caps = video_caps(format.c_str(), kWidth, kHeight);
    const GstVideoInfo info = video_info(caps);
    OverlayRig rig;
    rig.caps(caps);
    BufferPtr buffer = random_buffer(caps, 1);
    gsize offset[GST_VIDEO_MAX_PLANES];
    gint stride[GST_VIDEO_MAX_PLANES];
    std::copy_n(info.offset, GST_VIDEO_MAX_PLANES, offset);
    std::copy_n(info.stride, GST_VIDEO_MAX_PLANES, stride);
    stride[0] = kWidth - 1;
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), kWidth,
                                   kHeight, GST_VIDEO_INFO_N_PLANES(&info), offset, stride);
    EXPECT_EQ(rig.push(with(std::move(buffer), kSaid)), GST_FLOW_ERROR) << format;
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u) << format;
    EXPECT_NE(heard.errors[0].text.find("but its stride is 160"), std::string::npos) << heard.errors[0].text;
  }
}

TEST_F(OverlayMemory, MetaOfAnotherFormatIsAnError) {
  const std::string caps = video_caps("I420", kWidth, kHeight);
  OverlayRig rig;
  rig.caps(caps);
  BufferPtr buffer = random_buffer(caps, 1);
  gst_buffer_add_video_meta(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, kWidth, kHeight);
  EXPECT_EQ(rig.push(with(std::move(buffer), kSaid)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_NE(heard.errors[0].text.find("GstVideoMeta says 161x83 GRAY8"), std::string::npos) << heard.errors[0].text;
}

TEST_F(OverlayMemory, TilesAndWordsOfSeveralSamplesAreChecked) {
  for (const char* format : {"NV12_4L4", "NV12_32L32", "NV12_64Z32", "v210", "UYVP", "IYU1", "GRAY10_LE32", "r210",
                             "NV12_10LE32", "NV16_10LE32", "NV12_10LE40", "Y410", "v216"}) {
    const std::string caps = video_caps(format, kWidth, kHeight + 1);
    GstVideoInfo info = video_info(caps);
    for (const gsize missing : {gsize{0}, gsize{1}, info.size / 2}) {
      OverlayRig rig;
      rig.caps(caps);
      const gsize size = info.size - missing;
      BufferPtr buffer(gst_buffer_new_wrapped(g_malloc0(size), size));
      gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info), kWidth,
                                     kHeight + 1, GST_VIDEO_INFO_N_PLANES(&info), info.offset, info.stride);
      GST_BUFFER_PTS(buffer.get()) = 0;
      EXPECT_EQ(rig.push(with(std::move(buffer), kSaid)), missing == 0 ? GST_FLOW_OK : GST_FLOW_ERROR)
          << format << " without " << missing << " bytes";
      EXPECT_EQ(rig.heard().errors.size(), missing == 0 ? 0u : 1u) << format;
    }
  }
}

TEST_F(OverlayMemory, PlanesInMemoriesOfTheirOwnAndReadOnlyOnes) {
  const std::string caps = video_caps("I420", kWidth, kHeight);
  GstVideoInfo info = video_info(caps);
  for (const bool meta : {false, true})
    for (const int flags : {0, static_cast<int>(GST_MEMORY_FLAG_READONLY)}) {
      OverlayRig usual, rig;
      usual.caps(caps);
      rig.caps(caps);
      const BufferPtr plain = random_buffer(caps, 6);
      BufferPtr parts(gst_buffer_new());
      GstMapInfo map;
      gst_buffer_map(plain.get(), &map, GST_MAP_READ);
      for (guint p = 0; p < 3; ++p) {
        const gsize end = p < 2 ? info.offset[p + 1] : info.size, size = end - info.offset[p];
        gpointer copy = g_memdup2(map.data + info.offset[p], size);
        gst_buffer_append_memory(
            parts.get(), gst_memory_new_wrapped(static_cast<GstMemoryFlags>(flags), copy, size, 0, size, copy, g_free));
      }
      gst_buffer_unmap(plain.get(), &map);
      if (meta)
        gst_buffer_add_video_meta_full(parts.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, kWidth, kHeight,
                                       3, info.offset, info.stride);
      GST_BUFFER_PTS(parts.get()) = 0;
      const BufferPtr got = rig.pass(with(std::move(parts), kSaid));
      const BufferPtr wanted = usual.pass(with(random_buffer(caps, 6), kSaid));
      ASSERT_TRUE(got && wanted);
      EXPECT_TRUE(same_pixels(caps, got.get(), wanted.get())) << meta << flags;
    }
}

}  // namespace
}  // namespace framequality::test
