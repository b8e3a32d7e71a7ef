// SPDX-License-Identifier: LGPL-2.1-or-later
// The kind of blur of an image, from its mean square frequencies along four directions.
#pragma once

#include "algorithms/sharpness/metrics/directional_frequency.h"

namespace framequality::sharpness {

enum class BlurKind {
  kFlat,     ///< no detail above the noise: the kind is unknown
  kSharp,    ///< no significant blur
  kDefocus,  ///< equal in all directions
  kMotion,   ///< most in one direction
};

struct Blur {
  BlurKind kind = BlurKind::kFlat;
  /// 1 - smallest / largest mean square frequency, 0...1; 0 for a flat image.
  double anisotropy = 0;
  /// Direction of the strongest blur: degrees from the x axis, counterclockwise in the image as seen, 0 <= angle <
  /// 180. Unreliable where anisotropy is small. 0 for a flat image.
  double angle = 0;
};

/// Classifies blur. The thresholds separate best photographs blurred by disks, Gaussians and straight or curved paths
/// of 4 to 20 pixels, with noise of 0 to 5 grey levels; docs/advice.md has the accuracy. Stripes in one direction look
/// like motion along them. radius: of the prefilter applied before the ratios were measured, 0...2.
Blur blur_of(const DirectionalRatios& ratios, int radius);

/// Name of a kind, as in message and metadata.
const char* name_of(BlurKind kind);

}  // namespace framequality::sharpness
