// SPDX-License-Identifier: LGPL-2.1-or-later
// Halftoning of every layout, wherever the frame lies: what is written is that of its luma, what is read is the
// frame's.
#include "tests/support/layouts.h"

#include "cpu/dispatch.h"
#include "cpu/halftone/filter.h"
#include "tests/halftone/reference.h"
#include "tests/support/pictures.h"

#include <gtest/gtest.h>

namespace framequality::test {
namespace {

using namespace halftone;

TEST(HalftoneLayouts, EveryLayoutAndPlacementGivesTheBitsOfItsLuma) {
  std::uint64_t seed = 1;
  for (const NamedLayout& named : layouts())
    for (const Placement placement : kPlacements)
      for (const auto& [width, height] : {std::pair{1, 1}, {67, 35}, {131, 20}}) {
        const Picture picture({width, height, named.layout}, Fill::kRandom, placement, seed++);
        Settings s;
        s.method = static_cast<Method>(seed % 3);
        s.tone.limited = seed % 2 == 0;
        s.tone.invert = seed % 4 > 1;
        Grid2<int> tones(width, height);
        for (std::size_t i = 0; i < tones.values.size(); ++i)
          tones.values[i] = tone_of(picture.codes()[i], named.layout.depth, s.tone);
        const auto levels = halftone_of(tones, s);
        for (const auto isa : cpu::instruction_sets()) {
          // A negative stride: the last row first in memory.
          std::vector<std::uint8_t> out(tones.values.size());
          const auto filter = cpu::make_halftone(picture.geometry(), 2, isa);
          filter->submit(
              {picture.frame(), {&out[static_cast<std::size_t>(width * (height - 1))], -width, Memory::kHost}, s, 1});
          filter->collect();
          int different = 0;
          for (int y = 0; y < height; ++y)
            for (int x = 0; x < width; ++x)
              different += out[static_cast<std::size_t>((height - 1 - y) * width + x)] != 255 * levels.at(x, y);
          EXPECT_EQ(different, 0) << named.name << " " << kPlacementNames[static_cast<std::size_t>(placement)] << " "
                                  << width << "x" << height << " isa " << isa << " method "
                                  << static_cast<int>(s.method);
        }
      }
}

}  // namespace
}  // namespace framequality::test
