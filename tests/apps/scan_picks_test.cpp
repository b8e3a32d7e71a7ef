// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the frames that are chosen, and of the threads that make images of them.
#include "apps/common/task_pool.h"
#include "apps/scan/moments.h"
#include "apps/scan/picks.h"
#include "apps/scan/window_pick.h"

#include <gst/gst.h>

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace framequality::apps {
namespace {

using scan::choose_of_windows;
using scan::Measured;
using scan::Moment;
using scan::VideoFacts;
using scan::WindowChoice;
using scan::WindowPick;
using scan::Windows;

/// The rule, word by word: window by window, from all frames that are far enough from the last choice.
std::vector<std::size_t> by_the_rule(const std::vector<Moment>& all, const Windows& windows, std::uint64_t apart,
                                     bool highest) {
  std::vector<std::size_t> chosen;
  for (std::uint64_t window = 0; window <= windows.of(all.back().time); ++window) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (windows.of(all[i].time) != window) continue;
      if (!chosen.empty() && all[i].time - all[chosen.back()].time < apart) continue;
      if (!best || (highest ? all[i].score > all[*best].score : all[i].score < all[*best].score)) best = i;
    }
    if (best) chosen.push_back(*best);
  }
  return chosen;
}

/// What comes out when the frames come by one after the other.
std::vector<Moment> online(const std::vector<Moment>& all, const WindowChoice& choice) {
  const Owned<GstCaps> caps(gst_caps_new_empty_simple("video/x-raw"));
  GstBuffer* buffer = gst_buffer_new();
  std::vector<Moment> picks;
  WindowPick pick(choice, [&](const Moment& moment, GstSample* frame) {
    EXPECT_EQ(gst_sample_get_buffer(frame), buffer);
    picks.push_back(moment);
  });
  for (const Moment& m : all) pick.offer(Measured{{m.frame, m.time, m.score, {}}, buffer, caps.get(), {}}, m.time);
  pick.finish();
  gst_buffer_unref(buffer);
  return picks;
}

TEST(ScanPicks, NeighboursAcrossABorderAreNotBothChosen) {
  // Two windows of 100: 99 and 100 are the best of each.
  const std::vector<Moment> all{{0, 0, 1}, {1, 50, 2}, {2, 99, 9}, {3, 100, 8}, {4, 148, 7}, {5, 149, 5}, {6, 199, 6}};
  const Windows windows{0, 200, 2};
  EXPECT_EQ(choose_of_windows(all, &Moment::time, windows, windows.half(), true), (std::vector<std::size_t>{2, 6}));
  EXPECT_EQ(choose_of_windows(all, &Moment::time, windows, 49, true), (std::vector<std::size_t>{2, 4}));
  EXPECT_EQ(choose_of_windows(all, &Moment::time, windows, 0, true), (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(choose_of_windows(all, &Moment::time, windows, 0, false), (std::vector<std::size_t>{0, 5}));
  // A window that has none.
  EXPECT_EQ(choose_of_windows({all.begin(), all.begin() + 5}, &Moment::time, windows, 50, true),
            std::vector<std::size_t>{2});
  EXPECT_TRUE(choose_of_windows({}, &Moment::time, windows, 0, true).empty());
}

TEST(ScanPicks, EveryFewFramesFromTheFirstOn) {
  const std::vector<Moment> all{{7, 0, 3}, {8, 0, 2}, {9, 0, 3}, {10, 0, 1}, {11, 0, 4}, {13, 0, 1}, {16, 0, 1}};
  const Windows windows{7, 3, 1, true};
  EXPECT_EQ(choose_of_windows(all, &Moment::frame, windows, windows.half(), true),
            (std::vector<std::size_t>{0, 4, 5, 6}));
  // Of every one: all.
  EXPECT_EQ(choose_of_windows(all, &Moment::frame, {7, 1, 1, true}, 0, true).size(), all.size());
}

TEST(ScanPicks, OnlineAndOfflineFollowTheRule) {
  gst_init(nullptr, nullptr);
  std::mt19937 random(18);
  const auto below = [&](unsigned limit) { return random() % limit; };
  std::size_t fewer = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Moment> all;
    const std::uint64_t begin = below(1000);
    std::uint64_t time = begin;
    const unsigned count = 1 + below(120), kinds = 1 + below(40);
    for (unsigned i = 0; i < count; ++i, time += below(30))
      all.push_back({i, time, static_cast<double>(below(kinds))});  // often equal
    const int parts = 1 + static_cast<int>(below(20));
    const Windows windows{begin, 1 + below(2000), parts, below(2) == 0};
    for (const std::uint64_t apart : {std::uint64_t{0}, windows.half(), std::uint64_t{below(100)}}) {
      const bool highest = below(2) == 0;
      const auto expected = by_the_rule(all, windows, apart, highest);
      ASSERT_EQ(choose_of_windows(all, &Moment::time, windows, apart, highest), expected) << round;
      const auto picks = online(all, WindowChoice(windows, apart, highest));
      ASSERT_EQ(picks.size(), expected.size()) << round;
      for (std::size_t i = 0; i < picks.size(); ++i) EXPECT_EQ(picks[i].frame, all[expected[i]].frame) << round;
      fewer += by_the_rule(all, windows, 0, highest) != expected;
    }
  }
  EXPECT_GT(fewer, 100U);  // the distance mattered
}

TEST(ScanPicks, TimesThatGoBackOpenNoWindowAgain) {
  const std::vector<Moment> all{{0, 0, 1}, {1, 60, 1}, {2, 10, 5}, {3, 70, 4}};
  EXPECT_EQ(choose_of_windows(all, &Moment::time, {0, 100, 2}, 0, true), (std::vector<std::size_t>{0, 2}));
}

/// A task that waits until it is let go.
struct Gate {
  std::promise<void> opened;
  std::shared_future<void> open = opened.get_future().share();
  TaskPool::Task task(std::atomic<int>& done) const {
    return TaskPool::Task([open = open, &done] {
      open.wait();
      ++done;
    });
  }
};

TEST(TaskPools, AsManyWaitAsMayAndNoMore) {
  Gate gate;
  std::atomic<int> done = 0;
  TaskPool pool(2, 3);
  int taken = 0;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (taken < 5 && std::chrono::steady_clock::now() < deadline) taken += pool.try_submit(gate.task(done));
  ASSERT_EQ(taken, 5);
  EXPECT_FALSE(pool.try_submit(gate.task(done)));
  std::atomic<bool> through = false;
  std::thread waiting([&] {
    pool.submit(gate.task(done));
    through = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(through);
  gate.opened.set_value();
  waiting.join();
  TaskGroup group(pool, [](const std::string&) {});
  group.add(TaskPool::Task([] {}));
  EXPECT_TRUE(group.finish());
}

TEST(TaskPools, AGroupWaitsForItsOwnAndTellsOnceWhyItFailed) {
  TaskPool pool(3, 3);
  std::atomic<int> done = 0, told = 0;
  TaskGroup whole(pool, [](const std::string&) { FAIL(); });
  TaskGroup broken(pool, [&](const std::string& why) {
    EXPECT_EQ(why, "no space");
    ++told;
  });
  for (int i = 0; i < 50; ++i) {
    whole.add(TaskPool::Task([&] { ++done; }));
    broken.add(TaskPool::Task([] { throw std::runtime_error("no space"); }));
  }
  EXPECT_TRUE(whole.finish());
  EXPECT_EQ(done, 50);
  EXPECT_FALSE(broken.finish());
  EXPECT_EQ(told, 1);
}

/// How many tasks were done of three that had not begun when their group ended, if the one before them ended this long
/// after: it cannot be seen from outside that the group is ending.
int done_after_the_end(std::chrono::milliseconds later) {
  Gate gate;
  std::promise<void> begun;
  std::atomic<int> done = 0, late = 0;
  TaskPool pool(1, 4);
  const auto held = std::make_shared<int>(0);
  auto group = std::make_unique<TaskGroup>(pool, [](const std::string&) {});
  group->add(TaskPool::Task([&] {
    begun.set_value();
    gate.open.wait();
    ++done;
  }));
  begun.get_future().wait();
  for (int i = 0; i < 3; ++i) group->add(TaskPool::Task([&late, held] { ++late; }));
  std::thread opener([&] {
    std::this_thread::sleep_for(later);
    gate.opened.set_value();
  });
  group.reset();
  EXPECT_EQ(done, 1);
  opener.join();
  return late;
}

TEST(TaskPools, AGroupThatEndsLeavesOutWhatHasNotBegun) {
  auto later = std::chrono::milliseconds(20);
  int late = done_after_the_end(later);
  // This thread may not have come to the end by then.
  for (; late > 0 && later < std::chrono::seconds(20); late = done_after_the_end(later)) later *= 4;
  EXPECT_EQ(late, 0);
}

std::vector<std::uint64_t> places(scan::Stretches stretches,
                                  const std::vector<std::pair<scan::Travel, std::uint64_t>>& way) {
  std::vector<std::uint64_t> all;
  for (const auto& [travel, time] : way) all.push_back(stretches.next(travel, time));
  return all;
}

TEST(ScanStretches, BeginWhereTheImageHasMovedAStep) {
  using V = std::vector<std::uint64_t>;
  EXPECT_EQ(places({0.1, 0}, {{{0, 0, 0}, 0}, {{0.03, 0.04, 0}, 1}, {{0.06, 0.08, 0}, 2}, {{0.06, 0.03, 0}, 3}}),
            (V{0, 500'000, 1'000'000, 1'500'000}));
  EXPECT_EQ(places({0.1, 0}, {{{0, 0, 0}, 0}, {{0.05, 0, 0}, 1}, {{0, 0, 1}, 2}, {{0, 0.025, 1}, 3}}),
            (V{0, 500'000, 2'000'000, 2'250'000}))
      << "a cut";
  EXPECT_EQ(places({0.1, 100}, {{{0, 0, 0}, 1000}, {{0, 0, 0}, 1050}, {{0.08, 0, 0}, 1060}, {{0.08, 0, 0}, 1100}}),
            (V{0, 500'000, 800'000, 1'000'000}))
      << "no stretch lasts longer than 100 ns";
  scan::Stretches timeless(0.1, 100);
  EXPECT_EQ(timeless.next({0, 0, 0}, std::nullopt), 0u);
  EXPECT_EQ(timeless.next({0.05, 0, 0}, std::nullopt), 500'000u);
}

}  // namespace
}  // namespace framequality::apps
