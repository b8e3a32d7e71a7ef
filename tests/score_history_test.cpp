// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the columns that the history keeps of many scores.
#include "algorithms/score_history.h"

#include <gtest/gtest.h>
#include <vector>

namespace framequality {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::vector<ScoreHistory::Column> columns_of(const ScoreHistory& history, std::uint64_t now) {
  std::vector<ScoreHistory::Column> columns;
  history.visit(now, [&](const ScoreHistory::Column& column) { columns.push_back(column); });
  return columns;
}

TEST(ScoreHistory, EmptyHasNothing) {
  const ScoreHistory history(kSecond);
  EXPECT_TRUE(history.empty());
  EXPECT_TRUE(history.paused(0));
  EXPECT_TRUE(columns_of(history, 5).empty());
  EXPECT_EQ(history.range(5).least, 0);
  EXPECT_EQ(history.range(5).greatest, 0);
}

TEST(ScoreHistory, KeepsEveryScoreOfFewInOrder) {
  ScoreHistory history(10 * kSecond);
  for (std::uint64_t i = 0; i < 100; ++i) history.add(i * kSecond / 25, static_cast<double>(i));
  const auto columns = columns_of(history, 99 * kSecond / 25);
  ASSERT_EQ(columns.size(), 100u);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(columns[i].time, i * kSecond / 25);
    EXPECT_EQ(columns[i].last, static_cast<double>(i));
    EXPECT_EQ(columns[i].joined, i > 0) << i;
  }
}

TEST(ScoreHistory, ManyScoresKeepTheirExtremes) {
  // Ten minutes at 60 frames a second, with one outlier each way.
  ScoreHistory history(600 * kSecond);
  for (std::uint64_t i = 0; i < 36000; ++i)
    history.add(i * kSecond / 60, i == 12345 ? 900.0 : i == 23456 ? -900.0 : static_cast<double>(i % 10));
  const auto columns = columns_of(history, 36000 * kSecond / 60);
  EXPECT_LE(columns.size(), ScoreHistory::kColumns);
  EXPECT_GT(columns.size(), ScoreHistory::kColumns / 2);
  int high = 0, low = 0;
  for (const auto& c : columns) {
    high += c.greatest == 900;
    low += c.least == -900;
    EXPECT_LE(c.least, std::min(c.first, c.last));
    EXPECT_GE(c.greatest, std::max(c.first, c.last));
  }
  EXPECT_EQ(high, 1);
  EXPECT_EQ(low, 1);
  const auto range = history.range(36000 * kSecond / 60);
  EXPECT_EQ(range.least, -900);
  EXPECT_EQ(range.greatest, 900);
}

TEST(ScoreHistory, OldScoresLeave) {
  ScoreHistory history(kSecond);
  history.add(0, 100);
  for (std::uint64_t i = 1; i <= 60; ++i) history.add(i * kSecond / 30, 1);
  EXPECT_EQ(history.range(2 * kSecond).greatest, 1);
  for (const auto& c : columns_of(history, 2 * kSecond)) EXPECT_GE(c.time, kSecond);
  EXPECT_FALSE(columns_of(history, 2 * kSecond).front().joined);
}

TEST(ScoreHistory, PauseSplitsTheLine) {
  ScoreHistory history(10 * kSecond);
  for (const std::uint64_t ms : {0, 40, 80, 120, 1000, 1040, 1080}) history.add(ms * 1'000'000, 1);
  std::vector<bool> joined;
  for (const auto& c : columns_of(history, 2 * kSecond)) joined.push_back(c.joined);
  // After the pause the next distance is short of four times the pause, so the line goes on.
  EXPECT_EQ(joined, (std::vector<bool>{false, true, true, true, false, true, true}));
}

TEST(ScoreHistory, SparseScoresAreNoPause) {
  // A meter with an interval of half a second.
  ScoreHistory history(10 * kSecond);
  for (std::uint64_t i = 0; i < 10; ++i) history.add(i * kSecond / 2, 1);
  const auto columns = columns_of(history, 5 * kSecond);
  for (std::size_t i = 1; i < columns.size(); ++i) EXPECT_TRUE(columns[i].joined);
  EXPECT_FALSE(history.paused(9 * kSecond / 2 + 2 * kSecond));
  EXPECT_TRUE(history.paused(9 * kSecond / 2 + 2 * kSecond + 1));
}

TEST(ScoreHistory, OneScorePausesAfterASecond) {
  ScoreHistory history(10 * kSecond);
  history.add(5, 1);
  EXPECT_FALSE(history.paused(5 + kSecond));
  EXPECT_TRUE(history.paused(6 + kSecond));
}

TEST(ScoreHistory, TimeThatGoesBackStartsAnew) {
  ScoreHistory history(10 * kSecond);
  history.add(5 * kSecond, 500);
  history.add(kSecond, 1);
  EXPECT_EQ(columns_of(history, 6 * kSecond).size(), 1u);
  EXPECT_EQ(history.range(6 * kSecond).greatest, 1);
}

TEST(ScoreHistory, EqualTimesAreOneColumn) {
  ScoreHistory history(kSecond);
  history.add(7, 1);
  history.add(7, 3);
  history.add(7, 2);
  const auto columns = columns_of(history, 7);
  ASSERT_EQ(columns.size(), 1u);
  EXPECT_EQ(columns[0].first, 1);
  EXPECT_EQ(columns[0].last, 2);
  EXPECT_EQ(columns[0].greatest, 3);
}

TEST(ScoreHistory, AnotherSpanKeepsTheScores) {
  ScoreHistory history(10 * kSecond);
  for (std::uint64_t i = 0; i < 100; ++i) history.add(i * kSecond / 10, static_cast<double>(i % 7));
  history.set_span(2 * kSecond);
  const std::uint64_t now = 99 * kSecond / 10;
  EXPECT_EQ(columns_of(history, now).size(), 21u);
  history.set_span(60 * kSecond);
  EXPECT_EQ(columns_of(history, now).size(), 100u);
  EXPECT_EQ(history.range(now).greatest, 6);
  // Still joined, and the next is too.
  history.add(10 * kSecond, 1);
  EXPECT_TRUE(columns_of(history, 10 * kSecond).back().joined);
  // The coarsest: a column of more than the whole of it.
  history.set_span(86400 * kSecond);
  EXPECT_EQ(columns_of(history, 10 * kSecond).size(), 1u);
  history.set_span(1);
  history.add(11 * kSecond, 5);
  EXPECT_EQ(history.range(11 * kSecond).least, 5);
}

}  // namespace
}  // namespace framequality
