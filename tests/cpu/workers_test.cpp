// SPDX-License-Identifier: LGPL-2.1-or-later
// The threads of the host twin: each is called once a run, with its own number, and run() returns after the last.
#include "cpu/workers.h"

#include "host/cores.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace framequality::cpu {
namespace {

TEST(Workers, EachIsCalledOnceWithItsNumber) {
  for (const int count : {1, 2, 5}) {
    Workers workers(count);
    ASSERT_EQ(workers.count(), count);
    // Not atomic: a thread sanitizer sees who does not wait for whom.
    std::vector<int> calls(static_cast<std::size_t>(count));
    for (int turn = 1; turn <= 300; ++turn) {
      workers.run([&](int i) { ++calls.at(static_cast<std::size_t>(i)); });
      EXPECT_EQ(std::count(calls.begin(), calls.end(), turn), count);
    }
  }
}

TEST(Workers, NoMoreAreCalledThanAreAskedFor) {
  Workers workers(5);
  std::vector<int> calls(5), expected(5);
  for (int turn = 0; turn < 1000; ++turn) {
    const int threads = 1 + turn * turn % 5;
    workers.run(threads, [&](int i) { ++calls.at(static_cast<std::size_t>(i)); });
    for (int i = 0; i < threads; ++i) ++expected[static_cast<std::size_t>(i)];
    ASSERT_EQ(calls, expected) << "turn " << turn;
  }
}

TEST(Workers, NumberZeroIsTheCaller) {
  Workers workers(3);
  std::vector<std::thread::id> who(3);
  workers.run([&](int i) { who[static_cast<std::size_t>(i)] = std::this_thread::get_id(); });
  EXPECT_EQ(who[0], std::this_thread::get_id());
  EXPECT_NE(who[1], who[0]);
  EXPECT_NE(who[2], who[1]);
}

TEST(Workers, NoCountIsAsManyAsThereAreUsableCores) { EXPECT_EQ(Workers(0).count(), host::usable_cores()); }

TEST(Workers, IdleOnesEnd) { Workers idle(4); }

}  // namespace
}  // namespace framequality::cpu
