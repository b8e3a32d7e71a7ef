// SPDX-License-Identifier: LGPL-2.1-or-later
// Downhill simplex search: J. A. Nelder, R. Mead, A simplex method for function minimization, Computer Journal 7
// (1965).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace framequality::tools {

template <std::size_t N>
struct Minimum {
  std::array<double, N> at{};
  double value = 0;
};

/// A local minimum of f near `start`; f is called about `evaluations` times. steps: first edges of the simplex. Stops
/// earlier once all edges are shorter than `edge`.
template <std::size_t N, class F>
Minimum<N> search_downhill(F&& f, const std::array<double, N>& start, const std::array<double, N>& steps,
                           int evaluations, double edge) {
  std::array<Minimum<N>, N + 1> corner;
  for (std::size_t i = 0; i <= N; ++i) {
    corner[i].at = start;
    if (i > 0) corner[i].at[i - 1] += steps[i - 1];
    corner[i].value = f(corner[i].at);
  }
  int left = evaluations - static_cast<int>(N) - 1;
  const auto order = [&] {
    std::stable_sort(corner.begin(), corner.end(), [](const auto& a, const auto& b) { return a.value < b.value; });
  };
  for (order(); left > 0; order()) {
    double longest = 0;
    for (std::size_t i = 1; i <= N; ++i)
      for (std::size_t k = 0; k < N; ++k) longest = std::max(longest, std::abs(corner[i].at[k] - corner[0].at[k]));
    if (longest < edge) break;
    Minimum<N>& worst = corner[N];
    std::array<double, N> middle{};
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t k = 0; k < N; ++k) middle[k] += corner[i].at[k] / N;
    const auto tried = [&](double t) {
      Minimum<N> m;
      for (std::size_t k = 0; k < N; ++k) m.at[k] = middle[k] + t * (worst.at[k] - middle[k]);
      m.value = f(m.at);
      --left;
      return m;
    };
    const Minimum<N> reflected = tried(-1);
    if (reflected.value < corner[0].value) {
      const Minimum<N> expanded = tried(-2);
      worst = expanded.value < reflected.value ? expanded : reflected;
    } else if (reflected.value < corner[N - 1].value) {
      worst = reflected;
    } else {
      const Minimum<N> contracted = tried(reflected.value < worst.value ? -0.5 : 0.5);
      if (contracted.value < std::min(reflected.value, worst.value)) {
        worst = contracted;
        continue;
      }
      for (std::size_t i = 1; i <= N; ++i) {
        for (std::size_t k = 0; k < N; ++k) corner[i].at[k] = (corner[i].at[k] + corner[0].at[k]) / 2;
        corner[i].value = f(corner[i].at);
        --left;
      }
    }
  }
  return corner[0];
}

}  // namespace framequality::tools
