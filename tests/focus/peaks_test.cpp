// SPDX-License-Identifier: LGPL-2.1-or-later
// The peaks of a sweep that stand out.
#include "algorithms/focus/peaks.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>

namespace framequality::focus {
namespace {

std::vector<FocusSample> row_of(const std::function<double(double)>& scene) {
  std::vector<FocusSample> row;
  for (int at = 0; at <= 100; at += 4) row.push_back({static_cast<double>(at), scene(at), 1});
  return row;
}

double bell(double x, double top, double height) { return height * std::exp(-(x - top) * (x - top) / 72); }

/// Positions of the tops.
std::vector<double> tops(const std::vector<FocusSample>& row, double noise = 0) {
  std::vector<double> at;
  for (const Summit& s : summits_of(row, noise)) at.push_back(row[s.top].at);
  return at;
}

TEST(FocusPeaks, OneObjectIsOnePeakOfTheWholeRange) {
  const auto row = row_of([](double x) { return 50 + bell(x, 40, 1000); });
  const auto summits = summits_of(row, 0);
  ASSERT_EQ(summits.size(), 1u);
  EXPECT_EQ(row[summits[0].top].at, 40);
  EXPECT_EQ(summits[0].first, 0u);
  EXPECT_EQ(summits[0].last, row.size() - 1);
}

TEST(FocusPeaks, EachObjectHasThePartAboveTheWayToItsNeighbours) {
  const auto row = row_of([](double x) { return bell(x, 20, 400) + bell(x, 48, 1000) + bell(x, 80, 600) + 50; });
  const auto summits = summits_of(row, 0);
  EXPECT_EQ(tops(row), (std::vector<double>{20, 48, 80}));
  ASSERT_EQ(summits.size(), 3u);
  for (const Summit& s : summits) {
    const double left = row[s.first].score, right = row[s.last].score, top = row[s.top].score;
    EXPECT_LT(std::max(left, right), top / 2);
    // What is beyond the lower side would be a floor that the higher side never reaches.
    for (std::size_t i = s.first; i <= s.last; ++i) EXPECT_GE(row[i].score, std::min(left, right));
  }
  EXPECT_LE(summits[0].last, summits[1].first);
  EXPECT_LE(summits[1].last, summits[2].first);
  EXPECT_GT(summits[0].first, 0u) << "below the way to the next one";
}

TEST(FocusPeaks, ObjectsAtTheEndsOfTheRangeCount) {
  EXPECT_EQ(tops(row_of([](double x) { return bell(x, 0, 400) + bell(x, 48, 1000) + bell(x, 103, 600); })),
            (std::vector<double>{0, 48, 100}));
}

TEST(FocusPeaks, StandOutOfTheHighest) {
  const auto with = [](double height) {
    return tops(row_of([=](double x) { return 50 + bell(x, 24, 1000) + bell(x, 72, height); }));
  };
  EXPECT_EQ(with(20), std::vector<double>{24}) << "2% of the highest";
  EXPECT_EQ(with(50), (std::vector<double>{24, 72}));
}

TEST(FocusPeaks, StandOutOfTheNoise) {
  const auto row = row_of([](double x) { return 50 + bell(x, 24, 1000) + bell(x, 72, 100); });
  EXPECT_EQ(tops(row, 15), (std::vector<double>{24, 72}));
  EXPECT_EQ(tops(row, 25), std::vector<double>{24});
  EXPECT_EQ(tops(row, 1e6), std::vector<double>{24}) << "the highest stays";
}

TEST(FocusPeaks, AShoulderIsNoPeak) {
  EXPECT_EQ(tops(row_of([](double x) { return bell(x, 40, 1000) + bell(x, 52, 500); })), std::vector<double>{40});
}

TEST(FocusPeaks, EqualScoresAreOnePeak) {
  EXPECT_EQ(tops(row_of([](double) { return 7.0; })), std::vector<double>{0});
  EXPECT_EQ(tops(row_of([](double x) { return std::abs(x - 50) < 10 ? 9.0 : 7.0; })), std::vector<double>{44});
  EXPECT_EQ(tops(row_of([](double x) { return x == 20 || x == 60 ? 9.0 : 7.0; })), (std::vector<double>{20, 60}));
  EXPECT_EQ(tops({{5, 3, 1}}), std::vector<double>{5});
}

}  // namespace
}  // namespace framequality::focus
