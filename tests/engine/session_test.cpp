// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions whose devices fail at every step: results stay complete and in order, wherever they are worked on.
#include "engine/session.h"

#include "engine/choose.h"
#include "tests/engine/backends.h"

#include <algorithm>
#include <deque>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

/// What a backend's workers do and have seen; calls are numbered from 0.
struct Script {
  int fail_make_at = -1, fail_submit_at = -1, fail_collect_at = -1;
  bool bad_alloc = false;
  int made = 0, alive = 0, submitted = 0, collected = 0;
  std::size_t most_pending = 0;
};

/// Squares numbers, and holds `depth` of them until they are collected.
class Squarer final : public Worker<int, int> {
 public:
  Squarer(Script& script, int depth) : script_(script), depth_(static_cast<std::size_t>(depth)) {
    if (script_.made++ == script_.fail_make_at) throw Error(Fault::kOutOfMemory, "make: scripted");
    ++script_.alive;
  }
  ~Squarer() override { --script_.alive; }
  void submit(const int& task) override {
    if (pending_.size() == depth_) throw std::logic_error("no slot is free");
    if (script_.bad_alloc) throw std::bad_alloc();
    if (script_.submitted++ == script_.fail_submit_at) throw Error(Fault::kDeviceLost, "submit: scripted");
    pending_.push_back(task);
    script_.most_pending = std::max(script_.most_pending, pending_.size());
  }
  int collect() override {
    if (pending_.empty()) throw std::logic_error("no task is pending");
    const int task = pending_.front();
    pending_.pop_front();
    if (script_.collected++ == script_.fail_collect_at) throw Error(Fault::kDeviceLost, "collect: scripted");
    return task * task;
  }

 private:
  Script& script_;
  std::size_t depth_;
  std::deque<int> pending_;
};

/// As an element: goes on at the next place, and holds nothing back from then on.
class Host final : public SessionHost {
 public:
  bool enter() override {
    EXPECT_FALSE(inside) << "entered twice";
    ++entered;
    return inside = has_context;
  }
  void leave() noexcept override {
    EXPECT_TRUE(inside);
    inside = false;
  }
  Place fall_back(const Error& fault, const Place& failed) override {
    EXPECT_EQ(inside, has_context) << "workers are made in the context";
    const std::optional<Place> next = next_place(*failed.backend);
    if (!goes_on || !next) throw fault;
    in_flight = 0;
    left.push_back(failed.backend->name);
    return *next;
  }

  bool goes_on = true, has_context = true, inside = false;
  int entered = 0;
  std::size_t in_flight = 0;
  std::vector<std::string> left;
};

class Sessions : public Backends {
 protected:
  void SetUp() override {
    Backends::SetUp();
    anew();
  }
  void anew() {
    for (Script& script : scripts_) {
      EXPECT_EQ(script.alive, 0);
      script = {};
    }
  }
  Script& script_of(const Place& place) { return scripts_[place.backend - table_]; }

  struct Run {
    std::vector<int> results, replayed;
    std::vector<std::string> left;
  };
  /// Eight tasks, `behind` of them held back.
  Run run(std::size_t behind, int backend = 0) {
    Host host;
    host.in_flight = behind;
    Run run;
    {
      Session<int, int> session(
          host, {&table_[backend], 4}, static_cast<int>(behind) + 1,
          [this](const Place& place, int depth) { return std::make_unique<Squarer>(script_of(place), depth); });
      std::deque<int> held;
      const auto finish = [&] {
        run.results.push_back(session.collect(held.front()));
        if (session.replayed()) run.replayed.push_back(held.front());
        held.pop_front();
      };
      for (int i = 0; i < kTasks; ++i) {
        session.submit(i);
        held.push_back(i);
        while (held.size() > host.in_flight) finish();
      }
      while (!held.empty()) finish();
    }
    EXPECT_FALSE(host.inside);
    run.left = host.left;
    return run;
  }

  static constexpr int kTasks = 8;
  static inline const std::vector<int> kSquares{0, 1, 4, 9, 16, 25, 36, 49};
  Script scripts_[3];
};

TEST_F(Sessions, WithoutFaultsADeviceHasAsManyTasksAsAreHeldBack) {
  for (const std::size_t behind : {0u, 1u, 3u}) {
    const Run r = run(behind);
    EXPECT_EQ(r.results, kSquares);
    EXPECT_TRUE(r.replayed.empty() && r.left.empty());
    EXPECT_EQ(scripts_[0].most_pending, behind + 1);
    EXPECT_EQ(scripts_[1].made + scripts_[2].made, 0);
    anew();
  }
}

TEST_F(Sessions, TheCpuWorksWhenATaskIsCollected) {
  EXPECT_EQ(run(3, 2).results, kSquares);
  EXPECT_EQ(scripts_[2].most_pending, 1u);
}

TEST_F(Sessions, EveryFaultIsMadeGoodAtTheNextPlace) {
  for (const bool next_usable : {true, false})
    for (const std::size_t behind : {0u, 1u, 3u})
      for (int at = -1; at < 2 * kTasks; ++at) {
        SCOPED_TRACE(std::to_string(behind) + " behind, fault " + std::to_string(at));
        second.usable = next_usable;
        (at < 0   ? scripts_[0].fail_make_at
         : at % 2 ? scripts_[0].fail_collect_at
                  : scripts_[0].fail_submit_at) = at < 0 ? 0 : at / 2;
        const Run r = run(behind);
        EXPECT_EQ(r.results, kSquares);
        EXPECT_EQ(r.left, std::vector<std::string>{"first"});
        // Those that the device had, in the order in which they came: none where it could not be made.
        EXPECT_EQ(r.replayed.empty(), at < 0);
        EXPECT_LE(r.replayed.size(), behind + 1);
        for (std::size_t i = 1; i < r.replayed.size(); ++i) EXPECT_EQ(r.replayed[i], r.replayed[i - 1] + 1);
        if (at >= 0 && at % 2) {
          EXPECT_EQ(r.replayed.front(), at / 2);
        }
        if (at >= 0 && !(at % 2)) {
          EXPECT_EQ(r.replayed.back(), at / 2);
        }
        EXPECT_EQ(scripts_[next_usable ? 1 : 2].made, 1);
        EXPECT_EQ(scripts_[next_usable ? 1 : 2].most_pending, 1u);
        EXPECT_EQ(scripts_[next_usable ? 2 : 1].made, 0);
        anew();
      }
}

TEST_F(Sessions, FaultsOfTheNextDeviceTooEndOnTheCpu) {
  for (const std::size_t behind : {0u, 3u})
    for (int at = -1; at < 2 * (kTasks - 4); ++at) {
      SCOPED_TRACE(std::to_string(behind) + " behind, fault " + std::to_string(at));
      scripts_[0].fail_collect_at = 2;
      (at < 0   ? scripts_[1].fail_make_at
       : at % 2 ? scripts_[1].fail_collect_at
                : scripts_[1].fail_submit_at) = at < 0 ? 0 : at / 2;
      const Run r = run(behind);
      EXPECT_EQ(r.results, kSquares);
      EXPECT_EQ(r.left, (std::vector<std::string>{"first", "second"}));
      for (const int replayed : r.replayed) EXPECT_GE(replayed, 2);
      anew();
    }
}

TEST_F(Sessions, AFaultThatTheHostEndsWithIsThrownAndDropWaits) {
  Host host;
  host.goes_on = false;
  scripts_[0].fail_submit_at = 2;
  Session<int, int> session(host, {&table_[0], 4}, 4, [this](const Place& place, int depth) {
    return std::make_unique<Squarer>(script_of(place), depth);
  });
  session.submit(0);
  session.submit(1);
  EXPECT_THROW(session.submit(2), Error);
  EXPECT_FALSE(host.inside);
  EXPECT_EQ(scripts_[1].made + scripts_[2].made, 0);
  session.drop();
  EXPECT_EQ(scripts_[0].collected, 2) << "the device reads what the caller frees now";
}

TEST_F(Sessions, WithoutMemoryForTheNextWorkerDropWaitsToo) {
  Host host;
  scripts_[0].fail_submit_at = 2;
  Session<int, int> session(host, {&table_[0], 4}, 4, [this](const Place& place, int depth) {
    if (place.backend != &table_[0]) throw std::bad_alloc();
    return std::make_unique<Squarer>(script_of(place), depth);
  });
  session.submit(0);
  session.submit(1);
  EXPECT_THROW(session.submit(2), std::bad_alloc);
  session.drop();
  EXPECT_EQ(scripts_[0].collected, 2);
}

TEST_F(Sessions, DropCollectsWhatIsPendingWhateverItThrows) {
  Host host;
  scripts_[0].fail_collect_at = 1;
  Session<int, int> session(host, {&table_[0], 4}, 4, [this](const Place& place, int depth) {
    return std::make_unique<Squarer>(script_of(place), depth);
  });
  for (int i = 0; i < 3; ++i) session.submit(i);
  session.drop();
  EXPECT_EQ(scripts_[0].collected, 3);
  EXPECT_TRUE(host.left.empty());
  session.submit(5);
  EXPECT_EQ(session.collect(5), 25) << "it goes on with what comes after";
  EXPECT_FALSE(session.replayed());
}

TEST_F(Sessions, OtherFailuresAreNoFaultsOfTheDevice) {
  Host host;
  Session<int, int> session(host, {&table_[0], 4}, 1, [this](const Place& place, int depth) {
    return std::make_unique<Squarer>(script_of(place), depth);
  });
  scripts_[0].bad_alloc = true;
  EXPECT_THROW(session.submit(1), std::bad_alloc);
  EXPECT_TRUE(host.left.empty());
  EXPECT_FALSE(host.inside);
}

TEST_F(Sessions, ARebuiltWorkerIsMadeAfterTheOldOneHasGone) {
  Host host;
  Session<int, int> session(host, {&table_[0], 4}, 2, [this](const Place& place, int depth) {
    return std::make_unique<Squarer>(script_of(place), depth);
  });
  session.rebuild([&] {
    EXPECT_EQ(scripts_[0].alive, 0);
    EXPECT_FALSE(host.inside) << "the old context is no longer current";
  });
  EXPECT_EQ(scripts_[0].made, 2);
  session.submit(3);
  EXPECT_EQ(session.collect(3), 9);
  EXPECT_EQ(session.place().id, 4);
}

TEST_F(Sessions, WithoutAContextThereIsNothingToLeave) {
  Host host;
  host.has_context = false;
  Session<int, int> session(host, {&table_[0], 4}, 1, [this](const Place& place, int depth) {
    return std::make_unique<Squarer>(script_of(place), depth);
  });
  session.submit(3);
  EXPECT_EQ(session.collect(3), 9);
  EXPECT_EQ(host.entered, 3);
}

}  // namespace
}  // namespace framequality::test
