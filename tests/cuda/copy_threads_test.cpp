// SPDX-License-Identifier: LGPL-2.1-or-later
// Copy threads: every part of the work is done exactly once, whoever has time for it, and run() returns after the
// last.
#include "cuda/copy_threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace framequality::cuda {
namespace {

/// Work in parts that are not atomic, so that a thread sanitizer sees who does not wait for whom.
struct Parts {
  explicit Parts(std::size_t count) : done(count, 0) {}
  void operator()() {
    ++calls;
    for (std::size_t i; (i = next++) < done.size();) done[i] += static_cast<int>(i) + 1;
    ++returns;
  }
  bool all_once() const {
    for (std::size_t i = 0; i < done.size(); ++i)
      if (done[i] != static_cast<int>(i) + 1) return false;
    return true;
  }
  std::vector<int> done;
  std::atomic<std::size_t> next = 0;
  std::atomic<int> calls = 0, returns = 0;
};

TEST(CopyThreads, EveryPartIsDoneOnceWhenRunReturns) {
  for (const int threads : {0, 1, 3, 8}) {
    CopyThreads copy_threads(threads);
    EXPECT_EQ(copy_threads.threads(), threads);
    for (const int helpers : {0, 1, threads, threads + 5})
      for (const std::size_t count : {0u, 1u, 7u, 1000u})
        for (int turn = 0; turn < 20; ++turn) {
          Parts parts(count);
          copy_threads.run(helpers, parts);
          EXPECT_TRUE(parts.all_once()) << threads << " threads, " << helpers << " helpers, " << count << " parts";
          EXPECT_EQ(parts.calls, parts.returns) << "still at work";
          EXPECT_LE(parts.calls, helpers + 1);
        }
  }
}

TEST(CopyThreads, NoHelpersIsTheCallerAlone) {
  CopyThreads copy_threads(3);
  const auto caller = std::this_thread::get_id();
  auto work = [&] { EXPECT_EQ(std::this_thread::get_id(), caller); };
  copy_threads.run(0, work);
  copy_threads.run(-1, work);
}

TEST(CopyThreads, HelpersDoHelp) {
  // The work ends only when all have come, with a limit of time.
  constexpr int kHelpers = 3;
  CopyThreads copy_threads(kHelpers);
  std::atomic<int> present = 0;
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  auto meet = [&] {
    ++present;
    while (present <= kHelpers && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  };
  copy_threads.run(kHelpers, meet);
  EXPECT_EQ(present, kHelpers + 1);
}

TEST(CopyThreads, SeveralCallersAtOnce) {
  CopyThreads copy_threads(3);
  std::vector<std::thread> callers;
  std::atomic<int> right = 0;
  constexpr int kCallers = 4, kTurns = 300;
  for (int c = 0; c < kCallers; ++c)
    callers.emplace_back([&] {
      for (int turn = 0; turn < kTurns; ++turn) {
        Parts parts(static_cast<std::size_t>(turn % 50));
        copy_threads.run(turn % 5, parts);
        right += parts.all_once() && parts.calls == parts.returns;
      }
    });
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(right, kCallers * kTurns);
}

TEST(CopyThreads, BusyHelpersAreNotWaitedFor) {
  // All threads are held in one caller's work; another's is done by the caller alone.
  constexpr int kThreads = 2;
  CopyThreads copy_threads(kThreads);
  std::atomic<int> held = 0;
  std::atomic<bool> free = false;
  auto hold = [&] {
    ++held;
    while (!free) std::this_thread::yield();
  };
  std::thread other([&] { copy_threads.run(kThreads, hold); });
  while (held < kThreads + 1) std::this_thread::yield();
  Parts parts(100);
  copy_threads.run(kThreads, parts);
  EXPECT_TRUE(parts.all_once());
  EXPECT_EQ(parts.calls, 1);
  free = true;
  other.join();
}

TEST(CopyThreads, IsSharedWhileSomebodyHoldsIt) {
  std::shared_ptr<CopyThreads> a = CopyThreads::get(), b = CopyThreads::get();
  EXPECT_EQ(a, b);
  const std::weak_ptr<CopyThreads> gone = a;
  a.reset();
  EXPECT_EQ(CopyThreads::get(), b);
  b.reset();
  EXPECT_TRUE(gone.expired());
  EXPECT_LE(CopyThreads::get()->threads(), 7);
}

}  // namespace
}  // namespace framequality::cuda
