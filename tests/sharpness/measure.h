// SPDX-License-Identifier: LGPL-2.1-or-later
// Measuring an image in a test, and saying where two sets of totals part.
#pragma once

#include "algorithms/sharpness/score.h"
#include "cpu/dispatch.h"
#include "cpu/sharpness/meter.h"
#include "tests/sharpness/reference.h"
#include "tests/support/pictures.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace framequality::test {

inline std::string describe(const sharpness::Rect& r) {
  return std::to_string(r.x) + "," + std::to_string(r.y) + "," + std::to_string(r.width) + "," +
         std::to_string(r.height);
}

/// The request in words that a person can type back.
inline std::string describe(const sharpness::Request& r) {
  static constexpr const char* kPrefilters[] = {"none", "binomial3", "binomial5"};
  std::string s = sharpness::metric_info(r.metric).name;
  s += std::string(" prefilter ") + kPrefilters[static_cast<int>(r.prefilter)];
  s += " downscale " + std::to_string(r.downscale);
  s += " zones " + std::to_string(r.zone_columns) + "x" + std::to_string(r.zone_rows);
  if (r.roi) s += " roi " + describe(*r.roi);
  for (const sharpness::Rect& e : r.extra) s += " extra " + describe(e);
  if (r.mean) s += " mean";
  if (r.interlaced) s += " interlaced";
  if (r.limited) s += " limited";
  if (r.statistics) s += " statistics";
  if (r.noise_correction) s += " noise-correction";
  return s;
}

/// Passes if the totals are equal; else names the first cell and word that differ.
inline testing::AssertionResult equal_totals(const sharpness::Plan& plan, std::span<const std::int64_t> expected,
                                             std::span<const std::int64_t> got) {
  const auto wanted = static_cast<std::size_t>(plan.totals());
  if (expected.size() != wanted || got.size() != wanted)
    return testing::AssertionFailure() << "the plan has " << wanted << " totals, expected holds " << expected.size()
                                       << ", got holds " << got.size();
  std::size_t differing = 0, first = 0;
  for (std::size_t i = wanted; i-- > 0;)
    if (expected[i] != got[i]) ++differing, first = i;
  if (differing == 0) return testing::AssertionSuccess();
  const auto words = static_cast<std::size_t>(plan.words);
  return testing::AssertionFailure() << differing << " of " << wanted << " totals differ, the first at cell "
                                     << first / words << " word " << first % words << ": expected " << expected[first]
                                     << ", got " << got[first];
}

/// Totals of one frame.
inline std::vector<std::int64_t> totals_of(sharpness::Meter& meter, const Frame& frame, const sharpness::Plan& plan) {
  meter.submit({frame, std::make_shared<const sharpness::Plan>(plan)});
  const std::span<const std::int64_t> t = meter.collect();
  return {t.begin(), t.end()};
}

/// Scores of a picture, after every instruction set has been found to give the reference's totals.
inline sharpness::Scores scores_of(Picture& picture, const sharpness::Request& request) {
  const Geometry& g = picture.geometry();
  const sharpness::Plan plan = sharpness::make_plan(g, request);
  EXPECT_EQ(plan.refusal, "");
  Reference reference(picture.codes(), g.width, g.height, g.layout.depth, g.layout.cell());
  const Totals expected = reference.totals(request);
  EXPECT_EQ(plan.pixels, expected.pixels) << describe(request);
  for (const std::string_view isa : cpu::instruction_sets()) {
    const auto meter = cpu::make_meter(g, isa);
    EXPECT_TRUE(equal_totals(plan, expected.values, totals_of(*meter, picture.frame(), plan)))
        << isa << " " << g.width << "x" << g.height << " " << describe(request);
  }
  EXPECT_TRUE(picture.untouched());
  return finish(plan, expected.values);
}

/// Index of the metric with this nick; -1 if there is none.
inline int metric_index(std::string_view nick) {
  for (int i = 0; i < sharpness::kMetricCount; ++i)
    if (nick == sharpness::metric_info(i).name) return i;
  return -1;
}

}  // namespace framequality::test
