// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of the lens position that a frame shows, with a lag that is set, learned, or not known.
#include "algorithms/focus/motion.h"

#include "algorithms/focus/lens_drive.h"
#include "algorithms/split_mix.h"

#include <deque>
#include <gtest/gtest.h>

namespace framequality::test {
namespace {

FocusMotion motion_of(int lag, int settle = 0) {
  FocusMotion motion;
  motion.configure({.lag = lag, .settle = settle});
  return motion;
}
/// Frames that may show every command.
void frames(FocusMotion& motion, int count) {
  while (count-- > 0) motion.frame(FocusMotion::kAll);
}

TEST(FocusMotion, FrameShowsWhatADriveWithThisLagShows) {
  for (int lag = 0; lag <= 6; ++lag) {
    SplitMix random(static_cast<std::uint64_t>(lag) + 1);
    FocusMotion motion = motion_of(lag);
    LensDrive drive({.lag = lag});
    motion.stands(7);
    double target = 7;
    for (int i = 0; i < 300; ++i) {
      const double lens = drive.frame(target).front();
      motion.frame(FocusMotion::kAll);
      ASSERT_EQ(motion.shown(motion.now()), static_cast<int>(lens)) << "lag " << lag << ", frame " << i;
      if (random.next() % 3 > 0) continue;
      target = static_cast<double>(random.next() % 100);
      motion.send(static_cast<int>(target));
    }
  }
}

TEST(FocusMotion, FrameShowsASlowLensOnItsWay) {
  for (const double slew : {0.5, 1.0, 3.0}) {
    SplitMix random(5);
    FocusMotion motion = motion_of(2);
    motion.set_slew(slew);
    LensDrive drive({.lag = 2, .slew = slew});
    motion.stands(50);
    double target = 50;
    for (int i = 0; i < 300; ++i) {
      const double lens = drive.frame(target).front();
      motion.frame(FocusMotion::kAll);
      ASSERT_EQ(motion.shown(motion.now()), static_cast<int>(std::lround(lens))) << "slew " << slew << ", frame " << i;
      if (random.next() % 9 > 0) continue;
      target = static_cast<double>(random.next() % 100);
      motion.send(static_cast<int>(target));
    }
  }
}

TEST(FocusMotion, FramesOfThePastAreStillKnown) {
  FocusMotion motion = motion_of(2);
  motion.stands(0);
  for (int i = 1; i <= 20; ++i) {
    motion.send(10 * i);
    frames(motion, 1);
  }
  const std::uint64_t now = motion.now();
  for (unsigned back = 0; back < 18; ++back)
    EXPECT_EQ(motion.shown(now - back), 10 * (18 - static_cast<int>(back))) << back;
  EXPECT_EQ(motion.shown(now - 18), 0);
}

TEST(FocusMotion, NothingIsShownBeforeTheFirstCommandIs) {
  FocusMotion motion = motion_of(3);
  frames(motion, 5);
  EXPECT_FALSE(motion.shown(motion.now()));
  motion.send(9);
  for (int i = 0; i < 3; ++i) {
    frames(motion, 1);
    EXPECT_FALSE(motion.shown(motion.now())) << i;
  }
  frames(motion, 1);
  EXPECT_EQ(motion.shown(motion.now()), 9);
}

TEST(FocusMotion, CommandsThatAFrameCannotKnowAreNotInIt) {
  // Frames wait in a queue of this length before they are seen.
  for (const int queue : {0, 1, 2, 5})
    for (const int lag : {0, 2}) {
      SplitMix random(static_cast<std::uint64_t>(10 * queue + lag));
      FocusMotion motion = motion_of(lag);
      LensDrive drive({.lag = lag});
      struct Frame {
        double lens;
        std::uint64_t known;
      };
      std::deque<Frame> waiting;
      motion.stands(50);
      double target = 50;
      for (int i = 0; i < 300; ++i) {
        waiting.push_back({drive.frame(target).front(), motion.commands()});
        if (static_cast<int>(waiting.size()) <= queue) continue;
        const Frame frame = waiting.front();
        waiting.pop_front();
        motion.frame(frame.known);
        ASSERT_EQ(motion.shown(motion.now()), static_cast<int>(frame.lens)) << queue << ", lag " << lag << ", " << i;
        if (random.next() % 4 > 0) continue;
        target = static_cast<double>(random.next() % 100);
        motion.send(static_cast<int>(target));
      }
    }
}

TEST(FocusMotion, KnownCountsForgottenCommandsToo) {
  FocusMotion motion = motion_of(0);
  for (const int at : {1, 2, 3}) {
    motion.send(at);
    frames(motion, 1);
  }
  motion.forget();
  EXPECT_EQ(motion.commands(), 3u);
  motion.send(4);
  motion.frame(3);
  EXPECT_EQ(motion.shown(motion.now()), 3);
  EXPECT_EQ(motion.since(), 0);
  motion.frame(4);
  EXPECT_EQ(motion.shown(motion.now()), 4);
  EXPECT_EQ(motion.since(), 1);
}

TEST(FocusMotion, SinceCountsFramesThatCouldShowTheLastCommand) {
  FocusMotion motion = motion_of(4);
  EXPECT_GT(motion.since(), 1'000'000) << "never sent";
  motion.send(1);
  EXPECT_EQ(motion.since(), 0);
  motion.frame(0);
  EXPECT_EQ(motion.since(), 0) << "exposed before the command";
  for (int i = 1; i <= 10; ++i) {
    motion.frame(1);
    EXPECT_EQ(motion.since(), i);
  }
  motion.send(2);
  EXPECT_EQ(motion.since(), 0) << "another one";
}

TEST(FocusMotion, AtRestFromTheFirstFrameThatShowsIt) {
  for (int lag = 0; lag <= 6; ++lag) {
    FocusMotion motion = motion_of(lag);
    motion.stands(5);
    frames(motion, 1);
    EXPECT_TRUE(motion.at_rest()) << "nothing was sent";
    motion.send(60);
    EXPECT_FALSE(motion.at_rest());
    for (int i = 0; i < 10; ++i) {
      frames(motion, 1);
      EXPECT_EQ(motion.at_rest(), motion.shown(motion.now()) == 60) << "lag " << lag << ", frame " << i;
    }
  }
}

TEST(FocusMotion, SettlingAndTheTimeOfAMoveDelayRest) {
  const auto frames_to_rest = [](FocusMotion motion, int taken) {
    motion.take_time(taken);
    motion.send(3);
    int count = 0;
    do {
      frames(motion, 1);
      ++count;
    } while (!motion.at_rest());
    return count;
  };
  EXPECT_EQ(frames_to_rest(motion_of(2, 0), 0), 3);
  EXPECT_EQ(frames_to_rest(motion_of(2, 5), 0), 6) << "settling includes the lag";
  EXPECT_EQ(frames_to_rest(motion_of(2, 0), 4), 7) << "a slow lens sets out when the lag is over";
  EXPECT_EQ(frames_to_rest(motion_of(2, 9), 4), 10);
  EXPECT_EQ(frames_to_rest(motion_of(-1, 5), 0), 6) << "a guess of the lag delays nothing";
  EXPECT_EQ(frames_to_rest(motion_of(-1, 0), 3), 4);
}

TEST(FocusMotion, LagIsGuessedFromSettlingUntilItIsSeen) {
  EXPECT_EQ(motion_of(-1, 0).lag(), 0);
  EXPECT_EQ(motion_of(-1, 3).lag(), 2) << "the frame after those that move is the first at rest";
  EXPECT_FALSE(motion_of(-1, 3).lag_is_known());
  FocusMotion motion = motion_of(-1, 3);
  motion.learn(4);
  EXPECT_TRUE(motion.lag_is_known());
  EXPECT_EQ(motion.lag(), 4);
}

TEST(FocusMotion, LagThatIsSetIsNotLearned) {
  FocusMotion motion = motion_of(1, 9);
  EXPECT_TRUE(motion.lag_is_known());
  for (int i = 0; i < 20; ++i) motion.learn(5);
  EXPECT_EQ(motion.lag(), 1);
}

TEST(FocusMotion, LearnsTheLagThatIsSeenMost) {
  FocusMotion motion = motion_of(-1);
  for (const int lag : {2, 2, 6, 2, 0, 3}) motion.learn(lag);
  EXPECT_EQ(motion.lag(), 2);
}

TEST(FocusMotion, OfLagsSeenAsOftenTheLatestCounts) {
  FocusMotion motion = motion_of(-1);
  motion.learn(1);
  motion.learn(5);
  EXPECT_EQ(motion.lag(), 5);
  motion.learn(1);
  EXPECT_EQ(motion.lag(), 1);
  motion.learn(5);
  EXPECT_EQ(motion.lag(), 5);
  motion.learn(3);
  EXPECT_EQ(motion.lag(), 1) << "twice each; the third one, seen once, does not choose";
}

TEST(FocusMotion, AnotherLagIsLearnedInTime) {
  FocusMotion motion = motion_of(-1);
  for (int i = 0; i < 1000; ++i) motion.learn(2);
  int needed = 0;
  while (motion.lag() != 4 && needed < 100) motion.learn(4), ++needed;
  EXPECT_LE(needed, 8) << "what is older counts less";
  EXPECT_GE(needed, 3) << "but some of it";
}

TEST(FocusMotion, LagsOutOfRangeAreNotLearned) {
  FocusMotion motion = motion_of(-1);
  for (const int lag : {-1, FocusMotion::kMaxLag + 1, 1 << 20}) motion.learn(lag);
  EXPECT_FALSE(motion.lag_is_known());
  motion.learn(FocusMotion::kMaxLag);
  EXPECT_EQ(motion.lag(), FocusMotion::kMaxLag);
}

TEST(FocusMotion, ForgetsAllButTheLastCommand) {
  FocusMotion motion = motion_of(2);
  motion.forget();
  EXPECT_EQ(motion.commands(), 0u);
  for (const int at : {10, 20, 30}) {
    motion.send(at);
    frames(motion, 1);
  }
  EXPECT_EQ(motion.kept(), 3u);
  EXPECT_EQ(motion.shown(motion.now()), 10);
  motion.forget();
  EXPECT_EQ(motion.kept(), 1u);
  EXPECT_EQ(motion.sent(0), 30);
  EXPECT_EQ(motion.commands(), 3u);
  EXPECT_FALSE(motion.shown(motion.now())) << "what it shows is forgotten";
  frames(motion, 2);
  EXPECT_EQ(motion.shown(motion.now()), 30);
  motion.forget();
  EXPECT_EQ(motion.commands(), 3u);
}

TEST(FocusMotion, StandsIsNoCommand) {
  FocusMotion motion = motion_of(3);
  motion.stands(42);
  EXPECT_EQ(motion.commands(), 0u);
  EXPECT_EQ(motion.kept(), 1u);
  motion.frame(0);
  EXPECT_EQ(motion.shown(motion.now()), 42) << "without lag";
  EXPECT_TRUE(motion.at_rest());
  motion.send(50);
  EXPECT_EQ(motion.commands(), 1u);
  motion.frame(0);
  EXPECT_EQ(motion.since(), 0);
  motion.frame(1);
  EXPECT_EQ(motion.since(), 1);
  motion.forget();
  EXPECT_EQ(motion.commands(), 1u);
  motion.stands(42);
  EXPECT_EQ(motion.sent(0), 50) << "where it was sent is known better";
}

TEST(FocusMotion, TellsWhatWasSent) {
  FocusMotion motion = motion_of(0);
  motion.stands(4);
  for (const int at : {8, 8, 1}) motion.send(at);
  ASSERT_EQ(motion.kept(), 4u);
  EXPECT_EQ(motion.sent(0), 4);
  EXPECT_EQ(motion.sent(1), 8);
  EXPECT_EQ(motion.sent(2), 8);
  EXPECT_EQ(motion.sent(3), 1);
  EXPECT_EQ(motion.commands(), 3u);
}

}  // namespace
}  // namespace framequality::test
