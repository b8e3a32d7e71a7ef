// SPDX-License-Identifier: LGPL-2.1-or-later
// Colour halftoning of one pixel: error diffusion and the blue-noise mask for the colours of a palette.
#pragma once

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/palette.h"

#include <cstdint>

namespace framequality::halftone {

// Three channels are processed in one 64-bit word: fields of 21 bits, red lowest. A field never overflows
// its bits:
//   tones          0...kFull, 13 bits
//   kept errors    0...2 kErrorBias - 1, 13 bits; 16 times that + 8 is at most 131064, 17 bits
//   interpolation  sums of tones times weights that sum to kNodeStep: 20 bits

/// Full scale of a channel. A power of two, so that cells are fields of bits and interpolation loses nothing.
inline constexpr int kFull = 4096;

inline constexpr int kFieldBits = 21;
using Triple = std::uint64_t;

FQ_HD constexpr Triple triple(std::uint64_t red, std::uint64_t green, std::uint64_t blue) {
  return red | green << kFieldBits | blue << (2 * kFieldBits);
}
/// The same number in each field.
FQ_HD constexpr Triple triple(std::uint64_t v) { return triple(v, v, v); }
FQ_HD constexpr int field(Triple t, int c) { return static_cast<int>(t >> (kFieldBits * c) & 0x1fffff); }

// Tables of colours have a node every kNodeStep tones: 6 bits of each field, 0...32 of tones.
inline constexpr int kNodeBits = 7, kNodeStep = 1 << kNodeBits, kNodes = kFull / kNodeStep + 1;
/// Room for the place of the last node and those beyond it, which are read with weight 0.
inline constexpr int kNodePlaces = (kNodes << 12 | kNodes << 6 | kNodes) + 1;

/// Place of the node at or below each field.
FQ_HD constexpr std::uint32_t node_of(Triple t) {
  return static_cast<std::uint32_t>(t >> kNodeBits & 63) |
         static_cast<std::uint32_t>(t >> (kFieldBits + kNodeBits - 6) & 63 << 6) |
         static_cast<std::uint32_t>(t >> (2 * kFieldBits + kNodeBits - 12) & 63 << 12);
}

// --- Gamut ----------------------------------------------------------------------------------------------------------

/// Mapped tone of a tone of the image: the table, interpolated in the tetrahedron that holds the tone,
/// rounded, halves up. Linear tables are reproduced exactly.
FQ_HD Triple mapped_tone(Triple tone, const Triple* table) {
  const std::uint32_t place = node_of(tone);
  const std::uint32_t r = tone & (kNodeStep - 1), g = tone >> kFieldBits & (kNodeStep - 1),
                      b = tone >> (2 * kFieldBits) & (kNodeStep - 1);
  // From one corner of the cell to the opposite one, the channel that has gone furthest turns first.
  const bool red_leads_green = r >= g, red_leads_blue = r >= b, green_leads_blue = g >= b;
  const std::uint32_t high = red_leads_green ? (red_leads_blue ? r : b) : (green_leads_blue ? g : b);
  const std::uint32_t low = red_leads_green ? (green_leads_blue ? b : g) : (red_leads_blue ? b : r);
  const std::uint32_t middle = r + g + b - high - low;
  const std::uint32_t first = red_leads_green ? (red_leads_blue ? 1 : 1 << 12) : (green_leads_blue ? 1 << 6 : 1 << 12);
  const std::uint32_t last = red_leads_green ? (green_leads_blue ? 1 << 12 : 1 << 6) : (red_leads_blue ? 1 << 12 : 1);
  constexpr std::uint32_t kAll = 1 | 1 << 6 | 1 << 12;
  const Triple sum = table[place] * (kNodeStep - high) + table[place + first] * (high - middle) +
                     table[place + kAll - last] * (middle - low) + table[place + kAll] * low;
  return (sum + triple(kNodeStep / 2)) >> kNodeBits & triple(2 * kFull - 1);
}

// --- Error diffusion ------------------------------------------------------------------------------------------------

// As floyd_steinberg.h, with vectors for errors:
//   u = tone + ((7 e[y][x-1] + e[y-1][x-1] + 5 e[y-1][x] + 3 e[y-1][x+1] + 8) >> 4)
//   colour = the one nearest to u, by a table of cells kNodeStep wide
//   e = u - colour, each channel limited to -kErrorBias...kErrorBias - 1, times strength
// The limit is full scale. Errors of colours that can be mixed hardly reach it; those of colours that cannot would grow
// without end. Errors are kept with kErrorBias added, so that fields have no sign.

inline constexpr int kErrorBias = kFull;
/// Cells of u + kErrorBias, 0...3 kFull - 1: 7 bits of each field.
inline constexpr int kCellBits = 7, kCells = 3 * kFull / kNodeStep, kCellPlaces = 1 << 3 * kCellBits;

FQ_HD constexpr std::uint32_t cell_of(Triple biased) {
  constexpr std::uint32_t kMask = (1 << kCellBits) - 1;
  return static_cast<std::uint32_t>(biased >> kNodeBits & kMask) |
         static_cast<std::uint32_t>(biased >> (kFieldBits + kNodeBits - kCellBits) & kMask << kCellBits) |
         static_cast<std::uint32_t>(biased >> (2 * (kFieldBits - kCellBits) + kNodeBits) & kMask << 2 * kCellBits);
}

/// Tables of a palette for error diffusion.
struct ColourChoice {
  const std::uint8_t* nearest;  ///< of kCellPlaces cells
  const Triple* minuend;        ///< of each colour: 2 kFull - its tone
};

struct DiffusedColour {
  std::uint32_t colour;
  Triple kept;
};

/// Share of the kept errors of the three neighbours above, which are ready before that of the left one.
FQ_HD Triple share_from_above(Triple above_left, Triple above, Triple above_right) {
  return above_left + 5 * above + 3 * above_right + triple(8);
}

/// Limits fields of e + kErrorBias + 2 kFull to those of errors within the limit.
FQ_HD Triple limited_error(Triple error) {
  Triple limited = 0;
  for (int c = 0; c < 3; ++c) {
    const int e = field(error, c), least = 2 * kFull, most = 4 * kFull - 1;
    limited |= static_cast<Triple>(e < least ? least : e > most ? most : e) << (kFieldBits * c);
  }
  return limited;
}

FQ_HD Triple weakened_error(Triple kept, int strength) {
  Triple weakened = 0;
  for (int c = 0; c < 3; ++c)
    weakened |= static_cast<Triple>(weaken(field(kept, c) - kErrorBias, strength) + kErrorBias) << (kFieldBits * c);
  return weakened;
}

FQ_HD DiffusedColour diffuse_colour(Triple tone, Triple kept_left, Triple from_above, const ColourChoice& choice,
                                    int strength) {
  const Triple biased = tone + ((7 * kept_left + from_above) >> 4 & triple(static_cast<Triple>(2 * kErrorBias - 1)));
  const std::uint32_t colour = choice.nearest[cell_of(biased)];
  Triple error = biased + choice.minuend[colour];
  // Within the limit the two bits above the error are 01.
  if ((error & triple(static_cast<Triple>(6 * kFull))) != triple(static_cast<Triple>(2 * kFull)))
    error = limited_error(error);
  const Triple kept = error - triple(static_cast<Triple>(2 * kFull));
  return {colour, strength < kFullStrength ? weakened_error(kept, strength) : kept};
}

// --- Blue noise -----------------------------------------------------------------------------------------------------

/// Up to four colours whose mixture is a node's, darkest first: `colour` takes 4 bits each, lowest first; above them
/// the threshold up to which the mask takes the first one, the first two, the first three, 16 bits each.
using Mixture = std::uint64_t;

// I, U in what follows: 32-bit integers, or the numbers of algorithms/text.

/// low, high: halves of the Mixture.
template <class U>
FQ_HD U mixed_colour(U low, U high, U threshold) {
  const U none = constant(low, 0u), bits = constant(low, 4u);
  const U place = choose(threshold > (low >> 16), bits, none) + choose(threshold > (high & 0xffffu), bits, none) +
                  choose(threshold > (high >> 16), bits, none);
  return (low >> place) & 15u;
}

/// As node_of() a Triple.
template <class I>
FQ_HD I node_of(I red, I green, I blue) {
  return (red >> kNodeBits) | (green >> kNodeBits) << 6 | (blue >> kNodeBits) << 12;
}

/// The offset that rounds a tone up or down to a node, so that the average mixture is the one between the nodes:
/// 0...kNodeStep-1. rank: of the mask half its side away, which is independent of the rank here. `strength` draws the
/// offset towards the middle.
template <class I>
FQ_HD I rounding_of(I rank, I strength) {
  constexpr int kRanks = kMaskSide * kMaskSide, kHalf = kNodeStep / 2;
  return kHalf + weaken<I>(rank / (kRanks / kNodeStep) - kHalf, strength);
}

/// The mask at a pixel: its threshold and its rounding, the same in each field.
struct MaskedPixel {
  Triple rounding;
  std::uint32_t threshold;
};

FQ_HD MaskedPixel masked_pixel(const std::uint16_t* mask, int x, int y, int strength) {
  const int away = rank_at(mask, x + kMaskSide / 2, y + kMaskSide / 2);
  return {triple(static_cast<std::uint64_t>(rounding_of(away, strength))),
          static_cast<std::uint32_t>(threshold_of(rank_at(mask, x, y), strength))};
}

}  // namespace framequality::halftone
