// SPDX-License-Identifier: LGPL-2.1-or-later
#include "algorithms/sharpness/blur.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace framequality::sharpness {
namespace {

// Directional frequency behind binomial5 above which an image is sharp, (rad/px)^2.
constexpr double kSharpFrom = 0.24;
// Directedness above which blur counts as motion, at that frequency: weak blur lowers one direction by little. With
// strong blur, and in images too sharp for any, scenes alone are as directed: the threshold grows per natural logarithm
// of the frequency's distance.
constexpr double kMotionFrom = 0.28, kMorePerLog = 0.2;
// binomial5 adds this to 1 / ratio, in (px/rad)^2, and binomial3 half of it: the reciprocal behaves like a squared
// width, and squared widths add up when an image is blurred twice.
constexpr double kSoftening = 1.8;

double log_ratio(const DirectionalRatios& r, int a, int b) {
  return r.has_gradient[a] && r.has_gradient[b] ? std::log(r.ratio[a] / r.ratio[b]) : 0;
}

}  // namespace

Blur blur_of(const DirectionalRatios& measured, int radius) {
  Blur blur;
  if (!(DirectionalFrequency::mean(measured) > 0)) return blur;
  DirectionalRatios r = measured;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (int d = 0; d < DirectionalRatios::kDirections; ++d) {
    if (!r.has_gradient[d]) continue;
    least = std::fmin(least, r.ratio[d]);
    most = std::fmax(most, r.ratio[d]);
    r.ratio[d] = 1 / (1 / r.ratio[d] + kSoftening * (2 - radius) / 2);
  }
  blur.anisotropy = 1 - least / most;
  // Twice the angle in the plane, as directions have it; only directions with steps of one length are compared.
  const double along = log_ratio(r, 1, 0), across = log_ratio(r, 2, 3);
  const double directedness = 1 - std::exp(-std::sqrt(along * along + across * across));
  const double angle = std::atan2(across, along) / 2 * 180 / std::numbers::pi;
  blur.angle = angle < 0 ? angle + 180 : angle;
  if (blur.angle >= 180) blur.angle = 0;  // rounded from a tiny negative angle
  const double frequency = DirectionalFrequency::mean(r);
  if (directedness > kMotionFrom + kMorePerLog * std::fabs(std::log(frequency / kSharpFrom)))
    blur.kind = BlurKind::kMotion;
  else
    blur.kind = frequency > kSharpFrom ? BlurKind::kSharp : BlurKind::kDefocus;
  return blur;
}

const char* name_of(BlurKind kind) {
  constexpr const char* kNames[] = {"flat", "sharp", "defocus", "motion"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace framequality::sharpness
