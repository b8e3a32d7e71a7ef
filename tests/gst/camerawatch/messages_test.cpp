// SPDX-License-Identifier: LGPL-2.1-or-later
// camerawatch: its messages, properties and warnings, and what it does with streams of all kinds.
#include "tests/gst/camerawatch/rig.h"

#include <array>
#include <thread>

namespace framequality::test {
namespace {

TEST(CameraWatchElement, TellsFaultsAndTheirEnd) {
  CameraRig rig;
  EXPECT_EQ(rig.state(), "learning");
  EXPECT_EQ(rig.see(70), "good learning @60");
  EXPECT_EQ(rig.see(12, {.score = 0.5}), "defocused good @80");
  EXPECT_EQ(rig.state(), "defocused");
  EXPECT_EQ(rig.see(10), "recovered defocused @87");
  EXPECT_EQ(rig.state(), "good");
}

TEST(CameraWatchElement, FaultThatEndsBeforeAnythingIsLearnedHasRecovered) {
  CameraRig rig;
  EXPECT_EQ(rig.see(15, {.mean = 2}), "dark learning @10");
  EXPECT_EQ(rig.see(10), "recovered dark @20");
  EXPECT_EQ(rig.state(), "learning");
}

TEST(CameraWatchElement, MessageSaysWhyAndSinceWhen) {
  CameraRig rig;
  rig.see(70);
  rig.see(12, {.score = 0.6});
  const GstStructure* s = rig.last.get();
  EXPECT_NEAR(number(s, "score"), 0.6, 0.01);
  EXPECT_NEAR(number(s, "baseline"), 1.2, 0.02);
  EXPECT_NEAR(number(s, "ratio"), 0.5, 0.01);
  EXPECT_NEAR(number(s, "noise"), 2, 0.1);
  EXPECT_NEAR(number(s, "mean"), 120, 2);
  EXPECT_EQ(number(s, "clipped-white"), 0);
  EXPECT_NEAR(static_cast<double>(count(s, "duration")), 10e9, 1e9);
  EXPECT_EQ(count(s, "timestamp"), count(s, "running-time"));
  EXPECT_EQ(count(s, "stream-time"), count(s, "running-time"));
  const std::string reason = text(s, "reason");
  EXPECT_NE(reason.find("the score of 0."), std::string::npos) << reason;
  EXPECT_NE(reason.find("below 0.6"), std::string::npos) << reason;
  rig.see(10);
  EXPECT_NEAR(static_cast<double>(count(rig.last.get(), "duration")), 17e9, 2e9);
}

TEST(CameraWatchElement, SaysWhyLearningTakesLong) {
  CameraRig rig({{"learn-time", "40000000000"}});
  std::string told;
  for (int i = 0; i < 42 && told.empty(); ++i) told = rig.see(2, {.mean = std::array{12.0, 24.0, 48.0, 96.0}[i % 4U]});
  EXPECT_EQ(told, "learning+ learning @80");
  const std::string reason = text(rig.last.get(), "reason");
  EXPECT_EQ(reason,
            "no baseline after 80 s: the brightness keeps changing; learned 20 of 40 s at one brightness level");
}

TEST(CameraWatchElement, RepeatsWhatLasts) {
  CameraRig rig({{"repeat-interval", "20000000000"}});
  rig.see(70);
  rig.see(12, {.score = 0.5});
  EXPECT_EQ(rig.see(50, {.score = 0.5}), "defocused+ defocused @100, defocused+ defocused @120");
  rig.set("repeat-interval", "0");
  EXPECT_EQ(rig.see(100, {.score = 0.5}), "");
}

TEST(CameraWatchElement, PropertiesTakeEffectAtOnce) {
  CameraRig rig({{"hold-time", "2000000000"}, {"recovery-time", "1000000000"}, {"learn-time", "10000000000"}});
  EXPECT_EQ(rig.see(15), "good learning @10");
  EXPECT_EQ(rig.see(5, {.score = 0.5}), "defocused good @17");
  EXPECT_EQ(rig.see(5), "recovered defocused @21");
  rig.set("watch-for", "covered+dark");
  EXPECT_EQ(rig.see(20, {.score = 0.5}), "");
  rig.set("min-ratio", "0.3");
  rig.set("watch-for", "defocused");
  EXPECT_EQ(rig.see(20, {.score = 0.5}), "");
  EXPECT_EQ(rig.see(20, {.mean = 1}), "");
}

TEST(CameraWatchElement, LimitedRangeHasItsOwnBlackAndWhite) {
  constexpr char kLimited[] = "video/x-raw,format=I420,width=8,height=8,framerate=5/1,colorimetry=bt709";
  CameraRig rig({}, kLimited);
  EXPECT_EQ(rig.see(15, {.mean = 20}), "dark learning @10");
  EXPECT_NEAR(number(rig.last.get(), "mean"), 20, 0.3);
  CameraRig full;
  EXPECT_EQ(full.see(15, {.mean = 20}), "");
#if GST_CHECK_VERSION(1, 24, 0)
  CameraRig dma({}, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12,width=8,height=8,framerate=5/1");
  EXPECT_EQ(dma.see(15, {.mean = 20}), "dark learning @10");
#endif
}

TEST(CameraWatchElement, ZonesOfScoresDoWithoutEnergies) {
  CameraRig rig;
  rig.see(70, {.energies = false});
  EXPECT_EQ(rig.see(15, {.view = 2, .energies = false}), "moved good @80");
}

TEST(CameraWatchElement, RelearnForgets) {
  CameraRig rig;
  rig.see(70);
  rig.see(12, {.score = 0.5});
  g_signal_emit_by_name(rig.element(), "relearn");
  EXPECT_EQ(rig.see(1, {.score = 0.5}), "learning defocused @82");
  EXPECT_EQ(rig.see(70, {.score = 0.5}), "good learning @142");
}

TEST(CameraWatchElement, ScoresOfAnotherKindAreLearnedAnew) {
  for (const Figures& other : {Figures{.metric = "tenengrad"}, Figures{.width = 32}, Figures{.zones = false}}) {
    CameraRig rig;
    rig.see(70);
    rig.see(12, {.score = 0.5});
    EXPECT_EQ(rig.see(1, other), "learning defocused @82");
    EXPECT_EQ(rig.state(), "learning");
    ASSERT_EQ(rig.warnings.size(), 1U);
    EXPECT_NE(rig.warnings[0].find("not comparable with the baseline"), std::string::npos) << rig.warnings[0];
  }
}

TEST(CameraWatchElement, WarnsOnceOfWhatTheMeterDoesNotSay) {
  CameraRig rig;
  rig.see(70, {.statistics = false});
  ASSERT_EQ(rig.warnings.size(), 1U);
  EXPECT_NE(rig.warnings[0].find("statistics=true"), std::string::npos) << rig.warnings[0];
  CameraRig unscored;
  EXPECT_EQ(unscored.see_unscored(300), "");
  ASSERT_EQ(unscored.warnings.size(), 1U);
  EXPECT_NE(unscored.warnings[0].find("sharpnessmeter"), std::string::npos) << unscored.warnings[0];
  EXPECT_EQ(unscored.stat("unscored"), 300U);
}

TEST(CameraWatchElement, FramesThatAreNotMeasuredCountForNothing) {
  CameraRig rig;
  rig.see(70);
  EXPECT_EQ(rig.see(6, {.score = 0.5}), "");
  EXPECT_EQ(rig.see_unscored(20), "");
  EXPECT_EQ(rig.see(2, {.score = 0.5}), "");
  EXPECT_NE(rig.see(4, {.score = 0.5}), "");
}

TEST(CameraWatchElement, FlushAndSegmentKeepWhatWasLearned) {
  CameraRig rig;
  rig.see(70);
  gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
  gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(rig.harness(), gst_event_new_segment(&segment));
  EXPECT_EQ(rig.see(5), "");
  EXPECT_EQ(rig.state(), "good");
  EXPECT_NE(rig.see(12, {.score = 0.5}).find("defocused"), std::string::npos);
}

TEST(CameraWatchElement, FiguresThatAreNoNumbersAreNotKnown) {
  CameraRig rig;
  rig.see(70);
  EXPECT_EQ(rig.see(30, {.mean = HUGE_VAL}), "");
  EXPECT_EQ(rig.see(30, {.noise = std::nan("")}), "");
  EXPECT_EQ(rig.stat("unscored"), 0U);
  EXPECT_EQ(rig.see(30, {.score = HUGE_VAL}), "");
  EXPECT_EQ(rig.stat("unscored"), 150U);
  EXPECT_EQ(rig.see(5), "");
  EXPECT_EQ(rig.state(), "good");
  EXPECT_NE(rig.see(12, {.score = 0.5}).find("defocused"), std::string::npos);
}

TEST(CameraWatchElement, SumsOfFiguresMayBeInfinite) {
  CameraRig rig;
  rig.see(70);
  EXPECT_EQ(rig.see(30, {.score = 1.7e308, .noise = 1.7e308, .mean = 1.7e308, .white = 1.7e308}),
            "overexposed good @80");
  EXPECT_EQ(rig.see(30), "recovered overexposed @105");
  EXPECT_EQ(rig.see(12, {.score = 0.3}), "defocused good @140");
}

TEST(CameraWatchElement, AnotherRangeOfCodesIsNoChangeOfTheScene) {
  const std::string limited = "video/x-raw,format=NV12,width=8,height=8,framerate=5/1,colorimetry=2:4:7:1",
                    full = "video/x-raw,format=NV12,width=8,height=8,framerate=5/1,colorimetry=1:4:7:1";
  CameraRig rig({}, limited.c_str());
  rig.see(70);
  EXPECT_EQ(rig.see(6, {.score = 0.5}), "");
  rig.change_caps(full);
  EXPECT_EQ(rig.see(6, {.score = 0.5}), "") << "counted anew";
  rig.change_caps("video/x-raw,format=NV12,width=8,height=8,framerate=10/1,colorimetry=1:4:7:1");
  EXPECT_NE(rig.see(6, {.score = 0.5}).find("defocused"), std::string::npos) << "of the same range: counted on";
}

TEST(CameraWatchElement, PropertiesMayBeReadAndSetFromAnyThread) {
  CameraRig rig({{"learn-time", "1000000000"}, {"hold-time", "1000000000"}});
  std::atomic<bool> done = false;
  std::thread reader([&] {
    while (!done) {
      rig.state();
      rig.stat("frames");
      rig.set("min-ratio", "0.5");
      g_signal_emit_by_name(rig.element(), "relearn");
    }
  });
  for (int i = 0; i < 20; ++i) rig.see(2, {.score = i % 2 ? 1.2 : 0.4});
  done = true;
  reader.join();
  EXPECT_EQ(rig.stat("frames"), 200U);
}

TEST(CameraWatchElement, WorksBehindTheMeter) {
  // A computed picture repeats itself; snow has nothing but noise.
  const std::string meter =
      " ! sharpnessmeter metric=mean-square-frequency prefilter=binomial5 noise-correction=true statistics=true "
      "zone-columns=8 zone-rows=6 post-messages=false ! camerawatch ! fakesink";
  const Heard frozen = run(
      "videotestsrc pattern=checkers-8 num-buffers=300 ! video/x-raw,format=NV12,width=160,height=120,framerate=10/1" +
          meter,
      "camerawatch");
  ASSERT_GE(frozen.results.size(), 1U);
  EXPECT_EQ(text(frozen.results[0].get(), "state"), "frozen");
  const Heard snow = run(
      "videotestsrc pattern=snow num-buffers=300 ! video/x-raw,format=NV12,width=160,height=120,framerate=10/1" + meter,
      "camerawatch");
  ASSERT_GE(snow.results.size(), 1U);
  EXPECT_EQ(text(snow.results[0].get(), "state"), "covered");
  EXPECT_TRUE(snow.warnings.empty());
}

}  // namespace
}  // namespace framequality::test
