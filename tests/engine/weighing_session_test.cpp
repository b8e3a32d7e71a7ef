// SPDX-License-Identifier: LGPL-2.1-or-later
// Sessions that move between the CPU and a device: whatever the costs, results stay complete and in order.
#include "engine/session.h"
#include "tests/engine/backends.h"
#include "tests/support/random.h"

#include <atomic>
#include <deque>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace framequality::test {
namespace {

using namespace std::chrono_literals;
using Time = Weighing::Time;

Time now{};

/// What a place's workers cost and do.
struct Script {
  Time cost = 100us;
  int fail_collect_at = -1;
  std::atomic<int> made = 0, alive = 0;
  int worked = 0;
};

/// Squares numbers. Time passes where the real ones wait: the CPU's and the device's when they collect.
class Squarer final : public Worker<int, int> {
 public:
  Squarer(Script& script, int depth) : script_(script), depth_(static_cast<std::size_t>(depth)) {
    ++script_.made;
    ++script_.alive;
  }
  ~Squarer() override { --script_.alive; }
  void submit(const int& task) override {
    EXPECT_LT(pending_.size(), depth_);
    pending_.push_back(task);
  }
  int collect() override {
    const int task = pending_.at(0);
    pending_.pop_front();
    if (script_.worked++ == script_.fail_collect_at) throw Error(Fault::kDeviceLost, "collect: scripted");
    now += script_.cost;
    return task * task;
  }

 private:
  Script& script_;
  std::size_t depth_;
  std::deque<int> pending_;
};

class Host final : public SessionHost {
 public:
  bool enter() override {
    EXPECT_FALSE(inside) << "entered twice";
    return inside = true;
  }
  void leave() noexcept override { inside = false; }
  Place fall_back(const Error& fault, const Place& failed) override {
    faults.push_back(fault.what());
    return *next_place(*failed.backend);
  }
  void moved(const Place& to) override {
    EXPECT_FALSE(inside);
    moves.push_back(to.backend->name);
  }
  void stays(const std::string& reason) override { reasons.push_back(reason); }

  bool inside = false;
  std::vector<std::string> faults, moves, reasons;
};

class MovingSessions : public Backends {
 protected:
  void SetUp() override {
    Backends::SetUp();
    second.usable = false;
    now = {};
    use_weighing_clock([] { return now; });
  }
  void TearDown() override {
    EXPECT_EQ(device_.alive + cpu_.alive, 0);
    use_weighing_clock(nullptr);
    Backends::TearDown();
  }

  /// A session that begins on the CPU, and whoever keeps `behind` tasks back while that is of use.
  class Stream {
   public:
    Stream(MovingSessions& test, int behind, Time opening = 1ms)
        : behind_(static_cast<std::size_t>(behind)),
          session_(
              host, cpu_place(), behind + 1,
              [&test](const Place& place, int depth) {
                if (!is_cpu(*place.backend)) {
                  while (test.hold_make_) std::this_thread::yield();
                  if (test.lacks_memory_) throw std::bad_alloc();
                  if (test.fail_make_) throw Error(Fault::kOutOfMemory, "make: scripted");
                }
                return std::make_unique<Squarer>(is_cpu(*place.backend) ? test.cpu_ : test.device_, depth);
              },
              Prospect{[&test] {
                         ++test.looked_;
                         return choose({});
                       },
                       opening}) {}
    ~Stream() { session_.drop(); }
    /// A task more; those that are complete are checked.
    void put() {
      session_.submit(next_);
      held_.push_back(next_++);
      while (held_.size() > (session_.overlaps() ? behind_ : 0)) finish();
    }
    void put(int count) {
      for (int i = 0; i < count; ++i) put();
    }
    void finish() {
      const int task = held_.front();
      held_.pop_front();
      ASSERT_EQ(session_.collect(task), task * task);
      replayed += session_.replayed();
      on_device += !is_cpu(*session_.place().backend);
      ++done;
    }
    void drain() {
      while (!held_.empty()) finish();
    }
    void drop() {
      session_.drop();
      held_.clear();
    }
    /// Puts tasks until done() is true, which takes a thread a moment.
    template <class F>
    void put_until(F&& done) {
      for (int i = 0; i < 100000 && !done(); ++i) {
        put();
        std::this_thread::sleep_for(20us);
      }
      EXPECT_TRUE(done());
    }
    void put_until_moved() {
      put_until([&] { return !host.moves.empty(); });
    }
    int put_so_far() const { return next_; }
    std::size_t held() const { return held_.size(); }
    const char* place() const { return session_.place().backend->name; }

    Host host;
    int replayed = 0, on_device = 0, done = 0;

   private:
    std::size_t behind_;
    std::deque<int> held_;
    int next_ = 0;
    Session<int, int> session_;
  };

  static constexpr int kTrial = (Weighing::kWarmUp + 1) * static_cast<int>(Weighing::kWindow);
  Script device_, cpu_;
  std::atomic<int> looked_ = 0;
  std::atomic<bool> hold_make_ = false, fail_make_ = false, lacks_memory_ = false;
};

TEST_F(MovingSessions, NoDeviceIsLookedForBeforeItPays) {
  Stream stream(*this, 0, 1ms);
  stream.put(10);
  EXPECT_EQ(looked_, 0);
  stream.put_until_moved();
  EXPECT_EQ(looked_, 1);
  EXPECT_EQ(device_.made, 1);
}

TEST_F(MovingSessions, TheCheaperDeviceIsKept) {
  for (const int behind : {0, 2, 8}) {
    device_.cost = 10us;
    Stream stream(*this, behind);
    stream.put_until_moved();
    stream.put(kTrial + behind + 1000);
    EXPECT_EQ(stream.held(), static_cast<std::size_t>(behind));
    EXPECT_EQ(stream.host.moves, std::vector<std::string>{"first"});
    EXPECT_STREQ(stream.place(), "first");
    stream.drain();
    EXPECT_EQ(stream.replayed, 0);
  }
}

TEST_F(MovingSessions, TheCheaperCpuIsReturnedToAndWhatTheDeviceHasComesFirst) {
  for (const int behind : {0, 2, 8}) {
    device_.cost = 300us;
    Stream stream(*this, behind);
    stream.put_until_moved();
    const int before = stream.on_device;
    stream.put(kTrial + behind + 1);
    EXPECT_EQ(stream.host.moves, (std::vector<std::string>{"first", "cpu"}));
    EXPECT_STREQ(stream.place(), "cpu");
    EXPECT_EQ(stream.held(), 0u) << "the CPU holds nothing back";
    EXPECT_GE(stream.on_device - before, kTrial - 1);
    EXPECT_EQ(stream.replayed, 0);
    EXPECT_EQ(device_.alive, 1) << "for the next trial";
  }
}

TEST_F(MovingSessions, WithoutADeviceItIsLookedForOnce) {
  first.usable = false;
  Stream stream(*this, 2);
  stream.put_until([&] { return !stream.host.reasons.empty(); });
  stream.put(10000);
  EXPECT_EQ(stream.host.reasons, std::vector<std::string>{"no driver"});
  EXPECT_EQ(looked_, 1);
  EXPECT_TRUE(stream.host.moves.empty());
}

TEST_F(MovingSessions, AFaultWhileItIsBeingOpenedIsOneAndTheCpuStays) {
  fail_make_ = true;
  Stream stream(*this, 2);
  stream.put_until([&] { return !stream.host.faults.empty(); });
  stream.put(10000);
  EXPECT_EQ(stream.host.faults.size(), 1u);
  EXPECT_EQ(looked_, 1);
  EXPECT_EQ(stream.replayed + stream.on_device, 0);
}

TEST_F(MovingSessions, WithoutHostMemoryForADeviceTheCpuStays) {
  lacks_memory_ = true;
  Stream stream(*this, 2);
  stream.put_until([&] { return !stream.host.reasons.empty(); });
  stream.put(10000);
  EXPECT_EQ(looked_, 1);
  EXPECT_TRUE(stream.host.faults.empty() && stream.host.moves.empty());
}

TEST_F(MovingSessions, WorkGoesOnWhileTheDeviceIsBeingOpened) {
  hold_make_ = true;
  Stream stream(*this, 2);
  stream.put_until([&] { return looked_ > 0; });
  stream.put(10000);
  EXPECT_TRUE(stream.host.moves.empty());
  hold_make_ = false;
  stream.put_until_moved();
}

TEST_F(MovingSessions, AnEndWhileTheDeviceIsBeingOpenedWaitsForIt) {
  hold_make_ = true;
  std::thread release;
  {
    Stream stream(*this, 2);
    stream.put_until([&] { return looked_ > 0; });
    release = std::thread([&] {
      std::this_thread::sleep_for(5ms);
      hold_make_ = false;
    });
  }
  EXPECT_EQ(device_.made, 1);
  EXPECT_EQ(device_.alive, 0);
  release.join();
}

TEST_F(MovingSessions, AFaultInATrialIsMadeGoodAndTheCpuStays) {
  for (const int behind : {0, 2, 8})
    for (const int at : {0, 1, kTrial / 2, kTrial - 1, kTrial + 3}) {
      SCOPED_TRACE(std::to_string(behind) + " behind, fault at " + std::to_string(at));
      device_.worked = 0;
      device_.fail_collect_at = at;
      device_.cost = 10us;
      Stream stream(*this, behind);
      stream.put_until_moved();
      stream.put(10 * kTrial);
      EXPECT_EQ(stream.host.faults.size(), 1u);
      EXPECT_EQ(stream.on_device, at);
      EXPECT_EQ(stream.replayed, behind + 1);
      EXPECT_EQ(stream.held(), 0u);
      EXPECT_EQ(stream.host.moves.size(), 1u) << "it stays";
      EXPECT_EQ(device_.alive, 0);
    }
}

/// Costs that change, faults, and whoever drops or drains: nothing is lost, doubled, or out of order.
TEST_F(MovingSessions, ResultsAreCompleteAndInOrderWhateverHappens) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const auto cost = [&] { return Time((1 + random.below(100)) * 5000); };
    device_.worked = 0;
    device_.fail_collect_at = random.one_in(3) ? random.below(3000) : -1;
    Stream stream(*this, std::vector{0, 1, 2, 8}[static_cast<std::size_t>(random.below(4))]);
    int dropped = 0;
    for (int i = 0; i < 4000; ++i) {
      if (random.one_in(500)) device_.cost = cost();
      if (random.one_in(500)) cpu_.cost = cost();
      if (random.one_in(300)) stream.drain();
      if (random.one_in(300)) {
        dropped += static_cast<int>(stream.held());
        stream.drop();
      }
      if (i == 100) stream.put_until([&] { return !stream.host.moves.empty(); });
      stream.put();
    }
    stream.drain();
    EXPECT_EQ(stream.done + dropped, stream.put_so_far());
    EXPECT_GT(stream.on_device, 0);
  }
}

}  // namespace
}  // namespace framequality::test
