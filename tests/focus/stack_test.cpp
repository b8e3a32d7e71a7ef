// SPDX-License-Identifier: LGPL-2.1-or-later
// Focus stacks: their positions, and the frames that a search marks as their images.
#include "algorithms/focus/stack.h"

#include "tests/focus/lens_bench.h"

namespace framequality::test {
namespace {

using namespace lens_bench;
using Positions = std::vector<int>;

TEST(FocusStack, HasTheFocusInTheMiddle) {
  EXPECT_EQ(focus::stack_around(50, 5, 3, 0, 100, 1), (Positions{44, 47, 50, 53, 56}));
  EXPECT_EQ(focus::stack_around(50, 4, 2, 0, 100, 1), (Positions{47, 49, 51, 53}));
  EXPECT_EQ(focus::stack_around(50, 1, 7, 0, 100, 1), Positions{50});
}

TEST(FocusStack, DescendsWhereTheLensIsApproachedFromAbove) {
  EXPECT_EQ(focus::stack_around(50, 3, 5, 0, 100, -1), (Positions{55, 50, 45}));
}

TEST(FocusStack, StaysInTheRange) {
  EXPECT_EQ(focus::stack_around(2, 5, 3, 0, 100, 1), (Positions{0, 3, 6, 9, 12}));
  EXPECT_EQ(focus::stack_around(99, 3, 4, 5, 100, 1), (Positions{92, 96, 100}));
  EXPECT_EQ(focus::stack_around(4, 9, 4, 0, 10, 1), (Positions{0, 4, 8})) << "as many as there is room for";
  EXPECT_EQ(focus::stack_around(0, 9, 1, 0, 0, 1), Positions{0});
}

/// A search whose lens is asked where it was in each image of the stack.
struct Shot {
  Shot(const FocusSettings& settings, const DriveSettings& motor, Scene scene, double start = 20)
      : search(settings, start), scene_(std::move(scene)), target_(start) {
    drive_.configure(motor);
  }
  void run(int most = 3000) {
    for (; most > 0; --most) {
      frame();
      if (search.state() == FocusState::kFocused || search.state() == FocusState::kFailed) return;
    }
    ADD_FAILURE() << "the search does not end";
  }
  void frame() {
    double score = 0;
    const auto seen = drive_.frame(target_);
    for (const double at : seen) score += scene_(at) / static_cast<double>(seen.size());
    const std::optional<double> to = search.frame(score);
    states.push_back(search.state());
    if (const FocusStackImage& image = search.stack_image(); image.number > 0) {
      EXPECT_EQ(seen.size(), 1u) << "image " << image.number << " is blurred by the lens's motion";
      images.push_back(image);
      stood.push_back(seen.back());
    }
    if (to) target_ = *to;
  }

  focus::Search search;
  std::vector<FocusStackImage> images;
  std::vector<double> stood;  ///< where the lens was in these
  std::vector<FocusState> states;

 private:
  LensDrive drive_;
  Scene scene_;
  double target_;
};

FocusSettings stack_of(int images, double step = 0) {
  FocusSettings s;
  s.settle_frames = 3;
  s.stack = images;
  s.stack_step = step;
  s.mode = FocusMode::kOneShot;
  return s;
}

TEST(FocusStack, EachImageIsOfALensAtRest) {
  for (const auto& [play, slew, lag] :
       {std::tuple(0.0, 0.0, 0), {0.0, 0.0, 2}, {5.0, 0.0, 2}, {0.0, 8.0, 2}, {4.0, 8.0, 1}})
    for (const double start : {0.0, 45.0, 100.0}) {
      FocusSettings s = stack_of(7, 2);
      if (slew > 0) s.stop_and_go = true, s.settle_frames = 16;
      Shot shot(s, {.lag = lag, .slew = slew, .backlash = play, .exposure = 1}, peak(Shape::kRound, 60, 8), start);
      shot.run();
      SCOPED_TRACE(testing::Message() << "play " << play << ", slew " << slew << ", lag " << lag << ", from " << start);
      ASSERT_EQ(shot.search.state(), FocusState::kFocused);
      ASSERT_EQ(shot.images.size(), 7u);
      const double way = shot.images[1].position - shot.images[0].position;
      EXPECT_EQ(std::abs(way), 2);
      for (std::size_t i = 0; i < shot.images.size(); ++i) {
        EXPECT_EQ(shot.images[i].number, static_cast<int>(i) + 1);
        EXPECT_EQ(shot.images[i].count, 7);
        EXPECT_EQ(shot.images[i].position, shot.images[0].position + way * static_cast<double>(i));
        EXPECT_NEAR(shot.stood[i], shot.stood[0] + way * static_cast<double>(i), 1e-9);
      }
      EXPECT_NEAR(shot.stood[3], 60, 1) << "the middle one is in focus";
      EXPECT_EQ(shot.search.position(), shot.images[3].position) << "and the lens goes back there";
    }
}

TEST(FocusStack, WaitsForALensThatIsSlowerThanItWasSet) {
  for (const double slew : {8.0, 4.0})
    for (double start = 0; start <= 100; start += 10) {
      Shot shot(stack_of(5, 3), {.lag = 2, .slew = slew, .exposure = 1}, peak(Shape::kRound, 60, 8), start);
      shot.run();
      ASSERT_EQ(shot.images.size(), 5u) << "from " << start;
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_EQ(shot.stood[i], shot.images[i].position) << slew << " from " << start;
    }
}

TEST(FocusStack, IsCompleteWhateverTheNoise) {
  int complete = 0, focused = 0, near = 0;
  SplitMix random(3);
  for (int run = 0; run < 100; ++run) {
    const Scene scene = peak(Shape::kRound, 20 + 60 * random.uniform(), 6 + 6 * random.uniform());
    Shot shot(
        stack_of(9, 2), {.lag = 2, .backlash = run % 2 ? 5.0 : 0.0},
        [&](double x) { return scene(x) * (1 + 0.03 * gaussian(random)); }, std::floor(101 * random.uniform()));
    shot.run();
    if (shot.search.state() != FocusState::kFocused) continue;
    ++focused;
    complete += shot.images.size() == 9;
    near += shot.images.size() == 9 && std::abs(shot.stood[8] - shot.stood[0]) == 16;
  }
  std::printf("noise 3%%: %d of 100 in focus, of these %d stacks complete, %d of their length\n", focused, complete,
              near);
  EXPECT_GE(focused, 90);
  EXPECT_EQ(complete, focused);
  EXPECT_EQ(near, focused);
}

TEST(FocusStack, AscendsIfTheLensHasNoPlay) {
  FocusSettings s = stack_of(5, 3);
  s.backlash = 0;
  for (const double start : {0.0, 100.0}) {
    Shot shot(s, {.lag = 2}, peak(Shape::kRound, 60, 8), start);
    shot.run();
    ASSERT_EQ(shot.images.size(), 5u);
    EXPECT_LT(shot.images[0].position, shot.images[4].position);
  }
}

TEST(FocusStack, StepFollowsFromTheWidthOfThePeak) {
  for (const double width : {4.0, 12.0}) {
    const Scene scene = peak(Shape::kRound, 50, width);
    Shot shot(stack_of(3), {}, scene);
    shot.run();
    ASSERT_EQ(shot.images.size(), 3u);
    const double middle = shot.images[1].position, step = std::abs(shot.images[2].position - middle);
    EXPECT_NEAR(step, 0.9 * width / 1.1774, 0.25 * width);
    EXPECT_GT(scene(middle + step / 2), 0.8 * scene(middle)) << "no gap between the images";
    EXPECT_LT(scene(middle + step), 0.8 * scene(middle)) << "nor the same image twice";
  }
}

TEST(FocusStack, IsAStateOfItsOwnBeforeTheFocus) {
  Shot shot(stack_of(3, 4), {.lag = 2}, peak(Shape::kRound, 50, 8));
  shot.run();
  const auto stack = std::find(shot.states.begin(), shot.states.end(), FocusState::kStack);
  ASSERT_NE(stack, shot.states.end());
  EXPECT_EQ(std::count(shot.states.begin(), shot.states.end(), FocusState::kFocused), 1);
  EXPECT_TRUE(std::all_of(stack, shot.states.end() - 1, [](FocusState s) { return s == FocusState::kStack; }));
  EXPECT_NEAR(shot.search.curve().top, 50, 1);
  EXPECT_GT(shot.search.curve().certainty, 0.9);
  EXPECT_STREQ(shot.search.reason(), "the stack is complete");
  shot.frame();
  EXPECT_EQ(shot.search.stack_image().number, 0);
}

TEST(FocusStack, FollowsEachSearchThatFindsFocus) {
  Shot flat(stack_of(3), {}, [](double) { return 7.0; });
  flat.run();
  EXPECT_EQ(flat.search.state(), FocusState::kFailed);
  EXPECT_TRUE(flat.images.empty());
  Shot shot(stack_of(3), {}, peak(Shape::kRound, 50, 8));
  shot.run();
  shot.search.trigger();
  shot.run();
  EXPECT_EQ(shot.images.size(), 6u);
  shot.search.configure(stack_of(0));
  shot.search.trigger();
  shot.run();
  EXPECT_EQ(shot.images.size(), 6u);
}

TEST(FocusStack, EndsWhereItIsCancelled) {
  Shot shot(stack_of(9, 2), {}, peak(Shape::kRound, 50, 8));
  while (shot.images.size() < 2 && shot.states.size() < 1000) shot.frame();
  shot.search.cancel();
  EXPECT_EQ(shot.search.state(), FocusState::kIdle);
  for (int i = 0; i < 50; ++i) shot.frame();
  EXPECT_EQ(shot.images.size(), 2u);
}

}  // namespace
}  // namespace framequality::test
