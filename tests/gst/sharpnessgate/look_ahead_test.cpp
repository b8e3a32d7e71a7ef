// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessgate mode=relative with frames to come: what waits for how long, in which order with events, and what
// becomes of it otherwise.
#include "tests/gst/latency.h"
#include "tests/gst/sharpnessgate/rig.h"

#include <array>
#include <sstream>
#include <vector>

namespace framequality::test {
namespace {

constexpr std::pair<const char*, const char*> kAhead{"look-ahead", "2"}, kMark{"action", "mark"};

TEST(GateLookAhead, FrameLeavesWithTheLastOneThatItIsComparedWith) {
  GateRig rig({kRelative, kAhead});
  EXPECT_EQ(rig.feed(0, {10, 10}), "");
  EXPECT_EQ(rig.feed(80, {10}), "0+");
  EXPECT_EQ(rig.feed(120, {4, 10, 10}), "40+ 80+ [120,160)");
  EXPECT_EQ(rig.feed(240, {10}), "160!+");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "200+ 240+ eos");
  EXPECT_EQ(rig.stats(), "6 1 0 0");
}

TEST(GateLookAhead, CutsAndLastingChangesDropNothing) {
  for (const double to : {3., 40.}) {
    GateRig rig({kRelative});
    for (GstClockTime at = 0; at < 2000; at += 40) rig.push(shot(at, at < 1000 ? 10 : to));
    rig.send(gst_event_new_eos());
    EXPECT_EQ(rig.stats(), "50 0 0 0") << "to " << to;
  }
}

TEST(GateLookAhead, MessagesTellWhatTheFrameWasComparedWith) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10, 10, 4, 9, 9, 9});
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 3u);
  const GstStructure* s = heard.results[1].get();
  EXPECT_EQ(text(s, "state") + " " + text(s, "reason"), "blocking below-median");
  EXPECT_EQ(count(s, "timestamp"), 120 * ms);
  EXPECT_EQ(number(s, "score"), 4);
  EXPECT_EQ(number(s, "median"), 9);
  GstStructure* stats = nullptr;
  g_object_get(rig.element(), "stats", &stats, nullptr);
  EXPECT_EQ(number(StructurePtr(stats).get(), "median"), 9);
}

/// Frames dropped of a stream with these scores.
int dropped(std::initializer_list<std::pair<const char*, const char*>> properties, const char* metric,
            const std::vector<double>& scores) {
  GateRig rig(properties);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    BufferPtr buffer = shot(40 * i, std::nullopt);
    set_score(buffer.get(), scores[i], metric);
    rig.push(std::move(buffer));
  }
  rig.send(gst_event_new_eos());
  int passed = 0, lost = 0;
  std::istringstream(rig.stats()) >> passed >> lost;
  return lost;
}

TEST(GateLookAhead, LeastRatioFollowsTheMetric) {
  std::vector<double> scores(60, 1.0);
  scores[20] = 0.85;
  scores[40] = 0.75;
  for (const char* metric : {"tenengrad", "laplacian-variance", "nonsense"})
    EXPECT_EQ(dropped({kRelative}, metric, scores), 1) << metric;
  for (const char* metric : {"mean-square-frequency", "directional-frequency"}) {
    EXPECT_EQ(dropped({kRelative}, metric, scores), 2) << metric;
    EXPECT_EQ(dropped({kRelative, {"min-ratio", "0.8"}}, metric, scores), 1) << "as before";
    EXPECT_EQ(dropped({kRelative, {"min-ratio", "0"}}, metric, scores), 0) << "none";
  }
}

// Where a subject moves a frame that is a little worse than its neighbours is nothing special.
TEST(GateLookAhead, ScoresThatPlayTakeMoreOfAFall) {
  std::vector<double> calm(60, 1.0), lively = calm;
  for (std::size_t i = 0; i < 60; ++i) lively[i] = i % 2 ? 1 : 0.93;
  calm[30] = lively[30] = 0.8;
  EXPECT_EQ(dropped({kRelative}, "directional-frequency", calm), 1);
  EXPECT_EQ(dropped({kRelative}, "directional-frequency", lively), 0);
  lively[30] = 0.7;
  EXPECT_EQ(dropped({kRelative}, "directional-frequency", lively), 1);
}

// What is left of a picture that fades to black has few grey levels, and scores less than before and after.
TEST(GateLookAhead, FadesDropNothing) {
  std::vector<double> out(60, 0.0);
  for (std::size_t i = 0; i < 30; ++i)
    out[i] = i < 24 ? 0.2 : std::array{0.155, 0.156, 0.159, 0.173, 0.209, 0.0}[i - 24];
  EXPECT_EQ(dropped({kRelative}, "directional-frequency", out), 0);
  EXPECT_GT(dropped({kRelative, {"min-ratio", "0.9"}}, "directional-frequency", out), 0);
  std::vector<double> in(out.rbegin(), out.rend());
  EXPECT_EQ(dropped({kRelative}, "directional-frequency", in), 0);
}

TEST(GateLookAhead, DropsByTheKindOfBlur) {
  for (const auto& [drop, left] : {std::pair{"any", "0+ 40+"}, {"motion", "0+ 40+ 120+"}, {"defocus", "0+ 40+ 80+"}}) {
    GateRig rig({{"min-score", "5"}, {"drop", drop}});
    std::string came;
    const std::pair<double, const char*> frames[] = {{9, "sharp"}, {9, "motion"}, {4, "motion"}, {4, "defocus"}};
    for (GstClockTime i = 0; i < 4; ++i) {
      BufferPtr buffer = shot(40 * i, std::nullopt);
      set_score(buffer.get(), frames[i].first, "tenengrad", frames[i].second);
      rig.push(std::move(buffer));
    }
    for (const char c : rig.came()) came += c;
    std::string frames_left;
    std::istringstream words(came);
    for (std::string word; words >> word;)
      if (word.front() != '[')
        frames_left += (frames_left.empty() ? "" : " ") + word.substr(0, word.find('!')) +
                       (word.find('!') == std::string::npos ? "" : "+");
    EXPECT_EQ(frames_left, left) << drop;
    EXPECT_TRUE(rig.heard().warnings.empty());
  }
}

// What scores too high is no blur.
TEST(GateLookAhead, CorruptFramesAreDroppedWhateverTheirBlur) {
  std::vector<double> scores(40, 1.0);
  scores[20] = 9;
  EXPECT_EQ(dropped({kRelative, {"max-ratio", "3"}, {"drop", "motion"}}, "directional-frequency", scores), 1);
  scores[26] = 0;  // as if it faded
  EXPECT_EQ(dropped({kRelative, {"max-ratio", "3"}}, "directional-frequency", scores), 2);
}

TEST(GateLookAhead, KindOfBlurThatNobodyTellsDropsNothingAndSaysSo) {
  GateRig rig({{"min-score", "5"}, {"drop", "motion"}});
  EXPECT_EQ(rig.feed(0, {9, 4, 4, 9}), "0+ 40+ 80+ 120+");
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.warnings.size(), 1U);
  EXPECT_NE(heard.warnings[0].text.find("drop=any"), std::string::npos);
  EXPECT_EQ(text(heard.results.back().get(), "state"), "passing");
}

TEST(GateLookAhead, MarkKeepsAllInOrder) {
  GateRig rig({kRelative, kAhead, kMark});
  EXPECT_EQ(rig.feed(0, {10, 10, 4, 10, 10, 10}), "0+ 40+ 80- 120+");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "160+ 200+ eos");
  EXPECT_EQ(rig.stats(), "5 0 1 0");
}

TEST(GateLookAhead, FramesAreTheSameBuffersWithTheirTimes) {
  GateRig rig({kRelative, kAhead});
  for (GstClockTime at = 0; at < 5; ++at) {
    BufferPtr buffer = shot(40 * at, 10);
    GST_BUFFER_DTS(buffer.get()) = at;
    GST_BUFFER_OFFSET(buffer.get()) = 7 + at;
    EXPECT_EQ(gst_harness_push(rig.harness(), buffer.release()), GST_FLOW_OK);
  }
  rig.send(gst_event_new_eos());
  for (GstClockTime at = 0; at < 5; ++at) {
    const BufferPtr out(gst_harness_try_pull(rig.harness()));
    ASSERT_TRUE(out);
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), 40 * at * ms);
    EXPECT_EQ(GST_BUFFER_DTS(out.get()), at);
    EXPECT_EQ(GST_BUFFER_DURATION(out.get()), 40 * ms);
    EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 7 + at);
    EXPECT_FALSE(GST_BUFFER_FLAG_IS_SET(out.get(), GST_BUFFER_FLAG_DISCONT));
  }
}

TEST(GateLookAhead, DiscontOfUpstreamStaysWithItsFrame) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10});
  BufferPtr buffer = shot(500, 10);
  GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
  rig.push(std::move(buffer));
  EXPECT_EQ(rig.came(), "0+");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "40+ 500!+ eos");
}

TEST(GateLookAhead, HeldFramesLeaveBeforeTheEventsThatEndAScene) {
  const std::pair<std::string, GstEvent*> events[] = {
      {"eos", gst_event_new_eos()},
      {"segment", segment_at(GST_SECOND)},
      {"stream-start", gst_event_new_stream_start("another")},
      {"caps", caps_event("video/x-raw,format=GRAY8,width=4,height=16,framerate=25/1")},
      {"segment-done", gst_event_new_segment_done(GST_FORMAT_TIME, 0)}};
  for (const auto& [name, event] : events) {
    GateRig rig({kRelative, {"look-ahead", "4"}});
    EXPECT_EQ(rig.feed(0, {10, 10, 4, 10, 3}), "0+");
    EXPECT_EQ(rig.send(event), "40+ [80,120) 120!+ [160,200) " + name) << "judged with what is there";
  }
}

TEST(GateLookAhead, SameCapsAreNoReason) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10});
  EXPECT_EQ(rig.send(caps_event(kGateCaps)), "caps");
  EXPECT_EQ(rig.feed(80, {10}), "0+");
}

TEST(GateLookAhead, OtherCapsAreAnotherScene) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {100, 100, 100, 100});
  rig.send(caps_event("video/x-raw,format=GRAY8,width=4,height=16,framerate=25/1"));
  EXPECT_EQ(rig.feed(160, {10, 10, 10}), "160+") << "scores of another size are other numbers";
}

TEST(GateLookAhead, OtherEventsKeepTheirPlace) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10});
  rig.send(tag("a"));
  EXPECT_EQ(rig.feed(40, {10}), "");
  EXPECT_EQ(rig.send(gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("b"))), "");
  EXPECT_EQ(rig.feed(80, {4, 10}), "0+ tag 40+ custom-downstream");
  rig.send(tag("c"));
  EXPECT_EQ(rig.feed(160, {10}), "[80,120)");
  EXPECT_EQ(rig.send(segment_at(0)), "120!+ tag 160+ segment");
  EXPECT_EQ(rig.send(tag("d")), "tag") << "nothing is held";
}

TEST(GateLookAhead, EventBehindADroppedFrameFollowsItsGap) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10, 4});
  rig.send(tag("a"));
  EXPECT_EQ(rig.feed(120, {10, 10}), "40+ [80,120) tag");
}

TEST(GateLookAhead, GapKeepsItsPlaceWhileFramesCanStillComeInTime) {
  GateRig rig({kRelative, {"look-ahead", "4"}});
  rig.feed(0, {10, 10});
  EXPECT_EQ(rig.send(gst_event_new_gap(80 * ms, 40 * ms)), "");
  EXPECT_EQ(rig.feed(120, {10, 10, 10}), "0+");
  EXPECT_EQ(rig.feed(240, {10}), "40+ [80,120)");
}

TEST(GateLookAhead, GapLetsOutWhatWouldComeTooLate) {
  GateRig rig({kRelative, {"look-ahead", "4"}});
  rig.feed(0, {10, 10, 10});
  EXPECT_EQ(rig.send(gst_event_new_gap(120 * ms, 80 * ms)), "0+ 40+") << "those of 0 and 40 were due by 160 and 200";
  EXPECT_EQ(rig.send(gst_event_new_gap(200 * ms, 800 * ms)), "80+ [120,200) [200,1000)");
  EXPECT_EQ(rig.feed(1000, {10}), "");
}

TEST(GateLookAhead, GapLetsAllOutWithoutAFrameRate) {
  GateRig rig({kRelative, kAhead}, "image/jpeg");
  rig.feed(0, {10, 10});
  EXPECT_EQ(rig.send(gst_event_new_gap(80 * ms, 1 * ms)), "0+ 40+ [80,81)");
}

TEST(GateLookAhead, FlushDropsWhatWaits) {
  WatchedBuffers watched;
  GateRig rig({kRelative, kAhead});
  rig.push(watched.watch(shot(0, 10)));
  rig.push(watched.watch(shot(40, 10)));
  rig.send(tag("a"));
  rig.send(gst_event_new_flush_start());
  EXPECT_EQ(rig.send(gst_event_new_flush_stop(TRUE)), "flush-stop");
  EXPECT_EQ(watched.gone(), 2);
  rig.send(segment_at(0));
  EXPECT_EQ(rig.feed(0, {3, 3, 3}), "0+") << "of the frames before nothing is known";
}

TEST(GateLookAhead, ReadyAndNullDropWhatWaits) {
  for (const GstState state : {GST_STATE_READY, GST_STATE_NULL}) {
    WatchedBuffers watched;
    GateRig rig({kRelative, kAhead});
    rig.push(watched.watch(shot(0, 10)));
    gst_element_set_state(rig.element(), state);
    EXPECT_EQ(watched.gone(), 1);
    EXPECT_EQ(rig.came(), "");
  }
}

TEST(GateLookAhead, DrainQueryLetsAllOut) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 3});
  GstQuery* query = gst_query_new_drain();
  gst_pad_peer_query(rig.harness()->srcpad, query);
  gst_query_unref(query);
  EXPECT_EQ(rig.came(), "0+ [40,80)");
}

TEST(GateLookAhead, UnscoredFramesWaitTheirTurn) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10, 4});
  rig.push(shot(120, std::nullopt));
  rig.push(shot(160, 10));
  EXPECT_EQ(rig.came(), "40+ [80,120)");
  EXPECT_EQ(rig.feed(200, {10}), "120!");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "160+ 200+ eos");
  EXPECT_EQ(rig.stats(), "4 1 0 1");
}

TEST(GateLookAhead, StreamWithoutScoresIsDelayedOnly) {
  GateRig rig({kRelative, kAhead});
  for (GstClockTime at = 0; at < 4; ++at) rig.push(shot(40 * at, std::nullopt));
  EXPECT_EQ(rig.came(), "0 40");
  EXPECT_EQ(rig.send(gst_event_new_eos()), "80 120 eos");
}

TEST(GateLookAhead, GapOfFramesWithoutDurationEndsWithTheNextFrame) {
  GateRig rig({kRelative, kAhead}, "image/jpeg");
  GstClockTime at = 0;
  for (const double score : {10, 10, 10, 4, 10, 10, 10, 10}) {
    rig.push(shot(at, score, GST_CLOCK_TIME_NONE));
    at += 30;
  }
  EXPECT_EQ(rig.came(), "0+ 30+ 60+ [90,120) 120!+ 150+");
}

TEST(GateLookAhead, TimeThatRunsBackwardsEndsTheScene) {
  GateRig rig({kRelative, kAhead});
  EXPECT_EQ(rig.feed(1000, {10, 10}), "");
  EXPECT_EQ(rig.feed(0, {3}), "1000+ 1040+");
  EXPECT_EQ(rig.feed(40, {3, 3}), "0+");
}

TEST(GateLookAhead, ReversePlaybackWorksTheSame) {
  GateRig rig({kRelative, kAhead});
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.rate = -1;
  segment.stop = 400 * ms;
  rig.send(gst_event_new_segment(&segment));
  for (GstClockTime at = 400; at >= 40; at -= 40) rig.push(shot(at - 40, at == 240 ? 3 : 10));
  EXPECT_EQ(rig.came(), "360+ 320+ 280+ 240+ [200,240) 160!+ 120+ 80+");
}

TEST(GateLookAhead, MayChangeInMidStream) {
  GateRig rig({kRelative, {"look-ahead", "4"}});
  EXPECT_EQ(rig.feed(0, {10, 10, 10}), "");
  rig.set("look-ahead", "1");
  EXPECT_EQ(rig.feed(120, {10}), "0+ 40+ 80+");
  rig.set("look-ahead", "2");
  EXPECT_EQ(rig.feed(160, {4}), "");
  EXPECT_EQ(rig.feed(200, {10}), "120+");
  rig.set("min-ratio", "0.3");
  EXPECT_EQ(rig.feed(240, {10}), "160+") << "as it is when the frame is judged";
  rig.set("look-ahead", "0");
  EXPECT_EQ(rig.feed(280, {10}), "200+ 240+ 280+");
  EXPECT_EQ(rig.feed(320, {10}), "320+");
}

TEST(GateLookAhead, ChangedModeLetsAllOut) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10});
  rig.set("mode", "threshold");
  EXPECT_EQ(rig.feed(80, {10}), "0+ 40+ 80+");
  rig.set("mode", "relative");
  EXPECT_EQ(rig.feed(120, {10}), "");
  rig.set("mode", "best-of");
  EXPECT_EQ(rig.feed(160, {10}), "120+");
}

TEST(GateLookAhead, FlowOfDownstreamGoesUpstream) {
  for (const GstFlowReturn flow : {GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_FLUSHING, GST_FLOW_ERROR}) {
    WatchedBuffers watched;
    GateRig rig({kRelative, kAhead});
    rig.flow = flow;
    for (int i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched.watch(shot(0, 5))), GST_FLOW_OK);
    EXPECT_EQ(rig.push(watched.watch(shot(0, 5))), flow);
    EXPECT_EQ(watched.gone(), 1) << "the others wait on";
    rig.send(tag("a"));
    EXPECT_NE(rig.send(segment_at(0)).find("segment"), std::string::npos);
    EXPECT_EQ(watched.gone(), 3);
    EXPECT_EQ(rig.push(shot(0, 5)), flow) << "of the frames that the event let out";
    rig.flow.reset();
    for (int i = 0; i < 3; ++i) EXPECT_EQ(rig.push(shot(40, 5)), GST_FLOW_OK) << "and on it goes";
    EXPECT_EQ(rig.stat("dropped"), 0u);
  }
}

TEST(GateLookAhead, FlowOfAFrameThatAGapLetOutGoesUpstream) {
  GateRig rig({kRelative, kAhead});
  rig.feed(0, {10, 10});
  rig.flow = GST_FLOW_EOS;
  rig.send(gst_event_new_gap(80 * ms, GST_SECOND));
  EXPECT_EQ(rig.push(shot(1080, 10)), GST_FLOW_EOS);
}

TEST(GateLookAhead, EventsWithoutFramesAreNotHeldForEver) {
  GateRig rig({kRelative, kAhead});
  EXPECT_EQ(rig.feed(0, {1}), "");
  for (int i = 0; i < 70000 && rig.stat("passed") == 0; ++i)
    gst_harness_push_event(rig.harness(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, nullptr));
  EXPECT_EQ(rig.came().substr(0, 20), "0+ custom-downstream");
}

TEST(GateLookAhead, LatencyIsItsFrames) {
  GateRig rig({kRelative});
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, 90 * ms}), (Latency{true, 247 * ms, 330 * ms})) << "6 by default";
  rig.set("look-ahead", "2");
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, GST_CLOCK_TIME_NONE}), (Latency{true, 87 * ms, GST_CLOCK_TIME_NONE}));
  rig.set("look-ahead", "0");
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, 90 * ms}), (Latency{true, 7 * ms, 90 * ms}));
}

TEST(GateLookAhead, ChangesOfLatencyAreTold) {
  GateRig rig({});
  const auto told = [&] { return rig.heard().latencies; };
  EXPECT_EQ(told(), 0);
  rig.set("look-ahead", "2");
  EXPECT_EQ(told(), 0) << "not in this mode";
  rig.set("mode", "relative");
  EXPECT_EQ(told(), 1);
  rig.set("look-ahead", "3");
  EXPECT_EQ(told(), 1);
  rig.set("window-time", "50000000");
  EXPECT_EQ(told(), 0);
  rig.caps("image/jpeg,framerate=50/1");
  EXPECT_EQ(told(), 1) << "frames are shorter";
  rig.set("look-ahead", "0");
  EXPECT_EQ(told(), 1);
}

TEST(GateLookAhead, LiveWithoutAFrameRateWaitsForNothing) {
  GateRig rig({kRelative, kAhead}, "image/jpeg,framerate=0/1");
  EXPECT_EQ(latency(rig.harness(), {false, 0, GST_CLOCK_TIME_NONE}), (Latency{false, 0, GST_CLOCK_TIME_NONE}));
  EXPECT_EQ(rig.feed(0, {10, 10}), "") << "a file may take its time";
  EXPECT_EQ(latency(rig.harness(), {true, 7 * ms, 90 * ms}), (Latency{true, 7 * ms, 90 * ms}));
  EXPECT_EQ(rig.feed(80, {10, 4, 10}), "0+ 40+ 80+ [120,160) 160!+");
  rig.caps(kGateCaps);
  rig.came();
  EXPECT_EQ(rig.feed(200, {10, 10}), "");
}

TEST(GateLookAhead, LivePipelineIsNeverLate) {
  const std::string source =
      "videotestsrc is-live=true num-buffers=80 pattern=ball ! video/x-raw,format=GRAY8,width=64,height=48,"
      "framerate=40/1 ! sharpnessmeter ! sharpnessgate mode=relative min-ratio=0 ";
  const std::string sink = " ! fakesink name=s sync=true max-lateness=20000000";
  expect_never_late(source + sink, 80);
  expect_never_late(source + "look-ahead=20 action=mark" + sink, 80);
}

TEST(GateLookAhead, PipelineOfFewFramesEnds) {
  for (const char* frames : {"1", "2", "7"}) {
    const Heard heard = run("videotestsrc pattern=ball num-buffers=" + std::string(frames) +
                            " ! video/x-raw,format=GRAY8,width=64,height=48 ! sharpnessmeter ! sharpnessgate "
                            "mode=relative ! fakesink sync=true");
    EXPECT_TRUE(heard.eos) << frames;
    EXPECT_TRUE(heard.errors.empty());
  }
}

}  // namespace
}  // namespace framequality::test
