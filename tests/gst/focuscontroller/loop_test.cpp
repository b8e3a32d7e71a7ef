// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: when it moves and when not, and what it makes of its settings and of light and noise.
#include "tests/gst/focuscontroller/rig.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>

namespace framequality::test {
namespace {

TEST(Focus, FindsThePeakAndTellsHow) {
  FocusRig rig(kLens);
  EXPECT_EQ(rig.state(), "idle");
  ASSERT_TRUE(rig.watch(37, "focused"));
  EXPECT_NEAR(rig.position(), 37, 1);
  EXPECT_EQ(rig.number("position"), rig.position());
  EXPECT_EQ(rig.number("score"), FocusRig::peak(rig.position(), 37));
  const FocusHeard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty());
  EXPECT_TRUE(heard.warnings.empty());
  EXPECT_EQ(heard.states(), (std::vector<std::string>{"coarse", "settle", "focused"}));
  const std::vector<double> moves = heard.moves();
  EXPECT_EQ(static_cast<int>(moves.size()), rig.lens()->moves);
  EXPECT_LT(moves.size(), 50u);
  EXPECT_EQ(moves.back(), rig.position());
  const FocusEvent& last = heard.events.back();
  EXPECT_EQ(last.event, "state");
  EXPECT_EQ(last.position, rig.position());
  EXPECT_EQ(last.timestamp % FocusRig::kFrame, 0u);
  EXPECT_EQ(last.stream_time, last.timestamp);
  EXPECT_EQ(last.running_time, last.timestamp);
}

TEST(Focus, GoalIsTheNearestOrTheFarthestObject) {
  FocusRig rig(std::string(kLens) + "mode=one-shot");
  const auto run = [&](const char* goal) {
    rig.set("goal", goal);
    rig.emit("trigger");
    do rig.frame(FocusRig::peak(rig.position(), 20) + 2 * FocusRig::peak(rig.position(), 80));
    while (rig.state() != "focused" && rig.frames() < 1000);
    return rig.position();
  };
  EXPECT_NEAR(run("farthest"), 20, 1);
  EXPECT_NEAR(run("nearest"), 80, 1);
  EXPECT_NEAR(run("farthest"), 20, 1);
}

TEST(Focus, SegmentTurnsTimestampsIntoRunningTime) {
  FocusRig rig(kLens);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.time = 3 * GST_SECOND;
  segment.base = GST_SECOND;
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  rig.frame(1, 12 * GST_SECOND);
  const FocusHeard heard = rig.heard();
  ASSERT_FALSE(heard.events.empty());
  EXPECT_EQ(heard.events[0].timestamp, 12 * GST_SECOND);
  EXPECT_EQ(heard.events[0].stream_time, 5 * GST_SECOND);
  EXPECT_EQ(heard.events[0].running_time, 3 * GST_SECOND);
}

TEST(Focus, SettleFramesAreNotUsed) {
  for (const bool stops : {true, false})
    for (const int settle : {0, 1, 4}) {
      FocusRig rig(std::string(kLens) + "settle-frames=" + std::to_string(settle) +
                   " stop-and-go=" + (stops ? "true" : "false"));
      int since = 1000;
      for (int i = 0; i < 600 && rig.state() != "focused"; ++i) {
        const int before = rig.lens()->moves;
        // What the lens shows on its way to a stop would be the sharpest of all.
        const bool on_its_way = since < settle && (stops || rig.state() != "coarse");
        rig.frame(on_its_way ? 1e9 : FocusRig::peak(rig.position(), 61));
        since = rig.lens()->moves != before ? 0 : since + 1;
      }
      EXPECT_EQ(rig.state(), "focused");
      EXPECT_NEAR(rig.position(), 61, 1) << settle << (stops ? ", stop and go" : "");
    }
}

TEST(Focus, LagIsLearnedOrSet) {
  for (const int lag : {0, 2, 6}) {
    for (const bool is_set : {false, true}) {
      FocusRig rig(std::string(kLens) + "lag-frames=" + std::to_string(is_set ? lag : -1));
      LensDrive late;
      late.configure({.lag = lag});
      ASSERT_TRUE(rig.watch(late, 61, "focused")) << lag;
      EXPECT_NEAR(rig.position(), 61, 1) << "lag " << lag << (is_set ? ", set" : ", learned");
      EXPECT_LT(rig.frames(), 70u);
    }
  }
}

TEST(Focus, SweepDoesNotWaitForTheLensUnlessItStopsAndGoes) {
  for (const bool stops : {false, true}) {
    FocusRig rig(std::string(kLens) + "settle-frames=4 lag-frames=0 stop-and-go=" + (stops ? "true" : "false"));
    ASSERT_TRUE(rig.watch(90, "focused"));
    std::vector<GstClockTime> moved_at;
    for (const auto& e : rig.heard().events)
      if (e.event == "move" && e.state == "coarse") moved_at.push_back(e.timestamp / FocusRig::kFrame);
    ASSERT_GT(moved_at.size(), 7u);
    for (std::size_t i = 1; i < 7; ++i)  // on the way there, not the one back
      EXPECT_EQ(moved_at[i] - moved_at[i - 1], stops ? 5u : 1u) << "move " << i;
  }
}

TEST(Focus, PlayIsLearnedOrSet) {
  for (const double play : {0.0, 7.0})
    for (const bool is_set : {false, true}) {
      FocusRig rig(std::string(kLens) + "backlash=" + std::to_string(is_set ? play : -1));
      LensDrive loose;
      loose.configure({.backlash = play});
      ASSERT_TRUE(rig.watch(loose, 61, "focused")) << play;
      EXPECT_NEAR(rig.shown(), 61, 1.5) << play << (is_set ? ", set" : ", learned");
    }
}

TEST(Focus, StopsAreApproachedFromTheSideThatIsSet) {
  for (const bool above : {false, true}) {
    FocusRig rig(std::string(kLens) + "backlash=7 approach=" + (above ? "from-above" : "from-below"));
    LensDrive loose;
    loose.configure({.backlash = 7});
    ASSERT_TRUE(rig.watch(loose, 50, "focused"));
    EXPECT_NEAR(rig.shown(), 50, 1.5);
    const std::vector<double> moves = rig.heard().moves();
    EXPECT_EQ(moves.back() < moves[moves.size() - 2], above);
    // So the motor is short of the lens by its play, or not.
    EXPECT_EQ(rig.shown() - rig.position(), above ? 7 : 0);
  }
}

TEST(Focus, SmallLossIsProbed) {
  for (const bool tracking : {true, false}) {
    FocusRig rig(std::string(kLens) + "tracking=" + (tracking ? "true" : "false"));
    ASSERT_TRUE(rig.watch(50, "focused"));
    const int moves = rig.lens()->moves;
    EXPECT_FALSE(rig.watch(50, "tracking", 100)) << "no loss";
    EXPECT_EQ(rig.watch(55, "tracking", 100), tracking) << "8%, less than loss";
    EXPECT_EQ(rig.lens()->moves > moves, tracking);
    if (!tracking) continue;
    ASSERT_TRUE(rig.watch(55, "focused"));
    EXPECT_NEAR(rig.position(), 55, 1);
    const std::vector<std::string> states = rig.heard().states();
    EXPECT_EQ(std::vector(states.end() - 2, states.end()), (std::vector<std::string>{"tracking", "focused"}));
  }
}

TEST(Focus, FramesWithoutScoreCountForSettlingOnly) {
  FocusRig rig(std::string(kLens) + "settle-frames=3");
  for (int i = 0; i < 900 && rig.state() != "focused"; ++i)
    rig.frame(i % 3 == 0 ? std::optional(FocusRig::peak(rig.position(), 70)) : std::nullopt);
  EXPECT_EQ(rig.state(), "focused");
  EXPECT_NEAR(rig.position(), 70, 1);
  EXPECT_TRUE(rig.heard().warnings.empty()) << "the meter's interval is no mistake";
}

TEST(Focus, NoScoreAtAllIsOneWarning) {
  FocusRig rig(kLens);
  for (int i = 0; i < 20; ++i) rig.frame({});
  const FocusHeard heard = rig.heard();
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("put sharpnessmeter, with attach-meta=true, upstream"), std::string::npos);
  EXPECT_TRUE(heard.errors.empty());
}

TEST(Focus, ScoresThatAreNoNumbersAreNone) {
  FocusRig none(kLens);
  for (int i = 0; i < 20; ++i) none.frame(i % 2 ? HUGE_VAL : std::nan(""));
  EXPECT_EQ(none.heard().warnings.size(), 1u) << "that there is no score";
  FocusRig rig(kLens);
  for (int i = 0; i < 900 && rig.state() != "focused"; ++i)
    rig.frame(i % 3 == 0 ? FocusRig::peak(rig.position(), 70) : i % 3 == 1 ? HUGE_VAL : std::nan(""));
  EXPECT_EQ(rig.state(), "focused");
  EXPECT_NEAR(rig.position(), 70, 1);
}

TEST(Focus, ManualWaitsForTheTrigger) {
  FocusRig rig(std::string(kLens) + "mode=manual");
  for (int i = 0; i < 30; ++i) rig.frame(5);
  EXPECT_EQ(rig.lens()->moves, 0);
  EXPECT_EQ(rig.state(), "idle");
  rig.emit("trigger");
  EXPECT_TRUE(rig.watch(20, "focused"));
  EXPECT_NEAR(rig.position(), 20, 1);
}

TEST(Focus, OneShotStaysWhereItIs) {
  FocusRig rig(std::string(kLens) + "mode=one-shot");
  ASSERT_TRUE(rig.watch(20, "focused"));
  const int moves = rig.lens()->moves;
  EXPECT_FALSE(rig.watch(80, "coarse", 200));
  EXPECT_EQ(rig.lens()->moves, moves);
  rig.emit("trigger");
  EXPECT_TRUE(rig.watch(80, "coarse"));
  EXPECT_TRUE(rig.watch(80, "focused"));
  EXPECT_NEAR(rig.position(), 80, 1);
}

TEST(Focus, ContinuousFocusesAgainWhenFocusIsLost) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(20, "focused"));
  EXPECT_FALSE(rig.watch(20, "coarse", 200)) << "hunts";
  EXPECT_TRUE(rig.watch(80, "coarse", 100));
  EXPECT_TRUE(rig.watch(80, "focused"));
  EXPECT_NEAR(rig.position(), 80, 1);
}

TEST(Focus, LostFocusIsLookedForNearbyFirst) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(50, "focused"));
  ASSERT_FALSE(rig.watch(50, "fine", 30));
  rig.heard();
  // Half of the peak's height is left.
  EXPECT_TRUE(rig.watch(64, "fine", 100));
  EXPECT_TRUE(rig.watch(64, "focused"));
  EXPECT_NEAR(rig.position(), 64, 1);
  const FocusHeard heard = rig.heard();
  EXPECT_EQ(heard.states(), (std::vector<std::string>{"fine", "settle", "focused"}));
  EXPECT_LT(heard.moves().size(), 8u);
}

TEST(Focus, CancelledSearchDoesNotMove) {
  FocusRig rig(kLens);
  for (int i = 0; i < 5; ++i) rig.frame(FocusRig::peak(rig.position(), 50));
  const int moves = rig.lens()->moves;
  EXPECT_GT(moves, 0);
  rig.emit("cancel");
  for (int i = 0; i < 50; ++i) rig.frame(FocusRig::peak(rig.position(), 50));
  EXPECT_EQ(rig.lens()->moves, moves);
  EXPECT_EQ(rig.state(), "idle");
  EXPECT_EQ(rig.heard().states().back(), "idle");
  rig.emit("trigger");
  EXPECT_TRUE(rig.watch(50, "focused"));
}

TEST(Focus, ApplicationMovesTheLens) {
  FocusRig rig("min=-5 max=5 step=0.25 settle-frames=0");
  double at = 99;
  g_signal_connect(rig.controller(), "move",
                   G_CALLBACK(+[](GstElement*, gdouble position, double* to) { *to = position; }), &at);
  for (int i = 0; i < 200 && rig.state() != "focused"; ++i) rig.frame(FocusRig::peak(10 * at, -20));
  EXPECT_EQ(rig.state(), "focused");
  EXPECT_NEAR(at, -2, 0.25);
  EXPECT_EQ(rig.heard().moves().back(), at);
}

// --- What the meter tells besides the score -------------------------------------------------------------------------

/// Whether a change of score, of a frame with these other fields before and after, begins a search.
bool searches(double factor, const std::string& before, const std::string& after) {
  FocusRig rig(kLens);
  const auto frames = [&](int n, double f, const std::string& others) {
    for (int i = 0; i < n && (i < 3 || rig.state() != "focused"); ++i)
      rig.frame(f * FocusRig::peak(rig.position(), 50), {}, others);
  };
  frames(100, 1, before);
  EXPECT_EQ(rig.state(), "focused");
  const int moves = rig.lens()->moves;
  for (int i = 0; i < 40; ++i) rig.frame(FocusRig::peak(rig.position(), 50), {}, before);
  for (int i = 0; i < 60; ++i) rig.frame(factor * FocusRig::peak(rig.position(), 50), {}, after);
  return rig.lens()->moves > moves;
}

TEST(Focus, LightChangesScoresThatAreNotNormalized) {
  const auto fields = [](const char* metric, const char* normalize, double mean) {
    return std::string(", metric=") + metric + ", mean=" + std::to_string(mean) + normalize;
  };
  constexpr char kNone[] = ", normalize=none", kMean[] = ", normalize=mean";
  const double half = 0.5, quarter = 0.25;
  EXPECT_TRUE(searches(quarter, "", "")) << "nothing is known";
  EXPECT_FALSE(searches(quarter, fields("tenengrad", kNone, 100), fields("tenengrad", kNone, 50))) << "level^2";
  EXPECT_FALSE(searches(half, fields("laplacian", kNone, 100), fields("laplacian", kNone, 50))) << "level";
  EXPECT_TRUE(searches(half, fields("entropy", kNone, 100), fields("entropy", kNone, 50)));
  EXPECT_TRUE(searches(quarter, fields("unheard-of", kNone, 100), fields("unheard-of", kNone, 50)));
  EXPECT_TRUE(searches(quarter, fields("tenengrad", kMean, 100), fields("tenengrad", kMean, 50)));
  EXPECT_TRUE(searches(quarter, fields("tenengrad", "", 100), fields("tenengrad", "", 50))) << "a meter before 0.3";
  EXPECT_TRUE(searches(quarter, fields("tenengrad", kNone, 100), fields("tenengrad", kNone, 100)));
}

TEST(Focus, NoiseAddsToScores) {
  EXPECT_TRUE(searches(2, "", ""));
  EXPECT_TRUE(searches(2, ", noise=1.0", ", noise=1.0"));
  // What was seen out of focus, 1% of the peak, is all noise at the most: ten times its deviation may add a whole one.
  EXPECT_FALSE(searches(2, ", noise=1.0", ", noise=12.0"));
}

TEST(Focus, OtherCapsStartASearchAnew) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(20, "focused"));
  gst_harness_set_src_caps_str(rig.harness(), "video/x-raw,format=GRAY8,width=1,height=1,framerate=25/1");
  EXPECT_FALSE(rig.watch(20, "coarse", 5)) << "the same caps";
  gst_harness_set_src_caps_str(rig.harness(), "video/x-raw,format=GRAY8,width=2,height=1,framerate=25/1");
  EXPECT_TRUE(rig.watch(20, "coarse", 1));
  EXPECT_TRUE(rig.watch(20, "focused"));
}

TEST(Focus, ReadyForgetsTheSearch) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(20, "focused"));
  gst_element_set_state(rig.controller(), GST_STATE_READY);
  EXPECT_EQ(rig.state(), "idle");
  EXPECT_EQ(rig.number("position"), 0);
  EXPECT_EQ(rig.number("score"), 0);
  gst_element_set_state(rig.controller(), GST_STATE_PLAYING);
  gst_harness_play(rig.harness());
}

TEST(Focus, RangeMayMoveWhilePlaying) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(20, "focused"));
  // Between the two, min is above max: that must not end the stream.
  rig.set("min", "200");
  rig.frame(1);
  rig.set("max", "300");
  EXPECT_TRUE(rig.watch(222, "coarse", 3));
  EXPECT_TRUE(rig.watch(222, "focused"));
  EXPECT_NEAR(rig.position(), 222, 1);
  EXPECT_TRUE(rig.heard().errors.empty());
}

TEST(Focus, ActuatorMayChangeWhilePlaying) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(20, "focused"));
  rig.set("actuator", "lens.as-float");
  rig.set("max", "10");
  EXPECT_TRUE(rig.watch(4, "coarse", 3));
  EXPECT_TRUE(rig.watch(4, "focused"));
  EXPECT_NEAR(rig.position(), 4, 1);
}

TEST(Focus, NoisyButStillSceneIsLeftAlone) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(50, "focused"));
  const int moves = rig.lens()->moves;
  Random random(3);
  for (int i = 0; i < 1000; ++i)
    rig.frame(FocusRig::peak(rig.position(), 50) * (0.9 + 0.2 * random.below(1000) / 1000));
  EXPECT_EQ(rig.lens()->moves, moves);
  EXPECT_EQ(rig.state(), "focused");
}

TEST(Focus, AnyThreadMaySteer) {
  FocusRig rig(kLens);
  std::atomic<bool> done = false;
  std::thread other([&] {
    for (int i = 0; !done; ++i) {
      rig.emit(i % 3 == 0 ? "trigger" : i % 3 == 1 ? "cancel" : "arrived");
      rig.set("max", i % 2 ? "90" : "100");
      rig.set("mode", i % 5 ? "continuous" : "manual");
      rig.set("wait-for-arrival", i % 7 ? "false" : "true");
      EXPECT_FALSE(rig.state().empty());
      EXPECT_GE(rig.number("position"), 0);
    }
  });
  for (int i = 0; i < 2000; ++i) rig.frame(FocusRig::peak(rig.position(), 50));
  done = true;
  other.join();
  rig.set("mode", "continuous");
  rig.set("wait-for-arrival", "false");
  rig.emit("arrived");
  rig.emit("trigger");
  rig.frame(1);
  EXPECT_TRUE(rig.watch(50, "focused"));
}

}  // namespace
}  // namespace framequality::test
