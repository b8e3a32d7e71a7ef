// SPDX-License-Identifier: LGPL-2.1-or-later
// All metrics with their maths, for backends and code that finishes totals. Others need the names in metrics.h alone.
#pragma once

#include "algorithms/sharpness/metrics.h"
#include "algorithms/sharpness/metrics/brenner.h"
#include "algorithms/sharpness/metrics/directional_frequency.h"
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

#include <type_traits>
#include <utility>

namespace framequality::sharpness {

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

/// Calls f(M{}) with the metric type whose totals the metric at `index` keeps: kernels know nothing of scores.
template <class F>
auto with_totals_of(int index, F&& f) {
  return with_metric(index, [&](auto m) {
    using M = decltype(m);
    if constexpr (requires { typename M::Totals; }) {
      static_assert(std::is_base_of_v<typename M::Totals, M>);
      return f(typename M::Totals{});
    } else {
      return f(m);
    }
  });
}

}  // namespace framequality::sharpness
