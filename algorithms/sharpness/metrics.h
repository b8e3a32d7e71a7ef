// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of metrics by name. Property values, both backends, tests, benchmarks and tables come from it; their maths
// is in metrics/, which only code that computes with it includes (metrics/all.h).
#pragma once

#include "algorithms/sharpness/metric.h"

#include <string_view>
#include <type_traits>

namespace framequality::sharpness {

template <class... M>
struct MetricList {
  static constexpr int kCount = sizeof...(M);
};

/// Append-only: a metric's index is the value of the `metric` property.
using Metrics =
    MetricList<struct Variance, struct Roberts, struct Tenengrad, struct Laplacian, struct GrayDifference,
               struct GrayDifferenceProduct, struct MaxMin, struct Entropy, struct LaplacianVariance, struct Brenner,
               struct NormalizedVariance, struct VollathF4, struct MeanSquareFrequency, struct DirectionalFrequency>;

/// Index of metric Wanted, which may be incomplete, in a list.
template <class Wanted, class... M>
constexpr int place_of(MetricList<M...>) {
  int place = 0;
  (void)((std::is_same_v<Wanted, M> || (++place, false)) || ...);
  return place;
}

inline constexpr int kMetricCount = Metrics::kCount;
inline constexpr int kDefaultMetric = place_of<struct Tenengrad>(Metrics{});
inline constexpr int kDirectionalMetric = place_of<struct DirectionalFrequency>(Metrics{});

/// Names and texts of metric `index`, 0...kMetricCount-1.
const MetricInfo& metric_info(int index);

/// Null if there is no metric of this name.
const MetricInfo* find_metric(std::string_view name);

}  // namespace framequality::sharpness
