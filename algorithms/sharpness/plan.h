// SPDX-License-Identifier: LGPL-2.1-or-later
// The measurement of each frame, resolved once per geometry and set of options: regions, zones, fields,
// sample format.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/sharpness/grid.h"
#include "algorithms/sharpness/metrics.h"
#include "algorithms/sharpness/samples.h"
#include "algorithms/sharpness/statistics.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::sharpness {

/// A rectangle in pixels of the frame, of a mosaic in samples of the sensor; may lie partly or wholly outside.
struct Rect {
  std::int64_t x = 0, y = 0, width = 0, height = 0;
  bool operator==(const Rect&) const = default;
};

/// User-facing settings, before they are checked against a frame's format.
struct Request {
  int metric = kDefaultMetric;  ///< index into Metrics
  Prefilter prefilter = Prefilter::kNone;
  int downscale = 1;              ///< 1, 2 or 4; 0: all three, the least score counts
  bool mean = false;              ///< also sum the samples, for `normalize`
  bool interlaced = false;        ///< each field is an image of its own; their totals are added
  bool limited = false;           ///< black and white are the 8-bit grey levels 16 and 235, not the ends of the range
  bool statistics = false;        ///< also measure noise, exposure and kind of blur of region 0
  bool noise_correction = false;  ///< scores without the share of noise, which is then measured too
  int zone_columns = 1, zone_rows = 1;
  std::optional<Rect> roi = {};  ///< region 0; nullopt: the frame
  /// If not empty, only these parts of region 0 are scored: disjoint rectangles whose edges are multiples of downscale,
  /// which is not 0; one zone. Statistics, but for the kind of blur, stay those of the whole region.
  std::vector<Rect> mask = {};
  std::vector<Rect> extra = {};  ///< regions 1...: each one zone
  bool operator==(const Request&) const = default;

  bool measures_statistics() const { return statistics || noise_correction; }
};

/// A Request on a Geometry. Immutable once made; totals of a frame are cells * words 64-bit integers, then, if asked
/// for, the kStatisticsWords of its statistics, then the totals of its companions.
struct Plan {
  Geometry geometry;
  Request request;
  SampleFormat samples;
  int fields = 1;
  struct Size {
    int width = 0, height = 0;
  } size[2];                          ///< of each field, in working samples
  std::vector<Grid> grids;            ///< region after region, its fields side by side; empty ones are left out
  int cells = 0;                      ///< zones of region 0, then one for each extra region
  int words = 0;                      ///< totals of a cell, kWordsOf the metric
  std::vector<std::uint64_t> pixels;  ///< N of each cell, in working samples
  /// Of these, the pixels that add to the totals: all in the metric's reach exists.
  std::vector<std::uint64_t> inner;
  StatisticsPlan statistics;  ///< of region 0; only if request.measures_statistics()
  /// Another plan, measured on the same frames. It has no statistics and no companions of its own.
  struct Companion {
    std::shared_ptr<const Plan> plan;
    int at;  ///< where its totals begin in a frame's
  };
  /// First, with statistics and any metric but directional-frequency: that metric on region 0 in one cell, to classify
  /// its blur; evenly spaced strips of large regions. Then, with downscale 0: this plan at downscale 2 and at 4.
  static constexpr int kMostCompanions = 3;
  std::vector<Companion> companions;
  bool has_directions = false;      ///< among them
  int first_row = 0, last_row = 0;  ///< rows of the frame that are read, last_row past the end
  std::string refusal;              ///< not empty: totals could overflow 64 bits; says why. Do not measure.

  int zones() const { return request.zone_columns * request.zone_rows; }
  int cell_totals() const { return cells * words; }
  int statistics_end() const { return cell_totals() + (request.measures_statistics() ? kStatisticsWords : 0); }
  int totals() const {
    return companions.empty() ? statistics_end() : companions.back().at + companions.back().plan->cell_totals();
  }
};

/// Resolves a request. Any geometry and any rectangles are accepted: parts outside the frame are clipped, a
/// region with nothing left has N = 0.
Plan make_plan(const Geometry& geometry, const Request& request);

}  // namespace framequality::sharpness
