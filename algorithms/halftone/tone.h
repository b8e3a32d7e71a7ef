// SPDX-License-Identifier: LGPL-2.1-or-later
// Tones for halftoning, computed from luma values, and the values of the output levels.
#pragma once

#include "algorithms/host_device.h"

#include <cmath>
#include <cstdint>
#include <span>

namespace framequality::halftone {

// I in what follows: int, or the numbers of algorithms/text.

/// Tones are in 1/16 of an 8-bit grey: 0 black ... kWhite white.
inline constexpr int kWhite = 4080;

/// The quantity in which errors are diffused.
enum class Light : std::uint8_t {
  kCode,  ///< the pixel value itself, as the display receives it
  kSrgb,  ///< light by IEC 61966-2-1, what RGB and GRAY usually are
  kBt709  ///< light by the inverse of the OETF of ITU-R BT.709, BT.601 and BT.2020, for other video
};

struct ToneSettings {
  bool limited = false;  ///< values run from 16 to 235, times 2^(depth - 8); others are clipped
  Light light = Light::kCode;
  bool invert = false;  ///< white becomes black
  bool operator==(const ToneSettings&) const = default;
};

/// Light, 0...1, of a value 0...1.
inline double light_of(double v, Light light) {
  switch (light) {
    case Light::kSrgb:
      return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
    case Light::kBt709:
      return v < 0.081 ? v / 4.5 : std::pow((v + 0.099) / 1.099, 1 / 0.45);
    case Light::kCode:
      break;
  }
  return v;
}

/// Tone of a luma value of `depth` bits, 0...kWhite: expanded to the full range, rounded once, halves up.
inline int tone_of(std::uint32_t code, int depth, const ToneSettings& s) {
  const auto unit = static_cast<std::int64_t>(1) << (depth - 8);
  const std::int64_t black = s.limited ? 16 * unit : 0, range = s.limited ? 219 * unit : (1 << depth) - 1;
  std::int64_t d = static_cast<std::int64_t>(code) - black;
  d = d < 0 ? 0 : d > range ? range : d;
  // In integers where that is exact: machines whose libraries differ must agree.
  const int tone = s.light == Light::kCode
                       ? static_cast<int>((2 * d * kWhite + range) / (2 * range))
                       : static_cast<int>(std::floor(
                             kWhite * light_of(static_cast<double>(d) / static_cast<double>(range), s.light) + 0.5));
  return s.invert ? kWhite - tone : tone;
}

/// Fills a table of the tones of all pixel values; its size is 2^depth.
inline void fill_tones(std::span<std::int16_t> table, int depth, const ToneSettings& settings) {
  for (std::uint32_t code = 0; code < table.size(); ++code)
    table[code] = static_cast<std::int16_t>(tone_of(code, depth, settings));
}

/// Output levels 0...count-1, equally spaced from black to white. count: 2, 4 or 16.
struct Levels {
  int count = 2;

  FQ_HD static bool valid(int count) { return count == 2 || count == 4 || count == 16; }
  /// Tones from one level to the next.
  FQ_HD constexpr int step() const { return kWhite / (count - 1); }
  /// 8-bit grey level of a level, as stored in GRAY8.
  FQ_HD constexpr int code(int level) const { return level * (255 / (count - 1)); }
  /// A tone u is rounded to level (u + bias()) / step(): to the nearest one, halves up; with 2 levels, classically, up
  /// from 128 grey on, which is 8/16 more than half.
  FQ_HD constexpr int bias() const { return count == 2 ? kWhite - 2048 : step() / 2; }
};

/// Share of an error e that is passed on: strength 0...256, 256 all of it. Rounded, halves up.
inline constexpr int kFullStrength = 256;
template <class I>
FQ_HD I weaken(I e, I strength) {
  return (e * strength + 128) >> 8;
}

}  // namespace framequality::halftone
