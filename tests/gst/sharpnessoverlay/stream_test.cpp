// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay in a stream: caps, events and properties that change, pipelines, leaks.
#include "tests/gst/leaks.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/gst/sharpnessoverlay/rig.h"

#include <cmath>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("I420", 640, 480);

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

/// What is drawn on a frame, as an overlay of one rectangle; empty if nothing is.
std::vector<guint8> drawn_on(Rig& rig, BufferPtr buffer) {
  std::vector<guint8> bytes;
  const BufferPtr out = rig.pass(std::move(buffer));
  if (rectangles_in(out) == 0) return bytes;
  GstVideoOverlayRectangle* rectangle = gst_video_overlay_composition_get_rectangle(composition_in(out), 0);
  GstBuffer* pixels =
      gst_video_overlay_rectangle_get_pixels_unscaled_raw(rectangle, gst_video_overlay_rectangle_get_flags(rectangle));
  bytes.resize(gst_buffer_get_size(pixels));
  gst_buffer_extract(pixels, 0, bytes.data(), bytes.size());
  return bytes;
}

TEST(OverlayStream, PeakingReadsSignificantBits) {
  const auto step = [](int x, int y) { return (x / 20 + y / 16) % 2 * 60 + 50; };
  const std::string gray = video_caps("GRAY8", 64, 48);
  const std::initializer_list<std::pair<const char*, const char*>> peaking{
      {"peaking", "true"}, {"text", "false"}, {"graph", "false"}, {"zones", "false"}};
  DrawnDownstream plain(peaking);
  plain.caps(gray);
  const auto want = drawn_on(plain, painted(gray, step));
  EXPECT_FALSE(want.empty());
  for (const char* format : {"GRAY16_LE", "GRAY16_BE"}) {
    const std::string caps = video_caps(format, 64, 48);
    // Codes of 10 bits, with ones in the lowest bits.
    const auto frame = [&] {
      BufferPtr buffer = painted(caps, step);
      GstMapInfo map;
      gst_buffer_map(buffer.get(), &map, GST_MAP_READWRITE);
      const gsize high = caps.find("BE") == std::string::npos ? 1 : 0;
      for (gsize i = 0; i < map.size; i += 2) {
        const unsigned code = unsigned{map.data[i + high]} << 2 | 3;
        map.data[i + high] = static_cast<guint8>(code >> 8);
        map.data[i + 1 - high] = static_cast<guint8>(code);
      }
      gst_buffer_unmap(buffer.get(), &map);
      return buffer;
    };
    DrawnDownstream rig(peaking);
    rig.caps(caps);
    for (int i = 0; i < 40; ++i) EXPECT_TRUE(drawn_on(rig, frame()).empty());
    Heard heard = rig.heard();
    ASSERT_EQ(heard.warnings.size(), 1u);
    EXPECT_NE(heard.warnings[0].text.find("set significant-bits=10;"), std::string::npos) << heard.warnings[0].text;
    rig.set("significant-bits", "10");
    for (int i = 0; i < 40; ++i) EXPECT_EQ(drawn_on(rig, frame()), want);
    rig.set("significant-bits", "0");
    EXPECT_TRUE(drawn_on(rig, frame()).empty());
    EXPECT_TRUE(rig.heard().warnings.empty());
  }
  plain.set("significant-bits", "10");
  EXPECT_EQ(drawn_on(plain, painted(gray, step)), want);
  const Heard heard = plain.heard();
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("no effect on GRAY8"), std::string::npos);
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

TEST(OverlayStream, ZonesOfAnotherSizeAreForgottenAndScoresStay) {
  // As downstream of a videoscale that is asked for another size.
  DrawnDownstream rig;
  rig.caps(kCaps);
  const Said said{.score = 7, .width = 640, .height = 480, .columns = 2, .rows = 1, .zones = {1, 2}};
  EXPECT_EQ(rectangles_in(rig.pass(with(random_buffer(kCaps, 1, 0), said))), 3u);
  const std::string small = video_caps("I420", 400, 300);
  rig.caps(small);
  EXPECT_EQ(rectangles_in(rig.pass(random_buffer(small, 1, 1))), 2u) << "text and graph";
  EXPECT_EQ(rectangles_in(rig.pass(with(random_buffer(small, 1, 2), said))), 3u);
}

TEST(OverlayStream, ScoresOfAnotherSizeStartAnew) {
  OverlayRig one, two;
  for (OverlayRig* rig : {&one, &two}) rig->caps(kCaps);
  for (GstClockTime i = 0; i < 20; ++i)
    one.pass(with(flat(kCaps, 100, i * GST_SECOND / 30),
                  {.score = 1000.0 * static_cast<double>(i), .width = 1280, .height = 720}));
  const Said smaller{.score = 3, .width = 640, .height = 480};
  EXPECT_TRUE(same_pixels(kCaps, one.pass(with(flat(kCaps, 100, GST_SECOND), smaller)).get(),
                          two.pass(with(flat(kCaps, 100, GST_SECOND), smaller)).get()));
}

TEST(OverlayStream, ScoresThatAreNoNumbersAreNone) {
  DrawnDownstream rig;
  rig.caps(kCaps);
  GstClockTime time = 0;
  for (const double score : {std::nan(""), HUGE_VAL, -HUGE_VAL})
    EXPECT_EQ(rectangles_in(rig.pass(with(random_buffer(kCaps, 1, ++time), {.score = score}))), 0u) << score;
  EXPECT_EQ(rig.heard().warnings.size(), 1u) << "that there is no score";
  const Said odd{.score = 1, .columns = 2, .rows = 2, .zones = {std::nan(""), HUGE_VAL, -HUGE_VAL, 1e308}};
  EXPECT_EQ(rectangles_in(rig.pass(with(random_buffer(kCaps, 1, ++time), odd))), 3u);
}

TEST(OverlayStream, SizeChangesBetweenTwoMeasurements) {
  const ElementPtr pipeline = pipeline_of(
      "appsrc name=in format=time ! sharpnessmeter interval=1000000000 zone-columns=4 zone-rows=4 ! sharpnessoverlay ! "
      "fakesink name=out sync=false signal-handoffs=true");
  const ElementPtr in(gst_bin_get_by_name(GST_BIN(pipeline.get()), "in"));
  const ElementPtr out(gst_bin_get_by_name(GST_BIN(pipeline.get()), "out"));
  std::vector<bool> scored;
  g_signal_connect(out.get(), "handoff", G_CALLBACK(+[](GstElement*, GstBuffer* buffer, GstPad*, gpointer to) {
                     static_cast<std::vector<bool>*>(to)->push_back(!std::isnan(meta_score(buffer)));
                   }),
                   &scored);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  GstFlowReturn flow = GST_FLOW_OK;
  for (GstClockTime i = 0; i < 10; ++i) {
    const std::string text = i < 5 ? video_caps("I420", 1280, 720) : video_caps("I420", 64, 48);
    const CapsPtr caps(gst_caps_from_string(text.c_str()));
    const BufferPtr frame = random_buffer(text, i, i * GST_SECOND / 25);
    GstSample* sample = gst_sample_new(frame.get(), caps.get(), nullptr, nullptr);
    g_signal_emit_by_name(in.get(), "push-sample", sample, &flow);
    EXPECT_EQ(flow, GST_FLOW_OK);
    gst_sample_unref(sample);
  }
  g_signal_emit_by_name(in.get(), "end-of-stream", &flow);
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  const MessagePtr end = end_of(bus.get());
  ASSERT_TRUE(end);
  EXPECT_EQ(GST_MESSAGE_TYPE(end.get()), GST_MESSAGE_EOS);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  EXPECT_EQ(scored, (std::vector<bool>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0})) << "the first of each size is measured";
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
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT));
  EXPECT_NE(heard.errors[0].text.find("needs 460800 bytes, but the buffer has 1000"), std::string::npos);
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
  const MessagePtr end = end_of(bus.get());
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

TEST(OverlayStream, LeaksNothing) { EXPECT_EQ(alive_after("OverlayChild.DISABLED_Pipelines"), ""); }

TEST(OverlayChild, DISABLED_Pipelines) {
  run("videotestsrc num-buffers=10 ! tee name=t t. ! queue ! sharpnessmeter zone-columns=3 zone-rows=2 ! "
      "sharpnessoverlay "
      "peaking=true ! sharpnessoverlay ! fakesink t. ! queue ! sharpnessoverlay ! fakesink");
  DrawnDownstream rig{{"peaking", "true"}};
  for (const std::string& caps : {kCaps, video_caps("GRAY8", 64, 48)}) {
    rig.caps(caps);
    for (GstClockTime i = 0; i < 5; ++i) rig.push(with(random_buffer(caps, i, i * GST_SECOND / 30), {.score = 7}));
  }
  OverlayRig refused;
  refused.caps(kCaps);
  refused.push(with(BufferPtr(gst_buffer_new_allocate(nullptr, 9, nullptr)), {.score = 7}));
}

}  // namespace
}  // namespace framequality::test
