// SPDX-License-Identifier: LGPL-2.1-or-later
// Error diffusion whose weights and threshold depend on the tone, in swaths of rows that alternate in direction.
#pragma once

#include "algorithms/halftone/tone.h"

#include <cstddef>
#include <cstdint>

namespace framequality::halftone {

// Y. Mao, L. Abello, U. Sarkar, R. Ulichney, J. Allebach, 4-row serpentine tone dependent fast error diffusion, ICIP
// 2018; weights and thresholds by the method of P. Li, J. Allebach, Tone-dependent error diffusion, IEEE Trans. Image
// Processing 13 (2004).
//
// A swath is `swath_rows` rows (the last one of an image may be fewer). Columns are counted along the direction of the
// swath: from the left in swaths 0, 2, ..., from the right in the others. The published order visits row k of a swath
// at column x at time t = x + kDelay * k, the upper row first within one t, so that a pixel may hand errors up to
// kDelay columns back in the row below. Errors are added up exactly and rounded once, by the receiving pixel: every
// order in which a pixel comes after those that give to it yields the same bits. Examples are raster order in a swath,
// and t = x + skew * k with skew > kDelay, whose rows do not depend on each other within one t.
//
// An error e goes to four places, (rows down, columns on), by the pixel's tone in 8-bit greys, the darker one of it and
// its complement:
//   0         all to (1, 0)
//   1...63    (0, 1)  (1, 0)  (1, -1)  (1, -kDelay)
//   64...127  (0, 1)  (1, 1)  (1, 0)   (1, -1)
// Columns beyond an end of the row are those of its end; what the last pixel of a row gives to (0, 1) it gives to (1,
// 0), and errors that leave the image below are lost.
//   sum = of weight * error received, in 1/kWeightOne
//   u = tone + ((sum + kWeightOne / 2) >> kWeightBits)
//   level = the one up from the threshold: t_u where the pattern is 0, kWhite - t_u where it is 1 (in 1/kWhite of a
//   step
//           between two levels; the tone meant here is that of the position between the two levels it lies between)
//   e = weaken(u - level * step, strength), limited to kErrorLimit either way
// Differs from the paper: the limit. Weights that change from pixel to pixel do not bound errors: black or white lines
// one pixel wide collect those of their neighbours and hand them down. Without a limit what they hold grows along the
// line, to be let go of in one smear where it ends.

inline constexpr int kDelay = 3;  // columns; of those published, 2 trains to dots as even, 1 and 6 to less even ones
inline constexpr int kWeightBits = 10, kWeightOne = 1 << kWeightBits;
inline constexpr int kErrorLimit = 2 * kWhite;  // times kWeightOne, from the at most 12 that give to one pixel: 27 bits
inline constexpr int kTones = 128;              // of 8-bit grey that have a row in the table; the others mirror them
inline constexpr int kFirstMiddleTone = 64;
inline constexpr int kPatternSide = 128;

/// Weights and threshold of one tone.
struct ToneRow {
  std::int16_t weight[4];  ///< in 1/kWeightOne, together exactly that
  std::int16_t threshold;  ///< t_u, in 1/16 grey: kWhite / 2 ... kWhite
};

/// Weights and thresholds of all tones, trained together for one swath height.
struct ToneTable {
  std::int16_t swath_rows;
  ToneRow row[kTones];
};

struct Place {
  int down, on;
};

/// Target of weight i of a tone 0...127.
FQ_HD Place place_of(int tone, int i) {
  if (tone == 0) return {1, 0};
  if (i == 0) return {0, 1};
  if (tone >= kFirstMiddleTone) return {1, 2 - i};
  return {1, i == 3 ? -kDelay : 1 - i};
}

/// Bit of the pattern, 128 x 128, repeated: a halftone of middle grey. pattern: rows of four words, lowest bit first.
FQ_HD bool pattern_at(const std::uint32_t* pattern, int x, int y) {
  const int i = (y % kPatternSide) * kPatternSide + x % kPatternSide;
  return pattern[i >> 5] >> (i & 31) & 1;
}

/// Result of one pixel.
struct ToneDiffused {
  int level;
  int error;  ///< after weaken()
  int tone;   ///< row of the table that its weights are from
};

/// sum: of the errors received, in 1/kWeightOne. dot: the pattern's bit.
FQ_HD ToneDiffused tone_dependent(int tone, int sum, bool dot, const ToneRow* rows, const Levels& levels,
                                  int strength) {
  const int step = levels.step(), between = levels.count - 1;
  int below = tone / step;
  if (below == between) --below;  // white is the upper end of the last step
  const int grey = ((tone - below * step) * between + 8) >> 4;
  const int row = grey < kTones ? grey : 255 - grey;
  const int t = dot ? kWhite - rows[row].threshold : rows[row].threshold;
  const int u = tone + ((sum + kWeightOne / 2) >> kWeightBits);
  // The level is floor((u - below * step - t / between) / step) + below + 1; all times `between`, shifted to stay
  // positive, and errors that large only meet the ends.
  const int v = (u - below * step) * between - t;
  int level = below + 1 + (v >= 0 ? v / kWhite : -((kWhite - 1 - v) / kWhite));
  level = level < 0 ? 0 : level > between ? between : level;
  int e = u - level * step;
  e = e < -kErrorLimit ? -kErrorLimit : e > kErrorLimit ? kErrorLimit : e;
  return {level, weaken(e, strength), row};
}

/// Distributes the error of the pixel at column x, counted along the swath. add(down, column, share): in 1/kWeightOne.
template <class Add>
FQ_HD void give(const ToneDiffused& d, int x, int width, const ToneTable& table, Add&& add) {
  for (int i = 0; i < 4; ++i) {
    Place p = place_of(d.tone, i);
    if (p.down == 0 && x + p.on >= width) p = {1, 0};
    int column = x + p.on;
    column = column < 0 ? 0 : column >= width ? width - 1 : column;
    add(p.down, column, table.row[d.tone].weight[i] * d.error);
  }
}

/// Whether the swath that holds row y runs from the right.
FQ_HD bool runs_leftward(int y, int swath_rows) { return y / swath_rows % 2 != 0; }

/// One row, pixel by pixel. own, below: sums that this row and the next have received so far, by column of the image;
/// own is cleared.
template <class Tone, class Put>
FQ_HD void tone_dependent_row(int width, int y, int swath_rows, const ToneTable& table, const std::uint32_t* pattern,
                              const Levels& levels, int strength, std::int32_t* own, std::int32_t* below, Tone&& tone,
                              Put&& put) {
  const bool leftward = runs_leftward(y, swath_rows);
  for (int i = 0; i < width; ++i) {
    const int x = leftward ? width - 1 - i : i;
    const ToneDiffused d = tone_dependent(tone(x), own[x], pattern_at(pattern, x, y), table.row, levels, strength);
    own[x] = 0;
    put(x, d.level);
    give(d, i, width, table, [&](int down, int column, int share) {
      (down ? below : own)[leftward ? width - 1 - column : column] += share;
    });
  }
}

}  // namespace framequality::halftone
