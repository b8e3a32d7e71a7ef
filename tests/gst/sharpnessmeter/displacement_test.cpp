// SPDX-License-Identifier: LGPL-2.1-or-later
// How far the image moves: frames cut out of a painted world, at places that are known.
#include "gst/sharpnessmeter/displacement.h"

#include "tests/gst/gray_frame.h"
#include "tests/gst/rig.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace framequality::test {
namespace {

constexpr int kWidth = 480, kHeight = 270;
const double kDiagonal = std::hypot(kWidth, kHeight);

/// Discs of all sizes painted over each other, which have the statistics of photographs (dead leaves; Lee, Mumford and
/// Huang 2001).
class World {
 public:
  explicit World(std::uint64_t seed) : random_(seed), pixels_(static_cast<std::size_t>(kSide) * kSide) {
    for (int i = 0; i < 9000; ++i) {
      const double radius = 3 / std::sqrt(0.0006 + uniform());
      paint(uniform() * kSide, uniform() * kSide, radius, 255 * uniform());
    }
  }

  struct Eye {
    double x = 600, y = 600;  ///< of the view's middle
    double turn = 0;          ///< degrees
    double noise = 0, light = 1;
  };
  std::vector<std::uint16_t> view(const Eye& eye) {
    const double c = std::cos(eye.turn * std::numbers::pi / 180), s = std::sin(eye.turn * std::numbers::pi / 180);
    std::vector<std::uint16_t> values;
    for (int j = 0; j < kHeight; ++j)
      for (int i = 0; i < kWidth; ++i) {
        const double u = i - kWidth / 2.0, v = j - kHeight / 2.0;
        const double value = eye.light * at(eye.x + c * u - s * v, eye.y + s * u + c * v) + eye.noise * normal();
        values.push_back(static_cast<std::uint16_t>(std::clamp(value, 0.0, 255.0)));
      }
    return values;
  }

 private:
  static constexpr int kSide = 1200;

  double uniform() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }
  double normal() { return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(2 * std::numbers::pi * uniform()); }
  void paint(double x, double y, double radius, double value) {
    for (int j = std::max(0, static_cast<int>(y - radius)); j < std::min<double>(kSide, y + radius); ++j)
      for (int i = std::max(0, static_cast<int>(x - radius)); i < std::min<double>(kSide, x + radius); ++i)
        if (std::hypot(i - x, j - y) < radius)
          pixels_[static_cast<std::size_t>(j) * kSide + static_cast<std::size_t>(i)] = static_cast<float>(value);
  }
  double at(double x, double y) const {
    const int i = static_cast<int>(x), j = static_cast<int>(y);
    const double a = x - i, b = y - j;
    const float* p = pixels_.data() + static_cast<std::ptrdiff_t>(j) * kSide + i;
    return (1 - b) * ((1 - a) * p[0] + a * p[1]) + b * ((1 - a) * p[kSide] + a * p[kSide + 1]);
  }

  Random random_;
  std::vector<float> pixels_;
};

class DisplacementTest : public ::testing::Test {
 protected:
  Displacement next(const std::vector<std::uint16_t>& values) {
    const GrayFrame frame(values, kWidth, kHeight, 8);
    if (!meter_) meter_.emplace(frame.geometry);
    return meter_->next(frame.frame);
  }
  Displacement see(const World::Eye& eye) { return next(world_.view(eye)); }
  /// Distance from where the content must be that was in the middle when the eye was at the default place.
  static double error(const Displacement& d, const World::Eye& eye) {
    return std::hypot(d.x - (World::Eye{}.x - eye.x) / kDiagonal, d.y - (World::Eye{}.y - eye.y) / kDiagonal);
  }

  World world_{1};
  std::optional<DisplacementMeter> meter_;
};

TEST_F(DisplacementTest, StaysWhereNothingButNoiseChanges) {
  for (int i = 0; i < 60; ++i) {
    const World::Eye eye{.noise = 6};
    const Displacement d = see(eye);
    EXPECT_LT(error(d, eye), 0.001) << i;
    EXPECT_EQ(d.shot, 0u);
  }
}

TEST_F(DisplacementTest, FollowsAPanFarBeyondTheFirstFrame) {
  World::Eye eye{.noise = 2};
  for (int i = 0; i <= 40; ++i) {
    eye.x = 600 + 6.5 * i * (i < 20 ? 1 : -1) + (i < 20 ? 0 : 6.5 * 40);
    eye.y = 600 - 3.25 * i;
    EXPECT_LT(error(see(eye), eye), 0.006) << i;
  }
  EXPECT_LT(error(see({}), {}), 0.01) << "back where it began, over all references";
}

TEST_F(DisplacementTest, ExposureAndSmallTurnsAreNoMovement) {
  see({});
  for (const World::Eye& eye : {World::Eye{.light = 0.5}, World::Eye{.turn = 1}, World::Eye{.turn = 3},
                                World::Eye{.turn = 5}, World::Eye{.noise = 4, .light = 0.25}}) {
    const Displacement d = see(eye);
    EXPECT_LT(error(d, eye), 0.005) << eye.turn << " degrees, light " << eye.light;
    EXPECT_EQ(d.shot, 0u) << eye.turn << " degrees, light " << eye.light;
  }
}

TEST_F(DisplacementTest, BackgroundOutvotesAnObjectThatCrossesIt) {
  World other(2);
  const std::vector<std::uint16_t> object = other.view({});
  for (int i = 0; i < 25; ++i) {
    const World::Eye eye{.x = 600 + 1.5 * i};
    std::vector<std::uint16_t> values = world_.view(eye);
    for (int y = 60; y < 200; ++y)
      for (int x = 0; x < 130; ++x)
        values[static_cast<std::size_t>(y * kWidth + 12 * i + x)] = object[static_cast<std::size_t>(y * kWidth + x)];
    EXPECT_LT(error(next(values), eye), 0.006) << i;
  }
}

TEST_F(DisplacementTest, BackgroundOutvotesLargeObjectsWhileTheCameraTurns) {
  World other(2);
  const std::vector<std::uint16_t> object = other.view({});
  int wrong = 0;
  constexpr int kPairs = 20;
  Random random(3);
  for (int i = 0; i < kPairs; ++i) {
    const World::Eye eye{.x = 600 + random.next() % 40 - 20.0, .y = 600 + random.next() % 40 - 20.0, .turn = 2};
    std::vector<std::uint16_t> first = world_.view({}), second = world_.view(eye);
    // Two objects on an eighth of the view each.
    for (int k = 0; k < 2; ++k) {
      const int left = static_cast<int>(random.next() % 280), top = static_cast<int>(random.next() % 140);
      const int right = static_cast<int>(random.next() % 30), down = static_cast<int>(random.next() % 30);
      for (int y = 0; y < 96; ++y)
        for (int x = 0; x < 170; ++x) {
          const std::uint16_t value = object[static_cast<std::size_t>((k * 96 + y) * kWidth + x)];
          first[static_cast<std::size_t>((top + y) * kWidth + left + x)] = value;
          second[static_cast<std::size_t>((top + down + y) * kWidth + left + right + x)] = value;
        }
    }
    meter_.reset();
    next(first);
    if (error(next(second), eye) > 0.01) ++wrong;
  }
  EXPECT_LE(wrong, 1) << "of " << kPairs;
}

TEST_F(DisplacementTest, CutsBeginNewShots) {
  World other(2);
  see({});
  EXPECT_GT(see({.x = 640}).x, -0.1);
  const Displacement cut = next(other.view({.x = 500}));
  EXPECT_EQ(cut.shot, 1u);
  EXPECT_EQ(cut.x, 0);
  EXPECT_EQ(cut.y, 0);
  const Displacement after = next(other.view({.x = 520}));
  EXPECT_EQ(after.shot, 1u);
  EXPECT_NEAR(after.x, -20 / kDiagonal, 0.003);
}

TEST_F(DisplacementTest, FramesThatShowNothingKeepThePlace) {
  see({});
  const Displacement before = see({.x = 630});
  const Displacement black = next(std::vector<std::uint16_t>(static_cast<std::size_t>(kWidth) * kHeight, 16));
  EXPECT_EQ(black.x, before.x);
  EXPECT_EQ(black.shot, 0u);
  EXPECT_LT(error(see({.x = 640}), {.x = 640}), 0.006);
}

TEST_F(DisplacementTest, SmallestFrames) {
  EXPECT_FALSE(DisplacementMeter::takes({15, 400, {}}));
  const std::vector<std::uint16_t> values(16 * 16, 7);
  const GrayFrame frame(values, 16, 16, 8);
  DisplacementMeter meter(frame.geometry);
  meter.next(frame.frame);
  EXPECT_EQ(meter.next(frame.frame).x, 0);
  for (const auto& [width, height] : {std::pair{17, 31}, std::pair{1000, 16}, std::pair{19, 517}}) {
    Random random(3);
    std::vector<std::uint16_t> noise(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    for (auto& value : noise) value = static_cast<std::uint16_t>(random.below(256));
    const GrayFrame noisy(noise, width, height, 8);
    DisplacementMeter odd(noisy.geometry);
    odd.next(noisy.frame);
    EXPECT_NEAR(odd.next(noisy.frame).x, 0, 1e-3) << width << "x" << height;
  }
}

TEST_F(DisplacementTest, DeepFormatsMoveAsBytesDo) {
  DisplacementMeter deep({kWidth, kHeight, {.depth = 10, .word_bytes = 2, .pixel_stride = 2}});
  for (int i = 0; i < 3; ++i) {
    const World::Eye eye{.x = 600.0 + 20 * i};
    std::vector<std::uint16_t> values = world_.view(eye);
    for (auto& value : values) value = static_cast<std::uint16_t>(4 * value);
    const GrayFrame frame(values, kWidth, kHeight, 10);
    EXPECT_LT(error(deep.next(frame.frame), eye), 0.003) << i;
  }
}

TEST(DisplacementProperty, FieldsAreThereWhileItIsSet) {
  Rig rig;
  const std::string caps = video_caps("RGB", 64, 48);
  rig.caps(caps);
  rig.pass(random_buffer(caps, 1));
  rig.set("displacement", "true");
  rig.pass(random_buffer(caps, 1));
  rig.pass(random_buffer(caps, 1));
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.results.size(), 3u);
  EXPECT_FALSE(gst_structure_has_field(heard.results[0].get(), "displacement"));
  for (const std::size_t i : {1u, 2u}) {
    const GValue* moved = gst_structure_get_value(heard.results[i].get(), "displacement");
    ASSERT_TRUE(moved && GST_VALUE_HOLDS_ARRAY(moved));
    ASSERT_EQ(gst_value_array_get_size(moved), 2u);
    EXPECT_NEAR(g_value_get_double(gst_value_array_get_value(moved, 0)), 0, 1e-6);
    guint shot = 7;
    EXPECT_TRUE(gst_structure_get_uint(heard.results[i].get(), "shot", &shot));
    EXPECT_EQ(shot, 0u);
  }
}

}  // namespace
}  // namespace framequality::test
