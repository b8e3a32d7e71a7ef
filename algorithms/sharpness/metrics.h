// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of metrics. Property values, both backends, tests, benchmarks and tables come from it.
#pragma once

#include "algorithms/sharpness/metrics/brenner.h"
#include "algorithms/sharpness/metrics/entropy.h"
#include "algorithms/sharpness/metrics/gray_difference.h"
#include "algorithms/sharpness/metrics/laplacian.h"
#include "algorithms/sharpness/metrics/laplacian_variance.h"
#include "algorithms/sharpness/metrics/max_min.h"
#include "algorithms/sharpness/metrics/mean_square_frequency.h"
#include "algorithms/sharpness/metrics/roberts.h"
#include "algorithms/sharpness/metrics/tenengrad.h"
#include "algorithms/sharpness/metrics/variance.h"
#include "algorithms/sharpness/metrics/vollath_f4.h"

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

namespace framequality {

template <class... M>
struct MetricList {
  static constexpr int kCount = sizeof...(M);
  static constexpr std::array<const MetricInfo*, sizeof...(M)> kInfos{&M::kInfo...};
};

/// Append-only: a metric's place is the value of the `metric` property.
using Metrics = MetricList<Variance, Roberts, Tenengrad, Laplacian, GrayDifference, GrayDifferenceProduct, MaxMin,
                           Entropy, LaplacianVariance, Brenner, NormalizedVariance, VollathF4, MeanSquareFrequency>;

inline constexpr int kMetricCount = Metrics::kCount;
inline constexpr int kDefaultMetric = 2;  // tenengrad

/// Names and texts of metric `index`, 0...kMetricCount-1.
inline const MetricInfo& metric_info(int index) { return *Metrics::kInfos[static_cast<std::size_t>(index)]; }

namespace detail {
template <class F, class... M>
auto with_metric(int index, F&& f, MetricList<M...>) {
  using Result = std::common_type_t<decltype(f(M{}))...>;
  if constexpr (std::is_void_v<Result>) {
    int i = 0;
    (void)((i++ == index ? (f(M{}), true) : false) || ...);
  } else {
    Result result{};
    int i = 0;
    (void)((i++ == index ? (result = f(M{}), true) : false) || ...);
    return result;
  }
}
}  // namespace detail

/// Calls f(M{}) with the metric type at `index`; f's result is returned.
template <class F>
auto with_metric(int index, F&& f) {
  return detail::with_metric(index, std::forward<F>(f), Metrics{});
}

}  // namespace framequality
