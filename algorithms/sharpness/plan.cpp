// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of the samples to measure, cell by cell, and the check that their totals cannot overflow.
#include "algorithms/sharpness/plan.h"

#include "algorithms/sharpness/metrics/all.h"

#include <algorithm>
#include <limits>
#include <span>

namespace framequality::sharpness {
namespace {

/// Frame edge v (pixels) -> working samples of field p of `fields`, downscaled by k, clipped to 0...limit.
int sample_edge(std::int64_t v, int p, int fields, int k, int limit) {
  v = std::clamp<std::int64_t>(v, 0, std::numeric_limits<int>::max());  // keeps the following from overflowing
  const std::int64_t rows = fields == 1 ? v : (v - p + 1) / 2;
  return static_cast<int>(std::clamp<std::int64_t>(std::max<std::int64_t>(rows, 0) / k, 0, limit));
}

/// a + b, clamped to the type.
std::int64_t saturating_add(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
}

/// A region, by default the whole frame, in pixels of its layout: of a mosaic, the cells from the one that holds
/// the first sample to the one before the first sample beyond.
Rect in_pixels(const Geometry& g, const std::optional<Rect>& region) {
  const int cell = g.layout.cell();
  if (!region) return {0, 0, g.width, g.height};
  if (cell == 1) return *region;
  // Nothing is measured beyond the left and top edges, so edges are clamped at 0.
  const auto edge = [&](std::int64_t v) { return std::max<std::int64_t>(v, 0) / cell; };
  const std::int64_t x = edge(region->x), y = edge(region->y);
  return {x, y, edge(saturating_add(region->x, region->width)) - x,
          edge(saturating_add(region->y, region->height)) - y};
}

/// Pixels of a rectangle; 0 where an end lies before its beginning.
std::uint64_t area(int x0, int x1, int y0, int y1) {
  return static_cast<std::uint64_t>(std::max(x1 - x0, 0)) * static_cast<std::uint64_t>(std::max(y1 - y0, 0));
}

/// The statistics of region 0, and the rows that they read.
void plan_statistics(Plan& plan) {
  const Geometry& g = plan.geometry;
  const Rect roi = in_pixels(g, plan.request.roi);
  StatisticsPlan& s = plan.statistics;
  for (int p = 0; p < plan.fields; ++p) {
    const int rows = (g.height - p + plan.fields - 1) / plan.fields;
    StatisticsGrid grid;
    grid.field = p;
    grid.x0 = sample_edge(roi.x, 0, 1, 1, g.width);
    grid.x1 = sample_edge(saturating_add(roi.x, roi.width), 0, 1, 1, g.width);
    grid.y0 = sample_edge(roi.y, p, plan.fields, 1, rows);
    grid.y1 = sample_edge(saturating_add(roi.y, roi.height), p, plan.fields, 1, rows);
    if (grid.x0 >= grid.x1 || grid.y0 >= grid.y1) continue;
    s.add(grid);
    plan.first_row = std::min(plan.first_row, grid.y0 * plan.fields + p);
    plan.last_row = std::max(plan.last_row, (grid.y1 - 1) * plan.fields + p + 1);
  }
  s.choose_blocks();
  if (s.overflows(g.layout.depth))
    plan.refusal = "the frame is too large for statistics: sums of squared noise of " + std::to_string(s.residuals) +
                   " pixels of " + std::to_string(g.layout.depth) +
                   " bits can overflow 64 bits; set a smaller roi, or statistics and noise-correction to false";
}

/// Requirements of a metric on a plan.
struct Needs {
  Reach reach;            ///< neighbours read for a sample
  bool reflects = false;  ///< beyond the edges samples are mirrored, so that those at the edges count too
  int words = 0;          ///< totals of a cell
  Peak worst{1, 0};       ///< the largest that a sample can add to a total
};

Needs needs_of(int metric) {
  Needs needs;
  with_metric(metric, [&](auto m) {
    using M = decltype(m);
    needs.words = kWordsOf<M>;
    if constexpr (!M::kHistogram) needs.reach = M::kReach;
    needs.reflects = M::kReflect;
    for (const Peak& p : M::kPeak)
      if (p.power > needs.worst.power || (p.power == needs.worst.power && p.factor > needs.worst.factor))
        needs.worst = p;
  });
  return needs;
}

/// Field p of a region in working samples; the first region has the zones.
Grid grid_of(const Plan& plan, const Rect& region, std::size_t number, int p) {
  const auto [w, h] = plan.size[p];
  const int k = plan.samples.downscale;
  Grid g;
  g.field = p;
  g.x0 = sample_edge(region.x, 0, 1, k, w);
  g.x1 = std::max(g.x0, sample_edge(saturating_add(region.x, region.width), 0, 1, k, w));
  g.y0 = sample_edge(region.y, p, plan.fields, k, h);
  g.y1 = std::max(g.y0, sample_edge(saturating_add(region.y, region.height), p, plan.fields, k, h));
  if (number == 0) {
    g.columns = plan.request.zone_columns;
    g.rows = plan.request.zone_rows;
  } else {
    g.first_cell = plan.zones() + static_cast<int>(number) - 1;
  }
  return g;
}

/// Adds a grid to the plan: its samples cell by cell, and the rows of the frame that are read for it.
void add(Plan& plan, const Grid& g, const Needs& needs) {
  const auto [w, h] = plan.size[g.field];
  const Reach border = needs.reflects ? Reach{} : needs.reach;
  for (int j = 0; j < g.rows; ++j)
    for (int c = 0; c < g.columns; ++c) {
      const auto cell = static_cast<std::size_t>(g.first_cell + j * g.columns + c);
      plan.pixels[cell] += area(g.column(c), g.column(c + 1), g.row(j), g.row(j + 1));
      plan.inner[cell] += area(std::max(g.column(c), border.left), std::min(g.column(c + 1), w - border.right),
                               std::max(g.row(j), border.up), std::min(g.row(j + 1), h - border.down));
    }
  const int k = plan.samples.downscale;
  const int above = needs.reach.up + plan.samples.radius, below = needs.reach.down + plan.samples.radius;
  const int first = std::max(0, g.y0 - above) * k, last = std::min(h, g.y1 + below) * k - 1;
  plan.first_row = std::min(plan.first_row, first * plan.fields + g.field);
  plan.last_row = std::max(plan.last_row, last * plan.fields + g.field + 1);
  plan.grids.push_back(g);
}

/// Refuses a plan if this many samples can overflow a total.
void bound(Plan& plan, std::uint64_t samples, const Peak& worst) {
  double most = static_cast<double>(worst.factor) * static_cast<double>(samples);
  for (int e = 0; e < worst.power; ++e) most *= plan.samples.largest();
  if (most >= 0x1p63)
    plan.refusal = "the region is too large for " + std::string(metric_info(plan.request.metric).name) + ": " +
                   std::to_string(samples) + " samples of " + std::to_string(plan.samples.bits()) +
                   " bits can overflow its 64-bit totals; set a smaller roi, or downscale";
}

// Strips in which directions are measured for the statistics: their number over the height, and the samples that
// they hold together. The kind of a blur is known from fewer than a million; every pixel costs as much as the metric
// itself.
constexpr int kStrips = 16;
constexpr std::uint64_t kMostStripSamples = 1 << 19;

/// Adds the whole of a grid, or about this share of it, 0...1: in strips, each in the middle of an equal part.
void add_strips(Plan& plan, const Grid& whole, double share, const Needs& needs) {
  if (share >= 1) return add(plan, whole, needs);
  const int height = whole.y1 - whole.y0, strips = std::min(kStrips, height);
  for (int i = 0; i < strips; ++i) {
    const auto edge = [&](int n) { return whole.y0 + static_cast<int>(std::int64_t{height} * n / strips); };
    const int part = edge(i + 1) - edge(i), rows = std::clamp(static_cast<int>(share * part), 1, part);
    Grid strip = whole;
    strip.y0 = edge(i) + (part - rows) / 2;
    strip.y1 = strip.y0 + rows;
    add(plan, strip, needs);
  }
}

Plan plan_of(const Geometry& geometry, const Request& request, bool in_strips) {
  Plan plan;
  plan.geometry = geometry;
  plan.request = request;
  const int k = std::max(request.downscale, 1);
  plan.samples = sample_format(geometry.layout.depth, request.prefilter, k);
  plan.fields = request.interlaced ? 2 : 1;
  for (int p = 0; p < plan.fields; ++p) {
    const int rows = (geometry.height - p + plan.fields - 1) / plan.fields;
    plan.size[p] = {std::max(geometry.width, 0) / k, std::max(rows, 0) / k};
  }
  const Needs needs = needs_of(request.metric);
  plan.words = needs.words;
  std::vector<Rect> regions{in_pixels(geometry, request.roi)};
  for (const Rect& extra : request.extra) regions.push_back(in_pixels(geometry, extra));
  plan.cells = plan.zones() + static_cast<int>(request.extra.size());
  plan.pixels.assign(static_cast<std::size_t>(plan.cells), 0);
  plan.inner = plan.pixels;
  plan.first_row = geometry.height;
  for (std::size_t i = 0; i < regions.size(); ++i) {
    std::vector<Grid> grids;
    std::uint64_t samples = 0;
    const bool masked = i == 0 && !request.mask.empty();
    for (const Rect& part : masked ? std::span(request.mask) : std::span(&regions[i], 1))
      for (int p = 0; p < plan.fields; ++p) {
        const Grid g = grid_of(plan, part, i, p);
        if (g.x0 == g.x1 || g.y0 == g.y1) continue;
        samples += area(g.x0, g.x1, g.y0, g.y1);
        grids.push_back(g);
      }
    const bool all = !in_strips || masked || samples <= kMostStripSamples;
    const double share = all ? 1 : static_cast<double>(kMostStripSamples) / static_cast<double>(samples);
    for (const Grid& g : grids) add_strips(plan, g, share, needs);
    bound(plan, in_strips ? plan.pixels[i] : samples, needs.worst);
  }
  if (request.measures_statistics()) plan_statistics(plan);
  if (plan.last_row == 0) plan.first_row = 0;
  return plan;
}

/// Adds a companion, unless there is nothing for it to measure.
void accompany(Plan& plan, Plan&& companion) {
  if (companion.grids.empty()) return;
  if (plan.refusal.empty()) plan.refusal = companion.refusal;
  plan.first_row = std::min(plan.first_row, companion.first_row);
  plan.last_row = std::max(plan.last_row, companion.last_row);
  const int at = plan.totals();
  plan.companions.push_back({std::make_shared<const Plan>(std::move(companion)), at});
}

}  // namespace

Plan make_plan(const Geometry& geometry, const Request& request) {
  Plan plan = plan_of(geometry, request, false);
  Request other = request;
  other.statistics = other.noise_correction = false;
  if (request.statistics && request.metric != kDirectionalMetric) {
    Request directions = other;
    directions.metric = kDirectionalMetric;
    directions.mean = false;
    directions.zone_columns = directions.zone_rows = 1;
    directions.extra.clear();
    accompany(plan, plan_of(geometry, directions, true));
    plan.has_directions = !plan.companions.empty();
  }
  if (request.downscale == 0)
    for (const int k : {2, 4}) {
      other.downscale = k;
      accompany(plan, plan_of(geometry, other, false));
    }
  return plan;
}

}  // namespace framequality::sharpness
