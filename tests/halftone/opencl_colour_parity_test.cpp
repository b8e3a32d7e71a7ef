// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to palettes on an OpenCL device against the host twin: the same bits in every layout and output.
#include "opencl/context.h"
#include "opencl/halftone/filter.h"
#include "tests/halftone/colour_scene.h"
#include "tests/support/opencl.h"

namespace framequality::test {
namespace {

using namespace halftone_scenes;

class OpenclHalftoneColour : public testing::Test {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    context_ = opencl::Context::of(opencl_device().id);
  }
  std::unique_ptr<ColourFilter> filter_for(const PictureGeometry& geometry, int depth = 1) const {
    return opencl::make_colour_halftone(geometry, context_->id(), depth);
  }
  void check(const std::vector<ColourCase>& cases) const {
    for (const ColourCase& c : cases) {
      if (is_quick() && c.seed % 17) continue;
      ColourScene scene(c, 0);
      scene.expect(*cpu::make_colour_halftone(c.geometry(), 1));
      const auto filter = filter_for(c.geometry());
      scene.submit(*filter);
      filter->collect();
      ASSERT_TRUE(scene.same());
    }
  }

  std::shared_ptr<opencl::Context> context_;
};

TEST_F(OpenclHalftoneColour, EveryLayoutOutputAndPlacement) { check(colour_cases(2)); }
TEST_F(OpenclHalftoneColour, EverySizeAndField) { check(small_colour_cases()); }

TEST_F(OpenclHalftoneColour, FramesInFlightWithChangingSettings) {
  expect_settings_change([&](const PictureGeometry& g, int depth) { return filter_for(g, depth); });
}

TEST_F(OpenclHalftoneColour, EmptyPicturesAreDoneAtOnce) {
  ColourCase c;
  const auto filter = filter_for({0, 0, c.picture.layout});
  filter->submit({{}, {}, c.settings, 1});
  filter->collect();
}

TEST_F(OpenclHalftoneColour, MisuseThrows) {
  expect_misuse_throws(*filter_for(ColourCase().geometry()), Memory::kCuda);
}

}  // namespace
}  // namespace framequality::test
