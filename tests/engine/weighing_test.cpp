// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables of costs: where a stream ends up, what it costs to find out, and when the loser is tried again.
#include "engine/weighing.h"

#include "tests/support/random.h"

#include <functional>
#include <gtest/gtest.h>
#include <string>

namespace framequality::test {
namespace {

using Side = Weighing::Side;
using Time = Weighing::Time;
using namespace std::chrono_literals;

/// What task `i` costs on a side.
using Costs = std::function<Time(Side, int)>;

Costs constant(Time cpu, Time device) {
  return [=](Side side, int) { return side == Side::kCpu ? cpu : device; };
}

/// A stream whose device opens as soon as it is wanted.
class Stream {
 public:
  explicit Stream(Costs costs, Time opening = 1ns) : weighing_(opening), costs_(std::move(costs)) {}
  /// So many tasks more, and the time they took.
  Time run(int tasks) {
    Time spent{};
    for (int i = 0; i < tasks; ++i, ++next_) {
      if (weighing_.wants_device()) weighing_.open();
      const Side side = weighing_.side();
      moves += side != last_;
      last_ = side;
      const Time cost = costs_(side, next_);
      weighing_.add(side, cost);
      spent += cost;
    }
    return spent;
  }
  Side side() const { return weighing_.side(); }
  const Weighing& weighing() const { return weighing_; }
  void renew() { weighing_.renew(); }
  int moves = 0;

 private:
  Weighing weighing_;
  Costs costs_;
  Side last_ = Side::kCpu;
  int next_ = 0;
};

constexpr int kTrial = (Weighing::kWarmUp + 1) * static_cast<int>(Weighing::kWindow);
/// Tasks before the first trial: one in which the device is opened, and a window of the CPU alone.
constexpr int kBefore = 1 + static_cast<int>(Weighing::kWindow);

TEST(Weighing, ADeviceIsWantedWhenTheCpuHasWorkedAsLongAsItTakesToOpenIt) {
  Weighing weighing(Weighing::kOpening);
  for (int i = 0; i < 299; ++i) weighing.add(Side::kCpu, 1ms);
  EXPECT_FALSE(weighing.wants_device());
  weighing.add(Side::kCpu, 1ms);
  EXPECT_TRUE(weighing.wants_device());
  EXPECT_EQ(weighing.side(), Side::kCpu) << "until it is open";
  weighing.open();
  EXPECT_FALSE(weighing.wants_device());
  EXPECT_EQ(weighing.side(), Side::kCpu) << "until a window shows what it costs while nothing is being opened";
  for (std::size_t i = 0; i < Weighing::kWindow; ++i) weighing.add(Side::kCpu, 1ms);
  EXPECT_EQ(weighing.side(), Side::kDevice);
  EXPECT_EQ(weighing.cost(Side::kCpu), 1ms);
}

TEST(Weighing, WhatTheCpuCostsWhileADeviceIsOpenedDoesNotCount) {
  // Opening takes half of the CPU's memory bandwidth; the device would seem cheaper.
  Weighing weighing(0ns);
  for (int i = 0; i < 100; ++i) weighing.add(Side::kCpu, 200us);
  weighing.open();
  while (weighing.side() == Side::kCpu) weighing.add(Side::kCpu, 100us);
  for (int i = 0; i < kTrial; ++i) weighing.add(Side::kDevice, 150us);
  EXPECT_EQ(weighing.side(), Side::kCpu);
  EXPECT_EQ(weighing.cost(Side::kCpu), 100us);
}

TEST(Weighing, HeavyTasksOpenItAtOnceAndAHiccupDoesNot) {
  Weighing weighing(Weighing::kOpening);
  weighing.add(Side::kCpu, Weighing::kHeavy);
  weighing.add(Side::kCpu, 1ms);
  weighing.add(Side::kCpu, Weighing::kHeavy);
  EXPECT_FALSE(weighing.wants_device());
  weighing.add(Side::kCpu, Weighing::kHeavy);
  EXPECT_TRUE(weighing.wants_device());
  weighing.open();
  EXPECT_EQ(weighing.side(), Side::kDevice);
  EXPECT_EQ(weighing.cost(Side::kCpu), Weighing::kHeavy) << "the median of what there is";
}

TEST(Weighing, TheCheaperOneIsKept) {
  const struct {
    Time cpu, device;
    Side winner;
  } cases[] = {
      {100us, 10us, Side::kDevice}, {100us, 92us, Side::kDevice}, {100us, 94us, Side::kCpu},
      {100us, 100us, Side::kCpu},   {100us, 300us, Side::kCpu},   {10us, 10ms, Side::kCpu},
      {100ms, 5ms, Side::kDevice},
  };
  for (const auto& c : cases) {
    Stream stream(constant(c.cpu, c.device));
    stream.run(kBefore + kTrial);
    EXPECT_EQ(stream.side(), c.winner) << c.cpu.count() << " against " << c.device.count();
    EXPECT_EQ(stream.weighing().cost(Side::kDevice), c.device);
  }
}

TEST(Weighing, TheFirstFramesOfATrialDoNotCount) {
  Stream stream([](Side side, int i) { return side == Side::kCpu ? 100us : i < kBefore + 32 ? 390us : 20us; });
  stream.run(kBefore + kTrial);
  EXPECT_EQ(stream.side(), Side::kDevice);
}

TEST(Weighing, ATrialThatIsFarBehindEndsEarly) {
  Stream stream(constant(100us, 50ms));
  stream.run(kBefore + static_cast<int>(Weighing::kWindow));
  EXPECT_EQ(stream.side(), Side::kCpu);
  Stream close(constant(100us, 390us));
  close.run(kBefore + kTrial - 1);
  EXPECT_EQ(close.side(), Side::kDevice);
}

TEST(Weighing, HiccupsDecideNothing) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    for (const bool device_wins : {false, true}) {
      Random random(seed);
      Stream stream([&](Side side, int) -> Time {
        const Time usual = (side == Side::kDevice) == device_wins ? 50us : 80us;
        return random.next() % 8 == 0 ? 30 * usual : usual;
      });
      stream.run(kBefore + kTrial);
      EXPECT_EQ(stream.side(), device_wins ? Side::kDevice : Side::kCpu) << seed;
    }
}

TEST(Weighing, ACostOfATaskThatWasBegunBeforeAMoveIsNotTheNewPlaces) {
  Weighing weighing(0ns);
  weighing.open();
  for (std::size_t i = 0; i < Weighing::kWindow; ++i) weighing.add(Side::kCpu, 100us);
  for (int i = 0; i < kTrial - 1; ++i) weighing.add(Side::kDevice, 200us);
  for (int i = 0; i < 99; ++i) weighing.add(Side::kCpu, 1us);
  EXPECT_EQ(weighing.side(), Side::kDevice) << "the trial is not over";
  weighing.add(Side::kDevice, 200us);
  EXPECT_EQ(weighing.side(), Side::kCpu);
  for (int i = 0; i < 99; ++i) weighing.add(Side::kDevice, 1us);
  EXPECT_EQ(weighing.cost(Side::kDevice), 200us);
}

/// In steady state a stream takes at most 15% longer than at the better place, whatever the costs.
TEST(Weighing, IsNeverFarFromTheBetterPlace) {
  for (const double share : {0.02, 0.2, 0.5, 0.8, 0.9, 0.94, 0.99, 1.0, 1.01, 1.06, 1.1, 1.2, 1.5, 1.9, 2.1, 5.0, 50.0})
    for (const unsigned noise : {0u, 10u, 50u}) {  // percent, evenly
      SCOPED_TRACE(std::to_string(share) + " of the CPU's, noise " + std::to_string(noise));
      Random random(static_cast<std::uint64_t>(share * 1000) + noise);
      const auto noisy = [&](double us) {
        return Time(
            static_cast<std::int64_t>(us * 1000 * (1 + 0.01 * static_cast<double>(random.next() % (noise + 1)))));
      };
      Stream stream([&](Side side, int) { return noisy(side == Side::kCpu ? 100 : 100 * share); });
      stream.run(kBefore + kTrial);
      constexpr int kTasks = 200000;
      const double best = kTasks * 1e5 * std::min(1.0, share) * (1 + 0.005 * noise);
      EXPECT_LE(static_cast<double>(stream.run(kTasks).count()) / best, 1.15);
    }
}

TEST(Weighing, TheLoserIsTriedAgainEverMoreRarely) {
  Stream stream(constant(100us, 150us));
  stream.run(kBefore + kTrial);
  // A trial of 48 tasks of 150 us: the next after 40 times as long, at the end of a window.
  constexpr int kRounded = 40 * 48 * 3 / 2;
  static_assert(kRounded % Weighing::kWindow == 0);
  stream.run(kRounded);
  EXPECT_EQ(stream.side(), Side::kDevice);
  stream.run(kTrial);
  EXPECT_EQ(stream.side(), Side::kCpu);
  stream.run(2 * kRounded - 1);
  EXPECT_EQ(stream.side(), Side::kCpu);
  stream.run(1);
  EXPECT_EQ(stream.side(), Side::kDevice);
  const int before = stream.moves;
  stream.run(1000000);
  EXPECT_LE(stream.moves - before, 50) << "every 640 times as long, and two for each";
}

TEST(Weighing, AWinByChanceDoesNotLast) {
  Time cpu = 100us;
  Stream stream([&](Side side, int) { return side == Side::kCpu ? cpu : 110us; });
  stream.run(1000000);  // by now patience is at its longest
  cpu = 140us;          // the core slows down before a trial
  while (stream.side() == Side::kCpu) stream.run(1);
  cpu = 100us;
  stream.run(kTrial);
  ASSERT_EQ(stream.side(), Side::kDevice);
  stream.run(40 * kTrial + 2 * static_cast<int>(Weighing::kWindow));
  EXPECT_EQ(stream.side(), Side::kCpu);
}

TEST(Weighing, AWinOverACoreThatWasSlowedDownDoesNotLast) {
  Time cpu = 130us;  // three times slower than otherwise, and twice as slow as the device
  Stream stream([&](Side side, int) { return side == Side::kCpu ? cpu : 60us; });
  stream.run(kBefore + kTrial);
  ASSERT_EQ(stream.side(), Side::kDevice);
  cpu = 35us;
  stream.run(40 * kTrial + 2 * static_cast<int>(Weighing::kWindow));
  EXPECT_EQ(stream.side(), Side::kCpu);
}

TEST(Weighing, AHopelessCpuIsNotTriedAgain) {
  for (const Time cpu : {60ms, 5ms}) {
    Stream stream(constant(cpu, cpu / 30));
    stream.run(kBefore + kTrial);
    EXPECT_EQ(stream.moves, 1);
    stream.run(100000);
    EXPECT_EQ(stream.moves, 1) << cpu.count();
  }
}

TEST(Weighing, OtherWorkIsWeighedAnew) {
  constexpr int kChange = 1000000;  // by then patience is at its longest
  const struct {
    Time cpu, device, later_cpu, later_device;
    int within;  ///< tasks
  } cases[] = {
      {50us, 100us, 500us, 100us, 500},     // a prefilter
      {100us, 50us, 100us, 400us, 500},     // another program has the GPU
      {100us, 300us, 100us, 30us, 100000},  // and leaves it, which nobody sees before it is tried
  };
  for (const auto& c : cases) {
    Stream stream([c](Side side, int i) {
      return i < kChange ? (side == Side::kCpu ? c.cpu : c.device) : side == Side::kCpu ? c.later_cpu : c.later_device;
    });
    stream.run(kChange);
    EXPECT_EQ(stream.side(), c.cpu < c.device ? Side::kCpu : Side::kDevice);
    stream.run(c.within);
    EXPECT_EQ(stream.side(), c.later_cpu < c.later_device ? Side::kCpu : Side::kDevice) << c.later_cpu.count();
  }
}

TEST(Weighing, ASlowWindowAfterAPauseIsNoOtherWork) {
  // Every 5 ms something else runs on the core.
  Stream stream([](Side side, int i) { return side == Side::kDevice ? 40us : i % 500 < 28 ? 20us : 10us; });
  stream.run(kBefore + kTrial);
  const int before = stream.moves;
  stream.run(1000000);
  EXPECT_EQ(stream.side(), Side::kCpu);
  EXPECT_LE(stream.moves - before, 40) << "two for each trial, ever more rarely";
}

TEST(Weighing, OtherProgramsThatSlowItForAMomentAreNoOtherWork) {
  // For 20 of 200 ms a core that others use too works at a fifth of its speed.
  Time worked{};
  Stream stream([&](Side side, int) {
    const Time cost = (side == Side::kCpu ? 200us : 60us) * (worked % 200ms < 20ms ? 5 : 1);
    worked += cost;
    return cost;
  });
  stream.run(kBefore + kTrial);
  ASSERT_EQ(stream.side(), Side::kDevice);
  const int before = stream.moves;
  stream.run(300000);  // about 90 such moments
  EXPECT_LE(stream.moves - before, 24) << "two for each trial, ever more rarely";
  EXPECT_EQ(stream.side(), Side::kDevice);
}

TEST(Weighing, AHopelessCpuIsTriedWhenItIsSaidThatTheWorkIsAnother) {
  // Without a prefilter the device takes as long as with one: the copy is what takes time.
  Stream stream([](Side side, int i) { return side == Side::kDevice ? 10ms : i < 20000 ? 50ms : 5ms; });
  stream.run(50000);
  EXPECT_EQ(stream.side(), Side::kDevice);
  const int before = stream.moves;
  stream.run(50000);
  EXPECT_EQ(stream.moves, before);
  stream.renew();
  stream.run(3000);
  EXPECT_EQ(stream.side(), Side::kCpu);
}

TEST(Weighing, WorkThatChangesAllTheTimeIsNotTriedAllTheTime) {
  Stream stream(constant(100us, 200us));
  stream.run(kBefore + kTrial);
  Time spent{};
  for (int i = 0; i < 20000; ++i) {
    stream.renew();
    spent += stream.run(1);
  }
  EXPECT_LE(spent, 20000 * 106us);
}

}  // namespace
}  // namespace framequality::test
