// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessgate frame by frame: threshold, median, gaps and DISCONT, messages, marks, and frames that nobody scored.
#include "tests/gst/sharpnessgate/rig.h"

#include <cmath>
#include <sstream>

namespace framequality::test {
namespace {

TEST(Gate, DefaultsPassEveryFrame) {
  GateRig rig({});
  EXPECT_EQ(rig.feed(0, {1, 0, 1000}), "0+ 40+ 80+");
  EXPECT_EQ(rig.stats(), "3 0 0 0");
  EXPECT_EQ(rig.said(), "passing above-min-score 1@0");
}

TEST(Gate, ThresholdDropsBelowMinScoreAndResumesAtResumeScore) {
  GateRig rig({{"min-score", "10"}, {"resume-score", "15"}});
  EXPECT_EQ(rig.feed(0, {10, 9, 12, 14, 15, 12}), "0+ [40,80) [80,160) 160!+ 200+");
  EXPECT_EQ(rig.said(),
            "passing above-min-score 10@0, blocking below-min-score 9@40, passing above-resume-score 15@160");
  EXPECT_EQ(rig.stats(), "3 3 0 0");
}

TEST(Gate, NegativeScoresHaveAThresholdToo) {
  GateRig rig({{"min-score", "-10"}});
  EXPECT_EQ(rig.feed(0, {-11, -10, -9}), "[0,40) 40!+ 80+");
}

TEST(Gate, FirstFrameDroppedSaysSo) {
  GateRig rig({{"min-score", "10"}});
  EXPECT_EQ(rig.feed(0, {1}), "[0,40)");
  EXPECT_EQ(rig.said(), "blocking below-min-score 1@0");
}

TEST(Gate, LongDroughtIsToldInSpansThatCoverIt) {
  GateRig rig({{"min-score", "10"}});
  rig.feed(0, {20});
  std::string all;
  for (GstClockTime at = 40; at < 1040; at += 40) all += rig.feed(at, {1}) + " ";
  all += rig.send(gst_event_new_eos());
  // Runs of blanks: frames that no event followed.
  std::string gaps;
  std::istringstream words(all);
  for (std::string word; words >> word;) gaps += word + " ";
  EXPECT_EQ(gaps, "[40,80) [80,360) [360,640) [640,920) [920,1040) eos ");
}

TEST(Gate, EachDroughtBeginsWithAGapAtOnce) {
  GateRig rig({{"min-score", "10"}});
  EXPECT_EQ(rig.feed(0, {20, 1, 20, 1}), "0+ [40,80) 80!+ [120,160)");
}

TEST(Gate, GapOfFramesWithoutDurationLastsUntilTheNextFrame) {
  GateRig rig({{"min-score", "10"}}, "video/x-raw,format=GRAY8,width=8,height=8,framerate=0/1");
  rig.push(shot(0, 1, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.came(), "");
  rig.push(shot(70, 1, GST_CLOCK_TIME_NONE));
  rig.push(shot(90, 20, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.came(), "[0,90) 90!+");
  rig.push(shot(120, 1, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.send(gst_event_new_eos()), "[120,?) eos");
}

TEST(Gate, FrameRateStandsInForDuration) {
  GateRig rig({{"min-score", "10"}}, "image/jpeg,framerate=10/1");
  rig.push(shot(0, 1, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.came(), "[0,100)");
}

TEST(Gate, FramesWithoutTimestampsLeaveNoGapButDiscont) {
  GateRig rig({{"min-score", "10"}});
  for (const double score : {20, 1, 20}) rig.push(shot(GST_CLOCK_TIME_NONE, score, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.came(), "?+ ?!+");
}

TEST(Gate, RelativeDropsBelowTheMedianAndOutliersAboveIt) {
  GateRig rig({kRelative, kAtOnce, {"min-ratio", "0.5"}, {"max-ratio", "3"}, {"window-frames", "5"}});
  //                          medians: 10  10   10  10  10  10
  EXPECT_EQ(rig.feed(0, {10, 10, 4.9, 5, 31, 30}), "0+ 40+ [80,120) 120!+ [160,200) 200!+");
  EXPECT_EQ(rig.said(),
            "passing near-median 10@0, blocking below-median 4@80, passing near-median 5@120, blocking above-median "
            "31@160, passing near-median 30@200");
  EXPECT_EQ(rig.stats(), "4 2 0 0");
}

TEST(Gate, RelativeFollowsALastingChange) {
  GateRig rig({kRelative, kAtOnce, {"window-time", "200000000"}});
  EXPECT_EQ(rig.feed(0, {100, 100, 100, 100, 100, 10, 10, 10, 10}),
            "0+ 40+ 80+ 120+ 160+ [200,240) [240,280) 280!+ 320+")
      << "the third of five is the median";
  GstStructure* stats = nullptr;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  EXPECT_EQ(number(StructurePtr(stats).get(), "median"), 10);
  const Heard heard = rig.heard();
  EXPECT_EQ(number(heard.results[1].get(), "median"), 100);
}

TEST(Gate, RelativePassesWhileTheMedianIsZeroOrLess) {
  GateRig rig({kRelative, kAtOnce, {"max-ratio", "1"}, {"window-frames", "100"}});
  EXPECT_EQ(rig.feed(0, {0, -5, 0, 7}), "0+ 40+ 80+ 120+");
}

TEST(Gate, RelativeStartsAnewWithOtherCaps) {
  GateRig rig({kRelative, kAtOnce});
  rig.feed(0, {100, 100, 100});
  rig.send(caps_event(kGateCaps));
  EXPECT_EQ(rig.feed(120, {10}), "[120,160)") << "the same caps again";
  rig.send(caps_event("video/x-raw,format=GRAY8,width=4,height=16"));
  EXPECT_EQ(rig.feed(160, {10}), "160!+");
}

TEST(Gate, ThresholdStartsAnewWithOtherCaps) {
  GateRig rig({{"min-score", "10"}, {"resume-score", "15"}, {"hold-time", "1000000000"}});
  rig.feed(0, {9});
  rig.send(caps_event(kGateCaps));
  EXPECT_EQ(rig.feed(40, {12}), "") << "the same caps again";
  EXPECT_EQ(rig.send(caps_event("video/x-raw,format=GRAY8,width=4,height=16")), "[40,80) caps");
  EXPECT_EQ(rig.feed(80, {12, 9}), "80!+ [120,160)") << "neither resume-score nor hold-time of the picture before";
  EXPECT_EQ(rig.said(), "blocking below-min-score 9@0, passing above-min-score 12@80, blocking below-min-score 9@120");
}

TEST(Gate, RatesOfAnyKindAreTaken) {
  for (const double rate : {1e-300, 1e-9, 0.25, 8.0, 1e300, HUGE_VAL}) {
    GateRig rig({{"mode", "best-of"}, {"window-time", "1000000000"}});
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    segment.rate = rate;
    rig.send(gst_event_new_segment(&segment));
    // Of a frame that lasts as long as the window or longer nothing is to be waited for.
    EXPECT_EQ(rig.feed(0, {5}), rate < 1e-3 ? "0+" : "") << rate;
    EXPECT_EQ(rig.send(gst_event_new_eos()), rate < 1e-3 ? "eos" : "0+ eos") << rate;
  }
}

TEST(Gate, MessagesTellTimes) {
  GateRig rig({{"min-score", "10"}});
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 100 * ms;
  segment.time = 5000 * ms;
  segment.base = 900 * ms;
  rig.send(gst_event_new_segment(&segment));
  rig.feed(140, {20});
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 1u);
  const GstStructure* s = heard.results[0].get();
  EXPECT_EQ(count(s, "timestamp"), 140 * ms);
  EXPECT_EQ(count(s, "stream-time"), 5040 * ms);
  EXPECT_EQ(count(s, "running-time"), 940 * ms);
  EXPECT_FALSE(gst_structure_has_field(s, "median"));
}

TEST(Gate, UnscoredFramesPassWithOneWarningForEachStream) {
  GateRig rig({{"min-score", "10"}});
  for (GstClockTime at = 0; at < 3; ++at) rig.push(shot(40 * at, std::nullopt));
  rig.feed(120, {1});
  rig.push(shot(160, std::nullopt));
  EXPECT_EQ(rig.came(), "160!");
  EXPECT_EQ(rig.stats(), "0 1 0 4");
  const Heard first = rig.heard();
  ASSERT_EQ(first.warnings.size(), 1u);
  EXPECT_NE(first.warnings[0].text.find("upstream of sharpnessgate"), std::string::npos);
  EXPECT_TRUE(first.errors.empty());
  rig.send(gst_event_new_stream_start("another"));
  rig.push(shot(200, std::nullopt));
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
}

TEST(Gate, ScoreThatIsNoNumberIsNoScore) {
  GateRig rig({{"min-score", "10"}});
  for (const double score : {std::nan(""), HUGE_VAL, -HUGE_VAL}) rig.push(shot(0, score));
  EXPECT_EQ(rig.came(), "0 0 0");
  EXPECT_EQ(rig.stats(), "0 0 0 3");
}

TEST(Gate, HoldTimeKeepsAThresholdFromFlapping) {
  GateRig rig({{"min-score", "10"}, {"hold-time", "120000000"}});
  EXPECT_EQ(rig.feed(0, {20, 5, 20, 5, 20, 5, 20, 20}), "0+ [40,80) [80,160) 160!+ 200+ 240+ 280+");
  EXPECT_EQ(rig.said(),
            "passing above-min-score 20@0, blocking below-min-score 5@40, passing above-resume-score 20@160");
}

TEST(Gate, HoldTimeEndsWithAFlush) {
  GateRig rig({{"min-score", "10"}, {"hold-time", "1000000000"}});
  EXPECT_EQ(rig.feed(0, {20, 5, 20}), "0+ [40,80)");
  rig.send(gst_event_new_flush_start());
  rig.send(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.send(gst_event_new_segment(&segment));
  EXPECT_EQ(rig.feed(0, {20, 5}), "0+ [40,80)");
}

TEST(Gate, HoldTimeIsOfRunningTimeAndOfThresholdsAlone) {
  GateRig rig({{"min-score", "10"}, {"hold-time", "120000000"}});
  EXPECT_EQ(rig.feed(0, {20, 5}), "0+ [40,80)");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 900 * ms;
  segment.base = 80 * ms;
  rig.send(gst_event_new_segment(&segment));
  EXPECT_EQ(rig.feed(900, {20, 20, 20}), "[900,980) 980!+") << "80 ms, 120 ms and 160 ms of running time";
  rig.set("mode", "relative");
  rig.set("look-ahead", "0");
  EXPECT_EQ(rig.feed(1020, {20, 5, 20}), "1020+ [1060,1100) 1100!+");
}

/// What GLib warned of while `action` ran.
template <class F>
std::vector<std::string> warnings_of(F&& action) {
  std::vector<std::string> all;
  const auto old =
      g_log_set_default_handler([](const char*, GLogLevelFlags, const char* text,
                                   gpointer list) { static_cast<std::vector<std::string>*>(list)->emplace_back(text); },
                                &all);
  action();
  g_log_set_default_handler(old, nullptr);
  return all;
}

TEST(Gate, TimesBelowAMillisecondAreTakenWithAWarning) {
  for (const auto& [factory, name] : {std::pair("sharpnessgate", "window-time"),
                                      {"sharpnessgate", "hold-time"},
                                      {"sharpnessmeter", "interval"},
                                      {"bliindsmeter", "interval"}}) {
    const char* property = name;  // clang before 16 lets no lambda name what a pair was taken apart into
    Rig rig({}, factory);
    for (const guint64 time : {guint64{1}, guint64{999'999}, guint64{1'000'000}, guint64{1'000'000'000}}) {
      const auto warnings = warnings_of([&] { g_object_set(rig.element(), property, time, nullptr); });
      ASSERT_EQ(warnings.size(), time < GST_MSECOND ? 1u : 0u) << property << "=" << time;
      if (time == 1) {
        EXPECT_NE(warnings[0].find(std::string(property) + "=1 is in nanoseconds: 1 ms is 1000000"), std::string::npos)
            << warnings[0];
      }
      guint64 got = 0;
      g_object_get(rig.element(), property, &got, nullptr);
      EXPECT_EQ(got, time);
    }
  }
  GateRig rig({});
  EXPECT_TRUE(warnings_of([&] { rig.set("hold-time", "0"); }).empty()) << "off";
}

TEST(Gate, MarkPassesAllAndTellsThemApart) {
  GateRig rig({{"min-score", "10"}, {"action", "mark"}});
  EXPECT_EQ(rig.feed(0, {10, 9, 12}), "0+ 40- 80+");
  EXPECT_EQ(rig.stats(), "2 0 1 0");
  EXPECT_EQ(rig.said(),
            "passing above-min-score 10@0, blocking below-min-score 9@40, passing above-resume-score 12@80");
}

TEST(Gate, PropertiesChangeBetweenFrames) {
  GateRig rig({kAtOnce});
  EXPECT_EQ(rig.feed(0, {5}), "0+");
  rig.set("min-score", "10");
  EXPECT_EQ(rig.feed(40, {5}), "[40,80)");
  rig.set("action", "mark");
  EXPECT_EQ(rig.feed(80, {5}), "80!-");
  rig.set("mode", "relative");
  EXPECT_EQ(rig.feed(120, {5, 1}), "120+ 160-");
  rig.set("min-ratio", "0.1");
  EXPECT_EQ(rig.feed(200, {1}), "200+");
  EXPECT_EQ(rig.said(),
            "passing above-min-score 5@0, blocking below-min-score 5@40, passing near-median 5@120, blocking "
            "below-median 1@160, passing near-median 1@200");
}

TEST(Gate, FlushStartsAnew) {
  GateRig rig({{"min-score", "10"}, {"resume-score", "20"}});
  EXPECT_EQ(rig.feed(0, {1, 1, 15}), "[0,40)");
  rig.send(gst_event_new_flush_start());
  EXPECT_EQ(rig.send(gst_event_new_flush_stop(TRUE)), "flush-stop");
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.send(gst_event_new_segment(&segment));
  EXPECT_EQ(rig.feed(0, {15}), "0+") << "neither gap nor DISCONT of what was before";
}

TEST(Gate, StartsAnewAfterStop) {
  GateRig rig({{"min-score", "10"}});
  rig.feed(0, {1, 20});
  gst_element_set_state(rig.element(), GST_STATE_READY);
  gst_element_set_state(rig.element(), GST_STATE_PLAYING);
  EXPECT_EQ(rig.stats(), "0 0 0 0");
}

TEST(Gate, FlowOfDownstreamGoesUpstream) {
  for (const GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_ERROR}) {
    GateRig rig({{"min-score", "10"}});
    rig.flow = flow;
    EXPECT_EQ(rig.push(shot(0, 20)), flow);
  }
}

TEST(Gate, UpstreamEventsPass) {
  GateRig rig({});
  gst_harness_push_upstream_event(rig.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 2, 5, 100));
  bool found = false;
  while (GstEvent* event = gst_harness_try_pull_upstream_event(rig.harness())) {
    found = found || GST_EVENT_TYPE(event) == GST_EVENT_QOS;
    gst_event_unref(event);
  }
  EXPECT_TRUE(found);
}

TEST(Gate, BufferListsAreTakenFrameByFrame) {
  GateRig rig({{"min-score", "10"}});
  GstBufferList* list = gst_buffer_list_new();
  for (const double score : {20, 1, 30}) gst_buffer_list_add(list, shot(0, score).release());
  EXPECT_EQ(gst_pad_push_list(rig.harness()->srcpad, list), GST_FLOW_OK);
  EXPECT_EQ(rig.came(), "0+ [0,40) 0!+");
}

TEST(Gate, AnyCapsAndMemoryPass) {
  for (const char* caps : {"video/x-raw(memory:Foo),format=NV12,width=8,height=8,framerate=25/1",
                           "image/jpeg,width=8,height=8", "application/x-anything"}) {
    GateRig rig({{"min-score", "10"}}, caps);
    EXPECT_EQ(rig.feed(0, {20}), "0+") << caps;
    const CapsPtr out(gst_pad_get_current_caps(rig.harness()->sinkpad));
    const CapsPtr in(gst_caps_from_string(caps));
    EXPECT_TRUE(gst_caps_is_equal(out.get(), in.get())) << caps;
  }
}

TEST(Gate, CapsQueriesReachTheOtherSide) {
  GateRig rig({});
  gst_harness_set_sink_caps_str(rig.harness(), "image/png,width=7");
  const CapsPtr caps(gst_pad_peer_query_caps(rig.harness()->srcpad, nullptr));
  const CapsPtr want(gst_caps_from_string("image/png,width=7"));
  EXPECT_TRUE(gst_caps_is_equal(caps.get(), want.get()));
}

/// A frame in memory that must not be shared, which GStreamer would rather copy.
BufferPtr unshared(GstClockTime at_ms, double score) {
  BufferPtr buffer = shot(at_ms, score);
  GST_MINI_OBJECT_FLAG_SET(gst_buffer_peek_memory(buffer.get(), 0), GST_MEMORY_FLAG_NO_SHARE);
  return buffer;
}

TEST(Gate, SharedFramesKeepTheirMemoryAndTheOriginalItsMeta) {
  for (const char* mode : {"threshold", "relative", "best-of"}) {
    GateRig rig({{"mode", mode}, {"window-frames", "1"}, kAtOnce});
    const BufferPtr original = unshared(0, 20);
    const GstMemory* memory = gst_buffer_peek_memory(original.get(), 0);
    const BufferPtr out = rig.pass(BufferPtr(gst_buffer_ref(original.get())));
    ASSERT_TRUE(out);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory) << mode;
    EXPECT_EQ(gst_buffer_get_size(out.get()), 64u);
    EXPECT_EQ(passed_of(out.get()), "+");
    EXPECT_EQ(passed_of(original.get()), "") << "someone else's";
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), 0u);
    EXPECT_EQ(meta_score(out.get()), 20);
  }
}

TEST(Gate, UnscoredFrameIsTheVerySameBuffer) {
  GateRig rig({});
  BufferPtr buffer = shot(0, std::nullopt);
  const GstBuffer* same = buffer.get();
  EXPECT_EQ(rig.pass(std::move(buffer)).get(), same);
}

TEST(Gate, BehindATeeEachBranchDecidesForItself) {
  const Heard heard =
      run("videotestsrc num-buffers=20 ! video/x-raw,format=GRAY8,width=64,height=48 ! sharpnessmeter ! tee name=t "
          "t. ! queue ! sharpnessgate min-score=1e9 ! fakesink t. ! queue ! sharpnessgate ! fakesink t. ! queue ! "
          "fakesink");
  EXPECT_TRUE(heard.eos);
  EXPECT_TRUE(heard.errors.empty());
}

TEST(Gate, SinkPrerollsAndEndsWithoutAnyFrame) {
  const ElementPtr pipeline = pipeline_of(
      "videotestsrc ! video/x-raw,format=GRAY8,width=64,height=48 ! sharpnessmeter ! sharpnessgate name=g "
      "min-score=1e9 ! fakesink sync=true");
  const BusPtr bus(gst_element_get_bus(pipeline.get()));
  gst_element_set_state(pipeline.get(), GST_STATE_PAUSED);
  EXPECT_EQ(gst_element_get_state(pipeline.get(), nullptr, nullptr, kPatience * GST_SECOND), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  gst_element_send_event(pipeline.get(), gst_event_new_eos());
  const MessagePtr message(gst_bus_timed_pop_filtered(bus.get(), kPatience * GST_SECOND, GST_MESSAGE_EOS));
  EXPECT_TRUE(message);
  gst_element_set_state(pipeline.get(), GST_STATE_NULL);
}

TEST(GateFrames, DamagedFramesNeverPass) {
  GateRig threshold({{"min-score", "5"}, {"drop", "motion"}});
  threshold.push(shot(0, 6));
  threshold.push(damaged(shot(40, 9)));
  threshold.push(shot(80, 6));
  EXPECT_EQ(threshold.came(), "0+ [40,80) 80!+") << "and are no blur that drop could spare, or reason to resume later";
  EXPECT_EQ(threshold.said(), "passing above-min-score 6@0, blocking damaged 9@40, passing above-min-score 6@80");

  GateRig relative({kRelative, kAtOnce});
  for (GstClockTime at = 0; at < 400; at += 40) relative.push(shot(at, 6));
  for (GstClockTime at = 400; at < 800; at += 40) relative.push(damaged(shot(at, 60)));
  relative.came();
  EXPECT_EQ(relative.feed(800, {6, 3}), "[720,800) 800!+ [840,880)") << "nor do they raise the level";
}

}  // namespace
}  // namespace framequality::test
