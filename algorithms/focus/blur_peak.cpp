// SPDX-License-Identifier: LGPL-2.1-or-later
// Least squares of a peak as defocus makes it.
#include "algorithms/focus/blur_peak.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace framequality::focus {
namespace {

constexpr std::size_t kUnknowns = 5;  // log height, top / width at the beginning, log width, log power, lean
constexpr double kModel = 0.01;       // what a score differs from the model, share of it
constexpr double kPowers = 0.7;       // standard deviation of log power among scenes,
constexpr double kLeans = 0.035;  // and of the logarithm by which a lens makes one side wider and the other narrower
constexpr std::size_t kLeastSamples = 4;  // power and lean are known about
using Vector = std::array<double, kUnknowns>;
using Matrix = std::array<Vector, kUnknowns>;

/// Normal equations: of the next step.
struct Normal {
  Matrix matrix{};
  Vector right{};
  double squares = 0;  ///< of what is left, in standard deviations,
  double off = 0;      ///< and as it is

  void add(const Vector& slope, double left, double weight) {
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      for (std::size_t k = 0; k < kUnknowns; ++k) matrix[i][k] += weight * slope[i] * slope[k];
      right[i] += weight * slope[i] * left;
    }
    squares += weight * left * left;
  }
};

/// Variance of the logarithm of a score.
double variance_of(const FocusSample& s, double noise) {
  const double relative = noise / s.score;
  return relative * relative / s.frames + kModel * kModel;
}

Normal normal_at(const Vector& v, std::span<const FocusSample> samples, double noise, double unit) {
  Normal normal;
  const double width = std::exp(v[2]), power = std::exp(v[3]);
  for (const FocusSample& s : samples) {
    const double lean = s.at / unit < v[1] ? 1 : -1;  // each side has its own width
    const double u = (s.at / unit - v[1]) / width * std::exp(lean * v[4]), q = 1 + u * u;
    const double left = std::log(s.score) - (v[0] - power * std::log(q));
    normal.off += left * left;
    const double bend = 2 * power * u * u / q;
    normal.add({1, 2 * power * u * std::exp(lean * v[4]) / (q * width), bend, -power * std::log(q), -lean * bend}, left,
               1 / variance_of(s, noise));
  }
  normal.add({0, 0, 0, 1, 0}, -v[3], 1 / (kPowers * kPowers));
  normal.add({0, 0, 0, 0, 1}, -v[4], 1 / (kLeans * kLeans));
  return normal;
}

/// Cholesky's decomposition; the diagonal grows by a share. Nothing where it is not positive definite.
std::optional<Vector> solve(Matrix m, Vector b, double damping) {
  for (std::size_t i = 0; i < kUnknowns; ++i) m[i][i] *= 1 + damping;
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t k = 0; k < i; ++k) m[i][i] -= m[i][k] * m[i][k];
    if (!(m[i][i] > 0)) return {};
    m[i][i] = std::sqrt(m[i][i]);
    for (std::size_t j = i + 1; j < kUnknowns; ++j) {
      for (std::size_t k = 0; k < i; ++k) m[j][i] -= m[j][k] * m[i][k];
      m[j][i] /= m[i][i];
    }
  }
  for (std::size_t i = 0; i < kUnknowns; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= m[i][k] * b[k];
    b[i] /= m[i][i];
  }
  for (std::size_t i = kUnknowns; i-- > 0;) {
    for (std::size_t k = i + 1; k < kUnknowns; ++k) b[i] -= m[k][i] * b[k];
    b[i] /= m[i][i];
  }
  return b;
}

}  // namespace

std::optional<BlurPeak> blur_peak_of(std::span<const FocusSample> samples, double noise, double top, double width) {
  double best = 0, least = samples.empty() ? 0 : samples.front().score;
  for (const FocusSample& s : samples) best = std::max(best, s.score), least = std::min(least, s.score);
  if (samples.size() < kLeastSamples || !(least > 0)) return {};
  Vector v{std::log(best), top / width, 0, 0, 0};
  Normal now = normal_at(v, samples, noise, width);
  double damping = 1e-3;
  constexpr int kMostSteps = 40;
  for (int i = 0; i < kMostSteps; ++i) {
    const std::optional<Vector> step = solve(now.matrix, now.right, damping);
    if (!step) return {};
    Vector next = v;
    for (std::size_t k = 0; k < kUnknowns; ++k) next[k] += std::clamp((*step)[k], -1.0, 1.0);
    const Normal then = normal_at(next, samples, noise, width);
    if (!(then.squares <= now.squares)) {
      damping *= 8;
      continue;
    }
    const bool is_done = now.squares - then.squares <= 1e-4 * now.squares;
    v = next, now = then, damping /= 5;
    if (is_done) break;
  }
  const std::optional<Vector> error = solve(now.matrix, {0, 1, 0, 0, 0}, 0);
  if (!error) return {};
  // Where the samples differ more from the model than was thought, so does the top.
  const double freedom = static_cast<double>(samples.size()) - 3;
  const double worse = std::sqrt(std::max(1.0, now.squares / freedom));
  const BlurPeak peak{v[1] * width,
                      std::exp(v[0]),
                      std::exp(v[2]) * width,
                      std::exp(v[3]),
                      worse * width * std::sqrt((*error)[1]),
                      std::sqrt(now.off / static_cast<double>(samples.size())),
                      now.squares};
  return std::isfinite(peak.top + peak.height + peak.width + peak.error) ? std::optional(peak) : std::nullopt;
}

std::optional<BlurPeak> placed_peak(const BlurPeak& shape, std::span<const FocusSample> samples, double noise,
                                    double from, double to) {
  if (std::any_of(samples.begin(), samples.end(), [](const FocusSample& s) { return !(s.score > 0); })) return {};
  constexpr int kTops = 400;
  std::array<BlurPeak, kTops + 1> tried;
  for (int i = 0; i <= kTops; ++i) {
    BlurPeak& peak = tried[static_cast<std::size_t>(i)] = shape;
    peak.top = from + (to - from) * i / kTops;
    // The best height for this top, in closed form.
    double sum = 0, weights = 0;
    for (const FocusSample& s : samples) {
      const double weight = 1 / variance_of(s, noise);
      sum += weight * std::log(s.score / peak.score(s.at)), weights += weight;
    }
    peak.height *= std::exp(sum / weights);
    peak.squares = 0;
    for (const FocusSample& s : samples) {
      const double left = std::log(s.score / peak.score(s.at));
      peak.squares += left * left / variance_of(s, noise);
    }
  }
  BlurPeak best = *std::min_element(tried.begin(), tried.end(),
                                    [](const BlurPeak& a, const BlurPeak& b) { return a.squares < b.squares; });
  const auto as_good =
      std::count_if(tried.begin(), tried.end(), [&](const BlurPeak& peak) { return peak.squares < best.squares + 1; });
  best.error = 0.5 * static_cast<double>(as_good) * (to - from) / kTops;
  return best;
}

}  // namespace framequality::focus
