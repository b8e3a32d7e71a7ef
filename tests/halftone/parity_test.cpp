// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on the GPU against the host twin: the same bits, wherever frames and images lie.
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "tests/halftone/scene.h"

#include <deque>
#include <stdexcept>
#include <utility>
#include <vector>

namespace framequality::test {
namespace {

using namespace halftone_scenes;

class HalftoneParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    device_ = cuda::find_device().id;
  }
  void check(const Case& c) {
    SCOPED_TRACE(c.words());
    Scene scene(c, device_);
    const Geometry g = geometry_of(c.layout, c.size);
    scene.expect(*cpu::make_halftone(g));
    const auto filter = cuda::make_halftone(g, device_);
    scene.submit(*filter);
    filter->collect();
    EXPECT_TRUE(scene.same());
    if (HasFailure()) ++failures_;
    ASSERT_LT(failures_, 10) << "enough";
  }

  int device_ = -1, failures_ = 0;
};

/// Frames in host memory become pictures there; those on the device, on either side.
constexpr std::pair<MemoryKind, MemoryKind> kWays[] = {{MemoryKind::kPageable, MemoryKind::kPageable},
                                                       {MemoryKind::kPinned, MemoryKind::kPinned},
                                                       {MemoryKind::kDevice, MemoryKind::kDevice},
                                                       {MemoryKind::kDevice, MemoryKind::kPageable},
                                                       {MemoryKind::kDevice, MemoryKind::kPinned}};

/// Every method, and every table of the tone-dependent one.
std::vector<Settings> methods() {
  std::vector<Settings> all(2);
  all[1].method = Method::kBlueNoise;
  for (const ToneTable* table : kToneTables) {
    Settings s;
    s.method = Method::kToneDependent;
    s.swath_rows = table->swath_rows;
    all.push_back(s);
  }
  return all;
}

TEST_F(HalftoneParity, EveryMethodAndSize) {
  std::uint64_t seed = 1;
  for (const Size size : kSides)
    for (const Settings& settings : methods())
      for (const Content content : halftone_pictures::kFills) {
        Case c;
        c.size = size;
        c.settings = settings;
        c.content = content;
        c.seed = seed++;
        c.settings.packed = seed % 5 == 0;
        c.fields = seed % 7 == 0 ? 2 : 1;
        if (is_quick() && seed % 11) continue;
        ASSERT_NO_FATAL_FAILURE(check(c));
      }
}

TEST_F(HalftoneParity, EveryLevelStrengthAndTone) {
  std::uint64_t seed = 1;
  for (const Settings& settings : methods())
    for (const int levels : {2, 4, 16})
      for (const int strength : {0, 1, 200, 255, 256})
        for (const char* const layout : {"GRAY8", "GRAY16_LE"})
          for (const Content content : {Content::kRandom, Content::kStripes, Content::kRamp}) {
            Case c;
            c.layout = layout;
            c.size = {201, 67};
            c.settings = settings;
            c.settings.levels = levels;
            c.settings.strength = strength;
            c.settings.packed = levels == 2 && seed % 2 == 0;
            c.settings.tone = {seed % 3 == 0, static_cast<Light>(seed % 3), seed % 4 == 0};
            c.content = content;
            c.seed = seed++;
            if (is_quick() && seed % 13) continue;
            ASSERT_NO_FATAL_FAILURE(check(c));
          }
}

TEST_F(HalftoneParity, EveryLayoutAndPlacement) {
  std::uint64_t seed = 1;
  for (const NamedLayout& named : layouts())
    for (const auto& [where, out] : kWays)
      for (const Placement from : kPlacements)
        for (const Placement to : kPlacements) {
          Case c;
          c.layout = named.name;
          c.size = {seed % 2 ? 67 : 130, 37};
          c.where = where;
          c.out = out;
          c.from = from;
          c.to = to;
          c.settings = methods()[seed % methods().size()];
          c.settings.packed = seed % 3 == 0;
          c.settings.tone.limited = seed % 2 == 0;
          c.fields = seed % 5 == 0 ? 2 : 1;
          c.seed = seed++;
          if (is_quick() && seed % 23) continue;
          ASSERT_NO_FATAL_FAILURE(check(c));
        }
}

TEST_F(HalftoneParity, WideTallAndLarge) {
  for (const Size size : {Size{40000, 35}, {37, 3000}, {1, 5000}, {70000, 2}, {2500, 1900}, {8192, 8192}})
    for (const Settings& settings : methods()) {
      const bool is_large = size.width == 8192;
      // Narrow swaths of a large picture take a GPU long, and the CPU too.
      if (is_large && settings.method == Method::kToneDependent && settings.swath_rows < kMaxSwathRows) continue;
      for (const Content content : {Content::kNoisyEnds, Content::kRandom}) {
        Case c;
        c.size = size;
        c.settings = settings;
        c.content = content;
        c.settings.packed = content == Content::kRandom;
        if (is_quick() && (size.width > 2000 || size.height > 3000)) continue;
        ASSERT_NO_FATAL_FAILURE(check(c));
      }
    }
}

/// One filter, settings that change from frame to frame: what earlier frames left must not be taken for this one's.
TEST_F(HalftoneParity, FramesInFlightWithChangingSettings) {
  for (const int depth : {1, 2, 3, 16})
    for (const auto& [where, out] : kWays) {
      if (is_quick() && depth > 2) continue;
      const Size size{333, 290};
      const Geometry g = geometry_of("GRAY8", size);
      const auto twin = cpu::make_halftone(g);
      const auto filter = cuda::make_halftone(g, device_, depth);
      std::deque<Scene> scenes;
      const int frames = 4 * depth + 8;
      for (int f = 0; f < frames + depth; ++f) {
        if (f >= depth) {
          filter->collect();
          ASSERT_TRUE(scenes[static_cast<std::size_t>(f - depth)].same())
              << "frame " << f - depth << " depth " << depth;
        }
        if (f >= frames) continue;
        Case c;
        c.size = size;
        c.where = where;
        c.out = out;
        c.seed = static_cast<std::uint64_t>(f) + 1;
        c.content = halftone_pictures::kFills[static_cast<std::size_t>(f) % std::size(halftone_pictures::kFills)];
        if (f % 3 == 2) c.settings = methods()[static_cast<std::size_t>(f) % methods().size()];
        c.settings.packed = f % 4 == 1;
        c.settings.tone.invert = f % 5 == 3;
        c.fields = 1 + (f % 7 == 5);
        scenes.emplace_back(c, device_);
        scenes.back().expect(*twin);
        scenes.back().submit(*filter);
      }
    }
}

TEST_F(HalftoneParity, TheSameBitsEveryTime) {
  Case c;
  c.size = {1920, 1080};
  Scene scene(c, device_);
  const Geometry g = geometry_of(c.layout, c.size);
  scene.expect(*cpu::make_halftone(g));
  const auto filter = cuda::make_halftone(g, device_);
  for (int i = 0; i < (is_quick() ? 2 : 200); ++i) {
    scene.submit(*filter);
    filter->collect();
    ASSERT_TRUE(scene.same()) << "time " << i;
  }
}

TEST_F(HalftoneParity, PendingFramesMayBeAbandoned) {
  Case c;
  c.size = {641, 361};
  c.where = c.out = MemoryKind::kPinned;
  Scene scene(c, device_);
  for (int turn = 0; turn < 3; ++turn) {
    const auto filter = cuda::make_halftone(geometry_of(c.layout, c.size), device_, 3);
    for (int i = 0; i < 3; ++i) scene.submit(*filter);
  }
}

TEST_F(HalftoneParity, EmptyPicturesAreDoneAtOnce) {
  const auto filter = cuda::make_halftone(geometry_of("GRAY8", {0, 0}), device_);
  filter->submit({{}, {}, {}, 1});
  filter->collect();
}

TEST_F(HalftoneParity, MisuseThrows) {
  Case c;
  Scene scene(c, device_);
  const auto filter = cuda::make_halftone(geometry_of(c.layout, c.size), device_);
  EXPECT_THROW(filter->collect(), std::logic_error);
  Sheet sheet(target_row_bytes(c.size.width, false), c.size.height, Placement::kTight, MemoryKind::kPageable, device_);
  const Target out = sheet.target();
  Frame frame;
  frame.plane[0] = out.row0;
  Settings serpentine, wrong;
  serpentine.serpentine = true;
  wrong.levels = 3;
  EXPECT_THROW(filter->submit({frame, out, serpentine, 1}), std::invalid_argument);
  EXPECT_THROW(filter->submit({frame, out, wrong, 1}), std::invalid_argument);
  EXPECT_THROW(filter->submit({frame, out, {}, 3}), std::invalid_argument);
  Target on_device = out;
  on_device.memory = Memory::kCuda;
  EXPECT_THROW(filter->submit({frame, on_device, {}, 1}), std::invalid_argument);
  scene.submit(*filter);
  EXPECT_THROW(scene.submit(*filter), std::logic_error);
  filter->collect();
}

}  // namespace
}  // namespace framequality::test
