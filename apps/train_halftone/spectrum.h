// SPDX-License-Identifier: LGPL-2.1-or-later
// Spectra of halftones of one tone, compared by training and reported by evaluation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace framequality::tools {

/// A binary image; dot(x, y) is 0 or 1.
struct Dots {
  int width = 0, height = 0;
  std::vector<std::uint8_t> values;
  Dots(int w, int h) : width(w), height(h), values(static_cast<std::size_t>(w) * static_cast<std::size_t>(h)) {}
  std::uint8_t& dot(int x, int y) {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  std::uint8_t dot(int x, int y) const {
    return values[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
};

inline constexpr int kSegment = 128, kHop = 64;
/// The evaluated part of an image, and its distance from where diffusion begins.
inline constexpr int kEvaluated = 576, kTopMargin = 64, kSideMargin = 32;
inline constexpr int kPatchWidth = kEvaluated + 2 * kSideMargin, kPatchHeight = kEvaluated + kTopMargin;

/// Means over segments of kSegment x kSegment pixels, Hann-windowed, by bin v * kSegment + u.
struct Spectrum {
  std::vector<float> amplitude;  ///< over sqrt(a (1 - a)), a the tone
  std::vector<float> power;      ///< over a (1 - a)
};

/// Computes spectra. Owns all buffers; one per thread.
class Analyser {
 public:
  Analyser();
  /// Spectrum of the evaluated part of a patch of tone a, 0 < a < 1.
  Spectrum patch(const Dots& dots, double a);
  /// Mean spectrum of periodic patterns, made symmetric to both axes and diagonals.
  Spectrum reference(std::span<const Dots> patterns, double a);

 private:
  struct Corner {
    const Dots* dots;
    int x, y;
  };
  void add_pair(const Corner& first, const Corner& second, double a, Spectrum& sum);
  void transform();

  std::vector<float> window_, cosine_, sine_, re_, im_, other_;
};

/// Mean over all bins but those with |u|, |v| <= 1 of ((G - H) / (G + H))^2, G and H the amplitudes: equation 8 of
/// Y.-T. Han, J. Allebach and others' cost, per bin.
double cost(const Spectrum& reference, const Spectrum& halftone);

/// Mean over the rings of radius 2...kSegment / 2, in dB, of a ring's variance of the power over its squared mean
/// (R. Ulichney, Digital halftoning, 1987). Noise estimated from n independent segments has -10 log10(n).
double anisotropy(const Spectrum& halftone);

}  // namespace framequality::tools
