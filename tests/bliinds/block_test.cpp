// SPDX-License-Identifier: LGPL-2.1-or-later
// Statistics of one BLIINDS-II block by hand, and the way into the table of shapes.
#include "algorithms/bliinds/block.h"

#include "algorithms/bliinds/arithmetic.h"
#include "algorithms/bliinds/gamma.h"
#include "tests/support/random.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numbers>

namespace framequality::test {
namespace {

using namespace bliinds;

TEST(BliindsShape, EveryEntryAndItsNeighboursAreFoundAsByBinarySearch) {
  const ShapeTable& table = shape_table();
  const auto searched = [&](double rho) {
    const double* after = std::partition_point(table.ratio, table.ratio + kShapes, [&](double r) { return r >= rho; });
    const auto i = static_cast<int>(after - table.ratio) - 1;
    return i < kShapes - 1 ? kFirstShape + i : kNoShape;
  };
  int looked_up = 0;
  for (int i = 0; i < kShapes; ++i) {
    const double ratio = table.ratio[i];
    ASSERT_TRUE(i == 0 || ratio < table.ratio[i - 1]) << i;
    if (ratio > 13) continue;  // out of reach of 24 numbers
    for (const double rho : {std::nextafter(ratio, 0.0), ratio, std::nextafter(ratio, 99.0)}) {
      ASSERT_EQ(shape_of(table, rho), searched(rho)) << i << " " << rho;
      ++looked_up;
    }
  }
  EXPECT_GT(looked_up, 29000);
  Random random(8);
  for (int i = 0; i < 100000; ++i) {
    const double rho = static_cast<double>(random.next() >> 11) * 0x1p-53 * (i % 2 ? 12.6 : 2.0);
    ASSERT_EQ(shape_of(table, rho), searched(rho)) << rho;
  }
  EXPECT_EQ(shape_of(table, 0), kNoShape);
  EXPECT_EQ(shape_of(table, 576.0 / 46), searched(576.0 / 46)) << "the largest ratio of 24 numbers";
}

TEST(BliindsShape, TableIsThatOfTheReference) {
  const ShapeTable& table = shape_table();
  for (int i = 0; i < kShapes; ++i) {
    const double g = 0.03 + 0.001 * i, m = std::tgamma(2 / g),
                 expected = std::tgamma(1 / g) * std::tgamma(3 / g) / (m * m);
    ASSERT_NEAR(table.ratio[i], expected, 1e-12 * expected) << i;
  }
}

TEST(BliindsBlock, OneCoefficientAtATimeHasKnownStatistics) {
  constexpr double kTolerance = 1e-5;  // the epsilons of 1e-7 beside a mean of 10/24
  // A single coefficient of 24: |x| has mean a/24 and variance a^2/24, so zeta is sqrt(24) short of the epsilon.
  for (int k = 1; k < 25; ++k) {
    const int r = k / 5, c = k % 5;
    const auto basis = [](int f, int i) {
      return f == 0 ? std::sqrt(0.2) : std::sqrt(0.4) * std::cos(std::numbers::pi * (2 * i + 1) * f / 10);
    };
    const auto s = block_statistics<Real>([&](int y, int x) { return Real(10 * basis(r, y) * basis(c, x)); });
    EXPECT_NEAR(s.zeta.v, std::sqrt(24.0), kTolerance) << k;
    // Squared deviations a^2 (1 - 1/24) over 23; mean deviation 2 a 23/24^2.
    EXPECT_NEAR(s.rho.v, (1.0 / 24) / std::pow(2 * 23.0 / 576, 2), kTolerance) << k;
    // Three orientations, of which one varies, by sqrt(8): variance 8/3.
    EXPECT_NEAR(s.orient.v, 8.0 / 3, kTolerance) << k;
  }
}

}  // namespace
}  // namespace framequality::test
