// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay in a stream: attached or blended, what is copied, caps, events and properties that change.
#include "tests/element/overlay_rig.h"

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

/// Between test pads of which the second draws overlays itself.
class DrawnDownstream : public OverlayRig {
 public:
  DrawnDownstream(std::initializer_list<std::pair<const char*, const char*>> properties = {}) : OverlayRig(properties) {
    gst_harness_add_propose_allocation_meta(harness(), GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
  }
};

GstVideoOverlayComposition* composition_in(const BufferPtr& buffer) {
  GstVideoOverlayCompositionMeta* meta = gst_buffer_get_video_overlay_composition_meta(buffer.get());
  return meta ? meta->overlay : nullptr;
}
guint rectangles_in(const BufferPtr& buffer) {
  GstVideoOverlayComposition* composition = composition_in(buffer);
  return composition ? gst_video_overlay_composition_n_rectangles(composition) : 0;
}
bool out_has_overlay(Rig& rig) {
  const CapsPtr caps(gst_pad_get_current_caps(rig.harness()->sinkpad));
  return gst_caps_features_contains(gst_caps_get_features(caps.get(), 0), kFeature);
}
bool same_pixels(const std::string& caps, GstBuffer* a, GstBuffer* b) {
  return changed(Picture(caps, a), Picture(caps, b)).empty();
}

TEST(OverlayStream, AttachesWhereDownstreamDraws) {
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

TEST(OverlayStream, AttachedPixelsAreThoseBlended) {
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

TEST(OverlayStream, RectanglesSayWhatTheirPixelsAre) {
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

TEST(OverlayStream, NothingNewIsTheSameComposition) {
  DrawnDownstream rig{{"graph", "false"}};
  rig.caps(kCaps);
  const BufferPtr a = rig.pass(with(random_buffer(kCaps, 1, 0), {.score = 7}));
  const BufferPtr b = rig.pass(with(random_buffer(kCaps, 1, 1), {.score = 7}));
  const BufferPtr c = rig.pass(with(random_buffer(kCaps, 1, 2), {.score = 8}));
  EXPECT_EQ(composition_in(a), composition_in(b));
  EXPECT_NE(composition_in(a), composition_in(c));
}

TEST(OverlayStream, PixelsAreUsedAgain) {
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

TEST(OverlayStream, OverlayThatIsThereIsKept) {
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

TEST(OverlayStream, FramesInOtherMemoryPassWithTheMeta) {
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

TEST(OverlayStream, FramesThatCannotBeReadGetNoPeakingAndOneWarning) {
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
  EXPECT_NE(heard.warnings[0].text.find("no focus peaking"), std::string::npos);
}

TEST(OverlayStream, OtherMemoryThatNobodyDrawsOnIsRefused) {
  OverlayRig rig;
  gst_harness_set_sink_caps_str(rig.harness(), with_feature("memory:Other", "NV12").c_str());
  const CapsPtr accepted(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
  EXPECT_TRUE(gst_caps_is_empty(accepted.get()));
}

TEST(OverlayStream, CapsAcrossSayWhatIsPossible) {
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
}

TEST(OverlayStream, SinkWithoutOverlaysGetsPixels) {
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

TEST(OverlayStream, PixelsThatOthersHoldAreCopied) {
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

TEST(OverlayStream, NegotiatesAgainWhenDownstreamChanges) {
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

TEST(OverlayStream, CapsMayChange) {
  for (const bool attach : {false, true}) {
    OverlayRig rig{{"peaking", "true"}};
    if (attach)
      gst_harness_add_propose_allocation_meta(rig.harness(), GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
    GstClockTime time = 0;
    for (const std::string& caps : {kCaps, video_caps("BGRx", 1280, 720), video_caps("GRAY8", 160, 120), kCaps}) {
      rig.caps(caps);
      const BufferPtr out = rig.pass(with(random_buffer(caps, 1, time += GST_SECOND / 30), {.score = 7}));
      EXPECT_EQ(rectangles_in(out) > 0, attach) << caps;
      EXPECT_EQ(same_pixels(caps, out.get(), random_buffer(caps, 1).get()), attach) << caps;
    }
  }
}

TEST(OverlayStream, PropertiesChangeWhilePlaying) {
  DrawnDownstream rig;
  rig.caps(kCaps);
  GstClockTime time = 0;
  const auto count = [&] {
    return rectangles_in(
        rig.pass(with(painted(
                          kCaps, [](int x, int) { return x & 32 ? 50 : 150; }, time += GST_SECOND / 30),
                      {.score = 1, .columns = 2, .rows = 1, .zones = {1, 2}})));
  };
  EXPECT_EQ(count(), 3u);
  guint expected = 3;
  for (const char* part : {"text", "graph", "zones"}) {
    rig.set(part, "false");
    EXPECT_EQ(count(), --expected) << part;
  }
  rig.set("peaking", "true");
  EXPECT_EQ(count(), 1u);
  rig.set("peaking-threshold", "120");
  EXPECT_EQ(count(), 0u);
  for (const char* part : {"text", "graph", "zones"}) {
    rig.set(part, "true");
    EXPECT_EQ(count(), ++expected) << part;
  }
  rig.set("history", "1000000");
  EXPECT_EQ(count(), 3u);
}

TEST(OverlayStream, FlushForgetsTheScores) {
  DrawnDownstream rig;
  rig.caps(kCaps);
  EXPECT_EQ(rectangles_in(rig.pass(with(random_buffer(kCaps, 1, 0), {.score = 7}))), 2u);
  EXPECT_EQ(rectangles_in(rig.pass(random_buffer(kCaps, 1, 1))), 2u);
  gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
  gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  EXPECT_EQ(rectangles_in(rig.pass(random_buffer(kCaps, 1, 2))), 0u);
}

TEST(OverlayStream, AnotherMetricStartsAnew) {
  OverlayRig one, two;
  for (OverlayRig* rig : {&one, &two}) rig->caps(kCaps);
  for (GstClockTime i = 0; i < 20; ++i)
    one.pass(with(flat(kCaps, 100, i * GST_SECOND / 30), {.score = 1000.0 * static_cast<double>(i)}));
  const Said brenner{.score = 3, .metric = "brenner"};
  EXPECT_TRUE(same_pixels(kCaps, one.pass(with(flat(kCaps, 100, GST_SECOND), brenner)).get(),
                          two.pass(with(flat(kCaps, 100, GST_SECOND), brenner)).get()));
}

TEST(OverlayStream, FramesWithoutTimestampsAreDrawn) {
  DrawnDownstream rig;
  rig.caps(kCaps);
  std::set<GstVideoOverlayComposition*> seen;
  std::vector<BufferPtr> held;
  for (int i = 0; i < 5; ++i) {
    held.push_back(rig.pass(with(random_buffer(kCaps, 1, GST_CLOCK_TIME_NONE), {.score = 1.0 + i})));
    EXPECT_EQ(rectangles_in(held.back()), 2u);
  }
}

TEST(OverlayStream, ShortFrameIsAnErrorWithTheReason) {
  OverlayRig rig;
  rig.caps(kCaps);
  BufferPtr in(gst_buffer_new_allocate(nullptr, 1000, nullptr));
  GST_BUFFER_PTS(in.get()) = 0;
  EXPECT_EQ(rig.push(with(std::move(in), {.score = 7})), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE));
}

TEST(OverlayStream, OtherBranchOfATeeIsUntouched) {
  const ElementPtr pipeline = pipeline_of(
      "videotestsrc num-buffers=6 pattern=ball ! video/x-raw,format=I420,width=320,height=240 ! sharpnessmeter ! tee "
      "name=t "
      "t. ! queue ! sharpnessoverlay peaking=true ! fakesink name=a sync=false t. ! queue ! fakesink name=b "
      "sync=false");
  const std::string caps = video_caps("I420", 320, 240);
  std::vector<BufferPtr> seen[2];
  const auto handoff = +[](GstElement*, GstBuffer* buffer, GstPad*, gpointer to) {
    static_cast<std::vector<BufferPtr>*>(to)->emplace_back(gst_buffer_ref(buffer));
  };
  const char* names[] = {"a", "b"};
  for (int i = 0; i < 2; ++i) {
    const ElementPtr sink(gst_bin_get_by_name(GST_BIN(pipeline.get()), names[i]));
    g_object_set(sink.get(), "signal-handoffs", TRUE, nullptr);
    g_signal_connect(sink.get(), "handoff", G_CALLBACK(handoff), &seen[i]);
  }
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  const MessagePtr end(gst_bus_timed_pop_filtered(bus.get(), 20 * GST_SECOND,
                                                  static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  ASSERT_TRUE(end);
  EXPECT_EQ(GST_MESSAGE_TYPE(end.get()), GST_MESSAGE_EOS);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  ASSERT_EQ(seen[0].size(), 6u);
  ASSERT_EQ(seen[1].size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    // What the meter says of the frame now is what it said before the other branch drew on it.
    EXPECT_EQ(expected(caps, seen[1][i].get()).score, meta_score(seen[1][i].get()));
    EXPECT_NE(expected(caps, seen[0][i].get()).score, meta_score(seen[0][i].get()));
  }
}

TEST(OverlayStream, PipelinesRunToTheirEnd) {
  for (const char* middle : {"", "! videoconvert", "! sharpnessoverlay text=false", "! queue"})
    for (const char* source :
         {"video/x-raw,format=NV12,width=320,height=240", "video/x-raw,format=BGRx,width=64,height=64"}) {
      const Heard heard =
          run(std::string("videotestsrc num-buffers=5 ! ") + source + " ! sharpnessmeter zone-columns=4 zone-rows=3 " +
              middle + " ! sharpnessoverlay peaking=true " + middle + " ! fakesink");
      EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty()) << middle;
    }
}

TEST(OverlayStream, PropertiesMayBeSetFromAnotherThread) {
  const ElementPtr pipeline = pipeline_of(
      "videotestsrc num-buffers=150 pattern=ball ! video/x-raw,format=I420,width=160,height=120 ! sharpnessmeter "
      "zone-columns=2 zone-rows=2 ! queue ! sharpnessoverlay name=overlay ! fakesink");
  const ElementPtr overlay(gst_bin_get_by_name(GST_BIN(pipeline.get()), "overlay"));
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  MessagePtr end;
  for (guint i = 0; !end && i < 100000; ++i) {
    g_object_set(overlay.get(), "text", i % 2 == 0, "graph", i % 3 == 0, "zones", i % 5 == 0, "peaking", i % 7 == 0,
                 "history", guint64{1 + i % 9} * GST_SECOND, "peaking-color", i * 0x01234567u, "peaking-threshold",
                 static_cast<gint>(1 + i % 255), nullptr);
    guint64 history = 0;
    g_object_get(overlay.get(), "history", &history, nullptr);
    EXPECT_EQ(history, (1 + i % 9) * GST_SECOND);
    end.reset(gst_bus_timed_pop_filtered(bus.get(), GST_MSECOND,
                                         static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  }
  ASSERT_TRUE(end);
  EXPECT_EQ(GST_MESSAGE_TYPE(end.get()), GST_MESSAGE_EOS);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

}  // namespace
}  // namespace framequality::test
