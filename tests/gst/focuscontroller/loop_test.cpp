// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: what it tells, when it moves and when not, and which frames it believes.
#include "tests/gst/focuscontroller/rig.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <thread>

namespace framequality::test {
namespace {

constexpr char kLens[] = "actuator=lens.as-double min=0 max=100 step=1 settle-frames=0 ";

/// Answers latency queries in the name of a source that is live, or is not.
class Source {
 public:
  Source(FocusRig& rig, bool live) : pad_(rig.harness()->srcpad), live_(live) {
    probe_ = gst_pad_add_probe(
        pad_, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer self) {
          GstQuery* query = gst_pad_probe_info_get_query(info);
          if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY) return GST_PAD_PROBE_OK;
          gst_query_set_latency(query, static_cast<Source*>(self)->live_, 0, GST_CLOCK_TIME_NONE);
          return GST_PAD_PROBE_HANDLED;
        },
        this, nullptr);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  ~Source() { gst_pad_remove_probe(pad_, probe_); }

 private:
  GstPad* pad_;
  bool live_;
  gulong probe_;
};

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
  EXPECT_EQ(heard.states(), (std::vector<std::string>{"coarse", "fine", "settle", "focused"}));
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
    FocusRig rig(std::string(kLens) + "settle-frames=4 stop-and-go=" + (stops ? "true" : "false"));
    ASSERT_TRUE(rig.watch(90, "fine"));
    std::vector<GstClockTime> moved_at;
    for (const auto& e : rig.heard().events)
      if (e.event == "move" && e.state == "coarse") moved_at.push_back(e.timestamp / FocusRig::kFrame);
    ASSERT_GT(moved_at.size(), 5u);
    for (std::size_t i = 1; i < moved_at.size(); ++i)
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
  EXPECT_TRUE(rig.watch(80, "fine"));
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

TEST(Focus, WaitsForArrival) {
  FocusRig rig("min=0 max=100 step=1 settle-frames=1 wait-for-arrival=true");
  double at = 0;
  bool travels = false;
  struct {
    double* at;
    bool* travels;
  } lens{&at, &travels};
  g_signal_connect(rig.controller(), "move", G_CALLBACK(+[](GstElement*, gdouble position, decltype(lens)* l) {
                     *l->at = position;
                     *l->travels = true;
                   }),
                   &lens);
  for (int i = 0; i < 60 && rig.state() != "focused"; ++i) {
    for (int late = 0; late < 7 && travels; ++late) rig.frame(1e9);
    if (std::exchange(travels, false)) {
      rig.emit("arrived");
      rig.frame(1e9);  // the settle frame
    }
    rig.frame(FocusRig::peak(at, 44));
  }
  EXPECT_EQ(rig.state(), "focused");
  EXPECT_NEAR(at, 44, 1);
}

TEST(Focus, ArrivalMayBeToldByTheMoveHandlerItself) {
  FocusRig rig(std::string(kLens) + "wait-for-arrival=true");
  g_signal_connect(rig.controller(), "move",
                   G_CALLBACK(+[](GstElement* e, gdouble, gpointer) { g_signal_emit_by_name(e, "arrived"); }), nullptr);
  EXPECT_TRUE(rig.watch(44, "focused"));
}

TEST(Focus, TimeoutEndsASearchWithoutScores) {
  FocusRig rig(std::string(kLens) + "wait-for-arrival=true timeout=1000000000");
  for (int i = 0; i < 24; ++i) rig.frame(3);
  EXPECT_EQ(rig.state(), "coarse");
  for (int i = 0; i < 6; ++i) rig.frame(3);
  EXPECT_EQ(rig.state(), "failed");
  const FocusHeard heard = rig.heard();
  ASSERT_EQ(heard.warnings.size(), 1u);
  EXPECT_NE(heard.warnings[0].text.find("No score for 1 s"), std::string::npos) << heard.warnings[0].text;
  rig.set("wait-for-arrival", "false");
  rig.emit("trigger");
  EXPECT_TRUE(rig.watch(30, "focused"));
}

TEST(Focus, TimeThatGoesBackwardsBeginsTheTimeoutAnew) {
  FocusRig rig(std::string(kLens) + "wait-for-arrival=true timeout=1000000000");
  for (int i = 0; i < 6; ++i) rig.frame(3, 10 * GST_SECOND);
  EXPECT_EQ(rig.lens()->moves, 1) << "the frames after it are not used";
  for (GstClockTime i = 0; i < 25; ++i) rig.frame(3, i * FocusRig::kFrame);
  EXPECT_EQ(rig.state(), "coarse");
  rig.frame(3, GST_SECOND);
  EXPECT_EQ(rig.state(), "failed");
}

/// Pushes live frames that arrive so many frames after their exposure, each of which shows where the lens was then,
/// until the lens is in focus at `best`; how many that took.
int live_frames(FocusRig& rig, int late, double best) {
  std::deque<double> waiting(static_cast<std::size_t>(late), rig.position());
  for (int i = 0; i < 400; ++i) {
    waiting.push_back(rig.position());  // exposed now; the one that arrives now is older
    const auto now = static_cast<GstClockTime>(i) * FocusRig::kFrame;
    const auto delay = static_cast<GstClockTime>(late) * FocusRig::kFrame;
    // A millisecond between exposure and command.
    gst_harness_set_time(rig.harness(), GST_SECOND * 10 + now + GST_MSECOND);
    rig.frame(FocusRig::peak(waiting.front(), best), GST_SECOND * 10 + now - delay);
    waiting.pop_front();
    if (rig.state() == "focused") return i + 1;
  }
  return -1;
}

TEST(Focus, LiveFramesShowTheMovesFromBeforeTheirExposure) {
  FocusRig prompt(kLens);
  const Source prompt_source(prompt, true);
  const int fewest = live_frames(prompt, 0, 73);
  EXPECT_NEAR(prompt.position(), 73, 1);
  for (const int late : {1, 5, 20}) {
    FocusRig rig(kLens);
    const Source source(rig, true);
    const int frames = live_frames(rig, late, 73);
    ASSERT_GT(frames, 0) << late << " frames late";
    EXPECT_NEAR(rig.position(), 73, 1) << late << " frames late";
    int stops = 1;  // the end of the sweep
    std::vector<GstClockTime> swept_at;
    for (const auto& e : rig.heard().events)
      if (e.event == "move" && e.state == "coarse")
        swept_at.push_back(e.timestamp / FocusRig::kFrame);
      else
        stops += e.event == "move";
    EXPECT_LE(frames, fewest + (late + 2) * (stops + 1)) << late << " frames late, stops " << stops;
    ASSERT_GT(swept_at.size(), 5u);
    for (std::size_t i = 1; i < swept_at.size(); ++i)
      EXPECT_EQ(swept_at[i] - swept_at[i - 1], 1u) << "the sweep waits: " << late << " frames late, move " << i;
  }
}

TEST(Focus, LiveFramesFromBeforeAStopAreNotUsed) {
  FocusRig rig(std::string(kLens) + "stop-and-go=true");
  const Source source(rig, true);
  rig.frame(1, 0);
  const int moves = rig.lens()->moves;
  ASSERT_EQ(moves, 1) << "of the sweep";
  gst_harness_set_time(rig.harness(), GST_SECOND);
  rig.frame(1, FocusRig::kFrame);
  ASSERT_EQ(rig.lens()->moves, moves + 1) << "given at 1 s";
  for (GstClockTime i = 2; i < 25; ++i) rig.frame(1e9, i * FocusRig::kFrame);
  EXPECT_EQ(rig.lens()->moves, moves + 1);
  rig.frame(1, GST_SECOND);
  EXPECT_EQ(rig.lens()->moves, moves + 2);
}

TEST(Focus, LiveFramesFromBeforeTheArrivalAreNotUsed) {
  FocusRig rig("min=0 max=100 step=1 settle-frames=0 wait-for-arrival=true");
  const Source source(rig, true);
  double at = 0;
  bool travels = false;
  std::pair<double*, bool*> lens{&at, &travels};
  g_signal_connect(rig.controller(), "move", G_CALLBACK(+[](GstElement*, gdouble position, decltype(lens)* l) {
                     *l->first = position;
                     *l->second = true;
                   }),
                   &lens);
  GstClockTime exposed = 0;
  const auto push = [&](double score) {
    rig.frame(score, exposed);
    exposed += FocusRig::kFrame;
  };
  for (int i = 0; i < 60 && rig.state() != "focused"; ++i) {
    if (std::exchange(travels, false)) {
      push(1e9);  // on the way
      gst_harness_set_time(rig.harness(), exposed + 3 * FocusRig::kFrame);
      rig.emit("arrived");
      for (int queued = 0; queued < 3; ++queued) push(1e9);
    }
    push(FocusRig::peak(at, 44));
  }
  EXPECT_EQ(rig.state(), "focused");
  EXPECT_NEAR(at, 44, 1);
}

TEST(Focus, LiveFramesThatNeverShowAMoveTimeOut) {
  FocusRig rig(std::string(kLens) + "timeout=1000000000");
  const Source source(rig, true);
  // The source's timestamps are far behind the clock.
  gst_harness_set_time(rig.harness(), 1000 * GST_SECOND);
  for (int i = 0; i < 20; ++i) rig.frame(3);
  EXPECT_EQ(rig.state(), "coarse");
  for (int i = 0; i < 20; ++i) rig.frame(3);
  EXPECT_EQ(rig.state(), "failed");
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
}

TEST(Focus, RecordedFramesAreUsedWhateverTheClockSays) {
  FocusRig rig(kLens);
  const Source source(rig, false);
  gst_harness_set_time(rig.harness(), 1000 * GST_SECOND);
  EXPECT_TRUE(rig.watch(73, "focused"));
}

TEST(Focus, LiveFramesWithoutTimeAreUsed) {
  FocusRig rig(kLens);
  const Source source(rig, true);
  gst_harness_set_time(rig.harness(), 1000 * GST_SECOND);
  for (int i = 0; i < 400 && rig.state() != "focused"; ++i)
    rig.frame(FocusRig::peak(rig.position(), 73), GST_CLOCK_TIME_NONE);
  EXPECT_EQ(rig.state(), "focused");
}

TEST(Focus, TimesOfMovesAreForgottenWhenTimeBeginsAnew) {
  const auto flush = [](FocusRig& rig) {
    gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
    gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  };
  const auto caps = [](FocusRig& rig) {
    gst_harness_set_src_caps_str(rig.harness(), "video/x-raw,format=GRAY8,width=2,height=1,framerate=25/1");
  };
  const auto nothing = [](FocusRig&) {};
  for (const std::function<void(FocusRig&)>& begin_anew :
       std::vector<std::function<void(FocusRig&)>>{flush, caps, nothing}) {
    FocusRig rig(std::string(kLens) + "stop-and-go=true");
    const Source source(rig, true);
    gst_harness_set_time(rig.harness(), 1000 * GST_SECOND);
    for (int i = 0; i < 6; ++i) rig.frame(1, 999 * GST_SECOND);
    EXPECT_EQ(rig.lens()->moves, 1) << "the frames after it are older";
    begin_anew(rig);
    rig.frame(1, 2 * GST_SECOND);
    EXPECT_GT(rig.lens()->moves, 1);
  }
}

TEST(Focus, ArrivalIsNotWaitedForWhenThatIsSwitchedOff) {
  FocusRig rig(std::string(kLens) + "wait-for-arrival=true");
  for (int i = 0; i < 9; ++i) rig.frame(FocusRig::peak(rig.position(), 30));
  EXPECT_EQ(rig.lens()->moves, 1);
  rig.set("wait-for-arrival", "false");
  EXPECT_TRUE(rig.watch(30, "focused"));
}

// --- What a search has found ----------------------------------------------------------------------------------------

TEST(Focus, EndedSearchTellsItsCurve) {
  FocusRig rig(kLens);
  ASSERT_TRUE(rig.watch(47, "focused"));
  rig.heard();
  ASSERT_EQ(rig.ends().size(), 1u) << "but for the last message none has it";
  const FocusResult curve = *FocusResult::of(rig.ends()[0].get());
  EXPECT_EQ(text(rig.ends()[0].get(), "event"), "state");
  EXPECT_EQ(text(rig.ends()[0].get(), "state"), "focused");
  ASSERT_GT(curve.positions.size(), 5u);
  ASSERT_EQ(curve.scores.size(), curve.positions.size());
  EXPECT_TRUE(std::is_sorted(curve.positions.begin(), curve.positions.end()));
  for (std::size_t i = 0; i < curve.scores.size(); ++i)
    EXPECT_NEAR(curve.scores[i], FocusRig::peak(curve.positions[i], 47), 1e-9) << curve.positions[i];
  EXPECT_NEAR(curve.top, 47, 1);
  EXPECT_NEAR(curve.width, std::sqrt(300 * std::log(2)), 4) << "exp(-x^2/300) is 1/2";
  EXPECT_GE(curve.certainty, 0);
  EXPECT_LT(curve.certainty, 2);
}

TEST(Focus, ResultHasTheLagAndThePlay) {
  for (const bool is_set : {true, false}) {
    FocusRig rig(std::string(kLens) + (is_set ? "lag-frames=3 backlash=4.5" : ""));
    LensDrive drive;
    drive.configure({.lag = 3, .backlash = 4.5});
    ASSERT_TRUE(rig.watch(drive, 61, "focused"));
    rig.heard();
    const FocusResult result = *FocusResult::of(rig.ends().at(0).get());
    EXPECT_EQ(result.lag, 3) << (is_set ? "set" : "learned");
    if (is_set) {
      EXPECT_EQ(result.backlash, 4.5);
    }
  }
  FocusRig early(std::string(kLens) + "timeout=1000000000");
  for (int i = 0; i < 60 && early.state() != "failed"; ++i) early.frame(i ? std::nullopt : std::optional(3.0));
  early.heard();
  const FocusResult nothing = *FocusResult::of(early.ends().at(0).get());
  EXPECT_FALSE(nothing.lag) << "is not known";
  EXPECT_FALSE(nothing.backlash);
}

TEST(Focus, SearchThatFindsNothingTellsWhatItSaw) {
  FocusRig rig(kLens);
  for (int i = 0; i < 400 && rig.state() != "failed"; ++i) rig.frame(3);
  rig.heard();
  ASSERT_EQ(rig.ends().size(), 1u);
  const FocusResult result = *FocusResult::of(rig.ends()[0].get());
  EXPECT_GT(result.positions.size(), 5u);
  EXPECT_EQ(result.scores, std::vector<double>(result.positions.size(), 3));
  EXPECT_EQ(result.top, 0);
  EXPECT_EQ(result.width, 0);
}

TEST(Focus, SearchThatIsGivenUpTellsNoCurve) {
  FocusRig rig(std::string(kLens) + "timeout=1000000000");
  ASSERT_TRUE(rig.watch(47, "focused"));
  rig.set("wait-for-arrival", "true");
  for (int i = 0; i < 60 && rig.state() != "failed"; ++i) rig.frame(3);
  rig.heard();
  ASSERT_EQ(rig.ends().size(), 2u);
  const FocusResult result = *FocusResult::of(rig.ends()[1].get());
  EXPECT_EQ(text(rig.ends()[1].get(), "state"), "failed");
  EXPECT_TRUE(result.positions.empty()) << "those of the search before";
  EXPECT_TRUE(result.scores.empty());
  EXPECT_EQ(result.top, 0);
}

TEST(Focus, ResultGoesDownstreamBeforeTheFrame) {
  FocusRig rig(kLens);
  struct Seen {
    int frames = 0;
    std::vector<std::pair<int, StructurePtr>> results;  ///< and how many frames came before each
  } seen;
  gst_pad_add_probe(
      rig.harness()->sinkpad,
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        auto& s = *static_cast<Seen*>(data);
        if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
          ++s.frames;
        } else if (GstEvent* event = gst_pad_probe_info_get_event(info);
                   GST_EVENT_TYPE(event) == GST_EVENT_CUSTOM_DOWNSTREAM_STICKY) {
          s.results.emplace_back(s.frames, gst_structure_copy(gst_event_get_structure(event)));
        }
        return GST_PAD_PROBE_OK;
      },
      &seen, nullptr);
  ASSERT_TRUE(rig.watch(50, "focused"));
  const int first = seen.frames;
  ASSERT_FALSE(rig.watch(50, "tracking", 100));
  ASSERT_TRUE(rig.watch(55, "tracking", 100));
  ASSERT_TRUE(rig.watch(55, "focused"));
  rig.heard();
  ASSERT_EQ(seen.results.size(), 2u) << "a search, and tracking";
  ASSERT_EQ(rig.ends().size(), 2u);
  EXPECT_EQ(seen.results[0].first, first - 1);
  EXPECT_EQ(seen.results[1].first, seen.frames - 1);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_TRUE(gst_structure_is_equal(seen.results[i].second.get(), rig.ends()[i].get())) << "as the message says";
  GstEvent* kept = gst_pad_get_sticky_event(rig.harness()->sinkpad, GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, 0);
  ASSERT_TRUE(kept);
  EXPECT_TRUE(gst_event_has_name(kept, "focuscontroller"));
  EXPECT_TRUE(gst_structure_is_equal(gst_event_get_structure(kept), rig.ends()[1].get())) << "the last one";
  gst_event_unref(kept);
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
  EXPECT_FALSE(searches(quarter, fields("tenengrad", kNone, 100), fields("tenengrad", kNone, 50))) << "code^2";
  EXPECT_FALSE(searches(half, fields("laplacian", kNone, 100), fields("laplacian", kNone, 50))) << "code";
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
