// SPDX-License-Identifier: LGPL-2.1-or-later
// The whole loop, lens to meter to controller to lens: it focuses, also live downstream of a queue, and on real focus
// sweeps.
#include "tests/gst/virtuallenssrc/rig.h"

namespace framequality::test {
namespace {

constexpr char kMeter[] = " ! sharpnessmeter normalize=mean prefilter=binomial5 ";
constexpr char kSize[] = " ! video/x-raw,width=160,height=120";

struct Outcome {
  FocusHeard heard;
  double position = -1;
  std::string state() const { return heard.states().empty() ? "(none)" : heard.states().back(); }
};

/// Plays a pipeline whose lens is called "lens"; on_frame: in the streaming thread.
Outcome focus(const std::string& launch, const std::function<void(WatchedPipeline&, int n)>& on_frame = {}) {
  WatchedPipeline watched(launch + " ! fakesink name=sink");
  Outcome run;
  watched.on_message = [&](GstMessage* message) { run.heard.listen(message); };
  if (on_frame) watched.on_frame = [&](GstBuffer*, int n) { on_frame(watched, n); };
  const Heard end = watched.run_to_end();
  EXPECT_TRUE(end.eos);
  for (const auto& e : end.errors) ADD_FAILURE() << e.text;
  for (const auto& w : end.warnings) ADD_FAILURE() << w.text;
  const ElementPtr lens = watched.get("lens");
  g_object_get(lens.get(), "position", &run.position, nullptr);
  return run;
}

TEST(Autofocus, FindsTheBestPositionOfTheVirtualLens) {
  for (const double best : {3.0, 42.0, 97.0})
    for (const int lag : {0, 3}) {
      const Outcome run =
          focus("virtuallenssrc name=lens num-buffers=400 best-position=" + std::to_string(best) +
                " lag=" + std::to_string(lag) + kSize + kMeter +
                "! focuscontroller actuator=lens.position min=0 max=100 step=1 settle-frames=" + std::to_string(lag));
      EXPECT_EQ(run.state(), "focused") << best;
      EXPECT_NEAR(run.position, best, 1) << "lag " << lag;
      EXPECT_LE(run.heard.moves().size(), 50u);
    }
}

TEST(Autofocus, FocusesOnAMosaic) {
  GstElementFactory* setter = gst_element_factory_find("capssetter");
  if (!setter) GTEST_SKIP() << "SKIPPED: no capssetter";
  gst_object_unref(setter);
  // Of a gray scene a mosaic's samples are those of the gray picture.
  const Outcome run = focus(
      "virtuallenssrc name=lens num-buffers=400 best-position=64 ! video/x-raw,format=GRAY8,width=320,height=240 ! "
      "capssetter join=false replace=true caps=video/x-bayer,format=rggb,width=320,height=240,framerate=30/1 ! "
      "sharpnessmeter normalize=mean ! focuscontroller actuator=lens.position min=0 max=100 step=1 settle-frames=0");
  EXPECT_EQ(run.state(), "focused");
  EXPECT_NEAR(run.position, 64, 1);
}

TEST(Autofocus, StandsNoiseAndFlicker) {
  const Outcome run =
      focus(std::string("virtuallenssrc name=lens num-buffers=600 noise=5 flicker=0.1 best-position=66 lag=2 "
                        "! video/x-raw,width=320,height=240") +
            kMeter + "! focuscontroller actuator=lens.position min=0 max=100 step=1 settle-frames=2");
  EXPECT_EQ(run.state(), "focused");
  EXPECT_NEAR(run.position, 66, 1);
}

TEST(Autofocus, FollowsTheBestPosition) {
  double before = -1;
  const Outcome run = focus(std::string("virtuallenssrc name=lens num-buffers=900 best-position=20") + kSize + kMeter +
                                "! focuscontroller actuator=lens.position min=0 max=100 step=1 settle-frames=0",
                            [&](WatchedPipeline& watched, int n) {
                              if (n != 300) return;
                              const ElementPtr lens = watched.get("lens");
                              g_object_get(lens.get(), "position", &before, nullptr);
                              g_object_set(lens.get(), "best-position", 75.0, nullptr);
                            });
  EXPECT_NEAR(before, 20, 1);
  EXPECT_EQ(run.state(), "focused");
  EXPECT_NEAR(run.position, 75, 1);
}

TEST(Autofocus, DoesNotHunt) {
  std::size_t moves = 0;
  const Outcome run = focus(std::string("virtuallenssrc name=lens num-buffers=1300 noise=5 flicker=0.1 ! "
                                        "video/x-raw,width=160,height=120") +
                            kMeter + "! focuscontroller actuator=lens.position min=0 max=100 step=1 settle-frames=0");
  for (const auto& e : run.heard.events) {
    if (e.state == "focused") moves = 0;
    moves += e.event == "move";
  }
  EXPECT_EQ(run.state(), "focused");
  EXPECT_EQ(moves, 0u) << "since it was focused";
  EXPECT_LT(run.heard.events.back().timestamp, 10 * GST_SECOND) << "1000 frames ago";
}

TEST(Autofocus, LiveFramesFromAQueueDoNotMislead) {
  // The sink shows each frame 100 ms late, so that 5 of them wait in the queue.
  WatchedPipeline watched(
      std::string("virtuallenssrc name=lens is-live=true num-buffers=250 best-position=13 blur-per-unit=0.4 ! "
                  "video/x-raw,framerate=50/1,width=160,height=120") +
      kMeter +
      "! queue name=queue ! focuscontroller actuator=lens.position min=0 max=20 step=1 settle-frames=0 ! "
      "fakesink name=sink sync=true ts-offset=100000000 qos=false");
  FocusHeard heard;
  watched.on_message = [&](GstMessage* message) {
    heard.listen(message);
    if (heard.states().empty() || heard.states().back() != "focused") return;
    gst_element_post_message(watched.pipeline(), gst_message_new_eos(GST_OBJECT(watched.pipeline())));
  };
  const Heard end = watched.run_live_to_end("queue");
  EXPECT_TRUE(end.errors.empty());
  ASSERT_FALSE(heard.states().empty());
  EXPECT_EQ(heard.states().back(), "focused");
  EXPECT_NEAR(heard.events.back().position, 13, 1);
}

TEST(Autofocus, RealMeshSweepAndItsShift) {
  const auto folder = sweep_folder("sweep-mesh");
  if (folder.empty()) GTEST_SKIP() << "no focus sweep";
  double before = -1;
  const Outcome run =
      focus("virtuallenssrc name=lens num-buffers=500 lag=2 noise=2 location=" + folder.string() + kMeter +
                "! focuscontroller actuator=lens.position min=0 max=2.1 step=0.05 settle-frames=2",
            [&](WatchedPipeline& watched, int n) {
              if (n != 200) return;
              const ElementPtr lens = watched.get("lens");
              g_object_get(lens.get(), "position", &before, nullptr);
              g_object_set(lens.get(), "shift", -0.8, nullptr);
            });
  EXPECT_NEAR(before, 1.44, 0.06);
  EXPECT_EQ(run.state(), "focused");
  EXPECT_NEAR(run.position, 0.64, 0.06);
}

TEST(Autofocus, RealCircuitBoardSweep) {
  const auto folder = sweep_folder("stack-pcb");
  if (folder.empty()) GTEST_SKIP() << "no focus sweep";
  const Outcome run = focus("virtuallenssrc name=lens num-buffers=50 location=" + folder.string() + kMeter +
                            "! focuscontroller actuator=lens.position min=0 max=9 step=1 settle-frames=0");
  EXPECT_EQ(run.state(), "focused");
  EXPECT_NEAR(run.position, 3, 1);
}

}  // namespace
}  // namespace framequality::test
