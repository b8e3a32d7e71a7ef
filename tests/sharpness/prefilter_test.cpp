// SPDX-License-Identifier: LGPL-2.1-or-later
// Prefiltered totals at every width up to a few vectors, where smoothing and measuring meet the image's edges.
#include "tests/sharpness/measure.h"
#include "tests/support/layouts.h"
#include "tests/support/random.h"

#include <gtest/gtest.h>
#include <memory>
#include <string_view>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

/// Rows of at most this many samples are a few of the widest vectors, their overlap and their taps included.
constexpr int kWidest = 200;

/// A rectangle that begins anywhere, some of them as wide or as high as the picture.
Rect random_roi(Random& random, int width, int height) {
  Rect r{random.below(width), random.below(height), 0, 0};
  r.width = random.one_in(3) ? width - r.x : 1 + random.below(static_cast<int>(width - r.x));
  r.height = random.one_in(3) ? height - r.y : 1 + random.below(static_cast<int>(height - r.y));
  return r;
}

/// All metrics with both prefilters, each on a request of its own.
void expect_totals_at_every_width(const PixelLayout& layout) {
  Random random(layout.depth + 100u * layout.shift);
  for (int width = 1; width <= kWidest; ++width) {
    // Now and then more than a block of rows.
    const int height = width % 6 == 0 ? 49 + random.below(8) : 1 + random.below(9);
    const Geometry geometry{width, height, layout};
    Picture picture(geometry, kFills[static_cast<std::size_t>(random.below(static_cast<int>(kFills.size())))],
                    kPlacements[static_cast<std::size_t>(width) % kPlacements.size()], random.next());
    Reference reference(picture.codes(), width, height, layout.depth, layout.cell());
    std::vector<std::unique_ptr<Meter>> meters;
    for (const std::string_view isa : cpu::instruction_sets()) meters.push_back(cpu::make_meter(geometry, isa));
    for (int metric = 0; metric < kMetricCount; ++metric)
      for (const Prefilter prefilter : {Prefilter::kBinomial3, Prefilter::kBinomial5}) {
        Request request;
        request.metric = metric;
        request.prefilter = prefilter;
        request.mean = random.one_in(3);
        if (random.one_in(2)) request.roi = random_roi(random, width, height);
        request.zone_columns = 1 + random.below(3);
        const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
        const Totals expected = reference.totals(request);
        for (std::size_t i = 0; i < meters.size(); ++i) {
          meters[i]->submit({picture.frame(), plan});
          ASSERT_TRUE(equal_totals(*plan, expected.values, meters[i]->collect()))
              << cpu::instruction_sets()[i] << " " << width << "x" << height << " " << describe(request);
        }
      }
    ASSERT_TRUE(picture.untouched()) << width;
  }
}

TEST(Prefilter, BytesAtEveryWidth) { expect_totals_at_every_width(luma_layout(8, 1)); }
TEST(Prefilter, TenBitsAtEveryWidth) { expect_totals_at_every_width(luma_layout(10, 2)); }
TEST(Prefilter, TenHighBitsAtEveryWidth) { expect_totals_at_every_width(luma_layout(10, 2, 6)); }
TEST(Prefilter, TwelveBitsAtEveryWidth) { expect_totals_at_every_width(luma_layout(12, 2)); }
TEST(Prefilter, SixteenBitsAtEveryWidth) { expect_totals_at_every_width(luma_layout(16, 2)); }
TEST(Prefilter, BytesOfRgbAtEveryWidth) { expect_totals_at_every_width(packed_rgb(8, 3, 0, 1, 2)); }

}  // namespace
}  // namespace framequality::test
