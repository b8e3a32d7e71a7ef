// SPDX-License-Identifier: LGPL-2.1-or-later
// The peak of a score over the positions of a lens: where its top is, how wide it is, and how sure that is.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace framequality {

/// The mean score seen at a position.
struct FocusSample {
  double at = 0;     ///< position, steps
  double score = 0;  ///< mean of these frames'
  int frames = 1;
};

/// floor + height * exp(-(x - top)^2 / (2 width^2)): a bell, close to a score near its top, and less so far from it.
struct FocusPeak {
  double top = 0;     ///< position, steps
  double floor = 0;   ///< score far from it
  double height = 0;  ///< of the top above the floor, > 0
  double width = 1;   ///< steps, > 0
  double error = 0;   ///< standard error of `top`, steps

  double score(double at) const { return floor + height * std::exp(-(at - top) * (at - top) / (2 * width * width)); }
  /// Distance from its top to this score, steps; 0 if it is higher, at most `most` widths.
  double distance(double score, double most) const {
    const double share = (score - floor) / height;
    if (!(share > 0)) return most * width;
    return width * std::min(std::sqrt(std::max(0.0, -2 * std::log(share))), most);
  }
};

namespace focus {

inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Standard deviation of single scores, from the distance of each from a parabola through its neighbours: an upper
/// bound, because curves are nearly parabolas. Median absolute deviation (Hampel 1974). The row is assumed to be
/// evenly spaced. 0 for fewer than four.
inline double noise_of(std::span<const FocusSample> row) {
  constexpr double kGaussian = 0.6745;  // median of |x| at sigma 1
  std::vector<double> off;
  for (std::size_t i = 3; i < row.size(); ++i)
    off.push_back(std::abs(row[i].score - 3 * row[i - 1].score + 3 * row[i - 2].score - row[i - 3].score));
  return median(std::move(off)) / (kGaussian * std::sqrt(20.0));
}

/// Standard deviations by which the highest place of a row, averaged over a window of this width, exceeds its lower
/// quarter. noise: of single scores. 0 for a single sample.
inline double significance(std::span<const FocusSample> row, double window, double noise) {
  if (row.size() < 2) return 0;
  std::vector<double> level;
  double best = 0, error = 0;
  for (const FocusSample& centre : row) {
    double sum = 0, weights = 0, squares = 0;
    for (const FocusSample& s : row) {
      const double w = std::max(0.0, 1 - std::abs(s.at - centre.at) / window);
      sum += w * s.score, weights += w, squares += w * w / s.frames;
    }
    const double mean = sum / weights;
    if (level.empty() || mean > best) best = mean, error = std::sqrt(squares) / weights;
    level.push_back(mean);
  }
  const auto low = level.begin() + static_cast<std::ptrdiff_t>(level.size() / 4);
  std::nth_element(level.begin(), low, level.end());
  const double rise = best - *low;
  // Smaller rises are rounding errors.
  if (!(rise > 1e-12 * std::abs(best))) return 0;
  return noise > 0 ? rise / (noise * error) : 1e9;
}

/// A row of samples, at least one, in ascending order of position; noise: of single scores.
class SampleRow {
 public:
  SampleRow(std::span<const FocusSample> row, double noise) : row_(row) {
    const auto [least, most] = std::minmax_element(
        row.begin(), row.end(), [](const FocusSample& a, const FocusSample& b) { return a.score < b.score; });
    constexpr double kClear = 20;
    is_clear_ = most->score - least->score > kClear * noise;
  }

  std::ptrdiff_t size() const { return static_cast<std::ptrdiff_t>(row_.size()); }
  double at(std::ptrdiff_t i) const { return row_[static_cast<std::size_t>(i)].at; }
  /// The score of sample i; the mean of three where noise could decide which is highest.
  double level(std::ptrdiff_t i) const {
    return is_clear_ ? score(i) : (score(i - 1) + 2 * score(i) + score(i + 1)) / 4;
  }

 private:
  double score(std::ptrdiff_t i) const {
    return row_[static_cast<std::size_t>(std::clamp<std::ptrdiff_t>(i, 0, size() - 1))].score;
  }

  std::span<const FocusSample> row_;
  bool is_clear_;
};

/// Half the width at half height of a peak with its highest sample `best`: the mean of both sides. A side that ends
/// before it falls this far counts only if the other does too.
inline double half_width(const SampleRow& row, std::ptrdiff_t best, const FocusPeak& peak) {
  double half[2] = {0, 0};
  bool falls[2] = {false, false};
  for (const int side : {0, 1}) {
    const std::ptrdiff_t step = side ? 1 : -1;
    const double wanted = peak.floor + peak.height / 2;
    for (std::ptrdiff_t i = best; i + step >= 0 && i + step < row.size(); i += step) {
      const double here = row.level(i), next = row.level(i + step);
      half[side] = std::abs(row.at(i + step) - peak.top);
      if (next <= wanted) {
        const double share = here > next ? std::clamp((here - wanted) / (here - next), 0.0, 1.0) : 1;
        half[side] = std::abs(row.at(i) - peak.top) + share * std::abs(row.at(i + step) - row.at(i));
        falls[side] = true;
        break;
      }
    }
  }
  return falls[0] && falls[1] ? (half[0] + half[1]) / 2
         : falls[0]           ? half[0]
         : falls[1]           ? half[1]
                              : std::max(half[0], half[1]);
}

/// The top between the samples next to `best`: of a parabola through the logarithms of the levels near it, by weighted
/// least squares. peak.top where these have no maximum.
inline double interpolated_top(const SampleRow& row, std::ptrdiff_t best, const FocusPeak& peak) {
  double w = 0, x = 0, xx = 0, xxx = 0, xxxx = 0, y = 0, xy = 0, xxy = 0;
  int used = 0;
  for (std::ptrdiff_t i = 0; i < row.size(); ++i) {
    constexpr double kNear = 1.5;
    const double d = row.at(i) - peak.top, above = row.level(i) - peak.floor;
    if (std::abs(i - best) > 1 && (std::abs(d) > kNear * peak.width || above < peak.height / 4)) continue;
    if (!(above > 0.02 * peak.height)) continue;
    // The logarithm's noise is inverse to the level.
    const double weight = above * above, v = std::log(above / peak.height);
    w += weight, x += weight * d, xx += weight * d * d, xxx += weight * d * d * d, xxxx += weight * d * d * d * d;
    y += weight * v, xy += weight * d * v, xxy += weight * d * d * v;
    ++used;
  }
  if (used < 3) return peak.top;
  const double s2 = xx - x * x / w, s3 = xxx - x * xx / w, s4 = xxxx - xx * xx / w;
  const double t1 = xy - x * y / w, t2 = xxy - xx * y / w, det = s2 * s4 - s3 * s3;
  const double b = (t1 * s4 - t2 * s3) / det, c = (t2 * s2 - t1 * s3) / det;
  const double left = best > 0 ? row.at(best - 1) : peak.top;
  const double right = best + 1 < row.size() ? row.at(best + 1) : peak.top;
  return c < 0 && std::isfinite(b) ? std::clamp(peak.top - b / (2 * c), left, right) : peak.top;
}

/// The peak of a row of samples in ascending order, at least one, noise: of single scores. Its width is half of that at
/// half height; a peak of one sample is half as wide as the next are apart.
inline FocusPeak peak_of(std::span<const FocusSample> samples, double noise) {
  const SampleRow row(samples, noise);
  std::ptrdiff_t best = 0;
  FocusPeak peak;
  peak.floor = row.level(0);
  for (std::ptrdiff_t i = 1; i < row.size(); ++i) {
    if (row.level(i) > row.level(best)) best = i;
    peak.floor = std::min(peak.floor, row.level(i));
  }
  peak.height = row.level(best) - peak.floor;
  peak.top = row.at(best);
  constexpr double kHalf = 1.1774;  // sqrt(2 ln 2)
  peak.width = std::max(half_width(row, best, peak) / kHalf, 0.5);
  peak.top = interpolated_top(row, best, peak);
  return peak;
}

/// The top of a peak from both its sides: halfway between them at several heights, extrapolated to the top (the
/// bisector of a spectral line: Gray, The Observation and Analysis of Stellar Photospheres, 2005, ch. 17). Assumes no
/// shape: a peak may be round or have an edge, and lean to one side. row: in ascending order. Empty if the row lacks
/// either side down to half of the height, or its ends are nearer than that.
inline std::optional<FocusPeak> bisected(const FocusPeak& known, std::span<const FocusSample> row, double noise) {
  if (row.size() < 4) return {};
  const auto n = static_cast<std::ptrdiff_t>(row.size());
  const auto best = std::max_element(row.begin(), row.end(),
                                     [](const FocusSample& a, const FocusSample& b) { return a.score < b.score; }) -
                    row.begin();
  const auto at = [&](std::ptrdiff_t i) -> const FocusSample& { return row[static_cast<std::size_t>(i)]; };
  const double height = at(best).score - known.floor;
  if (!(height > 0)) return {};
  double w = 0, x = 0, xx = 0, y = 0, xy = 0, errors = 0;
  for (const double share : {0.5, 0.58, 0.66, 0.74, 0.82, 0.9}) {
    const double wanted = known.floor + share * height;
    double crossing[2];
    for (const int side : {0, 1}) {
      const std::ptrdiff_t step = side ? 1 : -1;
      std::ptrdiff_t i = best;
      while (i + step >= 0 && i + step < n && at(i + step).score > wanted) i += step;
      if (i + step < 0 || i + step >= n) return {};
      const double here = at(i).score, next = at(i + step).score;
      const double part = (here - wanted) / (here - next);
      crossing[side] = at(i).at + part * (at(i + step).at - at(i).at);
      errors += std::abs((at(i + step).at - at(i).at) / (here - next));
    }
    const double middle = (crossing[0] + crossing[1]) / 2, down = 1 - share;
    w += 1, x += down, xx += down * down, y += middle, xy += down * middle;
  }
  const double slope = (xy - x * y / w) / (xx - x * x / w);
  FocusPeak peak = known;
  peak.top = (y - slope * x) / w;
  // Levels share samples, so they count as only three on each side.
  peak.error = std::abs(noise) * (errors / (2 * w)) * 2.2 / std::sqrt(6.0);
  peak.top = std::clamp(peak.top, at(std::max<std::ptrdiff_t>(best - 1, 0)).at, at(std::min(best + 1, n - 1)).at);
  return peak;
}

/// The top of a peak whose floor and width are known already, from samples near it: a parabola through the logarithms
/// of their heights above the floor, whose curvature may differ from the known one by kBend. The fewer and the
/// closer together they are, the more the known width counts; two samples determine the rest.
/// samples: at least two different positions. noise: of single scores. Empty if they do not curve down.
inline std::optional<FocusPeak> refined(const FocusPeak& known, std::span<const FocusSample> samples, double noise) {
  constexpr double kBend = 0.3;    // standard deviation of the curvature's factor
  constexpr double kModel = 0.01;  // deviation of a peak from a bell, share of its height
  double best = 0;
  for (const FocusSample& s : samples) best = std::max(best, s.score - known.floor);
  if (!(best > 0)) return {};
  const double c0 = -1 / (2 * known.width * known.width), centre = known.top;
  // Normal equations of v = a + b x + c x^2 with v = log(share of best), and a prior on c.
  double m[3][4] = {};
  m[2][2] = 1 / (kBend * c0 * kBend * c0);
  m[2][3] = m[2][2] * c0;
  for (const FocusSample& s : samples) {
    const double share = (s.score - known.floor) / best;
    if (!(share > 0.1)) continue;
    // Not std::hypot, which needs glibc 2.35.
    const double relative = noise / std::sqrt(static_cast<double>(s.frames)) / best;
    const double sigma = std::sqrt(relative * relative + kModel * kModel) / share;
    const double x = s.at - centre, v = std::log(share), weight = 1 / (sigma * sigma);
    const double basis[3] = {1, x, x * x};
    for (int i = 0; i < 3; ++i) {
      for (int k = 0; k < 3; ++k) m[i][k] += weight * basis[i] * basis[k];
      m[i][3] += weight * basis[i] * v;
    }
  }
  // Inverse of the symmetric 3 x 3 matrix: the covariance.
  const auto cofactor = [&](int i, int k) {
    const int i1 = (i + 1) % 3, i2 = (i + 2) % 3, k1 = (k + 1) % 3, k2 = (k + 2) % 3;
    return m[i1][k1] * m[i2][k2] - m[i1][k2] * m[i2][k1];
  };
  const double det = m[0][0] * cofactor(0, 0) + m[0][1] * cofactor(0, 1) + m[0][2] * cofactor(0, 2);
  if (!(std::abs(det) > 0)) return {};
  double solved[3] = {}, covariance[3][3];
  for (int i = 0; i < 3; ++i)
    for (int k = 0; k < 3; ++k) {
      covariance[i][k] = cofactor(k, i) / det;
      solved[i] += covariance[i][k] * m[k][3];
    }
  const double b = solved[1], c = solved[2];
  if (!(c < 0)) return {};
  FocusPeak peak = known;
  const double off = -b / (2 * c);
  peak.top = centre + off;
  peak.width = std::sqrt(-1 / (2 * c));
  peak.height = best * std::exp(solved[0] - b * b / (4 * c));
  const double db = -1 / (2 * c), dc = b / (2 * c * c);
  peak.error = std::sqrt(
      std::max(0.0, db * db * covariance[1][1] + 2 * db * dc * covariance[1][2] + dc * dc * covariance[2][2]));
  return std::isfinite(peak.top) && std::isfinite(peak.error) && std::isfinite(peak.height) ? std::optional(peak)
                                                                                            : std::nullopt;
}

}  // namespace focus

}  // namespace framequality
