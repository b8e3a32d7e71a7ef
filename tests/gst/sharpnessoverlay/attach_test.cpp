// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay attached or blended: what is negotiated, attached, copied and kept.
#include "tests/gst/sharpnessoverlay/rig.h"

#include <cstring>
#include <set>

namespace framequality::test {
namespace {

constexpr char kFeature[] = "meta:GstVideoOverlayComposition";
constexpr char kDrawn[] = "memory:SystemMemory, meta:GstVideoOverlayComposition";
const std::string kCaps = video_caps("I420", 640, 480);

std::string with_feature(const std::string& features, const char* format = "I420", int width = 640, int height = 480) {
  std::string caps = video_caps(format, width, height);
  return caps.insert(std::string("video/x-raw").size(), "(" + features + ")");
}

bool out_has_overlay(Rig& rig) {
  const CapsPtr caps(gst_pad_get_current_caps(rig.harness()->sinkpad));
  return gst_caps_features_contains(gst_caps_get_features(caps.get(), 0), kFeature);
}
TEST(OverlayAttach, AttachesWhereDownstreamDraws) {
  DrawnDownstream rig;
  rig.caps(kCaps);
  const BufferPtr held = with(random_buffer(kCaps, 1), {.score = 7});
  const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(held.get())));
  EXPECT_TRUE(out_has_overlay(rig));
  EXPECT_EQ(rectangles_in(out), 2u);
  // The same memory, and the buffer that others hold has got nothing.
  EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), gst_buffer_peek_memory(held.get(), 0));
  EXPECT_EQ(composition_in(held), nullptr);
  EXPECT_TRUE(same_pixels(kCaps, out.get(), random_buffer(kCaps, 1).get()));
  EXPECT_EQ(meta_score(out.get()), 7);
}

TEST(OverlayAttach, AttachedPixelsAreThoseBlended) {
  // What is attached, blended by hand, is what a sink without overlays gets.
  for (const char* format : {"I420", "BGRx"}) {
    const std::string caps = video_caps(format, 640, 480);
    const Said said{.score = 123, .columns = 3, .rows = 2, .zones = {1, 2, 3, 4, 5, 6}};
    DrawnDownstream attaching;
    OverlayRig blending;
    attaching.caps(caps);
    blending.caps(caps);
    const BufferPtr attached = attaching.pass(with(flat(caps), said)), blended = blending.pass(with(flat(caps), said));
    ASSERT_EQ(rectangles_in(attached), 3u);
    EXPECT_EQ(rectangles_in(blended), 0u);
    const CapsPtr c(gst_caps_from_string(caps.c_str()));
    GstVideoInfo info;
    GstVideoFrame frame;
    gst_video_info_from_caps(&info, c.get());
    ASSERT_TRUE(gst_video_frame_map(&frame, &info, attached.get(), GST_MAP_READWRITE));
    gst_video_overlay_composition_blend(composition_in(attached), &frame);
    gst_video_frame_unmap(&frame);
    const Picture a(caps, attached.get()), b(caps, blended.get());
    int far = 0;
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 640; ++x) far += std::abs(a.code(x, y) - b.code(x, y)) > 8;
    EXPECT_EQ(far, 0) << format;
  }
}

TEST(OverlayAttach, RectanglesSayWhatTheirPixelsAre) {
  DrawnDownstream rig{{"peaking", "true"}};
  rig.caps(kCaps);
  const BufferPtr out = rig.pass(with(painted(kCaps, [](int, int y) { return y < 200 ? 50 : 150; }),
                                      {.score = 1, .columns = 2, .rows = 1, .zones = {1, 2}}));
  ASSERT_EQ(rectangles_in(out), 4u);
  for (guint i = 0; i < 4; ++i) {
    GstVideoOverlayRectangle* rectangle = gst_video_overlay_composition_get_rectangle(composition_in(out), i);
    EXPECT_EQ(gst_video_overlay_rectangle_get_flags(rectangle), GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
    gint x, y;
    guint w, h;
    gst_video_overlay_rectangle_get_render_rectangle(rectangle, &x, &y, &w, &h);
    EXPECT_TRUE(within({x, y, static_cast<int>(w), static_cast<int>(h)}, {0, 0, 640, 480}));
    // No colour is more than its alpha.
    GstBuffer* pixels = gst_video_overlay_rectangle_get_pixels_unscaled_raw(
        rectangle, GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
    GstVideoMeta* meta = gst_buffer_get_video_meta(pixels);
    ASSERT_TRUE(meta);
    EXPECT_EQ(meta->format, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB);
    GstMapInfo map;
    gpointer data = nullptr;
    gint stride = 0;
    ASSERT_TRUE(gst_video_meta_map(meta, 0, &map, &data, &stride, GST_MAP_READ));
    for (guint row = 0; row < h; ++row)
      for (guint column = 0; column < w; ++column) {
        std::uint32_t argb;
        std::memcpy(&argb, static_cast<std::uint8_t*>(data) + std::ptrdiff_t{stride} * row + 4 * column, 4);
        for (const int shift : {0, 8, 16}) ASSERT_LE(argb >> shift & 255, argb >> 24) << i;
      }
    gst_video_meta_unmap(meta, 0, &map);
    // Peaking, the lowest, is only as high as what it marks.
    EXPECT_TRUE(i != 0 || h == 2) << h;
  }
}

TEST(OverlayAttach, PeakingKeepsItsColourOnGreyFramesThatDownstreamDrawsOn) {
  DrawnDownstream rig{{"peaking", "true"}, {"text", "false"}, {"graph", "false"}};
  const std::string caps = video_caps("GRAY8", 640, 480);
  rig.caps(caps);
  const BufferPtr out = rig.pass(with(painted(caps, [](int, int y) { return y < 200 ? 50 : 150; }), {.score = 1}));
  ASSERT_EQ(rectangles_in(out), 1u);
  GstBuffer* pixels = gst_video_overlay_rectangle_get_pixels_unscaled_raw(
      gst_video_overlay_composition_get_rectangle(composition_in(out), 0),
      GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
  GstVideoMeta* meta = gst_buffer_get_video_meta(pixels);
  GstMapInfo map;
  gpointer data = nullptr;
  gint stride = 0;
  ASSERT_TRUE(gst_video_meta_map(meta, 0, &map, &data, &stride, GST_MAP_READ));
  for (guint x = 1; x < 639; ++x) {
    std::uint32_t argb;
    std::memcpy(&argb, static_cast<std::uint8_t*>(data) + 4 * x, 4);
    ASSERT_EQ(argb, 0xffff3030) << x;
  }
  gst_video_meta_unmap(meta, 0, &map);
}

TEST(OverlayAttach, NothingNewIsTheSameComposition) {
  DrawnDownstream rig{{"graph", "false"}};
  rig.caps(kCaps);
  const BufferPtr a = rig.pass(with(random_buffer(kCaps, 1, 0), {.score = 7}));
  const BufferPtr b = rig.pass(with(random_buffer(kCaps, 1, 1), {.score = 7}));
  const BufferPtr c = rig.pass(with(random_buffer(kCaps, 1, 2), {.score = 8}));
  EXPECT_EQ(composition_in(a), composition_in(b));
  EXPECT_NE(composition_in(a), composition_in(c));
}

TEST(OverlayAttach, PixelsAreUsedAgain) {
  DrawnDownstream rig{{"text", "false"}};
  rig.caps(kCaps);
  std::set<GstMemory*> seen;
  for (GstClockTime i = 0; i < 30; ++i) {
    const BufferPtr out =
        rig.pass(with(random_buffer(kCaps, 1, i * GST_SECOND / 30), {.score = static_cast<double>(i)}));
    GstBuffer* pixels = gst_video_overlay_rectangle_get_pixels_unscaled_raw(
        gst_video_overlay_composition_get_rectangle(composition_in(out), 0),
        GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA);
    seen.insert(gst_buffer_peek_memory(pixels, 0));
  }
  EXPECT_LE(seen.size(), 3u);
}

TEST(OverlayAttach, OverlayThatIsThereIsKept) {
  const std::string caps = with_feature(kDrawn);
  DrawnDownstream rig;
  gst_harness_set_sink_caps_str(rig.harness(), caps.c_str());
  rig.caps(caps);
  BufferPtr in = with(random_buffer(kCaps, 1), {.score = 7});
  // As an overlay before this one does it.
  const BufferPtr pixels(gst_buffer_new_allocate(nullptr, 16, nullptr));
  gst_buffer_add_video_meta(pixels.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 2, 2);
  GstVideoOverlayRectangle* rectangle =
      gst_video_overlay_rectangle_new_raw(pixels.get(), 3, 4, 2, 2, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  GstVideoOverlayComposition* composition = gst_video_overlay_composition_new(rectangle);
  gst_buffer_add_video_overlay_composition_meta(in.get(), composition);
  const BufferPtr held(gst_buffer_ref(in.get()));
  const BufferPtr out = rig.pass(std::move(in));
  EXPECT_EQ(rectangles_in(out), 3u);
  EXPECT_EQ(gst_video_overlay_composition_get_rectangle(composition_in(out), 0), rectangle);
  EXPECT_EQ(rectangles_in(held), 1u);
  gst_video_overlay_rectangle_unref(rectangle);
  gst_video_overlay_composition_unref(composition);
}

TEST(OverlayAttach, FramesInOtherMemoryPassWithTheMeta) {
  const std::string caps = with_feature("memory:Other", "NV12"),
                    both = with_feature(std::string("memory:Other, ") + kFeature, "NV12");
  DrawnDownstream rig;
  gst_harness_set_sink_caps_str(rig.harness(), both.c_str());
  rig.caps(caps);
  // Not pixels at all: nobody may look at them.
  BufferPtr in(gst_buffer_new());
  GST_BUFFER_PTS(in.get()) = 0;
  const BufferPtr out = rig.pass(with(std::move(in), {.score = 7}));
  EXPECT_EQ(rectangles_in(out), 2u);
  EXPECT_TRUE(out_has_overlay(rig));
}

TEST(OverlayAttach, FramesThatCannotBeReadGetNoPeakingAndOneWarning) {
  const std::string caps = with_feature("memory:Other", "NV12"),
                    both = with_feature(std::string("memory:Other, ") + kFeature, "NV12");
  DrawnDownstream rig{{"peaking", "true"}};
  gst_harness_set_sink_caps_str(rig.harness(), both.c_str());
  rig.caps(caps);
  for (GstClockTime i = 0; i < 3; ++i) {
    BufferPtr in(gst_buffer_new());
    GST_BUFFER_PTS(in.get()) = i;
    EXPECT_EQ(rectangles_in(rig.pass(with(std::move(in), {.score = 7}))), 2u);
  }
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty());
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("No focus peaking"), std::string::npos);
}

TEST(OverlayAttach, OtherMemoryThatNobodyDrawsOnIsRefused) {
  OverlayRig rig;
  gst_harness_set_sink_caps_str(rig.harness(), with_feature("memory:Other", "NV12").c_str());
  const CapsPtr accepted(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
  EXPECT_TRUE(gst_caps_is_empty(accepted.get()));
}

TEST(OverlayAttach, CapsAcrossSayWhatIsPossible) {
  OverlayRig rig;
  const auto accepts = [&](const std::string& downstream, const std::string& offered) {
    gst_harness_set_sink_caps_str(rig.harness(), downstream.c_str());
    const CapsPtr caps(gst_caps_from_string(offered.c_str()));
    return static_cast<bool>(gst_pad_peer_query_accept_caps(rig.harness()->srcpad, caps.get()));
  };
  const std::string other = with_feature("memory:Other"),
                    other_drawn = with_feature(std::string("memory:Other, ") + kFeature);
  EXPECT_TRUE(accepts(kCaps, kCaps));
  EXPECT_TRUE(accepts(with_feature(kDrawn), kCaps));
  EXPECT_TRUE(accepts(with_feature(kDrawn), with_feature(kDrawn)));
  EXPECT_FALSE(accepts(kCaps, with_feature(kDrawn)));
  EXPECT_TRUE(accepts(other_drawn, other));
  EXPECT_TRUE(accepts(other_drawn, other_drawn));
  EXPECT_FALSE(accepts(other, other));
  EXPECT_FALSE(accepts(kCaps, other));
  EXPECT_FALSE(accepts(kCaps, video_caps("I420", 320, 240)));
  const CapsPtr any(gst_caps_new_any()), all(gst_pad_peer_query_caps(rig.harness()->srcpad, any.get()));
  EXPECT_FALSE(gst_caps_is_empty(all.get()));
}

TEST(OverlayAttach, SourceWithoutAPreferenceGivesACommonFormat) {
  // All formats that there are, in GStreamer's order, which begins with 64 bits a pixel.
  OverlayRig rig;
  gst_harness_set_sink_caps_str(rig.harness(), GST_VIDEO_CAPS_MAKE(GST_VIDEO_FORMATS_ALL));
  const CapsPtr caps(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
  const CapsPtr taken(gst_caps_fixate(gst_caps_copy(caps.get())));
  EXPECT_EQ(text(gst_caps_get_structure(taken.get(), 0), "format"), "I420");
}

TEST(OverlayAttach, SinkWithoutOverlaysGetsPixels) {
  OverlayRig rig;
  rig.caps(kCaps);
  BufferPtr in = with(random_buffer(kCaps, 1), {.score = 7});
  const GstBuffer* same = in.get();
  const BufferPtr out = rig.pass(std::move(in));
  EXPECT_EQ(out.get(), same);  // nobody else has it: drawn where it is
  EXPECT_FALSE(out_has_overlay(rig));
  EXPECT_EQ(composition_in(out), nullptr);
  EXPECT_FALSE(same_pixels(kCaps, out.get(), random_buffer(kCaps, 1).get()));
  EXPECT_EQ(meta_score(out.get()), 7);
}

TEST(OverlayAttach, PixelsThatOthersHoldAreCopied) {
  for (const GstMemoryFlags flags :
       {static_cast<GstMemoryFlags>(0), GST_MEMORY_FLAG_READONLY, GST_MEMORY_FLAG_NO_SHARE}) {
    OverlayRig rig;
    rig.caps(kCaps);
    const BufferPtr held = with(random_buffer(kCaps, 1), {.score = 7});
    GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(held.get(), 0), flags);
    const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(held.get())));
    EXPECT_TRUE(same_pixels(kCaps, held.get(), random_buffer(kCaps, 1).get())) << flags;
    EXPECT_FALSE(same_pixels(kCaps, out.get(), held.get())) << flags;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), GST_BUFFER_PTS(held.get()));
    EXPECT_EQ(meta_score(out.get()), 7);
  }
}

TEST(OverlayAttach, NegotiatesAgainWhenDownstreamChanges) {
  DrawnDownstream rig;
  rig.caps(kCaps);
  EXPECT_EQ(rectangles_in(rig.pass(with(random_buffer(kCaps, 1, 0), {.score = 7}))), 2u);
  // Another sink, which takes plain caps only.
  gst_harness_set_sink_caps_str(rig.harness(), kCaps.c_str());
  gst_harness_push_upstream_event(rig.harness(), gst_event_new_reconfigure());
  BufferPtr out = rig.pass(with(random_buffer(kCaps, 1, 1), {.score = 7}));
  EXPECT_EQ(rectangles_in(out), 0u);
  EXPECT_FALSE(out_has_overlay(rig));
  EXPECT_FALSE(same_pixels(kCaps, out.get(), random_buffer(kCaps, 1).get()));
  gst_harness_set_sink_caps_str(rig.harness(), (with_feature(kDrawn) + ";" + kCaps).c_str());
  gst_harness_push_upstream_event(rig.harness(), gst_event_new_reconfigure());
  out = rig.pass(with(random_buffer(kCaps, 1, 2), {.score = 7}));
  EXPECT_EQ(rectangles_in(out), 2u);
  EXPECT_TRUE(out_has_overlay(rig));
}

}  // namespace
}  // namespace framequality::test
