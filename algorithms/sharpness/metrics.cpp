// SPDX-License-Identifier: LGPL-2.1-or-later
#include "algorithms/sharpness/metrics.h"

#include "algorithms/sharpness/metrics/all.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace framequality::sharpness {
namespace {

template <class... M>
constexpr std::array<const MetricInfo*, sizeof...(M)> infos(MetricList<M...>) {
  return {&M::kInfo...};
}
constexpr auto kInfos = infos(Metrics{});

}  // namespace

const MetricInfo& metric_info(int index) { return *kInfos[static_cast<std::size_t>(index)]; }

const MetricInfo* find_metric(std::string_view name) {
  const auto* found = std::find_if(kInfos.begin(), kInfos.end(), [&](auto* info) { return info->name == name; });
  return found == kInfos.end() ? nullptr : *found;
}

}  // namespace framequality::sharpness
