// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning to palettes on the GPU against the host twin: the same bits, wherever frames and images lie.
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "tests/halftone/colour_scene.h"

#include <utility>

namespace framequality::test {
namespace {

using namespace halftone_scenes;

class HalftoneColourParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    device_ = cuda::find_device().id;
  }
  std::unique_ptr<ColourFilter> filter_for(const PictureGeometry& geometry, int depth = 1) const {
    return cuda::make_colour_halftone(geometry, device_, depth);
  }
  /// Frames in host memory become pictures there; those on the device, on either side.
  void check(const std::vector<ColourCase>& cases) const {
    constexpr std::pair<MemoryKind, MemoryKind> kWays[] = {{MemoryKind::kPageable, MemoryKind::kPageable},
                                                           {MemoryKind::kPinned, MemoryKind::kPinned},
                                                           {MemoryKind::kDevice, MemoryKind::kDevice},
                                                           {MemoryKind::kDevice, MemoryKind::kPageable}};
    for (ColourCase c : cases) {
      if (is_quick() && c.seed % 17) continue;
      for (const auto& [where, out] : kWays) {
        c.where = where;
        c.out = out;
        ColourScene scene(c, device_);
        scene.expect(*cpu::make_colour_halftone(c.geometry(), 1));
        const auto filter = filter_for(c.geometry());
        scene.submit(*filter);
        filter->collect();
        ASSERT_TRUE(scene.same());
      }
    }
  }

  int device_ = -1;
};

TEST_F(HalftoneColourParity, EveryLayoutOutputAndPlacement) { check(colour_cases(5)); }
TEST_F(HalftoneColourParity, EverySizeAndField) { check(small_colour_cases()); }

TEST_F(HalftoneColourParity, WideTallAndLarge) {
  std::vector<ColourCase> cases;
  for (const Size size : {Size{40000, 35}, {37, 3000}, {1, 70000}, {2500, 1900}}) {
    ColourCase c;
    c.size = size;
    c.settings.output = size.width % 2 ? ColourOutput::kRgb : ColourOutput::kCodes;
    c.seed = cases.size() + 1;
    cases.push_back(c);
  }
  check(cases);
}

TEST_F(HalftoneColourParity, FramesInFlightWithChangingSettings) {
  expect_settings_change([&](const PictureGeometry& g, int depth) { return filter_for(g, depth); });
}

TEST_F(HalftoneColourParity, EmptyPicturesAreDoneAtOnce) {
  ColourCase c;
  const auto filter = filter_for({0, 0, c.picture.layout});
  filter->submit({{}, {}, c.settings, 1});
  filter->collect();
}

TEST_F(HalftoneColourParity, MisuseThrows) {
  expect_misuse_throws(*filter_for(ColourCase().geometry()), Memory::kCuda);
}

}  // namespace
}  // namespace framequality::test
