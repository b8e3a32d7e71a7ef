// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning on an OpenCL device against the host twin: the same bits, wherever frames and images lie.
#include "opencl/halftone/device_filter.h"
#include "opencl/halftone/filter.h"
#include "tests/halftone/scene.h"
#include "tests/support/opencl.h"

#include <deque>
#include <stdexcept>

namespace framequality::test {
namespace {

using namespace halftone_scenes;

class OpenclHalftone : public testing::Test {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    context_ = opencl::Context::of(opencl_device().id);
    // The device's own number of work items, one, and others that rows do and do not divide by.
    const auto most = static_cast<int>(context_->device().group_items);
    items_ = {opencl::diffusion_items(context_->device()), 1, std::min(32, most), std::min(64, most)};
  }
  std::unique_ptr<Filter> filter_for(const Geometry& geometry, std::size_t items, int depth = 1) const {
    return std::make_unique<opencl::DeviceHalftone>(geometry, context_, depth, items_[items % items_.size()]);
  }
  void check(const Case& c) {
    SCOPED_TRACE(c.words() + ", items " + std::to_string(items_[c.seed % items_.size()]));
    Scene scene(c, 0);
    const Geometry g = geometry_of(c.layout, c.size);
    scene.expect(*cpu::make_halftone(g));
    const auto filter = filter_for(g, c.seed);
    scene.submit(*filter);
    filter->collect();
    EXPECT_TRUE(scene.same());
    if (HasFailure()) ++failures_;
    ASSERT_LT(failures_, 10) << "enough";
  }
  static Case pageable() {
    Case c;
    c.where = c.out = MemoryKind::kPageable;
    return c;
  }

  std::shared_ptr<opencl::Context> context_;
  std::vector<int> items_;
  int failures_ = 0;
};

constexpr Method kMethods[] = {Method::kFloydSteinberg, Method::kBlueNoise};

TEST_F(OpenclHalftone, EveryMethodAndSize) {
  std::uint64_t seed = 1;
  for (const Size size : kSides)
    for (const Method method : kMethods)
      for (const Content content : halftone_pictures::kFills) {
        Case c = pageable();
        c.size = size;
        c.settings.method = method;
        c.content = content;
        c.seed = seed++;
        c.settings.packed = seed % 5 == 0;
        c.fields = seed % 7 == 0 ? 2 : 1;
        if (is_quick() && seed % 11) continue;
        ASSERT_NO_FATAL_FAILURE(check(c));
      }
}

TEST_F(OpenclHalftone, EveryLevelStrengthAndTone) {
  std::uint64_t seed = 1;
  for (const Method method : kMethods)
    for (const int levels : {2, 4, 16})
      for (const int strength : {0, 1, 200, 255, 256})
        for (const char* const layout : {"GRAY8", "GRAY16_LE"})
          for (const Content content : {Content::kRandom, Content::kStripes, Content::kRamp}) {
            Case c = pageable();
            c.layout = layout;
            c.size = {201, 67};
            c.settings.method = method;
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

TEST_F(OpenclHalftone, EveryLayoutAndPlacement) {
  std::uint64_t seed = 1;
  for (const NamedLayout& named : layouts())
    for (const Placement from : kPlacements)
      for (const Placement to : kPlacements) {
        Case c = pageable();
        c.layout = named.name;
        c.size = {seed % 2 ? 67 : 130, 37};
        c.from = from;
        c.to = to;
        c.settings.method = kMethods[seed % 2];
        c.settings.packed = seed % 3 == 0;
        c.settings.tone.limited = seed % 2 == 0;
        c.fields = seed % 5 == 0 ? 2 : 1;
        c.seed = seed++;
        if (is_quick() && seed % 47) continue;
        ASSERT_NO_FATAL_FAILURE(check(c));
      }
}

TEST_F(OpenclHalftone, WideTallAndLarge) {
  for (const Size size : {Size{40000, 35}, {37, 3000}, {1, 5000}, {70000, 2}, {1920, 1080}})
    for (const Method method : kMethods) {
      Case c = pageable();
      c.size = size;
      c.settings.method = method;
      c.content = Content::kNoisyEnds;
      c.settings.packed = size.width % 2 == 0;
      c.seed = static_cast<std::uint64_t>(size.width);
      if (is_quick() && (size.width > 2000 || size.height > 3000)) continue;
      ASSERT_NO_FATAL_FAILURE(check(c));
    }
}

/// One filter, settings that change from frame to frame: what earlier frames left must not be taken for this one's.
TEST_F(OpenclHalftone, FramesInFlightWithChangingSettings) {
  for (const int depth : {1, 2, 3, 16}) {
    if (is_quick() && depth > 2) continue;
    const Size size{333, 290};
    const Geometry g = geometry_of("GRAY8", size);
    const auto twin = cpu::make_halftone(g);
    const auto filter = filter_for(g, static_cast<std::size_t>(depth), depth);
    std::deque<Scene> scenes;
    const int frames = 2 * depth + 8;
    for (int f = 0; f < frames + depth; ++f) {
      if (f >= depth) {
        filter->collect();
        ASSERT_TRUE(scenes[static_cast<std::size_t>(f - depth)].same()) << "frame " << f - depth << " depth " << depth;
      }
      if (f >= frames) continue;
      Case c = pageable();
      c.size = size;
      c.seed = static_cast<std::uint64_t>(f) + 1;
      c.content = halftone_pictures::kFills[static_cast<std::size_t>(f) % std::size(halftone_pictures::kFills)];
      c.settings.method = kMethods[f % 3 == 2];
      c.settings.packed = f % 4 == 1;
      c.settings.tone.invert = f % 5 == 3;
      c.fields = 1 + (f % 7 == 5);
      scenes.emplace_back(c, 0);
      scenes.back().expect(*twin);
      scenes.back().submit(*filter);
    }
  }
}

TEST_F(OpenclHalftone, PendingFramesMayBeAbandoned) {
  Case c = pageable();
  c.size = {641, 361};
  Scene scene(c, 0);
  for (int turn = 0; turn < 3; ++turn) {
    const auto filter = filter_for(geometry_of(c.layout, c.size), 0, 3);
    for (int i = 0; i < 3; ++i) scene.submit(*filter);
  }
}

TEST_F(OpenclHalftone, EmptyPicturesAreDoneAtOnce) {
  const auto filter = opencl::make_halftone(geometry_of("GRAY8", {0, 0}), context_->id());
  filter->submit({{}, {}, {}, 1});
  filter->collect();
}

TEST_F(OpenclHalftone, MisuseThrows) {
  Case c = pageable();
  Scene scene(c, 0);
  const auto filter = opencl::make_halftone(geometry_of(c.layout, c.size), context_->id());
  EXPECT_THROW(filter->collect(), std::logic_error);
  Sheet sheet(target_row_bytes(c.size.width, false), c.size.height, Placement::kTight, MemoryKind::kPageable, 0);
  const Target out = sheet.target();
  Frame frame;
  frame.plane[0] = out.row0;
  Settings serpentine, wrong, tone_dependent;
  serpentine.serpentine = true;
  wrong.levels = 3;
  tone_dependent.method = Method::kToneDependent;
  for (const Settings& settings : {serpentine, wrong, tone_dependent})
    EXPECT_THROW(filter->submit({frame, out, settings, 1}), std::invalid_argument);
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
