// SPDX-License-Identifier: LGPL-2.1-or-later
// Table of scores by lens position and noise of the frame: measured once, then looked up.
#include "benchmarks/focus/score_table.h"

#include "algorithms/focus/virtual_lens.h"
#include "benchmarks/focus/camera.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace framequality::bench {
namespace {

constexpr int kMeasurements = 6;    ///< of each node with noise
constexpr std::size_t kSmooth = 5;  ///< nodes on each side whose variances are averaged
constexpr double kLeast = 1e-12;    ///< scores have a logarithm

/// Slopes of a cubic through the points. The peak of a sweep lies between two pictures, where the parabola through
/// three says; that of a blurred picture is at radius 0, and nothing else may be one: there the cubic never overshoots
/// (Fritsch, Butland, SIAM J. Sci. Stat. Comput. 5, 1984).
std::vector<double> slopes_of(const std::vector<double>& x, const std::vector<double>& y, bool is_sweep) {
  const std::size_t n = x.size();
  std::vector<double> slope(n, 0.0);  // 0 at the ends: a peak at radius 0 is smooth
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
    const double d0 = (y[i] - y[i - 1]) / h0, d1 = (y[i + 1] - y[i]) / h1;
    if (is_sweep) {
      slope[i] = (d0 * h1 + d1 * h0) / (h0 + h1);
    } else if (d0 * d1 > 0) {
      const double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
      slope[i] = (w0 + w1) / (w0 / d0 + w1 / d1);
    }
  }
  return slope;
}

Expected mix(const Expected& a, const Expected& b, double t) {
  return {a.mean + t * (b.mean - a.mean), a.sd + t * (b.sd - a.sd), a.noise + t * (b.noise - a.noise),
          a.luma + t * (b.luma - a.luma)};
}

/// Averages squares of relative deviations over neighbours.
void smooth_deviations(std::vector<Expected>& row) {
  std::vector<double> sd(row.size());
  for (std::size_t i = 0; i < row.size(); ++i) {
    double sum = 0, weight = 0;
    for (std::size_t j = i > kSmooth ? i - kSmooth : 0; j < std::min(row.size(), i + kSmooth + 1); ++j) {
      const double share = row[j].mean > 0 ? row[j].sd / row[j].mean : 0;
      const double w = 1 + kSmooth - static_cast<double>(i > j ? i - j : j - i);
      sum += w * share * share;
      weight += w;
    }
    sd[i] = std::sqrt(sum / weight) * row[i].mean;
  }
  for (std::size_t i = 0; i < row.size(); ++i) row[i].sd = sd[i];
}

/// The cubic that is nearest to y(0), y(1), ..., by its values there.
std::vector<double> cubic_through(const std::vector<double>& y) {
  constexpr int kTerms = 4;
  const auto n = static_cast<double>(y.size());
  // Orthogonal polynomials, each from the one before by Gram and Schmidt.
  std::vector<std::vector<double>> basis;
  std::vector<double> fit(y.size(), 0.0);
  for (int k = 0; k < kTerms && k < static_cast<int>(y.size()); ++k) {
    std::vector<double> p(y.size());
    for (std::size_t i = 0; i < p.size(); ++i) p[i] = std::pow(2 * (static_cast<double>(i) + 0.5) / n - 1, k);
    for (const std::vector<double>& b : basis) {
      const double share = std::inner_product(p.begin(), p.end(), b.begin(), 0.0);
      for (std::size_t i = 0; i < p.size(); ++i) p[i] -= share * b[i];
    }
    const double length = std::sqrt(std::inner_product(p.begin(), p.end(), p.begin(), 0.0));
    for (double& v : p) v /= length;
    const double share = std::inner_product(p.begin(), p.end(), y.begin(), 0.0);
    for (std::size_t i = 0; i < p.size(); ++i) fit[i] += share * p[i];
    basis.push_back(std::move(p));
  }
  return fit;
}

/// What noise adds to the means, smooth.
void smooth_means(std::vector<Expected>& row, const std::vector<double>& clean) {
  std::vector<double> excess;
  for (std::size_t i = 0; i < row.size(); ++i) excess.push_back(row[i].mean - clean[i]);
  excess = cubic_through(excess);
  for (std::size_t i = 0; i < row.size(); ++i) row[i].mean = clean[i] + excess[i];
}

}  // namespace

ScoreTable::ScoreTable(std::vector<double> nodes, std::vector<double> sigmas, std::vector<std::vector<Expected>> rows,
                       bool is_sweep, std::vector<double> clean)
    : nodes_(std::move(nodes)), sigmas_(std::move(sigmas)) {
  if (clean.empty())
    for (const Expected& e : rows[0]) clean.push_back(e.mean);
  for (std::size_t k = 0; k < rows.size(); ++k) {
    std::vector<Expected>& row = rows[k];
    if (sigmas_[k] > 0) {
      smooth_means(row, clean);
      smooth_deviations(row);
    }
    std::vector<double> logs;
    for (const Expected& e : row) logs.push_back(std::log(std::max(e.mean, kLeast)));
    std::vector<double> slopes = slopes_of(nodes_, logs, is_sweep);
    rows_.push_back({std::move(row), std::move(logs), std::move(slopes)});
  }
}

Expected ScoreTable::look(const Row& row, std::size_t node, double x) const {
  const double h = nodes_[node + 1] - nodes_[node], t = (x - nodes_[node]) / h;
  Expected e = mix(row.at[node], row.at[node + 1], t);
  const double u = t * t * (3 - 2 * t), v = t * (1 - t);
  const double log_mean = row.log_mean[node] * (1 - u) + row.log_mean[node + 1] * u +
                          h * v * (row.slope[node] * (1 - t) - row.slope[node + 1] * t);
  e.mean = std::exp(log_mean);
  return e;
}

Expected ScoreTable::at(double x, double sigma) const {
  x = std::clamp(x, nodes_.front(), nodes_.back());
  const auto above = std::upper_bound(nodes_.begin() + 1, nodes_.end() - 1, x);
  const auto node = static_cast<std::size_t>(above - nodes_.begin() - 1);
  if (sigma <= 0) return look(rows_[0], node, x);
  std::size_t k = 1;
  while (k + 1 < sigmas_.size() && sigmas_[k] < sigma) ++k;
  const double s0 = sigmas_[k - 1], s1 = sigmas_[k];
  if (sigma == s1) return look(rows_[k], node, x);
  const Expected low = look(rows_[k - 1], node, x), high = look(rows_[k], node, x);
  Expected e = mix(low, high, (sigma - s0) / (s1 - s0));
  e.mean = low.mean + (high.mean - low.mean) * (sigma * sigma - s0 * s0) / (s1 * s1 - s0 * s0);
  return e;
}

std::vector<double> blur_nodes(double first, double growth, double most) {
  std::vector<double> nodes{0};
  for (double r = first; r < most; r += std::max(first, r * (growth - 1))) nodes.push_back(r);
  nodes.push_back(most);
  return nodes;
}

Subject Subject::blurred(std::string name, const Pixels& picture) {
  Subject s(std::move(name), false, blur_nodes(0.06, 1.12, kMostBlur));
  DiskBlur blur(kWidth, kHeight);
  for (const double radius : s.nodes_) {
    s.planes_.emplace_back(picture.size());
    blur(picture.data(), radius, s.planes_.back().data());
  }
  return s;
}

Subject Subject::swept(std::string name, const std::vector<Pixels>& pictures) {
  std::vector<double> nodes;
  for (std::size_t i = 0; i < pictures.size(); ++i) nodes.push_back(static_cast<double>(i));
  Subject s(std::move(name), true, std::move(nodes));
  for (const Pixels& p : pictures) {
    s.planes_.emplace_back(p.size());
    for (std::size_t i = 0; i < p.size(); ++i) s.planes_.back()[i] = static_cast<std::uint16_t>(p[i] * 256);
  }
  return s;
}

Subject Subject::lit(double light) const {
  Subject s(name_, is_sweep_, nodes_);
  s.planes_ = planes_;
  for (Plane& plane : s.planes_)
    for (std::uint16_t& code : plane) code = static_cast<std::uint16_t>(std::min(code * light, 65535.0));
  return s;
}

Subject Subject::breathing(int positions, double best, double blur, double growth) const {
  Pixels still(planes_[0].size());
  for (std::size_t i = 0; i < still.size(); ++i) still[i] = static_cast<std::uint8_t>(planes_[0][i] / 256);
  VirtualLens lens(kWidth, kHeight, std::move(still),
                   {.best_position = best, .blur_per_unit = blur, .breathing = growth / (positions - 1)});
  std::vector<Pixels> pictures(static_cast<std::size_t>(positions), Pixels(planes_[0].size()));
  for (int at = 0; at < positions; ++at) lens.render(at, pictures[static_cast<std::size_t>(at)].data());
  return swept(name_, pictures);
}

const ScoreTable& Subject::table(double contrast) {
  std::unique_ptr<ScoreTable>& table = tables_[contrast];
  if (table) return *table;
  const std::vector<double> sigmas{0, 1, 3, 5, 10};
  Camera camera(1);
  std::vector<std::vector<Expected>> rows;
  for (const double sigma : sigmas) {
    std::vector<Expected>& row = rows.emplace_back();
    for (const Plane& plane : planes_) row.push_back(camera.measure(plane, contrast, sigma, kMeasurements));
  }
  // Without noise and rounding the score is that of full contrast, times the contrast squared; the mean changes too.
  std::vector<double> clean;
  for (std::size_t i = 0; contrast != 1 && i < nodes_.size(); ++i) {
    const Expected full = this->table().at(nodes_[i], 0);
    clean.push_back(full.mean * std::pow(contrast * full.luma / rows[0][i].luma, 2));
  }
  table = std::make_unique<ScoreTable>(nodes_, sigmas, std::move(rows), is_sweep_, std::move(clean));
  return *table;
}

}  // namespace framequality::bench
