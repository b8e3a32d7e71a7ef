// SPDX-License-Identifier: LGPL-2.1-or-later
// The drive of a lens: how late, how slowly and with how much play it follows, and what an exposure sees of that.
#include "algorithms/focus/lens_drive.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace framequality::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kHuge = std::numeric_limits<double>::max();

std::vector<double> seen(LensDrive& drive, double target) {
  const auto positions = drive.frame(target);
  return {positions.begin(), positions.end()};
}

/// Where the lens is at the end of each frame.
std::vector<double> path(LensDrive& drive, const std::vector<double>& targets) {
  std::vector<double> all;
  for (const double target : targets) {
    drive.frame(target);
    all.push_back(drive.position());
  }
  return all;
}
std::vector<double> path(const DriveSettings& settings, const std::vector<double>& targets) {
  LensDrive drive(settings);
  return path(drive, targets);
}

using Path = std::vector<double>;

TEST(LensDrive, FollowsAtOnceByDefault) { EXPECT_EQ(path({}, {3, 3, -7.5, 1e9}), (Path{3, 3, -7.5, 1e9})); }

TEST(LensDrive, FirstTargetIsWhereItStands) {
  for (const DriveSettings& settings : {DriveSettings{.lag = 9}, {.slew = 0.1}, {.backlash = 5}, {.exposure = 1}})
    EXPECT_EQ(path(settings, {40, 40}), (Path{40, 40}));
}

TEST(LensDrive, ObeysLagFramesLater) {
  for (const int lag : {0, 1, 2, 17, LensDrive::kMaxLag}) {
    Path targets, expected;
    for (int i = 0; i < 200; ++i) {
      targets.push_back(i * i);
      expected.push_back(i < lag ? 0 : (i - lag) * (i - lag));
    }
    EXPECT_EQ(path({.lag = lag}, targets), expected) << lag;
  }
}

TEST(LensDrive, LagThatGrowsDoesNotBringOldTargetsBack) {
  LensDrive drive;
  EXPECT_EQ(path(drive, {1, 2, 3}), (Path{1, 2, 3}));
  drive.configure({.lag = 2});
  EXPECT_EQ(path(drive, {4, 5, 6, 7}), (Path{3, 3, 4, 5}));
  drive.configure({.lag = 1});
  EXPECT_EQ(path(drive, {8, 9}), (Path{7, 8}));
  drive.configure({});
  EXPECT_EQ(path(drive, {10}), (Path{10}));
}

TEST(LensDrive, SlewBoundsEachFramesWay) {
  EXPECT_EQ(path({.slew = 4}, {0, 10, 10, 10, 10}), (Path{0, 4, 8, 10, 10}));
  EXPECT_EQ(path({.slew = 4}, {0, -10, -10, -10}), (Path{0, -4, -8, -10}));
  EXPECT_EQ(path({.slew = 4}, {0, 10, 10, 0, 0}), (Path{0, 4, 8, 4, 0})) << "it turns on its way";
  EXPECT_EQ(path({.slew = 10}, {0, 10, 3}), (Path{0, 10, 3}));
  EXPECT_EQ(path({.lag = 1, .slew = 4}, {0, 10, 10, 10}), (Path{0, 0, 4, 8}));
}

TEST(LensDrive, SlewMayChangeOnTheWay) {
  LensDrive drive({.slew = 1});
  EXPECT_EQ(path(drive, {0, 10, 10}), (Path{0, 1, 2}));
  drive.configure({.slew = 5});
  EXPECT_EQ(path(drive, {10}), (Path{7}));
  drive.configure({});
  EXPECT_EQ(path(drive, {10}), (Path{10}));
}

TEST(LensDrive, BacklashIsAPlayOperator) {
  EXPECT_EQ(path({.backlash = 3}, {0, 10, 9, 7, 5, 6, 8, 9, 0}), (Path{0, 10, 10, 10, 8, 8, 8, 9, 3}));
  EXPECT_EQ(path({.backlash = 3}, {0, -10, -9, -7, -6, -20}), (Path{0, -7, -7, -7, -6, -17}));
  // A command from above and one from below end so far apart, whatever there was before.
  for (const double before : {-50.0, 0.0, 50.0}) {
    EXPECT_EQ(path({.backlash = 3}, {before, 100, 20}).back(), 23);
    EXPECT_EQ(path({.backlash = 3}, {before, -100, 20}).back(), 20);
  }
}

TEST(LensDrive, SmallCyclesWithinTheBacklashMoveNothing) {
  LensDrive drive({.backlash = 2, .exposure = 1});
  path(drive, {0, 10});
  for (int i = 0; i < 20; ++i) EXPECT_EQ(seen(drive, i % 2 ? 10 : 8.5), Path{10});
}

TEST(LensDrive, BacklashThatShrinksLetsTheLensGo) {
  LensDrive drive({.backlash = 5});
  EXPECT_EQ(path(drive, {10, 0}), (Path{10, 5}));
  drive.configure({.backlash = 1});
  EXPECT_EQ(path(drive, {0}), (Path{1}));
  drive.configure({});
  EXPECT_EQ(path(drive, {0}), (Path{0}));
}

TEST(LensDrive, ExposureSeesEvenlySpacedMomentsOfTheFramesEnd) {
  for (const double exposure : {1.0, 0.5, 0.125})
    for (const double way : {100.0, -100.0}) {
      LensDrive drive({.slew = 16, .exposure = exposure});
      EXPECT_EQ(seen(drive, 0), Path{0});
      for (int frame = 0; frame < 3; ++frame) {
        const Path positions = seen(drive, way);
        ASSERT_EQ(positions.size(), LensDrive::kMoments);
        // They are the middles of equal parts of the interval that is exposed.
        const double end = std::copysign(16.0 * (frame + 1), way), begin = end - std::copysign(16 * exposure, way);
        const double step = (end - begin) / LensDrive::kMoments;
        for (std::size_t i = 0; i < positions.size(); ++i)
          EXPECT_DOUBLE_EQ(positions[i], begin + step * (static_cast<double>(i) + 0.5)) << exposure << ", " << i;
        EXPECT_EQ(drive.position(), end);
      }
    }
}

TEST(LensDrive, ExposureSeesTheLensArrive) {
  LensDrive drive({.slew = 16, .exposure = 1});
  path(drive, {0});
  EXPECT_EQ(seen(drive, 8), (Path{1, 3, 5, 7, 8, 8, 8, 8}));
  EXPECT_EQ(seen(drive, 8), Path{8}) << "at rest";
}

TEST(LensDrive, ArrivedBeforeTheExposureItStands) {
  LensDrive drive({.slew = 16, .exposure = 0.25});
  path(drive, {0});
  EXPECT_EQ(seen(drive, 8), Path{8});
}

TEST(LensDrive, AtOnceNoExposureSeesIt) {
  LensDrive drive({.exposure = 1});
  EXPECT_EQ(seen(drive, 0), Path{0});
  EXPECT_EQ(seen(drive, 100), Path{100});
}

TEST(LensDrive, NoExposureSeesTheEnd) {
  LensDrive drive({.slew = 4});
  EXPECT_EQ(seen(drive, 0), Path{0});
  EXPECT_EQ(seen(drive, 100), Path{4});
}

TEST(LensDrive, ExposureSeesTheBacklashBeingTakenUp) {
  LensDrive drive({.slew = 8, .backlash = 4, .exposure = 1});
  path(drive, {20});
  EXPECT_EQ(seen(drive, 0), (Path{20, 20, 20, 20, 19.5, 18.5, 17.5, 16.5}));
  EXPECT_EQ(seen(drive, 0).size(), LensDrive::kMoments);
  EXPECT_EQ(drive.position(), 8);
}

TEST(LensDrive, SettingsOutOfRangeAreTheNearestInRange) {
  EXPECT_EQ(path({.lag = -1, .slew = -5, .backlash = -3, .exposure = -1}, {0, 10, 2}), (Path{0, 10, 2}));
  EXPECT_EQ(path({.slew = kNan, .backlash = kNan, .exposure = kNan}, {0, 10, 2}), (Path{0, 10, 2}));
  EXPECT_EQ(path({.slew = kInfinity, .backlash = kInfinity, .exposure = 1}, {0, 10, 2}), (Path{0, 10, 10}));
  LensDrive most({.lag = 1000});
  for (int i = 0; i <= LensDrive::kMaxLag; ++i) most.frame(i);
  EXPECT_EQ(path(most, {0}), Path{1});
  LensDrive exposed({.slew = 8, .exposure = 7}), whole({.slew = 8, .exposure = 1});
  for (const double target : {0.0, 100.0}) EXPECT_EQ(seen(exposed, target), seen(whole, target));
}

TEST(LensDrive, TargetsThatAreNotFiniteAreNoCommands) {
  EXPECT_EQ(path({}, {kNan, kInfinity, 5, kNan, -kInfinity, 6}), (Path{0, 0, 5, 5, 5, 6}));
  EXPECT_EQ(path({.lag = 1}, {4, kNan, 5, kNan, 6, 6}), (Path{4, 4, 4, 5, 5, 6}));
}

TEST(LensDrive, HugeWaysStayFinite) {
  for (const double slew : {0.0, 1.0, kHuge})
    for (const double backlash : {0.0, kHuge}) {
      LensDrive drive({.slew = slew, .backlash = backlash, .exposure = 1});
      for (const double target : {-kHuge, kHuge, kHuge, -kHuge, 0.0, kHuge})
        for (const double position : seen(drive, target)) EXPECT_TRUE(std::isfinite(position)) << slew;
    }
}

}  // namespace
}  // namespace framequality::test
