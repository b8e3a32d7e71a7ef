// SPDX-License-Identifier: LGPL-2.1-or-later
// Equality of what BLIINDS-II measures, bit for bit.
#pragma once

#include "algorithms/bliinds/meter.h"

#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test {

/// Else names the first block that differs.
template <class T>
testing::AssertionResult same_bits(const std::vector<T>& expected, const std::vector<T>& got) {
  if (expected.size() != got.size())
    return testing::AssertionFailure() << expected.size() << " blocks expected, got " << got.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (std::memcmp(&expected[i], &got[i], sizeof(T)) != 0)
      return testing::AssertionFailure() << "block " << i << ": expected " << expected[i] << ", got " << got[i];
  return testing::AssertionSuccess();
}

inline bool same_bits(const bliinds::Features& a, const bliinds::Features& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace framequality::test
