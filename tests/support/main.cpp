// SPDX-License-Identifier: LGPL-2.1-or-later
// Runs the tests; exits 77, meson's word for skipped, when every selected test was skipped.
#include <cstdio>
#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  if (GTEST_FLAG_GET(list_tests)) return status;
  const auto& all = *::testing::UnitTest::GetInstance();
  if (all.test_to_run_count() == 0) {
    std::fprintf(stderr, "no test matches the filter\n");
    return 1;
  }
  constexpr int kSkipped = 77;
  return status == 0 && all.skipped_test_count() == all.test_to_run_count() ? kSkipped : status;
}
