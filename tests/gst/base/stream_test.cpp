// SPDX-License-Identifier: LGPL-2.1-or-later
// Streams: end, flush, seek, new caps, changes while playing, interval, and long runs.
#include "tests/gst/rig.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/support/sanitizers.h"

#include <fstream>

namespace framequality::test {

using namespace sharpness;

namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

TEST(Stream, EveryFrameIsScoredBeforeEos) {
  const Heard heard = run("videotestsrc num-buffers=50 ! sharpnessmeter ! fakesink");
  EXPECT_TRUE(heard.eos);
  ASSERT_EQ(heard.results.size(), 50u);
  for (std::uint64_t i = 0; i < 50; ++i) EXPECT_EQ(count(heard.results[i].get(), "frame"), i);
}

TEST(Stream, EventsKeepTheirPlaceAmongFrames) {
  Rig rig;
  rig.caps(kCaps);
  rig.push(random_buffer(kCaps, 1, 0));
  gst_harness_push_event(rig.harness(), gst_event_new_gap(GST_SECOND, GST_SECOND));
  rig.push(random_buffer(kCaps, 2, 2 * GST_SECOND));
  gst_harness_push_event(rig.harness(), gst_event_new_eos());
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 2u);
  int gaps = 0, ends = 0;
  while (GstEvent* event = gst_harness_try_pull_event(rig.harness())) {
    gaps += GST_EVENT_TYPE(event) == GST_EVENT_GAP;
    ends += GST_EVENT_TYPE(event) == GST_EVENT_EOS;
    gst_event_unref(event);
  }
  EXPECT_EQ(gaps, 1);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(rig.heard().results.size(), 2u);
}

TEST(Stream, CapsChangeMidStream) {
  Rig rig;
  for (const auto& [format, w, h] :
       {std::tuple{"GRAY8", 64, 48}, {"NV12", 64, 48}, {"RGB", 33, 21}, {"P010_10LE", 128, 16}, {"GRAY8", 64, 48}}) {
    const std::string caps = video_caps(format, w, h);
    rig.caps(caps);
    for (std::uint64_t seed = 0; seed < 2; ++seed) {
      BufferPtr buffer = random_buffer(caps, seed);
      const double want = expected(caps, buffer.get()).score;
      EXPECT_EQ(rig.score(std::move(buffer)), want) << caps;
    }
  }
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 10u);
  EXPECT_EQ(count(heard.results.back().get(), "frame"), 9u);
}

TEST(Stream, FrameBeforeCapsIsNotNegotiated) {
  Rig rig;
  GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_pad_send_event(pad, gst_event_new_stream_start("test"));
  gst_pad_send_event(pad, gst_event_new_segment(&segment));
  EXPECT_EQ(gst_pad_chain(pad, random_buffer(kCaps, 1).release()), GST_FLOW_NOT_NEGOTIATED);
  gst_object_unref(pad);
}

TEST(Stream, BuffersInADriversOwnLayoutAreRefusedWithTheReason) {
  // Before GStreamer 1.24 caps did not say whether a buffer is tiled.
  for (const auto& [factory, layout] : {std::pair{"sharpnessmeter", "DMA_DRM,drm-format=NV12:0x0100000000000001"},
                                        {"nlmeans", "DMA_DRM,drm-format=NV12:0x0100000000000001"},
                                        {"halftone", "DMA_DRM,drm-format=NV12:0x0100000000000001"},
                                        {"sharpnessmeter", "NV12"},
                                        {"nlmeans", "NV12"}}) {
    Rig rig({}, factory);
    // It is not offered, so that who can make anything else does; linear ones are, from GStreamer 1.24 on.
    const CapsPtr peer(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
    gchar* text = gst_caps_to_string(peer.get());
    EXPECT_EQ(std::string(text).find("0x"), std::string::npos) << text;
    EXPECT_EQ(std::string(text).find("DMA_DRM") != std::string::npos, GST_CHECK_VERSION(1, 24, 0)) << text;
    g_free(text);
    gst_harness_push_event(rig.harness(), gst_event_new_stream_start("s"));
    const CapsPtr caps(gst_caps_from_string(
        (std::string("video/x-raw(memory:DMABuf),width=64,height=48,framerate=30/1,format=") + layout).c_str()));
    gst_harness_push_event(rig.harness(), gst_event_new_caps(caps.get()));
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u) << factory;
    EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE));
    EXPECT_NE(heard.errors[0].text.find(std::string(layout).substr(std::string(layout).find("NV12"))),
              std::string::npos)
        << heard.errors[0].text;
    EXPECT_NE(heard.errors[0].text.find("without (memory:DMABuf)"), std::string::npos);
    // It goes on with others.
    rig.caps(kCaps);
    EXPECT_EQ(rig.push(random_buffer(kCaps, 1)), GST_FLOW_OK) << factory;
  }
}

TEST(Stream, StartsAnewAfterStop) {
  Rig rig;
  rig.caps(kCaps);
  rig.score(random_buffer(kCaps, 1));
  gst_element_set_state(rig.element(), GST_STATE_READY);
  EXPECT_EQ(rig.string("active-device").empty(), false);
  gst_element_set_state(rig.element(), GST_STATE_NULL);
  EXPECT_EQ(rig.string("active-device"), "");
  gst_element_set_state(rig.element(), GST_STATE_PLAYING);
  EXPECT_EQ(rig.stat("measured"), 0u);
  gdouble last = -1;
  g_object_get(rig.element(), "last-score", &last, nullptr);
  EXPECT_EQ(last, 0);
}

TEST(Stream, FlushingSeekGoesOnFromThere) {
  const ElementPtr pipeline =
      pipeline_of("videotestsrc ! video/x-raw,framerate=30/1 ! sharpnessmeter ! fakesink sync=true");
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
  ASSERT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  constexpr auto kFlags = static_cast<GstSeekFlags>(GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE);
  ASSERT_TRUE(gst_element_seek(pipeline.get(), 1.0, GST_FORMAT_TIME, kFlags, GST_SEEK_TYPE_SET, 100 * GST_SECOND,
                               GST_SEEK_TYPE_SET, 100 * GST_SECOND + GST_SECOND / 3));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  Heard heard;
  while (!heard.eos && heard.errors.empty()) {
    const MessagePtr message(gst_bus_timed_pop(bus.get(), kPatience * GST_SECOND));
    ASSERT_TRUE(message);
    heard.add(message.get());
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  std::size_t after = 0;
  for (const auto& s : heard.results) {
    if (count(s.get(), "timestamp") < 100 * GST_SECOND) continue;
    EXPECT_EQ(count(s.get(), "stream-time"), count(s.get(), "timestamp"));
    EXPECT_LT(count(s.get(), "running-time"), GST_SECOND);
    ++after;
  }
  EXPECT_EQ(after, 10u);
}

TEST(Stream, PropertiesChangeBetweenFrames) {
  Rig rig;
  rig.caps(kCaps);
  const auto check = [&](const Request& request) {
    BufferPtr buffer = random_buffer(kCaps, 3);
    const double want = expected(kCaps, buffer.get(), request).score;
    EXPECT_EQ(rig.score(std::move(buffer)), want);
  };
  Request request;
  check(request);
  rig.set("metric", "entropy");
  request.metric = metric_index("entropy");
  check(request);
  rig.set("prefilter", "binomial5");
  request.prefilter = Prefilter::kBinomial5;
  check(request);
  rig.set("downscale", "4");
  request.downscale = 4;
  check(request);
  rig.set("roi", "<5,6,30,31>");
  request.roi = Rect{5, 6, 30, 31};
  check(request);
  rig.set("metric", "vollath-f4");
  request.metric = metric_index("vollath-f4");
  check(request);
  rig.set("roi", "<>");
  request.roi.reset();
  check(request);
}

TEST(Stream, PropertiesChangeWhilePlaying) {
  const ElementPtr pipeline = pipeline_of(
      "videotestsrc num-buffers=400 pattern=snow ! video/x-raw,format=GRAY8,width=64,height=48 ! "
      "sharpnessmeter name=m ! "
      "fakesink");
  const ElementPtr meter(gst_bin_get_by_name(GST_BIN(pipeline.get()), "m"));
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  Heard heard;
  for (int i = 0; !heard.eos && heard.errors.empty(); ++i) {
    gst_util_set_object_arg(G_OBJECT(meter.get()), "metric", metric_info(i % kMetricCount).name);
    gst_util_set_object_arg(G_OBJECT(meter.get()), "roi", i % 3 ? "<3,4,20,20>" : "<>");
    gst_util_set_object_arg(G_OBJECT(meter.get()), "zone-columns", i % 2 ? "7" : "1");
    const MessagePtr message(gst_bus_timed_pop(bus.get(), kPatience * GST_SECOND));
    ASSERT_TRUE(message);
    heard.add(message.get());
  }
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
  EXPECT_EQ(heard.results.size(), 400u);
  EXPECT_TRUE(heard.errors.empty());
}

std::vector<std::uint64_t> measured(Rig& rig, const std::vector<std::uint64_t>& times_ms) {
  for (const auto ms : times_ms)
    rig.pass(random_buffer(kCaps, 1, ms == G_MAXUINT64 ? GST_CLOCK_TIME_NONE : ms * GST_MSECOND));
  std::vector<std::uint64_t> got;
  for (const auto& s : rig.heard().results) {
    const auto t = count(s.get(), "timestamp");
    got.push_back(t == GST_CLOCK_TIME_NONE ? t : t / GST_MSECOND);
  }
  return got;
}
using Times = std::vector<std::uint64_t>;

TEST(Interval, LeavesFramesOut) {
  Rig rig{{"interval", "100000000"}};
  rig.caps(kCaps);
  EXPECT_EQ(measured(rig, {0, 33, 66, 100, 133, 199, 200, 350, 449, 450}), (Times{0, 100, 200, 350, 450}));
  EXPECT_EQ(rig.stat("measured"), 5u);
  EXPECT_EQ(rig.stat("skipped"), 5u);
}

TEST(Interval, UnmeasuredFramesPassWithoutMeta) {
  Rig rig{{"interval", "100000000"}};
  rig.caps(kCaps);
  EXPECT_FALSE(std::isnan(rig.score(random_buffer(kCaps, 1, 0))));
  EXPECT_TRUE(std::isnan(rig.score(random_buffer(kCaps, 1, GST_MSECOND))));
}

TEST(Interval, FramesWithoutTimeAndBackwardTimeAreMeasured) {
  Rig rig{{"interval", "100000000"}};
  rig.caps(kCaps);
  EXPECT_EQ(measured(rig, {500, G_MAXUINT64, 550, 400, 450, 500}), (Times{500, G_MAXUINT64, 400, 500}));
}

TEST(Interval, StartsAnewOnFlushAndSegment) {
  Rig rig{{"interval", "100000000"}};
  rig.caps(kCaps);
  EXPECT_EQ(measured(rig, {0, 10}), (Times{0}));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  EXPECT_EQ(measured(rig, {20, 30}), (Times{20}));
  gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
  gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  EXPECT_EQ(measured(rig, {40, 50}), (Times{40}));
  rig.set("interval", "0");
  EXPECT_EQ(measured(rig, {50, 51}), (Times{50, 51}));
}

TEST(Interval, StartsAnewWithOtherCaps) {
  for (const char* factory : {"sharpnessmeter", "bliindsmeter"}) {
    Rig rig({{"interval", "100000000"}}, factory);
    GstClockTime time = 0;
    const auto measures = [&](const std::string& caps) {
      rig.change_caps(caps);  // the same again are no other ones
      rig.pass(random_buffer(caps, 1, time += GST_MSECOND));
      return rig.heard().results.size() == 1;
    };
    const std::string large = video_caps("GRAY8", 64, 48), small = video_caps("GRAY8", 48, 64);
    rig.caps(large);
    EXPECT_TRUE(measures(large)) << factory;
    EXPECT_FALSE(measures(large)) << factory;
    EXPECT_TRUE(measures(small)) << factory;
    EXPECT_FALSE(measures(small)) << factory;
    EXPECT_TRUE(measures(large)) << factory;
  }
}

/// Resident memory of this process in KiB.
long resident() {
  std::ifstream status("/proc/self/statm");
  long size = 0, pages = 0;
  status >> size >> pages;
  return pages * 4;
}

TEST(Stream, MemoryIsConstantOverThousandsOfFrames) {
  Rig rig{{"zone-columns", "4"}, {"zone-rows", "4"}, {"roi", "<1,2,40,40>"}, {"prefilter", "binomial3"}};
  rig.caps(kCaps);
  const auto frames = [&](int n) {
    for (int i = 0; i < n; ++i) {
      rig.pass(random_buffer(kCaps, 1, static_cast<GstClockTime>(i)));
      rig.heard();
    }
  };
  frames(500);
  const long before = resident();
  frames(2000);
#if !FQ_ASAN && !FQ_TSAN
  // A leak of one result a frame would be about 4 MiB.
  EXPECT_LT(resident() - before, 1024);
#else
  (void)before;
#endif
}

}  // namespace
}  // namespace framequality::test
