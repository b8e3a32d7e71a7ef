// SPDX-License-Identifier: LGPL-2.1-or-later
// Weights of non-local means and of the patch-based bilateral filter, and the pixels they average.
#pragma once

#include "algorithms/denoise/noise.h"
#include "algorithms/host_device.h"
#include "algorithms/picture.h"

#include <cmath>
#include <cstdint>
#include <numbers>

namespace framequality::denoise {

// Both filters replace a pixel by a weighted mean of the pixels around it:
//
//   out(p) = sum_t w(p, t) v(p + t) / sum_t w(p, t),  |tx|, |ty| <= search_radius
//   w(p, t) = exp(-max(d(p, t) - 2 sigma^2, 0) / range) exp(-|t|^2 spatial)
//
// d: mean squared difference between the patches, (2 patch_radius + 1)^2 pixels of each plane that is filtered along,
// around p and around p + t. Non-local means (Buades, Coll, Morel, CVPR 2005): range = h^2, spatial = 0. Patch-based
// bilateral filter: range = 2 sigma_range^2, spatial = 1 / (2 sigma_spatial^2).

inline constexpr int kMaxPatchRadius = 7;    ///< 15x15: the most whose sums of 12-bit squares fit 32 bits
inline constexpr int kMaxSearchRadius = 16;  ///< 33x33
inline constexpr int kMaxTemporalRadius = 4;

/// Pixels beyond the border: mirrored with the edge pixel (cba|abc), without it (cb|abc), or the edge pixel
/// (aaa|abc). Farther out, they are mirrored again at the other end.
enum class Border : std::uint8_t { kSymmetric, kReflect, kEdge };

/// The weight of the pixel itself: 1, or the largest of the others (at least kLeastCenter).
enum class CenterWeight : std::uint8_t { kOne, kMax };
inline constexpr float kLeastCenter = 1.1920929e-07f;

/// Chroma of YUV formats: unfiltered, each plane by itself, or both with joint weights from both planes' distances.
enum class Chroma : std::uint8_t { kNone, kSeparate, kJoint };

/// Settings of a filter for one frame; they may differ from frame to frame. Grey levels are 0...255 at any depth.
struct Settings {
  int patch_radius = 3;         ///< 0...kMaxPatchRadius
  int search_radius = 10;       ///< 0...kMaxSearchRadius
  double range = 100;           ///< luma, gray and RGB; squared grey levels, > 0
  double range_chroma = 100;    ///< U and V
  bool follows = false;         ///< luma, gray and RGB follow the noise: see Pass
  bool follows_chroma = false;  ///< U and V
  double spatial = 0;           ///< exponent for each squared pixel of |t|, >= 0
  double sigma = 0;             ///< noise whose share is taken off distances; grey levels
  bool estimate_sigma = false;  ///< of each component by noise.h instead, field by field, in the frame that is filtered
  CenterWeight center = CenterWeight::kOne;
  Border border = Border::kSymmetric;
  Chroma chroma = Chroma::kNone;
  bool operator==(const Settings&) const = default;
};

/// Components that are filtered with weights of their own, all of one size: one launch on a GPU.
struct Pass {
  int count = 0;  ///< 1...3
  int component[3] = {};
  double range = 0;
  /// If true, sigma is the noise of the components above the image's grain (noise.h), and the range a multiple of its
  /// square. Without noise above the grain, nothing changes.
  bool follows = false;
};
struct Passes {
  int count = 0;
  Pass pass[3];  ///< components in none of them are copied
};
inline Passes passes_of(const PictureLayout& layout, const Settings& s) {
  Passes all;
  if (layout.is_rgb) {
    all.pass[all.count++] = {3, {0, 1, 2}, s.range, s.follows};
    return all;
  }
  all.pass[all.count++] = {1, {0}, s.range, s.follows};
  if (layout.components < 3 || s.chroma == Chroma::kNone) return all;
  if (s.chroma == Chroma::kJoint) {
    all.pass[all.count++] = {2, {1, 2}, s.range_chroma, s.follows_chroma};
  } else {
    all.pass[all.count++] = {1, {1}, s.range_chroma, s.follows_chroma};
    all.pass[all.count++] = {1, {2}, s.range_chroma, s.follows_chroma};
  }
  return all;
}

/// The settings as factors of the sum D of squared differences over all pixels and planes of a patch: the
/// weight is 2^-x, x = max(D * scale - floor, 0) + |t|^2 * spatial.
struct Weights {
  float scale = 0, floor = 0, spatial = 0;
};
/// range: squared grey levels; sigma: grey levels; samples: of a patch, all planes; spatial: of Settings.
FQ_HD Weights weights_of(double range, double sigma, int samples, int depth, double spatial) {
  const double grey = ((1 << depth) - 1) / 255.0, per_grey = std::numbers::log2e / range;
  return {static_cast<float>(per_grey / (grey * grey * samples)), static_cast<float>(per_grey * 2 * sigma * sigma),
          static_cast<float>(std::numbers::log2e * spatial)};
}
/// A range so small that a difference of one 16-bit level in the largest patch leaves no weight.
inline constexpr double kLeastRange = 1e-12;

/// How a pass's weights follow from its noise; see Pass.
struct WeightRule {
  double range = 0;
  bool follows = false;
  int samples = 0, depth = 8;
  double spatial = 0;
};
inline WeightRule rule_of(const Settings& s, const Pass& pass, int depth) {
  const int side = 2 * s.patch_radius + 1;
  return {pass.range, pass.follows, side * side * pass.count, depth, s.spatial};
}
/// variance: of the noise, mean over the pass's components; squared grey levels.
FQ_HD Weights weights_of(const WeightRule& rule, double variance) {
  if (!rule.follows) return weights_of(rule.range, std::sqrt(variance), rule.samples, rule.depth, rule.spatial);
  const double sigma = followed_sigma(variance), range = rule.range * sigma * sigma;
  return weights_of(range > kLeastRange ? range : kLeastRange, sigma, rule.samples, rule.depth, rule.spatial);
}
/// Whether a pass's noise has to be estimated.
inline bool estimates(const Settings& s, const Pass& pass) { return s.estimate_sigma || pass.follows; }

// The host twin computes weights with the operations below and adds them in the same order on every instruction set: no
// operation here may be contracted (-ffp-contract=off, -fmad=false).
//
// Order for a pixel: weight 1 and its own value (center = kOne). Then, in its own frame, for ty = 0...R and tx = -R...R
// (tx = 1...R in row 0): first +t, then -t. Then the other frames of the window, oldest first, each by rows of t. Then
// with center = kMax the largest weight. Values are added less 2^(depth - 1): w * value, rounded, then added.
//
// CUDA may use its own exponential and order, for its speed depends on them. Means then differ by at most kTolerance
// grey levels, and pixel values by one if a mean lies this close to the middle of two: less than 0.01% of pixels with 8
// bits, 0.04% with 10, and so on with the values per grey level. Most of it is the CPU's, which adds hundreds of
// values one after the other: up to 2.7e-4 from the definition was seen there, in dark flat images, and up
// to 1.4e-4 for CUDA, whose weights are off by 2^-22 of themselves; between CUDA's kernels up to 2.6e-4 in a frame of
// 1920x1080.
inline constexpr double kTolerance = 5e-4;

/// Larger exponents are clamped to this one.
inline constexpr float kLargestExponent = 126;

// Not std::bit_cast(): to nvcc that is a host function.
FQ_HD std::int32_t bits_of(float a) { return __builtin_bit_cast(std::int32_t, a); }
FQ_HD float real_of(std::int32_t a) { return __builtin_bit_cast(float, a); }

// F and I: float and int, or the numbers of algorithms/text.

/// 2^n 2^f, -0.5 <= f <= 0.5; t: n + 1.5 * 2^23, so that n is in its low bits.
template <class F>
FQ_HD F exp2_of(F t, F f) {
  // Minimax polynomial of 2^f, but for its last term, which makes 2^0 = 1.
  F p = 1.3276455e-3f * f + 9.6755363e-3f;
  p = p * f + 5.5507131e-2f;
  p = p * f + 2.40221202e-1f;
  p = p * f + 6.93146944e-1f;
  p = p * f + 1.0f;
  return real_of(bits_of(p) + (bits_of(t) << 23));
}

/// 2^-x, 0 <= x <= kLargestExponent. Relative error below 3e-7.
template <class F>
FQ_HD F exp2_minus(F x) {
  constexpr float kRound = 12582912;  // 1.5 * 2^23: adding it rounds to an integer
  const F y = -x, t = y + kRound;
  return exp2_of(t, y - (t - kRound));  // the difference is exact
}

/// The exponent x of Weights for a distance D, converted to float rounding to nearest, and not clamped yet. spatial:
/// |t|^2 * w.spatial.
template <class W, class F>
FQ_HD F unclamped_exponent(const W& w, F distance, F spatial) {
  const F x = distance * w.scale - w.floor;
  return choose(x > 0.0f, x, 0.0f) + spatial;
}
/// The same where floor is 0 and scale finite, in fewer steps. has_spatial: false where spatial is 0.
template <class F>
FQ_HD F unclamped_plain_exponent(F scale, F distance, F spatial, bool has_spatial) {
  return has_spatial ? distance * scale + spatial : distance * scale;
}

/// a * b + c, where a * b is exact, or its rounding does not matter.
FQ_HD float product_added(float a, float b, float c) { return a * b + c; }

/// The exponent where the result need not be the host twin's: with one rounding less on most devices. has_floor: false
/// where floor is 0 and scale finite.
template <class W, class F>
FQ_HD F rough_exponent(const W& w, F distance, F spatial, bool has_floor) {
  if (!has_floor) return product_added(distance, w.scale, spatial);
  const F x = product_added(distance, w.scale, -w.floor);
  return choose(x > 0.0f, x, 0.0f) + spatial;
}

/// The exponent for exp2_minus().
template <class F>
FQ_HD F clamped(F x) {
  return choose(x < kLargestExponent, x, kLargestExponent);
}
template <class W, class F>
FQ_HD F exponent(const W& w, F distance, F spatial) {
  return clamped(unclamped_exponent(w, distance, spatial));
}

// GPUs clamp to 0...1 at no cost. Their exponents are in units of kExponents, and their weights kLift times as large,
// which is exact as both are powers of two: means have the same bits. Where exponents exceed kLargestExponent, weights
// differ, by too little to count.
inline constexpr float kExponents = 128, kLift = 16;

/// kLift 2^(-kExponents y), 0 <= y <= 1.
template <class F>
FQ_HD F lifted_exp2_minus(F y) {
  constexpr float kRound = 12582912 + 4;  // as in exp2_minus(), and log2 of kLift
  const F t = product_added(y, -kExponents, constant(y, kRound));
  return exp2_of(t, product_added(y, -kExponents, kRound - t));
}

/// Whether only equal patches weigh anything besides the pixel itself: the mean is then its own value, without sums.
FQ_HD bool keeps(const Weights& w) { return w.scale - w.floor >= kLargestExponent; }

/// The pixel value of a mean: sum of weighted values less 2^(depth - 1), over the sum of weights.
template <class F>
FQ_HD F mean_of(F values, F weights, int depth) {
  return values / weights + static_cast<float>(1 << (depth - 1));
}

/// The mean as a pixel value: rounded to nearest, halves to even.
template <class F>
FQ_HD auto code_of(F mean, int depth) {
  const float largest = static_cast<float>((1 << depth) - 1);
  const F least = choose(mean > 0.0f, mean, 0.0f), code = choose(least < largest, least, largest);
  return bits_of(code + 8388608.0f) & 0xffff;  // 2^23 more leaves no fraction bits
}

/// Index, 0...n-1, of the pixel that stands for pixel i of a row or column of n > 0.
template <class I>
FQ_HD I bordered(I i, I n, Border border) {
  if (border == Border::kEdge) return choose(i < 0, 0, choose(i >= n, n - 1, i));
  const int edge = border == Border::kReflect ? 1 : 0;
  const I period = 2 * (n - edge);
  // Mirrored without its edge, a single pixel has no period.
  const I rest = i % choose(period == 0, 1, period), at = choose(rest < 0, rest + period, rest);
  return choose(at < n, at, period - 1 + edge - at);
}

}  // namespace framequality::denoise
