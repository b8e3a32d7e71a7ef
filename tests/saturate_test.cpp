// SPDX-License-Identifier: LGPL-2.1-or-later
// Doubles of all kinds as integers.
#include "algorithms/saturate.h"

#include <cmath>
#include <cstdint>
#include <gtest/gtest.h>

namespace framequality::test {
namespace {

template <class T>
class Saturated : public testing::Test {};
using Integers = testing::Types<std::int8_t, std::uint8_t, int, unsigned, std::int64_t, std::uint64_t>;
TYPED_TEST_SUITE(Saturated, Integers);

TYPED_TEST(Saturated, StaysInTheRangeOfTheInteger) {
  using Limits = std::numeric_limits<TypeParam>;
  constexpr TypeParam kMin = Limits::min(), kMax = Limits::max();
  const double end = std::ldexp(1.0, Limits::digits), last = std::nextafter(end, 0.0);  // digits: without the sign
  for (const double above : {end, 2 * end, 1e300, HUGE_VAL}) EXPECT_EQ(saturated<TypeParam>(above), kMax) << above;
  for (const double below : {-end, -2 * end, -1e300, -HUGE_VAL}) EXPECT_EQ(saturated<TypeParam>(below), kMin) << below;
  EXPECT_EQ(saturated<TypeParam>(last), static_cast<TypeParam>(last));
  EXPECT_EQ(saturated<TypeParam>(std::nan("")), 0);
  EXPECT_EQ(saturated<TypeParam>(-0.0), 0);
  EXPECT_EQ(saturated<TypeParam>(0.99), 0);
  EXPECT_EQ(saturated<TypeParam>(-0.99), 0);
  EXPECT_EQ(saturated<TypeParam>(41.99), 41);
  if constexpr (Limits::is_signed) {
    EXPECT_EQ(saturated<TypeParam>(-41.99), -41);
  }
}

}  // namespace
}  // namespace framequality::test
