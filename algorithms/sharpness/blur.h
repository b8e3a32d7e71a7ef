// SPDX-License-Identifier: LGPL-2.1-or-later
// The kind of blur of a picture, from its mean square frequencies along four directions.
#pragma once

#include "algorithms/sharpness/metrics/directional_frequency.h"

namespace framequality {

enum class BlurKind {
  kFlat,     ///< nothing but noise: there is no telling
  kSharp,    ///< no blur to speak of
  kDefocus,  ///< alike in all directions
  kMotion,   ///< most in one direction
};

struct Blur {
  BlurKind kind = BlurKind::kFlat;
  /// 1 - smallest / largest mean square frequency, 0...1; 0 of a flat picture.
  double anisotropy = 0;
  /// Direction that is blurred most: degrees from the x axis, counterclockwise as the picture is seen, 0 <= angle <
  /// 180. Means little where anisotropy is small. 0 of a flat picture.
  double angle = 0;
};

/// The thresholds are those that parted photographs best that were blurred by disks, Gaussians and paths, straight and
/// curved, 4 to 20 pixels long, with noise of 0 to 5 codes: docs/metrics.md says how well. A scene of stripes in one
/// direction looks like motion along them.
/// radius: of the prefilter, 0...2, that the ratios were measured behind.
Blur blur_of(const DirectionalRatios& ratios, int radius);

/// Nick of a kind: flat, sharp, defocus or motion.
const char* name_of(BlurKind kind);

}  // namespace framequality
