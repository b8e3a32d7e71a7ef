// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of framequality-merge that need no archive: its histogram.
#include "apps/merge/report.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace framequality::apps::merge {

namespace {

std::size_t counted(const Histogram& h) { return std::accumulate(h.counts.begin(), h.counts.end(), std::size_t{0}); }

}  // namespace

TEST(MergeHistogram, CountsEveryValueOnce) {
  std::vector<double> values;
  for (int i = 0; i < 4000; ++i) values.push_back(100 + (i % 40));
  const Histogram h = histogram(values);
  EXPECT_FALSE(h.logarithmic);
  EXPECT_EQ(h.low, 100);
  EXPECT_EQ(h.high, 139);
  // 40 values that lie 1 apart, in 40 steps of 39/40: one in each.
  EXPECT_EQ(h.counts, std::vector<std::size_t>(40, 100));
}

TEST(MergeHistogram, WideRangeIsInFactors) {
  const Histogram h = histogram({0.001, 1, 1000, 1000});
  EXPECT_TRUE(h.logarithmic);
  EXPECT_EQ(h.counts.front(), 1U);
  EXPECT_EQ(h.counts.back(), 2U);
  EXPECT_EQ(h.counts[h.counts.size() / 2] + h.counts[h.counts.size() / 2 - 1], 1U);
  EXPECT_FALSE(histogram({0, 1, 1000}).logarithmic);
}

TEST(MergeHistogram, TakesWhatCannotBeSpread) {
  EXPECT_TRUE(histogram({}).counts.empty());
  EXPECT_EQ(histogram({7, 7, 7}).counts, std::vector<std::size_t>{3});
  const double most = std::numeric_limits<double>::max();
  for (const std::vector<double>& values :
       {std::vector{-most, most}, std::vector{1e-300, most}, std::vector{-1.0, 0.0, 5.0}})
    EXPECT_EQ(counted(histogram(values)), values.size());
}

}  // namespace framequality::apps::merge
