// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared-memory tables for the terms of tone-dependent error diffusion, computed before it begins.
#pragma once

#include "algorithms/halftone/tone_dependent.h"

#include <cstdint>

namespace framequality::cuda {

/// Sums are kept with a tag in the four lowest bits, which never carries into the significant bits.
inline constexpr int kTagBits = 4, kSumBits = halftone::kWeightBits + kTagBits;
static_assert((std::int64_t{halftone::kErrorLimit} * halftone::kWeightOne * 12 +
               std::int64_t{halftone::kWhite + 1} * halftone::kWeightOne)
                  << kTagBits <
              std::int64_t{1} << 31);

/// Parameters of a grey and a dot of the pattern. A term holds tone + 8 and, in bit 12, the dot: 16 times the grey's
/// index, except for the lowest bits.
struct alignas(16) ToneEntry {
  int offset;     ///< (a term << kSumBits) plus this is a sum of its tone and a half
  int threshold;  ///< with 2 levels, a sum
  int on, down;   ///< weights for (0, 1) and (1, 0), << kTagBits
};
struct alignas(16) Further {
  int back, over, behind;  ///< weights for (1, -1), for (1, 1) of middle tones and for (1, -kDelay) of the others
  int unused;
};
inline constexpr int kTermGreys = 256, kToneEntries = 2 * kTermGreys;
inline constexpr unsigned kToneMask = 0xfff, kEntryMask = 0x1ff0;

struct ToneLookup {
  ToneEntry entry[kToneEntries];
  Further further[kToneEntries];
};

/// Called by all threads of a block, followed by a barrier. is_plain: 2 levels, full strength.
__device__ inline void look_up(ToneLookup& shared, const halftone::ToneTable& table, bool is_plain) {
  using namespace halftone;
  for (int i = static_cast<int>(threadIdx.x); i < kToneEntries; i += static_cast<int>(blockDim.x)) {
    const int grey = i % kTermGreys, dot = i / kTermGreys, tone = grey < kTones ? grey : kTermGreys - 1 - grey;
    const std::int16_t* const w = table.row[tone].weight;
    const int t = dot ? kWhite - table.row[tone].threshold : table.row[tone].threshold;
    const auto weight = [&](bool has, int place) { return has ? w[place] << kTagBits : 0; };
    const bool is_middle = tone >= kFirstMiddleTone, is_black = tone == 0;  // place_of()
    ToneEntry& m = shared.entry[i];
    m.offset = (kWeightOne / 2 << kTagBits) - ((8 + dot * 0x1000) << kSumBits);
    m.threshold = is_plain ? t << kSumBits : t;
    m.on = weight(!is_black, 0);
    m.down = is_black ? kWeightOne << kTagBits : weight(true, is_middle ? 2 : 1);
    shared.further[i] = {weight(!is_black, is_middle ? 3 : 2), weight(is_middle, 1), weight(!is_middle && !is_black, 3),
                         0};
  }
}

}  // namespace framequality::cuda
