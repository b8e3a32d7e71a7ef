// SPDX-License-Identifier: LGPL-2.1-or-later
// Who does what in the tensor cores' denoising kernel: pixels, candidates and patch bytes of each lane, and where they
// lie in shared memory.
#pragma once

#include "algorithms/host_device.h"

#include <cstdint>

namespace framequality::cuda::tile {

// A matrix product gives the products of the patches of 4x4 pixels with those of 4x2 candidates. A patch is eight rows
// of eight bytes from its upper left corner on, those outside of it zero on the pixels' side. The pixels are two halves
// of 4x2, one above the other: a window that covers all of a half's windows has 2 * radius + 2 rows and, rounded up,
// 2 * radius + 4 columns. It is gone through in columns of 4 candidates, in steps of two rows.

inline constexpr int kWarp = 32;
inline constexpr int kMaxPatch = 3;     ///< 7x7
inline constexpr int kBlock = 4;        ///< pixels on a side of a matrix, and candidates across
inline constexpr int kRowsPerHalf = 2;  ///< and candidates down

/// Pixel of a half, and candidate whose bytes go into the product, of a lane: x, y.
FQ_HD int pixel_x(int lane) { return lane / 4 % 4; }
FQ_HD int pixel_y(int lane) { return lane / 16; }
/// The first of the two candidates, side by side, whose products a lane gets.
FQ_HD int candidate_x(int lane) { return lane % 2 * 2; }
FQ_HD int candidate_y(int lane) { return lane % 4 / 2; }
/// Where in a patch the four bytes are that a lane puts into a product's first half of the first step along k. The
/// second half is 4 rows below, the second step 2 rows.
FQ_HD int word_x(int lane) { return lane % 2 * 4; }
FQ_HD int word_y(int lane) { return lane % 4 / 2; }

/// Those of four bytes at x of a row of a patch that belong to it.
FQ_HD std::uint32_t row_mask(int patch_radius, int x) {
  const int n = 2 * patch_radius + 1 - x;
  return n >= 4 ? ~0u : n <= 0 ? 0u : (1u << 8 * n) - 1u;
}

/// Floats with this added are integers in their low bits: 1.5 * 2^23.
inline constexpr int kBias = 0x4B400000;
inline constexpr float kBiasValue = 12582912;
static_assert((2 * kMaxPatch + 1) * (2 * kMaxPatch + 1) * 255 * 255 < (1 << 22));

/// Divides by a number below kMost that is not known when the kernel is compiled. Quotients below 256.
struct Divider {
  static constexpr int kMost = 128;
  int divisor;
  std::uint32_t factor;  ///< 2^22 / divisor, rounded up
  FQ_HD constexpr explicit Divider(int d)
      : divisor(d), factor(((1u << 22) + static_cast<std::uint32_t>(d) - 1) / static_cast<std::uint32_t>(d)) {}
  FQ_HD constexpr int quotient(int i) const { return static_cast<int>(static_cast<std::uint32_t>(i) * factor >> 22); }
};

/// A thread block's shared memory; all its candidates begin at (-radius, -radius) of its first pixel.
struct Layout {
  int columns = 0, rows = 0;  ///< of candidates; multiples of 4
  int pair_pitch = 0, pair_rows = 0;
  int value_pitch = 0;
  int raw_columns = 0, raw_pitch = 0, raw_rows = 0;
  Divider by_columns{1}, by_raw_columns{1}, by_raw_words{1}, by_quads{1};  ///< quads: pairs made at a time

  /// width, height: pixels of the thread block; multiples of 4.
  FQ_HD constexpr Layout(int width, int height, int radius)
      : columns(width - kBlock + kBlock * tiles(radius)), rows((height + 2 * radius + 3) / 4 * 4) {
    pair_pitch = columns + 4 + (24 - (columns + 4) % 16) % 16;  // 8 mod 16: two rows of 8 pairs meet no bank twice
    pair_rows = rows + 4;
    value_pitch = columns + (columns % 16 ? 0 : 4);
    raw_columns = columns + 8;
    raw_pitch = columns + 12;
    raw_rows = rows + 8;
    by_columns = Divider(columns);
    by_raw_columns = Divider(raw_columns);
    by_raw_words = Divider(raw_columns / 4);
    by_quads = Divider(columns / 4 + 1);
  }
  /// Matrices side by side in a window.
  FQ_HD static constexpr int tiles(int radius) { return (2 * radius + 4 + 3) / 4; }

  // Pairs: the four bytes from (x, y) on, and those from (x, y + 4) on. Begins: of two candidates side by side, kBias
  // less half the sum of squares of each one's patch, rounded down, and the same again. Values: what the half makes up
  // for, and the candidate's code. Raw: codes less 128; candidate (0, 0)'s patch begins at (0, 0).
  FQ_HD constexpr int pair_bytes() const { return pair_pitch * pair_rows * 8; }
  FQ_HD constexpr int begin_bytes() const { return value_pitch * rows * 8; }
  FQ_HD constexpr int value_bytes() const { return value_pitch * rows * 8; }
  FQ_HD constexpr int bytes() const { return pair_bytes() + begin_bytes() + value_bytes() + raw_pitch * raw_rows; }
};

/// What is to be done in a step for a half: the candidates' two rows are its window's first, last, others, or outside.
/// In the first ones the half's lower row has no business with the upper one, in the last ones the other way round.
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
