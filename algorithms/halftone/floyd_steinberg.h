// SPDX-License-Identifier: LGPL-2.1-or-later
// Error diffusion with the four weights of Floyd and Steinberg, in 16-bit integers.
#pragma once

#include "algorithms/halftone/tone.h"

#include <cstdint>

namespace framequality::halftone {

// R. W. Floyd, L. Steinberg, An adaptive algorithm for spatial grey scale, Proc. SID 17 (1976), in raster order:
//   s = 7 e[y][x-1] + e[y-1][x-1] + 5 e[y-1][x] + 3 e[y-1][x+1]     e outside the image is 0
//   u = tone[y][x] + ((s + 8) >> 4)
//   level = the one nearest to u (see Levels::bias)
//   e[y][x] = weaken(u - level * step, strength)
// Any order in which a pixel comes after the four that it reads gives the same bits.
//
// The kept value is the error plus Levels::bias(): with a = u + bias the level is a / step, the kept value a % step,
// and all kept values fit 16 bits without a sign:
//   kept errors are 0...step-1 (by induction: tones are 0...kWhite, the weights sum to 16);
//   16 times that + 8 is at most 16 * 4079 + 8 = 65272, and since 16 * bias divides by 16,
//   (sum of kept errors + 8) >> 4 is ((s + 8) >> 4) + bias;
//   a is 0...kWhite + step - 1, at most 8159, so that the level never has to be clamped.

/// The kept form of a pixel: its level, and its error plus bias.
template <class I>
struct Diffused {
  I level, kept;
};

/// kept_*: of the neighbours; `bias` for those outside the image. weakens: false where strength is kFullStrength.
template <class I>
FQ_HD Diffused<I> floyd_steinberg(I tone, I kept_left, I kept_above_left, I kept_above, I kept_above_right,
                                  const Levels& levels, I strength, bool weakens) {
  const I a = tone + ((7 * kept_left + kept_above_left + 5 * kept_above + 3 * kept_above_right + 8) >> 4);
  const I level = levels.count == 2 ? choose(a >= levels.step(), constant(a, 1), constant(a, 0)) : a / levels.step();
  const I kept = a - level * levels.step();
  return {level, weakens ? weaken(kept - levels.bias(), strength) + levels.bias() : kept};
}

/// One row, pixel by pixel. kept: the errors of the row above, replaced by this row's; columns -1...width, of which
/// -1 and width are outside the image and stay `bias`. serpentine: rows of odd y are processed from the right and
/// their weights are mirrored, so that the row above, which ran the other way, has passed its 1/16 and 3/16 to where
/// raster order would have put the 3/16 and 1/16.
template <class Tone, class Put>
FQ_HD void floyd_steinberg_row(int width, int y, bool serpentine, const Levels& levels, int strength,
                               std::uint16_t* kept, Tone&& tone, Put&& put) {
  const bool leftward = serpentine && y % 2 != 0;
  const int bias = levels.bias(), step = leftward ? -1 : 1;
  int behind = bias, above_behind = bias;
  for (int i = 0, x = leftward ? width - 1 : 0; i < width; ++i, x += step) {
    const int above = kept[x], above_ahead = kept[x + step];
    const Diffused<int> d =
        floyd_steinberg(tone(x), behind, serpentine ? above_ahead : above_behind, above,
                        serpentine ? above_behind : above_ahead, levels, strength, strength < kFullStrength);
    put(x, d.level);
    above_behind = above;
    behind = d.kept;
    kept[x] = static_cast<std::uint16_t>(d.kept);
  }
}

}  // namespace framequality::halftone
