// SPDX-License-Identifier: LGPL-2.1-or-later
// Detection of metrics that are sums of products of two samples, at compile time, from row() and pixel().
//
// Summed over an unbounded image, a product of two samples depends only on how far apart they are:
//   total = sum over (dy, dx) of weight(dy, dx) * R(dy, dx) + slope * sum of g,
//   R(dy, dx) = sum of g(y,x) * g(y+dy,x+dx), its lag
// A backend that multiplies bytes four at a time computes that with far fewer operations than pixel by pixel.
#pragma once

#include "algorithms/sharpness/metric.h"

namespace framequality::sharpness {

/// Stands for a number in row() and pixel() in place of samples: a sum of the samples around a pixel, each times an
/// integer.
struct Symbol {
  /// Rows y-1...y+1, columns x-1...x+2.
  static constexpr int kRows = 3, kColumns = 4;
  enum class Kind {
    kExact,     ///< the sum itself
    kUnsigned,  ///< its magnitude
    kOther,     ///< something else
  };
  int weight[kRows][kColumns] = {};
  Kind kind = Kind::kExact;

  FQ_HD static constexpr Symbol sample(int dy, int dx) {
    Symbol s;
    s.weight[dy + 1][dx + 1] = 1;
    return s;
  }
  FQ_HD static constexpr Symbol other() {
    Symbol s;
    s.kind = Kind::kOther;
    return s;
  }
  /// a + scale * b
  FQ_HD static constexpr Symbol sum(const Symbol& a, int scale, const Symbol& b) {
    if (a.kind != Kind::kExact || b.kind != Kind::kExact) return other();
    Symbol s = a;
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x) s.weight[y][x] += scale * b.weight[y][x];
    return s;
  }
  FQ_HD friend constexpr Symbol operator+(const Symbol& a, const Symbol& b) { return sum(a, 1, b); }
  FQ_HD friend constexpr Symbol operator-(const Symbol& a, const Symbol& b) { return sum(a, -1, b); }
  FQ_HD friend constexpr Symbol twice(const Symbol& a) { return sum(a, 1, a); }
  FQ_HD friend constexpr Symbol absolute(Symbol a) {
    if (a.kind == Kind::kExact) a.kind = Kind::kUnsigned;
    return a;
  }
  FQ_HD friend constexpr Symbol abs_difference(const Symbol& a, const Symbol& b) { return absolute(a - b); }
  FQ_HD friend constexpr Symbol minimum(const Symbol&, const Symbol&) { return other(); }
  FQ_HD friend constexpr Symbol maximum(const Symbol&, const Symbol&) { return other(); }

  /// True if a * b is the product of the sums behind them: no magnitudes, or twice the same.
  FQ_HD friend constexpr bool is_product(const Symbol& a, const Symbol& b) {
    if (a.kind != b.kind || a.kind == Kind::kOther) return false;
    if (a.kind == Kind::kExact) return true;
    for (int y = 0; y < kRows; ++y)
      for (int x = 0; x < kColumns; ++x)
        if (a.weight[y][x] != b.weight[y][x]) return false;
    return true;
  }

  /// The symbols of row y + dy, as a metric asks for them.
  struct Neighbours {
    int dy;
    FQ_HD constexpr Symbol l() const { return sample(dy, -1); }
    FQ_HD constexpr Symbol c() const { return sample(dy, 0); }
    FQ_HD constexpr Symbol r() const { return sample(dy, 1); }
    FQ_HD constexpr Symbol r2() const { return sample(dy, 2); }
  };
};

/// The kTotals totals of a metric as lags. Of two opposite ones the lower is named: dy > 0, or dy = 0 and dx >= 0.
template <int kTotals>
struct LagForm {
  static constexpr int kDown = Symbol::kRows - 1, kAcross = Symbol::kColumns - 1;
  bool is_quadratic = true;  ///< false: the metric is something else, and what follows means nothing
  int weights[kTotals][kDown + 1][2 * kAcross + 1] = {};
  int slope[kTotals] = {};

  FQ_HD constexpr int weight(int total, int dy, int dx) const { return weights[total][dy][dx + kAcross]; }

  // Called by pixel() to add to a total.
  template <int kTotal>
  FQ_HD constexpr void add(const Symbol& v) {
    is_quadratic = is_quadratic && v.kind == Symbol::Kind::kExact;
    for (const auto& row : v.weight)
      for (const int w : row) slope[kTotal] += w;
  }
  template <int kTotal>
  FQ_HD constexpr void add_product(const Symbol& a, const Symbol& b) {
    is_quadratic = is_quadratic && is_product(a, b);
    constexpr int kSamples = Symbol::kRows * Symbol::kColumns;
    for (int i = 0; i < kSamples; ++i)
      for (int j = 0; j < kSamples; ++j) {
        int dy = j / Symbol::kColumns - i / Symbol::kColumns, dx = j % Symbol::kColumns - i % Symbol::kColumns;
        if (dy < 0 || (dy == 0 && dx < 0)) dy = -dy, dx = -dx;
        weights[kTotal][dy][dx + kAcross] +=
            a.weight[i / Symbol::kColumns][i % Symbol::kColumns] * b.weight[j / Symbol::kColumns][j % Symbol::kColumns];
      }
  }
};

/// Metric M's totals as lags.
template <class M>
inline constexpr LagForm<kTotalsOf<M>> kLagForm = [] {
  LagForm<kTotalsOf<M>> form;
  if constexpr (M::kHistogram) {
    form.is_quadratic = false;
  } else {
    const auto row = [](int dy) { return M::template row<Symbol>(Symbol::Neighbours{dy}); };
    M::template pixel<Symbol>(row(-1), row(0), row(1), form);
  }
  return form;
}();

/// Contribution per pixel of white noise of variance 1 to total `total` of metric M, behind a normalised binomial of
/// this radius: smoothed noise has the autocorrelation of its filter, and that of a binomial is one of twice the order.
template <class M>
constexpr double noise_gain(int total, int radius) {
  const auto correlation = [&](int distance) {
    double ways = 1;  // C(4r, 2r + distance) / 2^4r
    for (int i = 1; i <= 2 * radius + distance; ++i) ways = ways * (4 * radius + 1 - i) / i;
    for (int i = 0; i < 4 * radius; ++i) ways /= 2;
    return distance > 2 * radius ? 0.0 : ways;
  };
  double gain = 0;
  for (int dy = 0; dy <= Symbol::kRows - 1; ++dy)
    for (int dx = 1 - Symbol::kColumns; dx < Symbol::kColumns; ++dx)
      gain += kLagForm<M>.weight(total, dy, dx) * correlation(dy) * correlation(absolute(dx));
  return gain;
}

/// noise_gain() by the prefilter's radius, 0...2.
template <class M>
struct NoiseGains {
  double gain[3][kTotalsOf<M>] = {};
  constexpr NoiseGains() {
    for (int radius = 0; radius < 3; ++radius)
      for (int total = 0; total < kTotalsOf<M>; ++total) gain[radius][total] = noise_gain<M>(total, radius);
  }
};
template <class M>
inline constexpr NoiseGains<M> kNoiseGains;

/// One lag that some total has. Lags that weigh the same in every total share an accumulator.
struct Lag {
  int dy, dx, accumulator;
};

/// Lags as a list: each product of samples is made once, whatever the number of totals that it is part of.
template <int kTotals>
struct LagList {
  static constexpr int kMost = (LagForm<kTotals>::kDown + 1) * (2 * LagForm<kTotals>::kAcross + 1);
  Lag lag[kMost] = {};
  int weight[kMost][kTotals] = {};  ///< of an accumulator in each total
  int count = 0, accumulators = 0;
  int most_shared = 0;       ///< lags of the accumulator that has most
  int down = 0, across = 0;  ///< largest dy, and dx to either side

  constexpr explicit LagList(const LagForm<kTotals>& form) {
    int shared[kMost] = {};
    for (int dy = 0; dy <= LagForm<kTotals>::kDown; ++dy)
      for (int dx = -LagForm<kTotals>::kAcross; dx <= LagForm<kTotals>::kAcross; ++dx) {
        const auto weighs = [&](const int(&weights)[kTotals]) {
          for (int t = 0; t < kTotals; ++t)
            if (form.weight(t, dy, dx) != weights[t]) return false;
          return true;
        };
        constexpr int kNone[kTotals] = {};
        if (weighs(kNone)) continue;
        int a = 0;
        while (a < accumulators && !weighs(weight[a])) ++a;
        for (int t = 0; t < kTotals; ++t) weight[a][t] = form.weight(t, dy, dx);
        lag[count++] = {dy, dx, a};
        accumulators = maximum(accumulators, a + 1);
        most_shared = maximum(most_shared, ++shared[a]);
        down = maximum(down, dy);
        across = maximum(across, absolute(dx));
      }
  }
};

/// Metric M's lags.
template <class M>
inline constexpr LagList<kTotalsOf<M>> kLags{kLagForm<M>};

}  // namespace framequality::sharpness
