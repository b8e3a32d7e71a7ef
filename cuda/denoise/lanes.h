// SPDX-License-Identifier: LGPL-2.1-or-later
// Division of work in the tensor cores' denoising kernel: pixels, candidates and patch bytes of each lane, and their
// places in shared memory.
#pragma once

#include "algorithms/host_device.h"

#include <cstdint>

namespace framequality::cuda::tile {

// Matrix products give the products of the patches of 4x4 pixels with those of 4x2 candidates. A patch is eight rows of
// eight samples from its upper left corner on; on the pixels' side, samples outside are zero. The pixels are two halves
// of 4x2, one above the other: a window that covers all of a half's windows has 2 * radius + 2 rows and, rounded up,
// 2 * radius + 4 columns. It is processed in columns of 4 candidates, in steps of two rows.
//
// A lane's share of a product is in shared memory as a pair of words, one for each half of k. All but the last
// product of a step reuse what the previous step read for the following product: a step reads one pair.

inline constexpr int kWarp = 32;
inline constexpr int kMaxPatch = 3;     ///< 7x7
inline constexpr int kBlock = 4;        ///< pixels on a side of a matrix, and candidates across
inline constexpr int kRowsPerHalf = 2;  ///< and candidates down

/// A lane's pixel of a half, and the candidate whose bytes it contributes to the product: x, y.
FQ_HD int pixel_x(int lane) { return lane / 4 % 4; }
FQ_HD int pixel_y(int lane) { return lane / 16; }
/// The first of the two adjacent candidates whose products a lane gets.
FQ_HD int candidate_x(int lane) { return lane % 2 * 2; }
FQ_HD int candidate_y(int lane) { return lane % 4 / 2; }
/// Position in a patch of a lane's first sample in a step's first product. The next one is 2 rows below.
FQ_HD int word_x(int lane) { return lane % 2 * 4; }
FQ_HD int word_y(int lane) { return lane % 4 / 2; }

/// 8-bit samples: a pair is four samples, and those 4 rows below.
struct Bytes {
  using Code = std::int8_t;
  using Product = int;
  static constexpr int kProducts = 2;               ///< of a step
  static constexpr int kPerWord = 4;                ///< samples of a word
  static constexpr int kSecondX = 0, kSecondY = 4;  ///< offset of a pair's second word
  static constexpr int kMostBits = 8;
  static constexpr int kArchitecture = 800;
  // Products begin at less than their bias, so that their bits are those of floats: 1.5 * 2^23.
  static constexpr int kBias = 0x4B400000;
  static constexpr float kBiasValue = 12582912;
  FQ_HD static int begin_of(int half_squares) { return kBias - half_squares; }
  static constexpr int kColumns = 1;  ///< columns whose squares a thread adds up
};

/// Samples of up to 10 bits as half floats: a pair is four samples, two to a word. Products of one plane's patches that
/// matter are below 2^24, so float sums of them are exact; with more planes, nearly all are.
struct Halves {
  using Code = std::int16_t;
  using Product = float;
  static constexpr int kProducts = 4;
  static constexpr int kPerWord = 2;
  static constexpr int kSecondX = 2, kSecondY = 0;
  static constexpr int kMostBits = 10;
  static constexpr int kArchitecture = 750;
  static constexpr float kBiasValue = 0;
  FQ_HD static float begin_of(int half_squares) { return static_cast<float>(-half_squares); }
  static constexpr int kColumns = 2;
};

/// The samples of a word at x of a patch's row that belong to the patch.
template <class Samples>
FQ_HD std::uint32_t row_mask(int patch_radius, int x) {
  const int n = 2 * patch_radius + 1 - x;
  return n >= Samples::kPerWord ? ~0u : n <= 0 ? 0u : (1u << 32 / Samples::kPerWord * n) - 1u;
}
/// The same for a lane's word (0, 1) in a step's product k.
template <class Samples>
FQ_HD std::uint32_t word_mask(int patch_radius, int lane, int k, int word) {
  const bool inside = word_y(lane) + 2 * k + Samples::kSecondY * word <= 2 * patch_radius;
  return inside ? row_mask<Samples>(patch_radius, word_x(lane) + Samples::kSecondX * word) : 0;
}

inline constexpr int kMostSamples = (2 * kMaxPatch + 1) * (2 * kMaxPatch + 1);
static_assert(3 * kMostSamples * (128 * 128 + 128 * 128 / 2) < 1 << 22);
static_assert(kMostSamples * 512 * 512 < 1 << 24);

/// Division by a number below kMost that is known only at run time. Quotients below 256.
struct Divider {
  static constexpr int kMost = 128;
  int divisor;
  std::uint32_t factor;  ///< 2^22 / divisor, rounded up
  FQ_HD constexpr explicit Divider(int d)
      : divisor(d), factor(((1u << 22) + static_cast<std::uint32_t>(d) - 1) / static_cast<std::uint32_t>(d)) {}
  FQ_HD constexpr int quotient(int i) const { return static_cast<int>(static_cast<std::uint32_t>(i) * factor >> 22); }
};

/// A thread block's shared memory; its candidates begin at (-radius, -radius) of its first pixel.
struct Layout {
  int columns = 0, rows = 0;  ///< of candidates; multiples of 4
  int planes = 1, code_bytes = 1, value_bytes = 8;
  int pair_pitch = 0, pair_rows = 0;
  int value_pitch = 0;
  int raw_columns = 0, raw_pitch = 0, raw_rows = 0;
  Divider by_columns{1}, by_raw_columns{1}, by_raw_words{1}, by_quads{1};  ///< quads: pairs made at a time

  /// width, height: pixels of the thread block; multiples of 4.
  template <class Samples>
  FQ_HD static constexpr Layout of(int width, int height, int radius, int planes) {
    Layout l;
    l.columns = width - kBlock + kBlock * tiles(radius);
    l.rows = (height + 2 * radius + 3) / 4 * 4;
    l.planes = planes;
    l.code_bytes = sizeof(typename Samples::Code);
    l.value_bytes = planes == 1 ? 8 : 16;
    l.pair_pitch = l.columns + 4 + (24 - (l.columns + 4) % 16) % 16;  // 8 mod 16: two rows of 8 use different banks
    l.pair_rows = l.rows + 8 - Samples::kSecondY;
    l.value_pitch = l.columns + (l.columns % 16 ? 0 : 4);
    l.raw_columns = l.columns + 8;
    l.raw_pitch = l.columns + 12;
    l.raw_rows = l.rows + 8;
    l.by_columns = Divider(l.columns / Samples::kColumns);
    l.by_raw_columns = Divider(l.raw_columns);
    l.by_raw_words = Divider(l.raw_columns / 4);
    l.by_quads = Divider(l.columns / 4 + 1);
    return l;
  }
  /// Adjacent matrices in a window.
  FQ_HD static constexpr int tiles(int radius) { return (2 * radius + 4 + 3) / 4; }

  // Pairs: per plane, that of a patch's row and column which begins at (x, y). Begins: for two adjacent candidates,
  // the bias less half the sum of squares of each one's patch, rounded down, and the same again. Values: correction
  // for that half, and the candidate's samples. Raw: per plane, samples less half of their range; candidate
  // (0, 0)'s patch begins at (0, 0).
  FQ_HD constexpr int plane_pairs() const { return pair_pitch * pair_rows; }
  FQ_HD constexpr int plane_codes() const { return raw_pitch * raw_rows; }
  FQ_HD constexpr int all_pair_bytes() const { return planes * plane_pairs() * 8; }
  FQ_HD constexpr int all_begin_bytes() const { return value_pitch * rows * 8; }
  FQ_HD constexpr int all_value_bytes() const { return value_pitch * rows * value_bytes; }
  FQ_HD constexpr int bytes() const {
    return all_pair_bytes() + all_begin_bytes() + all_value_bytes() + planes * plane_codes() * code_bytes;
  }
};

/// A half's work in a step: the candidates' two rows are its window's first, last, others, or outside.
/// In the first ones the half's lower row does not interact with the upper one, in the last ones vice versa.
enum class RowPart : std::uint8_t { kNone, kFirst, kInner, kLast };
/// The first, all middle, and the last steps of a column: 2 * stack steps each in head and tail, radius - 2 * stack
/// between.
enum class Phase : std::uint8_t { kHead, kMiddle, kTail };
FQ_HD constexpr RowPart row_part(Phase phase, int step, int half) {
  if (phase == Phase::kMiddle) return RowPart::kInner;
  const bool head = phase == Phase::kHead;
  if (step == half) return head ? RowPart::kFirst : RowPart::kLast;
  return head == (half < step) ? RowPart::kInner : RowPart::kNone;
}

}  // namespace framequality::cuda::tile
