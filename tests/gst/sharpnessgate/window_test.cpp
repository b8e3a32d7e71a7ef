// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessgate mode=best-of: which frame leaves, when, in which order with events, and what becomes of it otherwise.
#include "tests/gst/latency.h"
#include "tests/gst/sharpnessgate/rig.h"

namespace framequality::test {
namespace {

/// The best of 5 frames of 25 fps.
constexpr std::pair<const char*, const char*> kBestOf{"mode", "best-of"}, kWindow{"window-time", "200000000"},
    kMark{"action", "mark"};

TEST(GateWindow, BestFrameLeavesWithTheLastOfItsWindow) {
  GateRig rig({kBestOf, kWindow});
  EXPECT_EQ(rig.feed(0, {1, 2, 3, 2}), "[0,40)") << "the rest of what is in front waits for the next told gap";
  EXPECT_EQ(rig.feed(160, {1}), "[40,80) 80!+ [120,200)");
  EXPECT_EQ(rig.feed(200, {5, 5, 5, 5, 5}), "200!+ [240,400)") << "the first of equals";
  EXPECT_EQ(rig.said(), "picked best-of-window 3@80, picked best-of-window 5@200");
  EXPECT_EQ(rig.stats(), "2 8 0 0");
}

TEST(GateWindow, DamagedFramesAreNeverPicked) {
  GateRig rig({kBestOf, kWindow});
  rig.push(damaged(shot(0, 8)));
  rig.push(shot(40, 1));
  rig.push(damaged(shot(80, 9)));
  EXPECT_EQ(rig.feed(120, {2, 1}), "[0,40) [40,120) 120!+ [160,200)");
  for (GstClockTime at = 200; at < 400; at += 40) rig.push(damaged(shot(at, 9)));
  EXPECT_EQ(rig.feed(400, {1, 2, 1, 1, 1}), "[200,440) 440!+ [480,600)");
  EXPECT_EQ(rig.said(), "picked best-of-window 2@120, picked best-of-window 2@440");
}

TEST(GateWindow, DamagedFramesCountInWindowsOfFrames) {
  GateRig rig({kBestOf, {"window-frames", "2"}, kMark});
  for (const GstClockTime at : {0, 40, 80}) rig.push(damaged(shot(at, 9)));
  rig.push(shot(120, 1));
  EXPECT_EQ(rig.came(), "0- 40- 80- 120+");
}

TEST(GateWindow, NothingMissingNoDiscont) {
  GateRig rig({kBestOf, {"window-frames", "1"}});
  EXPECT_EQ(rig.feed(0, {1, 2, 3}), "0+ 40+ 80+");
}

TEST(GateWindow, WindowsOfFramesNeedNoTimestamps) {
  GateRig rig({kBestOf, {"window-frames", "3"}});
  for (const double score : {1, 3, 2, 9, 8, 7}) rig.push(shot(GST_CLOCK_TIME_NONE, score, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.came(), "?!+ ?!+");
  EXPECT_EQ(rig.said().substr(0, 23), "picked best-of-window 3");
}

TEST(GateWindow, FrameRateCountsTimeWhereThereAreNoTimestamps) {
  GateRig rig({kBestOf, kWindow});
  for (int i = 0; i < 10; ++i) rig.push(shot(GST_CLOCK_TIME_NONE, i, GST_CLOCK_TIME_NONE));
  EXPECT_EQ(rig.came(), "?!+ ?!+");
  EXPECT_TRUE(rig.heard().warnings.empty());
}

TEST(GateWindow, WarnsWhereNothingTellsTheTime) {
  GateRig rig({kBestOf}, "image/jpeg");
  for (int i = 0; i < 10; ++i) rig.push(shot(GST_CLOCK_TIME_NONE, i, GST_CLOCK_TIME_NONE));
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("set window-frames"), std::string::npos);
  EXPECT_EQ(rig.send(gst_event_new_eos()), "?!+ eos");
}

TEST(GateWindow, JumpInTimeLetsOutOneFrame) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.feed(10'000, {1}), "0+ [40,80)");
  EXPECT_EQ(rig.feed(10'040, {1, 1, 1, 1}), "10000!+ [10040,10200)");
}

TEST(GateWindow, LateFrameAfterALossEndsTheWindow) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.feed(240, {1}), "0+ [40,80)");
  EXPECT_EQ(rig.feed(280, {3, 1, 1}), "[240,280) 280!+ [320,400)") << "windows stay where they began";
}

TEST(GateWindow, HeldFrameLeavesBeforeEos) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.send(gst_event_new_eos()), "0+ [40,80) eos");
}

TEST(GateWindow, HeldFrameLeavesBeforeASegment) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.send(segment_at(GST_SECOND)), "0+ [40,80) segment");
}

TEST(GateWindow, HeldFrameLeavesBeforeOtherCaps) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.send(caps_event(kGateCaps)), "caps") << "the same caps are no reason";
  EXPECT_EQ(rig.send(caps_event("video/x-raw,format=GRAY8,width=4,height=16")), "0+ [40,80) caps");
}

TEST(GateWindow, HeldFrameLeavesBeforeAnotherStream) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.send(gst_event_new_stream_start("another")), "0+ [40,80) stream-start");
}

TEST(GateWindow, OtherEventsWaitBehindTheFrameHeld) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2});
  EXPECT_EQ(rig.send(tag("a")), "");
  EXPECT_EQ(rig.feed(40, {1}), "");
  EXPECT_EQ(rig.send(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("b"))), "");
  EXPECT_EQ(rig.feed(80, {1, 1, 1}), "0+ tag custom-downstream [40,200)") << "the window is a whole one";
}

TEST(GateWindow, OtherEventsFollowAFrameDisplaced) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2});
  rig.send(tag("a"));
  EXPECT_EQ(rig.feed(40, {3}), "[0,40) tag");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "40!+ eos");
}

TEST(GateWindow, EventsWithoutFramesAreNotHeldForEver) {
  GateRig rig({kBestOf, {"window-frames", "2"}});
  EXPECT_EQ(rig.feed(0, {1}), "");
  for (int i = 0; i < 70000 && rig.stat("passed") == 0; ++i)
    gst_harness_push_event(rig.harness(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, nullptr));
  EXPECT_EQ(rig.came().substr(0, 20), "0+ custom-downstream");
}

TEST(GateWindow, EventsPassWhileNothingIsHeld) {
  GateRig rig({kBestOf, kWindow});
  EXPECT_EQ(rig.send(tag("a")), "tag");
  EXPECT_EQ(rig.send(gst_event_new_gap(0, GST_SECOND)), "[0,1000)");
}

TEST(GateWindow, GapFromUpstreamBecomesPartOfWhatIsDropped) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.send(gst_event_new_gap(80 * ms, 40 * ms)), "");
  EXPECT_EQ(rig.feed(120, {1, 1}), "0+ [40,200)");
}

TEST(GateWindow, GapFromUpstreamEndsTheWindow) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  EXPECT_EQ(rig.send(gst_event_new_gap(80 * ms, 120 * ms)), "0+ [40,200)");
  rig.feed(200, {2, 1});
  EXPECT_EQ(rig.send(gst_event_new_gap(900 * ms, 40 * ms)), "200!+ [240,280) [900,940)") << "after the window";
}

TEST(GateWindow, FlushDropsTheFrameHeld) {
  WatchedBuffers watched;
  GateRig rig({kBestOf, kWindow});
  rig.push(watched.watch(shot(0, 5)));
  rig.feed(40, {1});
  rig.send(tag("a"));
  rig.send(gst_event_new_flush_start());
  EXPECT_EQ(rig.send(gst_event_new_flush_stop(TRUE)), "flush-stop");
  EXPECT_EQ(watched.gone(), 1);
  rig.send(segment_at(0));
  EXPECT_EQ(rig.feed(20, {1, 2, 1, 1, 1}), "[20,60) 60!+ [100,220)") << "windows begin anew";
}

TEST(GateWindow, ReadyAndNullDropTheFrameHeld) {
  for (const GstState state : {GST_STATE_READY, GST_STATE_NULL}) {
    WatchedBuffers watched;
    GateRig rig({kBestOf, kWindow});
    rig.push(watched.watch(shot(0, 5)));
    gst_element_set_state(rig.element(), state);
    EXPECT_EQ(watched.gone(), 1);
    EXPECT_EQ(rig.came(), "");
  }
}

TEST(GateWindow, DisplacedFramesAreFreedAtOnce) {
  WatchedBuffers watched;
  GateRig rig({kBestOf, kWindow});
  rig.push(watched.watch(shot(0, 2)));
  rig.push(watched.watch(shot(40, 1)));
  EXPECT_EQ(watched.gone(), 1);
  rig.push(watched.watch(shot(80, 3)));
  EXPECT_EQ(watched.gone(), 2);
}

TEST(GateWindow, UnscoredFrameLetsTheHeldOneOutFirst) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  rig.push(shot(80, std::nullopt));
  EXPECT_EQ(rig.came(), "0+ [40,80) 80!");
  EXPECT_EQ(rig.feed(120, {1, 2}), "[120,160) 160!+") << "what is left of the window";
}

TEST(GateWindow, DrainQueryLetsTheHeldFrameOut) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  GstQuery* query = gst_query_new_drain();
  gst_pad_peer_query(rig.harness()->srcpad, query);
  gst_query_unref(query);
  EXPECT_EQ(rig.came(), "0+ [40,80)");
}

TEST(GateWindow, ChangedModeWindowOrActionLetsTheHeldFrameOut) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  rig.set("window-time", "400000000");
  EXPECT_EQ(rig.feed(80, {1}), "0+ [40,80)") << "a window begins with this frame";
  rig.set("window-frames", "2");
  EXPECT_EQ(rig.feed(120, {3}), "80!+");
  rig.set("action", "mark");
  EXPECT_EQ(rig.feed(160, {1}), "120+");
  rig.set("mode", "threshold");
  EXPECT_EQ(rig.feed(200, {1}), "160+ 200+");
}

TEST(GateWindow, MinScoreOfAnotherModeMayChangeMeanwhile) {
  GateRig rig({kBestOf, kWindow});
  rig.feed(0, {2, 1});
  rig.set("min-score", "80");
  EXPECT_EQ(rig.feed(80, {1, 1, 1}), "0+ [40,200)");
}

TEST(GateWindow, MarkHoldsTheWindowAndMarksTheBest) {
  GateRig rig({kBestOf, kWindow, kMark});
  rig.feed(0, {1, 3});
  rig.send(tag("a"));
  rig.send(gst_event_new_gap(80 * ms, 40 * ms));
  EXPECT_EQ(rig.feed(120, {2}), "");
  EXPECT_EQ(rig.feed(160, {1}), "0- 40+ tag [80,120) 120- 160-");
  EXPECT_EQ(rig.stats(), "1 0 3 0");
  EXPECT_EQ(rig.said(), "picked best-of-window 3@40");
  rig.feed(200, {1, 2});
  EXPECT_EQ(rig.send(gst_event_new_eos()), "200- 240+ eos");
}

TEST(GateWindow, MarkFlushDropsAll) {
  WatchedBuffers watched;
  GateRig rig({kBestOf, kWindow, kMark});
  for (GstClockTime at = 0; at < 4; ++at) rig.push(watched.watch(shot(40 * at, 1)));
  EXPECT_EQ(watched.gone(), 0);
  rig.send(gst_event_new_flush_start());
  rig.send(gst_event_new_flush_stop(TRUE));
  EXPECT_EQ(watched.gone(), 4);
}

TEST(GateWindow, FlowOfDownstreamGoesUpstream) {
  for (const char* action : {"drop", "mark"})
    for (const GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_ERROR}) {
      WatchedBuffers watched;
      GateRig rig({kBestOf, {"window-frames", "3"}, {"action", action}});
      rig.flow = flow;
      for (int i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched.watch(shot(0, 5))), GST_FLOW_OK);
      EXPECT_EQ(rig.push(watched.watch(shot(0, 5))), flow);
      EXPECT_EQ(watched.gone(), 3);
      rig.push(watched.watch(shot(0, 5)));
      rig.send(segment_at(0));
      EXPECT_EQ(rig.push(shot(0, 5)), flow) << "of the frame that the event let out";
      EXPECT_EQ(watched.gone(), 4);
    }
}

TEST(GateWindow, ReversePlaybackPicksToo) {
  GateRig rig({kBestOf, kWindow});
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = -1;
  segment.stop = 400 * ms;
  rig.send(gst_event_new_segment(&segment));
  for (GstClockTime at = 400; at >= 40; at -= 40) rig.push(shot(at - 40, at == 240 ? 9 : 1));
  EXPECT_EQ(rig.came(), "[240,400) 200!+ 160+ [0,160)");
}

TEST(GateLatency, BestOfAddsItsWindow) {
  GateRig rig({kBestOf, kWindow});
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, 90 * ms}), (Latency{true, 207 * ms, 290 * ms}));
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, GST_CLOCK_TIME_NONE}),
            (Latency{true, 207 * ms, GST_CLOCK_TIME_NONE}));
  rig.set("window-frames", "10");
  EXPECT_EQ(latency(rig.harness(), {true, 0, 0}), (Latency{true, 400 * ms, 400 * ms}));
  rig.set("mode", "threshold");
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, 90 * ms}), (Latency{true, 7 * ms, 90 * ms}));
}

TEST(GateLatency, ChangesAreTold) {
  GateRig rig({});
  const auto told = [&] { return rig.heard().latencies; };
  EXPECT_EQ(told(), 0);
  rig.set("window-time", "50000000");
  EXPECT_EQ(told(), 0) << "nothing is held";
  rig.set("mode", "best-of");
  EXPECT_EQ(told(), 1);
  rig.set("mode", "best-of");
  rig.set("min-score", "7");
  EXPECT_EQ(told(), 0);
  rig.set("window-time", "60000000");
  EXPECT_EQ(told(), 1);
  rig.set("window-frames", "3");
  EXPECT_EQ(told(), 1);
  rig.caps("image/jpeg,framerate=50/1");
  EXPECT_EQ(told(), 1) << "frames are shorter";
  rig.set("mode", "relative");
  EXPECT_EQ(told(), 1);
}

// 20 frames at 40 a second are half a second: without that much more latency each frame picked would be dropped.
TEST(GateLatency, LivePipelineIsNeverLate) {
  const std::string source =
      "videotestsrc is-live=true num-buffers=80 pattern=ball ! video/x-raw,format=GRAY8,width=64,height=48,"
      "framerate=40/1 ! sharpnessmeter ! sharpnessgate mode=best-of window-time=500000000 ";
  const std::string sink = " ! fakesink name=s sync=true max-lateness=200000000";
  expect_never_late(source + sink, 4);
  expect_never_late(source + "action=mark" + sink, 80);
  expect_never_late(source + "window-frames=20" + sink, 4);
}

TEST(GateAllocation, PoolsAreLargerByWhatIsHeld) {
  GateRig rig({kWindow});
  EXPECT_EQ(rig.least_buffers(), std::pair(2u, 4u));
  rig.set("mode", "best-of");
  EXPECT_EQ(rig.least_buffers(), std::pair(3u, 5u));
  rig.set("action", "mark");
  EXPECT_EQ(rig.least_buffers(), std::pair(8u, 10u)) << "5 frames, and one more where windows and frames do not meet";
  rig.set("window-frames", "7");
  EXPECT_EQ(rig.least_buffers(), std::pair(9u, 11u));
  rig.set("mode", "relative");
  rig.set("look-ahead", "3");
  EXPECT_EQ(rig.least_buffers(), std::pair(5u, 7u));
}

void ask_to_drain(GateRig& rig) {
  GstQuery* query = gst_query_new_drain();
  EXPECT_TRUE(gst_pad_peer_query(rig.harness()->srcpad, query));
  gst_query_unref(query);
}

// As an application does that ends the stream in a handler of one of its frames.
TEST(GateReentry, WhatComesBackInTheThreadThatPushesFindsTheRestHeld) {
  const std::pair<const char*, const char*> frames{"window-frames", "9"}, ahead{"look-ahead", "9"};
  struct Case {
    std::vector<std::pair<const char*, const char*>> mode;
    std::string all, flushed;
  };
  const Case cases[] = {{{{"mode", "relative"}, ahead}, "0+ 40+ 80+ tag", "0+ flush-start flush-stop"},
                        {{kBestOf, frames, {"action", "mark"}}, "0- 40- 80+ tag", "0- flush-start flush-stop"},
                        {{kBestOf, frames}, "[40,80) 80!+ tag", "[40,80) flush-start flush-stop"}};
  for (const Case& c : cases) {
    const auto first_of = [&](auto&& begin, auto&& come_back) {
      GateRig rig({});
      for (const auto& [name, value] : c.mode) rig.set(name, value);
      rig.feed(0, {10, 11, 12});
      EXPECT_EQ(rig.send(tag("behind them")), "");
      rig.on_next = [&] { come_back(rig); };
      begin(rig);
      EXPECT_FALSE(rig.on_next);
      return rig.came();
    };
    const auto end = [](GateRig& rig) { gst_harness_push_event(rig.harness(), gst_event_new_eos()); };
    const auto flush = [](GateRig& rig) {
      gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
      gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(FALSE));
    };
    EXPECT_EQ(first_of(end, ask_to_drain), c.all + " eos");
    EXPECT_EQ(first_of(ask_to_drain, end), c.all + " eos");
    EXPECT_EQ(first_of(ask_to_drain, flush), c.flushed);
  }
}

TEST(GateReentry, FrameThatABetterOneDisplacesIsNotLetOutByWhoHearsOfTheGap) {
  GateRig rig({kBestOf, {"window-frames", "9"}});
  rig.feed(0, {10});
  rig.send(tag("between them"));
  rig.on_next = [&] { ask_to_drain(rig); };
  EXPECT_EQ(rig.feed(40, {11}), "[0,40) tag");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "40!+ eos");
  EXPECT_EQ(rig.stats(), "1 1 0 0");
}

// As an application does with a handler of the bus that runs in the thread that posts.
TEST(GateReentry, MessageOfAFrameThatEndsTheStreamComesBeforeTheFrameAndTheEndAfterIt) {
  for (const auto& mode : {std::pair{"mode", "threshold"}, std::pair{"mode", "relative"}, kBestOf}) {
    GateRig rig({mode});
    const BusPtr bus(gst_element_get_bus(rig.element()));
    gst_bus_set_sync_handler(
        bus.get(),
        [](GstBus*, GstMessage* message, gpointer harness) {
          if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ELEMENT)
            gst_harness_push_event(static_cast<GstHarness*>(harness), gst_event_new_eos());
          return GST_BUS_PASS;
        },
        rig.harness(), nullptr);
    std::string came = rig.feed(0, {10});
    ask_to_drain(rig);
    gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
    EXPECT_EQ(came + rig.came(), "0+ eos") << mode.second;
  }
}

// As one would drop what is blurred, and then take the best of what is left of every second.
TEST(GateChain, GapsOfOneGateDoNotCutTheWindowsOfTheNext) {
  const auto picked = [](const std::string& first) {
    const Heard heard =
        run("videotestsrc num-buffers=100 pattern=ball ! video/x-raw,format=GRAY8,width=160,height=120,framerate=25/1 "
            "! sharpnessmeter ! " +
                first + "sharpnessgate mode=best-of ! fakesink",
            "sharpnessgate");
    std::vector<std::uint64_t> times;
    for (const StructurePtr& s : heard.results)
      if (text(s.get(), "state") == "picked") times.push_back(count(s.get(), "timestamp"));
    return times;
  };
  const auto alone = picked("");
  EXPECT_EQ(alone.size(), 4u);
  EXPECT_EQ(picked("sharpnessgate mode=relative min-ratio=1 ! "), alone);
}

TEST(GateWindow, BestOfEachDisplacement) {
  GateRig rig({kBestOf, {"window-displacement", "0.1"}});
  const double way[] = {0, 0.04, 0.09, 0.12, 0.15, 0.21, 0.2, 0.23};
  const double scores[] = {1, 3, 2, 5, 4, 1, 2, 1};
  for (std::size_t i = 0; i < 8; ++i) rig.push(moved(shot(40 * i, scores[i]), way[i]));
  EXPECT_EQ(rig.said(), "picked best-of-window 3@40, picked best-of-window 5@120")
      << "the image has moved 0.1 from the window's first frame at 120 and at 280, whatever the time";
  rig.push(moved(shot(320, 1), 0, 0, 1));
  EXPECT_EQ(rig.said(), "picked best-of-window 1@280") << "a cut";
  EXPECT_TRUE(rig.heard().warnings.empty());
}

TEST(GateWindow, StillImageHoldsOneFrame) {
  GateRig rig({kBestOf, {"window-displacement", "0.1"}});
  for (std::size_t i = 0; i < 100; ++i)
    rig.push(moved(shot(40 * i, i == 50 ? 9 : 1), 0.001 * static_cast<double>(i % 2)));
  EXPECT_EQ(rig.said(), "");
  rig.send(gst_event_new_eos());
  EXPECT_EQ(rig.said(), "picked best-of-window 9@2000");
}

TEST(GateWindow, WindowsOfTimeWhereTheDisplacementIsUnknown) {
  GateRig rig({kBestOf, kWindow, {"window-displacement", "0.1"}});
  EXPECT_EQ(rig.feed(0, {1, 2, 3, 2, 1}), "[0,40) [40,80) 80!+ [120,200)");
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("set displacement=true on sharpnessmeter"), std::string::npos);
}

}  // namespace
}  // namespace framequality::test
