// SPDX-License-Identifier: LGPL-2.1-or-later
// The watch over a camera: which faults are reported, when, and what is not a fault.
#include "tests/watch/rig.h"

namespace framequality::test {
namespace {

/// Faults that last, each as the figures that it shows in.
struct Case {
  const char* name;
  CameraState state;
  Scene scene;
};
const Case kCases[] = {
    {"Defocused", CameraState::kDefocused, {.fine = 0.4, .contrast = 0.4}},
    {"Covered", CameraState::kCovered, {.score = 0, .noise = 12, .mean = 30, .contrast = 0}},
    {"CoveredByCloth", CameraState::kCovered, {.mean = 60, .fine = 0.15, .contrast = 0.01, .view = 8}},
    {"Dark", CameraState::kDark, {.noise = 1, .mean = 3, .contrast = 0.5}},
    {"DarkWithoutAnything",
     CameraState::kDark,
     {.score = 0, .noise = 0, .mean = 0, .black = 1, .contrast = 0, .still = true}},
    {"Overexposed", CameraState::kOverexposed, {.mean = 225, .white = 0.7, .contrast = 0.3, .view = 3}},
    {"WashedOut", CameraState::kOverexposed, {.mean = 240, .contrast = 0.3}},
    {"Frozen", CameraState::kFrozen, {.still = true}},
    {"Moved", CameraState::kMoved, {.score = 1.1, .view = 2}},
    {"Noisy", CameraState::kNoisy, {.noise = 12}},
};

TEST(Baseline, EveryLightHasALevel) {
  const Baseline baseline;
  EXPECT_EQ(baseline.level_of(0, -1), 0);
  EXPECT_EQ(baseline.level_of(1.9, -1), 0);
  EXPECT_EQ(baseline.level_of(2, -1), 1);
  EXPECT_EQ(baseline.level_of(127, -1), 6);
  for (const double mean : {128.0, 255.0, 1e300, std::numeric_limits<double>::max(), HUGE_VAL})
    EXPECT_EQ(baseline.level_of(mean, -1), kLightLevels - 1) << mean;
  for (const double mean : {-1.0, -HUGE_VAL, kUnknown}) EXPECT_EQ(baseline.level_of(mean, 3), 0) << mean;
}

TEST(Pattern, NothingIsOneWhereSumsAreInfinite) {
  std::vector<double> zones(48, 1e300);
  for (const double odd : {1e308, HUGE_VAL, kUnknown}) {
    std::fill(zones.begin(), zones.begin() + 24, odd);
    Pattern pattern;
    pattern.set({.zones = zones});
    EXPECT_TRUE(pattern.empty()) << odd;
  }
  Pattern pattern;
  const std::vector<double> plain(48, 5);
  pattern.set({.mean = HUGE_VAL, .zones = plain});
  EXPECT_TRUE(pattern.empty()) << "over an infinite light";
  pattern.set({.mean = 100, .zones = plain});
  EXPECT_FALSE(pattern.empty());
}

class EachFault : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(CameraWatch, EachFault, testing::ValuesIn(kCases),
                         [](const auto& test) { return test.param.name; });

TEST_P(EachFault, IsToldAfterHoldTimeAndOverAfterRecoveryTime) {
  for (const double rate : {25.0, 5.0, 1.0}) {
    WatchRig rig({}, rate);
    rig.see(70);
    ASSERT_EQ(rig.watch.state(), CameraState::kGood) << rate;
    const Case& c = GetParam();
    const std::string told = rig.see(15, c.scene);
    EXPECT_EQ(rig.watch.state(), c.state) << rate << ": " << told;
    EXPECT_GE(std::stod(told), 9.5) << rate << ": " << told;
    EXPECT_LE(std::stod(told), rate < 2 ? 13 : 11) << rate << ": " << told;
    EXPECT_EQ(told.find(','), std::string::npos) << rate << ": " << told;
    const std::string over = rig.see(10);
    EXPECT_EQ(rig.watch.state(), CameraState::kGood) << rate << ": " << over;
    EXPECT_LE(std::stod(over), rate < 2 ? 8 : 6) << rate << ": " << over;
  }
}

TEST_P(EachFault, IsNoneThatIsShorterThanHoldTime) {
  WatchRig rig;
  rig.see(70);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(rig.see(5, GetParam().scene), "");
    EXPECT_EQ(rig.see(5), "");
  }
}

TEST_P(EachFault, IsRepeatedWhileItLasts) {
  WatchRig rig({.repeat_interval = 20 * kSecond});
  rig.see(70);
  rig.see(15, GetParam().scene);
  const std::string told = rig.see(60, GetParam().scene), name = name_of(GetParam().state);
  EXPECT_EQ(std::count(told.begin(), told.end(), '+'), 3) << told;
  EXPECT_EQ(told.find(name + "+"), told.find(' ') + 1) << told;
}

TEST_P(EachFault, IsNotToldIfItIsNotWatchedFor) {
  WatchRig rig({.faults = kAllFaults & ~fault_bit(GetParam().state)});
  rig.see(70);
  rig.see(60, GetParam().scene);
  EXPECT_NE(rig.watch.state(), GetParam().state);
}

TEST_P(EachFault, IsNotLearned) {
  WatchRig rig;
  rig.see(70);
  const auto before = rig.watch.baseline().levels();
  rig.see(300, GetParam().scene);
  rig.see(20);
  EXPECT_EQ(rig.watch.state(), CameraState::kGood);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto& now = rig.watch.baseline().levels()[i];
    EXPECT_EQ(now.learned(), before[i].learned()) << i;
    EXPECT_NEAR(now.score, before[i].score, 0.02) << i;
    EXPECT_NEAR(now.noise, before[i].noise, 0.1) << i;
  }
  EXPECT_EQ(rig.see(15, GetParam().scene).empty(), false);
}

TEST(CameraWatch, LearnsForLearnTime) {
  for (const int seconds : {1, 20, 60, 600}) {
    WatchRig rig({.learn_time = seconds * kSecond});
    const std::string told = rig.see(seconds + 5);
    EXPECT_NEAR(std::stod(told), seconds, 1) << told;
    EXPECT_EQ(rig.watch.state(), CameraState::kGood);
  }
}

// Cars that pass take the mean luma across an octave and back, faster than one level is learned at a time.
TEST(CameraWatch, LightThatGoesBackAndForthIsLearned) {
  WatchRig rig;
  const auto cars = [](double t) { return Scene{.mean = std::fmod(t, 12) < 6 ? 54.0 : 122.0}; };
  const std::string told = rig.see(150, cars);
  EXPECT_NEAR(std::stod(told), 120, 8) << told;
  EXPECT_EQ(rig.watch.state(), CameraState::kGood);
  // Both levels are known then, and a lens out of focus is noticed in either.
  rig.see(60, cars);
  EXPECT_TRUE(rig.watch.baseline().knows(5) && rig.watch.baseline().knows(6));
  EXPECT_NE(rig.see(20, [&](double t) { return Scene{.mean = cars(t).mean, .fine = 0.3}; }).find("defocused"),
            std::string::npos);
}

// As a camera's stream does that breaks off each half a minute.
TEST(CameraWatch, WhatWasBegunIsLearnedAfterABreak) {
  WatchRig rig;
  std::string told;
  for (int i = 0; i < 3; ++i) {
    told += rig.see(25);
    rig.watch.begin_anew();
  }
  EXPECT_NE(told.find("good"), std::string::npos) << told;
}

// Light that changes all the time, in every octave: it says so once twice the time is over, and then like a fault.
TEST(CameraWatch, LearningThatTakesLongIsTold) {
  WatchRig rig({.repeat_interval = 30 * kSecond, .learn_time = 40 * kSecond});
  int i = 0;
  const auto changing = [&](double) { return Scene{.mean = std::exp2(3.5 + static_cast<double>(i++ / 50 % 4))}; };
  EXPECT_EQ(rig.see(130, changing), "80.2 learning+, 110.4 learning+");
  EXPECT_LT(rig.watch.progress().hindered, rig.watch.progress().learned);
  EXPECT_GT(rig.watch.progress().learned, 20);
}

// A drop on the lens leaves the score and half of the picture as they are.
TEST(CameraWatch, LensThatIsSmearedInPartIsDefocused) {
  WatchRig rig;
  rig.see(70);
  const std::string told = rig.see(20, Scene{.smeared = 0.5});
  EXPECT_NE(told.find("defocused"), std::string::npos) << told;
  EXPECT_EQ(told.find("moved"), std::string::npos) << told;
  EXPECT_NE(rig.see(20).find("good"), std::string::npos);
  EXPECT_EQ(rig.see(20, Scene{.smeared = 0.2}), "") << "what parks covers as much";
}

// Cars that pass everywhere now and then make no zone lively.
TEST(CameraWatch, LensThatIsSmearedInPartIsDefocusedOnABusyRoad) {
  WatchRig rig({}, 5);
  const Scene busy{.passing = 0.1};
  rig.see(120, busy);
  ASSERT_EQ(rig.watch.state(), CameraState::kGood);
  EXPECT_GT(rig.watch.figures().view.calm, 40);
  EXPECT_EQ(rig.see(600, busy), "");
  const std::string told = rig.see(40, Scene{.smeared = 0.5, .passing = 0.1});
  EXPECT_NE(told.find("defocused"), std::string::npos) << told;
  EXPECT_EQ(told.find("moved"), std::string::npos) << told;
}

// Most zones keep as much contrast as they had.
TEST(CameraWatch, CameraThatIsRolledHasMoved) {
  for (const double passing : {0.0, 0.1})
    for (const double degrees : {-8.0, 8.0}) {
      WatchRig rig({}, 5);
      rig.see(120, Scene{.passing = passing, .place = ViewPlace{}});
      ASSERT_EQ(rig.watch.state(), CameraState::kGood);
      const std::string told = rig.see(40, Scene{.passing = passing, .place = ViewPlace{.degrees = degrees}});
      EXPECT_EQ(rig.watch.state(), CameraState::kMoved) << told;
      EXPECT_LT(std::stod(told), 25) << told;
      EXPECT_NEAR(rig.watch.figures().found.place.degrees, degrees, 2.5);
      EXPECT_NE(rig.see(15, Scene{.passing = passing, .place = ViewPlace{}}).find("good"), std::string::npos);
    }
}

// As after the file of an older version, which has no template of the view.
TEST(CameraWatch, ZonesAreNotJudgedBeforeItIsKnownHowTheyVary) {
  WatchRig rig;
  rig.see(70);
  for (LevelBaseline& level : rig.watch.baseline().levels()) level.view = {};
  EXPECT_EQ(rig.see(20, Scene{.smeared = 0.3}), "");
  EXPECT_EQ(rig.watch.figures().view.calm, 0);
  rig.see(60);
  EXPECT_GT(rig.watch.figures().view.calm, 16);
}

TEST(CameraWatch, WhatHindersLearningIsKnown) {
  WatchRig rig;
  const std::string told = rig.see(125, [](double t) {
    const bool flickers = std::fmod(t, 9) < 5;
    return Scene{.mean = 100 + (flickers ? 30 * std::sin(2 * std::numbers::pi * 2 * t) : 0)};
  });
  EXPECT_NE(told.find("learning+"), std::string::npos) << told;
  EXPECT_EQ(rig.watch.progress().hindrance, CameraState::kFlickering) << told;
  EXPECT_GT(rig.watch.progress().hindered, 60);
}

TEST(CameraWatch, WhatNeedsNoBaselineIsToldWhileItLearns) {
  for (const Case& c : kCases) {
    WatchRig rig;
    rig.see(25, c.scene);
    const bool absolute = c.scene.score == 0 || c.state == CameraState::kDark || c.state == CameraState::kOverexposed ||
                          c.state == CameraState::kFrozen;
    EXPECT_EQ(rig.watch.state(), absolute ? c.state : CameraState::kLearning) << c.name;
    // And it is not learned: what is good is, afterwards.
    if (absolute) {
      EXPECT_NE(rig.see(80).find("good"), std::string::npos) << c.name;
    }
  }
}

TEST(CameraWatch, FocusLostWithinTwoMinutesIsNoticed) {
  WatchRig rig;
  rig.see(70);
  // 1.38 to 0.68 in two minutes: below 0.6 of it after 96 s.
  const std::string told = rig.see(140, [](double t) {
    return Scene{.score = 1.38 + (0.68 - 1.38) * std::min(1.0, t / 120), .contrast = 1 - 0.4 * std::min(1.0, t / 120)};
  });
  EXPECT_EQ(rig.watch.state(), CameraState::kDefocused) << told;
  EXPECT_EQ(told.find(','), std::string::npos) << told;
}

TEST(CameraWatch, FocusLostOverHoursIsNoticed) {
  WatchRig rig({.learn_time = 20 * kSecond}, 1);
  rig.see(1800);
  rig.see(6 * 3600, [](double t) { return Scene{.fine = 1 - 0.55 * t / (6 * 3600)}; });
  EXPECT_EQ(rig.watch.state(), CameraState::kDefocused);
}

TEST(CameraWatch, ScoreThatPlaysAboutTheThresholdDoesNotFlap) {
  WatchRig rig;
  rig.see(70);
  const std::string told = rig.see(600, [](double t) { return Scene{.fine = 0.6 + 0.08 * std::sin(40 * t)}; });
  EXPECT_LE(std::count(told.begin(), told.end(), ','), 12) << told;
  EXPECT_EQ(told.find("good"), std::string::npos) << told;
}

TEST(CameraWatch, PassersByAreNoFault) {
  WatchRig rig;
  rig.see(70);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(rig.see(4, {.fine = 0.5, .contrast = 0.2, .view = 9}), "") << i;
    EXPECT_EQ(rig.see(9), "") << i;
  }
}

TEST(CameraWatch, SingleGoodFramesHideNoFault) {
  WatchRig rig;
  rig.see(70);
  const std::string told = rig.see(20, [](double t) { return Scene{.fine = std::fmod(t, 5) < 0.3 ? 1.0 : 0.3}; });
  EXPECT_EQ(rig.watch.state(), CameraState::kDefocused) << told;
}

TEST(CameraWatch, DayAndNightWithNoiseThatGrowsAreNoFault) {
  WatchRig rig({.learn_time = 60 * kSecond}, 5);
  for (int day = 0; day < 3; ++day) {
    const std::string told = rig.see(3600, [](double t) {
      const double night = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * t / 3600);
      // A tenth of the light, ten times the noise, and a third of the sharpness lost to it.
      return Scene{.noise = 1.5 * std::pow(10, night), .mean = 140 * std::pow(10, -night), .fine = 1 - 0.33 * night};
    });
    EXPECT_EQ(told, day == 0 ? told.substr(0, told.find(',')) : "") << day;
  }
  int levels = 0;
  for (const LevelBaseline& level : rig.watch.baseline().levels()) levels += level.learned();
  EXPECT_GE(levels, 4);
}

TEST(CameraWatch, NightHasABaselineOfItsOwn) {
  WatchRig rig;
  const Scene day, night{.noise = 6, .mean = 25, .fine = 0.5};
  rig.see(70, day);
  EXPECT_EQ(rig.see(300, night), "");
  EXPECT_EQ(rig.see(60, day), "");
  EXPECT_EQ(rig.see(60, night), "");
  Scene blurred = night;
  blurred.fine *= 0.5;
  EXPECT_NE(rig.see(20, blurred).find("defocused"), std::string::npos);
}

TEST(CameraWatch, NightThatIsJustGoodEnoughIsLearned) {
  WatchRig rig;
  rig.see(70);
  EXPECT_EQ(rig.see(120, {.mean = 25, .fine = 0.4}), "");
  EXPECT_TRUE(rig.watch.baseline().knows(4));
}

TEST(CameraWatch, WhiteSkyIsLearned) {
  WatchRig rig;
  rig.see(70, {.mean = 20});
  EXPECT_EQ(rig.see(120, {.mean = 150, .white = 0.3}), "");
  EXPECT_TRUE(rig.watch.baseline().knows(7));
}

TEST(CameraWatch, PicturesThatAreAlikeToTheLastBitKeepABaselineThatCanBeRead) {
  WatchRig rig({.faults = fault_bit(CameraState::kDefocused)}, 5);
  rig.see(3600, {.still = true});
  for (const LevelBaseline& level : rig.watch.baseline().levels()) EXPECT_GE(level.restless, 0);
}

TEST(CameraWatch, CoverThatChangesTheLightIsNoNight) {
  WatchRig rig;
  rig.see(70);
  rig.see(600, {.score = 0, .noise = 20, .mean = 45, .contrast = 0});
  EXPECT_EQ(rig.watch.state(), CameraState::kCovered);
  rig.see(20, {.score = 0, .noise = 20, .mean = 20, .contrast = 0});
  EXPECT_EQ(rig.watch.state(), CameraState::kCovered);
}

TEST(CameraWatch, FreezeIsToldWhereAClockRunsInThePicture) {
  WatchRig rig({}, 5);
  const auto clock = [&](double) { return static_cast<int>(rig.now) % 60; };
  rig.see(70, [&](double t) { return Scene{.clock = clock(t)}; });
  const std::string told = rig.see(15, [&](double t) { return Scene{.still = true, .clock = clock(t)}; });
  EXPECT_NE(told.find("frozen"), std::string::npos) << told;
}

TEST(CameraWatch, CodecThatRepeatsFramesIsNotFrozen) {
  // A still scene: whole groups of pictures repeat one, each group another.
  WatchRig rig;
  const auto coded = [](double t) { return Scene{.still = true, .group = static_cast<std::uint64_t>(t / 6)}; };
  EXPECT_EQ(rig.see(300, coded).find("frozen"), std::string::npos);
  const std::string told = rig.see(20, {.still = true, .group = 999});
  EXPECT_NE(told.find("frozen"), std::string::npos) << told;
}

TEST(CameraWatch, EncoderOfAFrozenPictureIsFrozen) {
  // Groups of pictures are all alike, but not the pictures in them.
  WatchRig rig;
  rig.see(70);
  const std::string told = rig.see(20, [](double t) {
    return Scene{.fine = 1 + 0.05 * std::fmod(t, 2),
                 .still = true,
                 .group = static_cast<std::uint64_t>(std::fmod(t, 2) * 25 + 0.5)};
  });
  EXPECT_NE(told.find("frozen"), std::string::npos) << told;
}

TEST(CameraWatch, FlickeringIsTold) {
  WatchRig rig;
  rig.see(70);
  const auto flicker = [](double t) { return Scene{.mean = 100 + 12 * std::sin(2 * std::numbers::pi * 3 * t)}; };
  const std::string told = rig.see(15, flicker);
  EXPECT_EQ(rig.watch.state(), CameraState::kFlickering) << told;
  EXPECT_NE(rig.see(10).find("good"), std::string::npos);
  // A slow change is none.
  EXPECT_EQ(rig.see(120, [](double t) { return Scene{.mean = 100 + 30 * std::sin(t / 3)}; }), "");
}

TEST(CameraWatch, OneFaultTurnsIntoAnother) {
  WatchRig rig;
  rig.see(70);
  rig.see(12, kCases[0].scene);
  const std::string told = rig.see(12, kCases[1].scene);
  EXPECT_EQ(rig.watch.state(), CameraState::kCovered) << told;
  EXPECT_EQ(told.find("good"), std::string::npos) << told;
}

TEST(CameraWatch, WithoutStatisticsAndZonesFocusIsWatched) {
  WatchRig rig;
  const Scene poor{.zones = false, .statistics = false};
  rig.see(70, poor);
  EXPECT_EQ(rig.watch.state(), CameraState::kGood);
  Scene blurred = poor;
  blurred.fine = 0.4;
  EXPECT_NE(rig.see(15, blurred).find("defocused"), std::string::npos);
}

TEST(CameraWatch, TimeThatJumpsIsNoDuration) {
  WatchRig rig;
  rig.see(70);
  // One bad frame before a pause of an hour, one after it.
  rig.frame({.fine = 0.3});
  rig.now += 3600;
  EXPECT_EQ(rig.see(2, {.fine = 0.3}), "");
  rig.now -= 3000;
  EXPECT_EQ(rig.see(5, {.fine = 0.3}), "");
  EXPECT_NE(rig.see(10, {.fine = 0.3}), "");
}

TEST(CameraWatch, RelearnBeginsAnew) {
  WatchRig rig;
  rig.see(70);
  rig.see(15, {.fine = 0.4});
  rig.watch.relearn();
  EXPECT_EQ(rig.watch.state(), CameraState::kLearning);
  EXPECT_NE(rig.see(70, {.fine = 0.4}).find("good"), std::string::npos);
  EXPECT_EQ(rig.see(30, {.fine = 0.4}), "");
}

TEST(CameraWatch, AnyFiguresAreTaken) {
  SplitMix random(3);
  const double odd[] = {0, -0.0, 1e-300, 1e300, -1e300, 5, 255, 1e-9, kUnknown};
  const auto any = [&] { return odd[random.next() % std::size(odd)]; };
  const auto finite = [&] {
    for (;;)
      if (const double v = any(); v == v) return v;
  };
  for (int run = 0; run < 50; ++run) {
    CameraWatch watch;
    CameraWatchSettings settings{.hold_time = 1, .recovery_time = 0, .repeat_interval = 1, .learn_time = 0};
    std::vector<double> zones;
    for (int i = 0; i < 400; ++i) {
      zones.resize(random.next() % 3 == 0 ? random.next() % 65 : zones.size());
      for (double& z : zones) z = finite();
      const auto time = static_cast<std::int64_t>(random.next() % 4 == 0 ? random.next() >> 2
                                                                         : 100'000'000ULL * static_cast<unsigned>(i));
      watch.frame({time, finite(), any(), any(), any(), any(), any(), any(), zones, 255}, settings);
      EXPECT_FALSE(std::isnan(watch.seconds()));
    }
  }
}

}  // namespace
}  // namespace framequality::test
