// SPDX-License-Identifier: LGPL-2.1-or-later
// Linear least squares by QR, for the few columns and many rows of a training set.
#include "apps/bliinds/least_squares.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace framequality::tools {

namespace {

constexpr std::size_t kColumns = bliinds::kFeatures;

/// A column of length 1 of which less than this is left, once the columns before it are taken out, is made of them: it
/// is above the rounding of sums over millions of rows, below what real features leave.
constexpr double kTolerance = 1e-10;

double dot(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double norm(std::span<const double> a) { return std::sqrt(dot(a, a)); }

double mean(std::span<const double> a) {
  return std::accumulate(a.begin(), a.end(), 0.0) / static_cast<double>(a.size());
}

/// Takes the reflection that `v` stands for to a column: x -= 2 v (v x) / (v v).
void reflect(std::span<const double> v, double squared, std::span<double> x) {
  const double factor = 2 * dot(v, x) / squared;
  for (std::size_t i = 0; i < x.size(); ++i) x[i] -= factor * v[i];
}

[[noreturn]] void refuse(std::span<const std::size_t> columns) {
  std::vector<std::size_t> sorted(columns.begin(), columns.end());
  std::sort(sorted.begin(), sorted.end());
  throw RankDeficient(std::move(sorted));
}

/// A column less its mean, of length 1; and what it takes to get back.
struct Column {
  std::vector<double> values;
  double mean = 0, length = 0;
};

Column centred(std::vector<double> values) {
  Column c{std::move(values), 0, 0};
  const double largest = std::abs(*std::max_element(c.values.begin(), c.values.end(),
                                                    [](double a, double b) { return std::abs(a) < std::abs(b); }));
  c.mean = mean(c.values);
  for (double& v : c.values) v -= c.mean;
  c.length = norm(c.values);
  // What rounding leaves of a constant has no direction.
  if (c.length <= kTolerance * largest * std::sqrt(static_cast<double>(c.values.size()))) c.length = 0;
  if (c.length > 0)
    for (double& v : c.values) v /= c.length;
  return c;
}

}  // namespace

bliinds::Model least_squares(const std::vector<bliinds::Features>& features, const std::vector<double>& scores) {
  std::array<std::size_t, kColumns> order;
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t rows = scores.size();
  if (rows <= kColumns) refuse(order);

  std::array<Column, kColumns> a;
  std::vector<std::size_t> constant;
  for (std::size_t j = 0; j < kColumns; ++j) {
    std::vector<double> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = features[i][j];
    a[j] = centred(std::move(values));
    if (a[j].length == 0) constant.push_back(j);
  }
  if (!constant.empty()) refuse(constant);
  const double mean_score = mean(scores);
  std::vector<double> b(scores);
  for (double& v : b) v -= mean_score;

  std::array<double, kColumns> diagonal;
  for (std::size_t k = 0; k < kColumns; ++k) {
    const auto below = [&](std::vector<double>& column) { return std::span(column).subspan(k); };
    const auto left = [&](std::size_t j) { return norm(below(a[j].values)); };
    std::swap(order[k], *std::max_element(order.begin() + static_cast<std::ptrdiff_t>(k), order.end(),
                                          [&](std::size_t i, std::size_t j) { return left(i) < left(j); }));
    const std::span<double> v = below(a[order[k]].values);
    const double length = norm(v);
    if (length < kTolerance) refuse(std::span(order).subspan(k));
    diagonal[k] = -std::copysign(length, v[0]);
    v[0] -= diagonal[k];
    const double squared = dot(v, v);
    for (std::size_t j = k + 1; j < kColumns; ++j) reflect(v, squared, below(a[order[j]].values));
    reflect(v, squared, below(b));
  }

  bliinds::Model model{mean_score, {}};
  std::array<double, kColumns> x;
  for (std::size_t k = kColumns; k-- > 0;) {
    double rest = b[k];
    for (std::size_t j = k + 1; j < kColumns; ++j) rest -= a[order[j]].values[k] * x[j];
    x[k] = rest / diagonal[k];
    const Column& column = a[order[k]];
    model.weights[order[k]] = x[k] / column.length;
    model.constant -= model.weights[order[k]] * column.mean;
  }
  return model;
}

}  // namespace framequality::tools
