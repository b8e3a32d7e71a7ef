// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of noise and exposure.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "algorithms/sharpness/statistics.h"
#include "algorithms/text/recorder.h"
#include "opencl/sharpness/pieces.h"

#include <utility>

namespace framequality::opencl {

using namespace sharpness;

std::string statistics_text(int word_bytes, int shift, int depth) {
  using Int = text::Expression<text::Signed>;
  const std::string code = word_bytes == 1 ? "uchar" : "ushort";
  std::string t = std::string(kAdd64) + group_sum(256);
  t += "static int code_at(const __global uchar* row, const int x) {\n  return (((const __global " + code +
       "*)row)[x] >> " + str(shift) + ") & " + str((1 << depth) - 1) + ";\n}\n";
  t += define("absolute(a)", "((a) < 0 ? -(a) : (a))");
  t += text::function_text<Int, Int, Int, Int, Int, Int, Int, Int, Int>(
      "noise_residual", {"a", "b", "c", "d", "e", "f", "g", "h", "i"},
      [](Int a, Int b, Int c, Int d, Int e, Int f, Int g, Int h, Int i) {
        const Int up[3] = {a, b, c}, mid[3] = {d, e, f}, down[3] = {g, h, i};
        return sharpness::noise_residual(up, mid, down);
      });
  t += define("BLOCK", str(kNoiseBlock)) + define("GROUP", str(kNoiseGroup)) + define("NO_BLOCK", "0xffffffffu");
  t += define("TOTAL(word)", "(totals + 2 * (at + (word)))");
  for (const auto& [name, word] : {std::pair{"LUMA_SUM", kLumaSum},
                                   {"BLACK_COUNT", kBlackCount},
                                   {"WHITE_COUNT", kWhiteCount},
                                   {"RESIDUAL", kResidual},
                                   {"SQUARED_RESIDUAL", kSquaredResidual}})
    t += define(name, str(word));
  // plane: row 0 of a field, rows `pitch` bytes apart. totals: the frame's statistics.
  return t + R"(
static int residual(const __global uchar* plane, const long pitch, const int x, const int y) {
  const __global uchar* up = plane + (long)y * pitch;
  const __global uchar* mid = up + pitch;
  const __global uchar* down = mid + pitch;
  return noise_residual(code_at(up, x), code_at(up, x + 1), code_at(up, x + 2), code_at(mid, x), code_at(mid, x + 1),
                        code_at(mid, x + 2), code_at(down, x), code_at(down, x + 1), code_at(down, x + 2));
}

// An item has every 256th column of `rows` rows of x0...x1-1, y0...y1-1.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void expose(const __global uchar* frame, const long origin, const long pitch, const int x0, const int x1, const int y0,
            const int y1, const int rows, const int black, const int white, volatile __global uint* totals,
            const int at) {
  __local long group_sums[ITEMS];
  const int item = (int)get_local_id(0);
  const int first = y0 + (int)get_group_id(1) * rows, last = min(first + rows, y1);
  long luma = 0;
  uint blacks = 0, whites = 0;
  for (int y = first; y < last; ++y) {
    const __global uchar* row = frame + origin + (long)y * pitch;
    for (int x = x0 + (int)get_global_id(0); x < x1; x += (int)get_global_size(0)) {
      const int c = code_at(row, x);
      luma += c;
      blacks += c <= black;
      whites += c >= white;
    }
  }
  const long all_luma = GROUP_SUM(luma), all_blacks = GROUP_SUM((long)blacks), all_whites = GROUP_SUM((long)whites);
  if (item == 0) {
    if (all_luma) add64(TOTAL(LUMA_SUM), all_luma);
    if (all_blacks) add64(TOTAL(BLACK_COUNT), all_blacks);
    if (all_whites) add64(TOTAL(WHITE_COUNT), all_whites);
  }
}

// A group has a block of 16 x 16 residuals. A group's squares fit 63 bits and a sign.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void noise_blocks(const __global uchar* frame, const long origin, const long pitch, const int x0, const int y0,
                  const int columns, const int in_row, const int step, __global uint* all_sums, const int first_sum,
                  volatile __global uint* totals, const int at) {
  __global uint* sums = all_sums + first_sum;
  __local long group_sums[ITEMS];
  const int item = (int)get_local_id(0), place = (int)get_group_id(0);
  const int n = place / GROUP * step, row = n / in_row, column = n % in_row * GROUP + place % GROUP;
  // No return in front of a barrier, nor of what one item does alone: pocl 3.1 has all of them do it then.
  const bool is_block = column < columns;
  const long r = is_block ? residual(frame + origin, pitch, x0 + column * BLOCK + item % BLOCK,
                                     y0 + row * BLOCK + item / BLOCK)
                          : 0;
  const long sum = GROUP_SUM(r), squares = GROUP_SUM(r * r);
  if (item == 0) {
    sums[place] = is_block ? (uint)sum : NO_BLOCK;
    if (squares) add64(TOTAL(SQUARED_RESIDUAL), squares);
  }
}

// Of images that have no whole block.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void noise_all(const __global uchar* frame, const long origin, const long pitch, const int x0, const int y0,
               const int width, const int height, volatile __global uint* totals, const int at) {
  __local long group_sums[ITEMS];
  const int item = (int)get_local_id(0);
  long sum = 0, squares = 0;
  for (int i = item; i < width * height; i += ITEMS) {
    const long r = residual(frame + origin, pitch, x0 + i % width, y0 + i / width);
    sum += r;
    squares += r * r;
  }
  const long all = GROUP_SUM(sum), all_squares = GROUP_SUM(squares);
  if (item == 0) {
    add64(TOTAL(RESIDUAL), all);
    add64(TOTAL(SQUARED_RESIDUAL), all_squares);
  }
}

// The sum that `rank` others go before: an item has one of them, and one item finds that it is the one.
__kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void noise_rank(const __global uint* sums, const int count, const int rank, __global uint* totals, const int at) {
  const int mine = (int)get_global_id(0);
  if (mine >= count) return;
  const uint own = sums[mine];
  int before = 0;
  for (int i = 0; i < count; ++i) before += sums[i] < own || (sums[i] == own && i < mine);
  if (before != rank) return;
  TOTAL(RESIDUAL)[0] = own;
  TOTAL(RESIDUAL)[1] = 0;
}
)";
}

}  // namespace framequality::opencl
