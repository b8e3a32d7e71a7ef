// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops in device code end where they should, with loop_bound(); and whether this toolkit needs it.
#include "tests/cuda/loop_bound_test.h"

#include "tests/support/gpu.h"

#include <algorithm>
#include <cstdio>
#include <gtest/gtest.h>

namespace framequality::test {
namespace {

constexpr int kValues = 4096;

std::vector<Rows> all_rows() {
  std::vector<Rows> all;
  for (const int height : {1, 2, 3, 7, 64, 100})
    for (const int top : {0, 1, 5, 63})
      for (const int bottom : {0, 1, 2, 5, 33, 64, 100})
        for (int strip = 0; strip < 5; ++strip)
          for (const int rows : {1, 3, 32}) all.push_back({top, bottom, height, strip, rows});
  return all;
}

int expected(const Rows& r, const std::vector<int>& values) {
  const int y0 = std::min(r.top + r.strip * r.strip_rows, r.bottom), y1 = std::min(y0 + r.strip_rows, r.bottom);
  int sum = 0;
  for (int y = std::max(y0, 1); y < std::min(y1, r.height - 1); ++y) sum += values[static_cast<std::size_t>(y)];
  return sum;
}

int wrong(bool guarded) {
  std::vector<int> values(kValues);
  for (int i = 0; i < kValues; ++i) values[static_cast<std::size_t>(i)] = 7 * i + i * i % 31;
  const std::vector<Rows> rows = all_rows();
  const std::vector<int> sums = walk_rows(rows, values, guarded);
  int count = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) count += sums[i] != expected(rows[i], values);
  return count;
}

class LoopBound : public ::testing::Test {
 protected:
  void SetUp() override { require_gpu(); }
};

TEST_F(LoopBound, LoopsEndWhereTheyShould) { EXPECT_EQ(wrong(true), 0); }

/// Says it; nothing depends on it.
TEST_F(LoopBound, WithoutItThisToolkit) {
  const int count = wrong(false);
  std::printf(count ? "miscompiles %d of these loops\n" : "compiles these loops right\n", count);
}

}  // namespace
}  // namespace framequality::test
