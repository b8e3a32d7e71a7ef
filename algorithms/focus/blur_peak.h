// SPDX-License-Identifier: LGPL-2.1-or-later
// The peak of a score as defocus makes it, whose top follows from looks that lie far apart.
//
// Defocus blurs by a disk, whose radius grows with the distance from the top. The squared gradients of a scene whose
// spectrum falls by a power law fall by a power of that radius too, as soon as it exceeds the finest detail (Pentland
// 1987; Subbarao and Surya 1994 compare two such radii). So a score is height * (1 + ((x - top) / width)^2)^-power: a
// bell at its top, a power law far from it. Scenes differ in width and power; four or five looks on both sides tell
// both and the top. The fit also lets one side be a little wider than the other, as lenses make it;
// a BlurPeak has the mean of both widths.
#pragma once

#include "algorithms/focus/peak.h"

#include <cmath>
#include <optional>
#include <span>

namespace framequality::focus {

struct BlurPeak {
  double top = 0;      ///< position, steps
  double height = 0;   ///< score there, > 0
  double width = 1;    ///< steps, > 0
  double power = 1;    ///< > 0
  double error = 0;    ///< standard error of `top`, steps
  double off = 0;      ///< share by which the samples differ from it: root mean square
  double squares = 0;  ///< by how many standard deviations they do, squared and added up

  double score(double at) const {
    const double u = (at - top) / width;
    return height * std::pow(1 + u * u, -power);
  }
  /// How far from its top it has this score, > 0; 0 where it is higher.
  double distance(double score) const {
    return score >= height ? 0 : width * std::sqrt(std::pow(score / height, -1 / power) - 1);
  }
  double half_width() const { return distance(height / 2); }  ///< at half its height
  /// The bell above this floor that is as high, and as wide at half its height.
  FocusPeak bell(double floor) const {
    constexpr double kHalf = 1.1774;  // sqrt(2 ln 2)
    return {top, floor, height - floor, std::max(0.5, distance((height + floor) / 2) / kHalf), error};
  }
};

/// Fits it to samples: least squares of the logarithms of scores (Levenberg 1944, Marquardt 1963). top, width: where it
/// begins. noise: of single scores. Nothing for fewer than four samples, for scores that are not positive, and where
/// they do not determine a top.
std::optional<BlurPeak> blur_peak_of(std::span<const FocusSample> samples, double noise, double top, double width);

/// The peak of the same width and power that explains samples best, with its top in from...to: maximum likelihood.
/// error: how far from there one standard deviation explains them as well. Nothing for scores that are not positive.
std::optional<BlurPeak> placed_peak(const BlurPeak& shape, std::span<const FocusSample> samples, double noise,
                                    double from, double to);

}  // namespace framequality::focus
