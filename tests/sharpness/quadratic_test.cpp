// SPDX-License-Identifier: LGPL-2.1-or-later
// The lags that are derived from metrics: known ones, and totals of small images computed with them.
#include "algorithms/sharpness/quadratic.h"

#include "algorithms/sharpness/metrics/all.h"
#include "tests/support/random.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

using Lags = std::map<std::pair<int, int>, int>;  // (dy, dx) -> weight

template <class M>
Lags lags_of(int total) {
  Lags lags;
  for (int i = 0; i < kLags<M>.count; ++i) {
    const Lag& lag = kLags<M>.lag[i];
    const int weight = kLags<M>.weight[lag.accumulator][total];
    if (weight != 0) lags[{lag.dy, lag.dx}] = weight;
  }
  return lags;
}

TEST(Quadratic, SumsOfProductsAreFoundOut) {
  const std::map<std::string_view, bool> expected{{"variance", true},
                                                  {"roberts", false},
                                                  {"tenengrad", true},
                                                  {"laplacian", false},
                                                  {"gray-difference", false},
                                                  {"max-min", false},
                                                  {"gray-difference-product", false},
                                                  {"entropy", false},
                                                  {"brenner", true},
                                                  {"laplacian-variance", true},
                                                  {"vollath-f4", true},
                                                  {"normalized-variance", true},
                                                  {"mean-square-frequency", true},
                                                  {"directional-frequency", true}};
  for (int m = 0; m < kMetricCount; ++m) {
    const std::string_view name = metric_info(m).name;
    ASSERT_TRUE(expected.contains(name)) << name << " is not known to the test";
    EXPECT_EQ(with_metric(m, [](auto metric) { return kLagForm<decltype(metric)>.is_quadratic; }), expected.at(name))
        << name;
  }
}

// Gx is (1 2 1) down times (-1 0 1) across, Gy the other way round: products of the factors' own lags, (6 4 1) and
// (2 0 -1) from the middle on, 12 + 12 in the middle and twice that of each pair of opposite lags elsewhere.
TEST(Quadratic, LagsOfTenengrad) {
  const Lags expected{{{0, 0}, 24}, {{0, 1}, 16}, {{1, 0}, 16},  {{0, 2}, -8}, {{1, 2}, -8}, {{1, -2}, -8},
                      {{2, 0}, -8}, {{2, 1}, -8}, {{2, -1}, -8}, {{2, 2}, -4}, {{2, -2}, -4}};
  EXPECT_EQ(lags_of<Tenengrad>(0), expected);
  EXPECT_EQ(kLagForm<Tenengrad>.slope[0], 0);
  EXPECT_EQ(kLags<Tenengrad>.accumulators, 4);  // 24, 16, -8, -4
  EXPECT_EQ(kLags<Tenengrad>.most_shared, 6);
  EXPECT_EQ(kLags<Tenengrad>.down, 2);
  EXPECT_EQ(kLags<Tenengrad>.across, 2);
}

TEST(Quadratic, LagsOfOthers) {
  EXPECT_EQ(lags_of<Brenner>(0), (Lags{{{0, 0}, 2}, {{0, 2}, -2}}));
  EXPECT_EQ(lags_of<VollathF4>(0), (Lags{{{0, 1}, 1}, {{0, 2}, -1}}));
  EXPECT_EQ(lags_of<Variance>(0), Lags{});
  EXPECT_EQ(lags_of<Variance>(1), (Lags{{{0, 0}, 1}}));
  EXPECT_EQ(kLagForm<Variance>.slope[0], 1);
  EXPECT_EQ(kLagForm<LaplacianVariance>.slope[0], 0);
  EXPECT_EQ(lags_of<MeanSquareFrequency>(0), lags_of<LaplacianVariance>(1));
  EXPECT_EQ(lags_of<MeanSquareFrequency>(1), lags_of<Tenengrad>(0));
  EXPECT_EQ(lags_of<LaplacianVariance>(1),
            (Lags{{{0, 0}, 20}, {{0, 1}, -16}, {{1, 0}, -16}, {{0, 2}, 2}, {{2, 0}, 2}, {{1, 1}, 4}, {{1, -1}, 4}}));
}

/// A picture with nothing but zeros around it.
struct Island {
  int width, height;
  std::vector<int> samples;
  int at(int x, int y) const {
    if (x < 0 || y < 0 || x >= width || y >= height) return 0;
    return samples[static_cast<std::size_t>(y * width + x)];
  }
};

struct Around {
  const Island& island;
  int x, y;
  int l() const { return island.at(x - 1, y); }
  int c() const { return island.at(x, y); }
  int r() const { return island.at(x + 1, y); }
  int r2() const { return island.at(x + 2, y); }
};

template <int kTotals>
struct Totals {
  std::int64_t sum[kTotals] = {};
  template <int kTotal>
  void add(int v) {
    sum[kTotal] += v;
  }
  template <int kTotal>
  void add_product(int a, int b) {
    sum[kTotal] += std::int64_t{a} * b;
  }
};

TEST(Quadratic, LagsGiveTheTotalsOfAnIsland) {
  Random random(5);
  for (int n = 0; n < 50; ++n) {
    Island island{1 + random.below(9), 1 + random.below(9), {}};
    for (int i = 0; i < island.width * island.height; ++i) island.samples.push_back(random.below(256));
    for (int m = 0; m < kMetricCount; ++m)
      with_metric(m, [&](auto metric) {
        using M = decltype(metric);
        if constexpr (kLagForm<M>.is_quadratic) {
          Totals<kTotalsOf<M>> expected, got;
          for (int y = -3; y < island.height + 3; ++y)
            for (int x = -3; x < island.width + 3; ++x) {
              const auto row = [&](int dy) { return M::template row<int>(Around{island, x, y + dy}); };
              M::template pixel<int>(row(-1), row(0), row(1), expected);
              for (int t = 0; t < kTotalsOf<M>; ++t) {
                got.sum[t] += std::int64_t{kLagForm<M>.slope[t]} * island.at(x, y);
                for (const auto& [lag, weight] : lags_of<M>(t))
                  got.sum[t] += std::int64_t{weight} * island.at(x, y) * island.at(x + lag.second, y + lag.first);
              }
            }
          for (int t = 0; t < kTotalsOf<M>; ++t)
            EXPECT_EQ(got.sum[t], expected.sum[t]) << M::kInfo.name << " total " << t;
        }
      });
  }
}

}  // namespace
}  // namespace framequality::test
