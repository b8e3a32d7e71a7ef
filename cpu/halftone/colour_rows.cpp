// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of colour halftones: from tones to palette indices, and from those to output pixels.
#include "cpu/halftone/colour_rows.h"

#include "algorithms/halftone/colour_codes.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace framequality::cpu {

using namespace halftone;

namespace {

FQ_HD void diffuse_pixel(const ColourGroup& group, const ColourChoice& choice, int strength, int r, int x,
                         Triple& left) {
  const Triple* above = group.kept[r] + x;
  const DiffusedColour d =
      diffuse_colour(group.tones[r][x], left, share_from_above(above[-1], above[0], above[1]), choice, strength);
  group.colours[r][x] = static_cast<std::uint8_t>(d.colour);
  group.kept[r + 1][x] = left = d.kept;
}

using Words = std::array<std::uint32_t, kMostColours>;

template <int kBits>
void pack_codes(const std::uint8_t* colours, int width, const Words& codes, std::uint8_t* out) {
  constexpr int kPixels = 8 / kBits;
  for (int x = 0; x < width; x += kPixels) {
    std::uint32_t byte = 0;
    for (int i = 0; i < kPixels; ++i) byte = byte << kBits | (x + i < width ? codes[colours[x + i]] : 0);
    *out++ = static_cast<std::uint8_t>(byte);
  }
}

template <int kBytes>
void put_colours(const std::uint8_t* colours, int width, const Words& words, std::uint8_t* out) {
  std::array<std::uint8_t[4], kMostColours> bytes;
  for (std::size_t i = 0; i < kMostColours; ++i)
    for (std::size_t c = 0; c < 4; ++c) bytes[i][c] = static_cast<std::uint8_t>(words[i] >> 8 * c);
  // Four bytes are stored at once; the fourth of three is the next pixel's first.
  int x = 0;
  for (; x + 1 < width; ++x, out += kBytes) std::memcpy(out, bytes[colours[x]], 4);
  if (x < width) std::memcpy(out, bytes[colours[x]], kBytes);
}

}  // namespace

void diffuse_colours(const ColourGroup& group, const ColourChoice& choice, int strength, int t0, int t1) {
  Triple left[kColourRows];
  for (int r = 0; r < group.rows; ++r)
    left[r] = group.kept[r + 1][std::clamp(t0 - kColourSkew * r, 0, group.width) - 1];
  const int begin = kColourSkew * (kColourRows - 1);
  for (int t = t0; t < t1; ++t) {
    if (group.rows == kColourRows && t >= begin && t < group.width) {
      for (int r = 0; r < kColourRows; ++r) diffuse_pixel(group, choice, strength, r, t - kColourSkew * r, left[r]);
      continue;
    }
    for (int r = 0; r < group.rows; ++r)
      if (const int x = t - kColourSkew * r; x >= 0 && x < group.width)
        diffuse_pixel(group, choice, strength, r, x, left[r]);
  }
}

void diffuse_serpentine(const Triple* tones, int width, int y, const ColourChoice& choice, int strength, Triple* kept,
                        std::uint8_t* colours) {
  const bool leftward = y % 2 != 0;
  const int step = leftward ? -1 : 1;
  Triple behind = triple(kErrorBias), above_behind = behind;
  for (int i = 0, x = leftward ? width - 1 : 0; i < width; ++i, x += step) {
    const Triple above = kept[x];
    const DiffusedColour d =
        diffuse_colour(tones[x], behind, share_from_above(kept[x + step], above, above_behind), choice, strength);
    colours[x] = static_cast<std::uint8_t>(d.colour);
    above_behind = above;
    kept[x] = behind = d.kept;
  }
}

void write_colours(const std::uint8_t* colours, int width, const ColourSettings& settings, std::uint8_t* out) {
  const Words words = output_words(settings);
  if (settings.output == ColourOutput::kRgb) return put_colours<3>(colours, width, words, out);
  if (settings.output == ColourOutput::kRgbx) return put_colours<4>(colours, width, words, out);
  const int bits = settings.palette.bits();
  if (bits == 1)
    pack_codes<1>(colours, width, words, out);
  else if (bits == 2)
    pack_codes<2>(colours, width, words, out);
  else
    pack_codes<4>(colours, width, words, out);
}

}  // namespace framequality::cpu
