// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sharpness/route.h"

#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <span>

namespace framequality::cuda {

using namespace sharpness;

namespace {

// Narrower cells leave most of a stream kernel's 512-byte strips idle.
constexpr int kLeastStreamWidth = 64;
// First architecture with the matrix products of bytes that prefilter.cu uses.
constexpr int kProductsFrom = 800;

/// Properties of a metric that decide on the kernel.
struct MetricKind {
  bool is_histogram = false;
  bool is_quadratic = false;  ///< a sum of products
};

MetricKind kind_of(int metric) {
  return with_totals_of(metric, [](auto m) {
    using M = decltype(m);
    return MetricKind{M::kHistogram, kLagForm<M>.is_quadratic};
  });
}

/// True if a stream kernel can measure what the tile kernel would, once samples are words.
bool is_large(const Plan& plan) {
  for (int p = 0; p < plan.fields; ++p)
    if (plan.size[p].width < 3 || plan.size[p].height < 3) return false;
  return true;
}

/// True if most of the strips of stream kernels lie in the plan's cells.
bool is_wide(const Plan& plan) {
  return std::all_of(plan.grids.begin(), plan.grids.end(), [&](const Grid& g) {
    return g.x1 - g.x0 == plan.size[g.field].width || (g.x1 - g.x0) / g.columns >= kLeastStreamWidth;
  });
}

SampleRoute sample_route(const Plan& plan, const MetricKind& metric, int architecture) {
  const SampleFormat& samples = plan.samples;
  if (samples.is_identity()) return SampleRoute::kCodes;
  if (samples.downscale > 1 || !is_large(plan)) return SampleRoute::kPlane;
  // prefilter_words.cu adds half of what is rounded away in four or sixteen parts, in floats: not a quarter.
  const bool has_kernel = code_bytes(plan.geometry.layout) == 1 ? architecture >= kProductsFrom
                                                                : !metric.is_histogram && samples.shift != 1;
  return has_kernel ? SampleRoute::kAsMeasured : SampleRoute::kPlane;
}

Measure measure_route(const Plan& plan, const MetricKind& metric, SampleRoute samples) {
  if (samples == SampleRoute::kAsMeasured)
    return code_bytes(plan.geometry.layout) == 1 ? Measure::kPrefilter : Measure::kPrefilterWords;
  if (!is_large(plan) || !is_wide(plan)) return Measure::kTile;
  if (samples == SampleRoute::kCodes && code_bytes(plan.geometry.layout) == 1)
    return metric.is_quadratic ? Measure::kQuadratic : Measure::kStreamBytes;
  return plan.samples.bits() <= kMostShortBits && !metric.is_histogram ? Measure::kStreamShorts : Measure::kStreamWords;
}

/// True if the kernel that measures can take the exposure of what it reads: all of what the statistics are of, once.
/// With no noise block the statistics' kernel is at work for all of it anyway.
bool can_expose(const Plan& plan, Measure measure) {
  const StatisticsPlan& s = plan.statistics;
  if (measure != Measure::kQuadratic || s.blocks == 0 || static_cast<int>(plan.grids.size()) != s.grids) return false;
  return std::ranges::equal(plan.grids, std::span(s.grid, plan.grids.size()),
                            [](const Grid& a, const StatisticsGrid& b) {
                              return a.field == b.field && a.x0 == b.x0 && a.x1 == b.x1 && a.y0 == b.y0 && a.y1 == b.y1;
                            });
}

/// True if luma codes lie side by side in their plane, in words that a stream kernel reads.
bool is_words(const PixelLayout& l) {
  if (l.kind != PixelLayout::Kind::kLuma || l.pixel_stride != l.word_bytes || l.offset[0] != 0) return false;
  return l.word_bytes == 1 ? l.depth == 8 && l.shift == 0 : !l.big_endian;
}

/// True if the kernels of the route read the frame's own luma.
bool is_readable(const Plan& plan, const Placement& at, const Route& r) {
  // The tile kernel accepts any layout, statistics and the kernel that computes samples do not.
  const auto is_any = [](Measure m) { return m == Measure::kNothing || m == Measure::kTile; };
  const bool takes_any = is_any(r.measure) && std::ranges::all_of(r.companions, [&](const CompanionRoute& c) {
                           return c.shares_samples && is_any(c.measure);
                         });
  if (takes_any && r.samples == SampleRoute::kCodes && !r.has_statistics) return true;
  // The prefilters' kernels read whole 32-bit words.
  const auto is_prefilter = [](Measure m) { return m == Measure::kPrefilter || m == Measure::kPrefilterWords; };
  const bool reads_words = is_prefilter(r.measure) || std::ranges::any_of(r.companions, [&](const CompanionRoute& c) {
                             return is_prefilter(c.measure);
                           });
  const int least = reads_words ? (plan.geometry.width * code_bytes(plan.geometry.layout) + 3) / 4 * 4 : 0;
  return is_words(plan.geometry.layout) && at.alignment >= kLoadAlign &&
         at.step <= std::numeric_limits<int>::max() / 2 && at.readable >= least;
}

/// True if each component has a plane of its own, without gaps.
bool is_planar(const PixelLayout& l) {
  return l.kind == PixelLayout::Kind::kRgb && l.pixel_stride == l.word_bytes && l.planes() == 3 &&
         l.plane[0] != l.plane[1] && l.plane[1] != l.plane[2] && l.plane[0] != l.plane[2];
}

/// The kernel that extracts luma: the one for any layout if those that load 4 pixels at once do not fit.
LumaRoute extraction(const PixelLayout& l, std::size_t alignment) {
  if (alignment < (l.word_bytes == 2 ? 8 : 4) || l.kind == PixelLayout::Kind::kGray10x3) return LumaRoute::kAny;
  if (is_planar(l)) return l.word_bytes == 2 || l.depth == 8 ? LumaRoute::kPlanar : LumaRoute::kAny;
  if (l.kind == PixelLayout::Kind::kBayer) return LumaRoute::kMosaic;
  for (int c = 1; c < l.components(); ++c)
    if (l.plane[c] != l.plane[0]) return LumaRoute::kAny;
  const bool is_packed = l.word_bytes == 2 ? l.pixel_stride == 4 || l.pixel_stride == 8
                                           : l.shift == 0 && l.pixel_stride >= 2 && l.pixel_stride <= 4;
  return is_packed ? LumaRoute::kPacked : LumaRoute::kAny;
}

const char* name(LumaRoute r) {
  constexpr const char* kNames[] = {"in place", "any", "packed", "planar", "mosaic"};
  return kNames[static_cast<int>(r)];
}
const char* name(SampleRoute r) {
  constexpr const char* kNames[] = {"are codes", "in a plane", "as measured"};
  return kNames[static_cast<int>(r)];
}
const char* name(Measure m) {
  constexpr const char* kNames[] = {"none",         "tile",      "stream-bytes", "stream-shorts",
                                    "stream-words", "quadratic", "prefilter",    "prefilter-words"};
  return kNames[static_cast<int>(m)];
}

}  // namespace

Placement placement_of(const Geometry& geometry, const Frame& frame, bool is_ours) {
  const PixelLayout& layout = geometry.layout;
  std::uintptr_t bits = kLoadAlign;
  for (int c = 0; c < layout.components(); ++c) {
    const int p = layout.plane[c];
    bits |= reinterpret_cast<std::uintptr_t>(frame.plane[p]) | static_cast<std::uintptr_t>(std::abs(frame.stride[p]));
  }
  const int luma = layout.plane[0];
  const std::ptrdiff_t step = std::abs(frame.stride[luma]);
  return {std::size_t{1} << std::countr_zero(bits), step,
          is_ours ? step : static_cast<std::ptrdiff_t>(layout.row_bytes(luma, geometry.width))};
}

bool Route::has(Stage stage) const {
  switch (stage) {
    case Stage::kLuma:
      return luma != LumaRoute::kInPlace;
    case Stage::kStatistics:
      return has_statistics;
    case Stage::kSamples:
      return samples == SampleRoute::kPlane;
    case Stage::kMeasure:
      return measure != Measure::kNothing;
    default:
      return companions.front().measure != Measure::kNothing;
  }
}

Route route(const Plan& plan, const Placement& placement, int architecture) {
  Route r;
  r.has_statistics = plan.statistics.pixels > 0;
  if (!plan.grids.empty()) {
    const MetricKind metric = kind_of(plan.request.metric);
    r.samples = sample_route(plan, metric, architecture);
    r.measure = measure_route(plan, metric, r.samples);
    r.exposes = r.has_statistics && can_expose(plan, r.measure);
    for (std::size_t i = 0; i < plan.companions.size(); ++i) {
      const Plan& other = *plan.companions[i].plan;
      const MetricKind kind = kind_of(other.request.metric);
      const bool shares = other.samples == plan.samples;
      const SampleRoute samples = shares ? r.samples : sample_route(other, kind, architecture);
      r.companions[i] = {shares, measure_route(other, kind, samples)};
    }
  }
  if (!is_readable(plan, placement, r)) r.luma = extraction(plan.geometry.layout, placement.alignment);
  return r;
}

std::string to_string(const Route& route) {
  std::string text = std::string("luma ") + name(route.luma) +
                     (route.has_statistics ? route.exposes ? ", noise" : ", statistics" : "") + ", samples " +
                     name(route.samples) + ", kernel " + name(route.measure) + (route.exposes ? " with exposure" : "");
  for (const CompanionRoute& c : route.companions)
    if (c.measure != Measure::kNothing)
      text += std::string(", then ") + (c.shares_samples ? "" : "in a plane ") + name(c.measure);
  return text;
}

}  // namespace framequality::cuda
