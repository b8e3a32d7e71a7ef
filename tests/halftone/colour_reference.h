// SPDX-License-Identifier: LGPL-2.1-or-later
// Reference for colour halftoning: whole images of signed errors, one channel and one pixel at a time.
#pragma once

#include "algorithms/halftone/colour_tables.h"
#include "algorithms/halftone/tables.h"
#include "tests/halftone/reference.h"

#include <algorithm>
#include <array>
#include <vector>

namespace framequality::test {

using Colour = std::array<int, 3>;

inline Colour colour_of(halftone::Triple t) {
  return {halftone::field(t, 0), halftone::field(t, 1), halftone::field(t, 2)};
}

/// The table of Triples at a colour, by sorting the channels' ways into the cell.
inline Colour interpolated(const std::vector<halftone::Triple>& table, const Colour& tone) {
  std::array<std::pair<int, int>, 3> ways;
  std::uint32_t place = 0;
  for (int c = 0; c < 3; ++c) {
    const auto at = static_cast<std::size_t>(c);
    ways[at] = {tone[at] % halftone::kNodeStep, c};
    place |= static_cast<std::uint32_t>(tone[at] / halftone::kNodeStep) << (6 * c);
  }
  std::sort(ways.rbegin(), ways.rend());
  Colour sum{};
  int last = halftone::kNodeStep;
  for (std::size_t corner = 0; corner < 4; ++corner) {
    const int next = corner < 3 ? ways[corner].first : 0;
    for (std::size_t c = 0; c < 3; ++c) sum[c] += (last - next) * colour_of(table[place])[c];
    last = next;
    if (corner < 3) place += 1u << (6 * ways[corner].second);
  }
  for (int& s : sum) s = floor_div(s + halftone::kNodeStep / 2, halftone::kNodeStep);
  return sum;
}

/// Places in the palette by Floyd-Steinberg: each pixel hands its error on.
inline Grid2<int> diffused_of(const Grid2<Colour>& tones, const halftone::ChoiceTables& choice, int strength,
                              bool serpentine) {
  Grid2<int> out(tones.width, tones.height);
  Grid2<Colour> sums(tones.width, tones.height);
  const auto give = [&](int x, int y, const Colour& e, int weight) {
    if (x < 0 || x >= tones.width || y >= tones.height) return;
    for (std::size_t c = 0; c < 3; ++c) sums.at(x, y)[c] += weight * e[c];
  };
  for (int y = 0; y < tones.height; ++y)
    for (int i = 0; i < tones.width; ++i) {
      const bool back = serpentine && y % 2 == 1;
      const int x = back ? tones.width - 1 - i : i, on = back ? -1 : 1;
      Colour u = tones.at(x, y);
      std::uint32_t cell = 0;
      for (std::size_t c = 0; c < 3; ++c) {
        u[c] += floor_div(sums.at(x, y)[c] + 8, 16);
        cell |= static_cast<std::uint32_t>((u[c] + halftone::kErrorBias) / halftone::kNodeStep) << (7 * c);
      }
      const int chosen = out.at(x, y) = choice.nearest[cell];
      const Colour p = colour_of(choice.minuend[static_cast<std::size_t>(chosen)]);
      Colour e;
      for (std::size_t c = 0; c < 3; ++c) {
        const int whole =
            std::clamp(u[c] - (2 * halftone::kFull - p[c]), -halftone::kErrorBias, halftone::kErrorBias - 1);
        e[c] = floor_div(whole * strength + 128, 256);
      }
      give(x + on, y, e, 7);
      give(x - on, y + 1, e, 3);
      give(x, y + 1, e, 5);
      give(x + on, y + 1, e, 1);
    }
  return out;
}

/// Places in the palette by the mask.
inline Grid2<int> masked_of(const Grid2<Colour>& tones, const std::vector<halftone::Mixture>& mixed, int strength) {
  Grid2<int> out(tones.width, tones.height);
  for (int y = 0; y < tones.height; ++y)
    for (int x = 0; x < tones.width; ++x) {
      const int threshold = halftone::threshold_of(halftone::rank_at(halftone::kBlueNoiseMask, x, y), strength);
      const int away = halftone::rank_at(halftone::kBlueNoiseMask, x + 64, y + 64) / 128;
      const int rounding = 64 + floor_div((away - 64) * strength + 128, 256);
      std::uint32_t node = 0;
      for (int c = 0; c < 3; ++c)
        node |= static_cast<std::uint32_t>((tones.at(x, y)[static_cast<std::size_t>(c)] + rounding) / 128) << (6 * c);
      const halftone::Mixture m = mixed[node];
      int place = 0;
      while (place < 3 && threshold > static_cast<int>(m >> (16 * place + 16) & 0xffff)) ++place;
      out.at(x, y) = static_cast<int>(m >> 4 * place & 15);
    }
  return out;
}

}  // namespace framequality::test
