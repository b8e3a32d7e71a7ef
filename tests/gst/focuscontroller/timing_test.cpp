// SPDX-License-Identifier: LGPL-2.1-or-later
// focuscontroller: which frames it believes after a move, by arrival, timestamp and timeout.
#include "tests/gst/focuscontroller/rig.h"

#include <algorithm>
#include <deque>
#include <functional>

namespace framequality::test {
namespace {

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
    int stops = 1;                       // the end of the sweep
    std::vector<GstClockTime> swept_at;  // on the way there
    double swept_to = 0;
    for (const auto& e : rig.heard().events)
      if (e.event == "move" && e.state == "coarse" && e.position > swept_to)
        swept_to = e.position, swept_at.push_back(e.timestamp / FocusRig::kFrame);
      else
        stops += e.event == "move";
    EXPECT_LE(frames, fewest + (late + 2) * (stops + 1)) << late << " frames late, stops " << stops;
    ASSERT_GT(swept_at.size(), 5u);
    // The first step shows how soon the lens answers.
    for (std::size_t i = 2; i < swept_at.size(); ++i)
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

}  // namespace
}  // namespace framequality::test
