// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoising kernel of work items that share a tile.
#include "opencl/denoise/text.h"

namespace framequality::opencl {

/// Work items that share a tile, for patches of 3x3.
///
/// An item has four columns and two rows. For each row ty of the window it reads the rows below and above that all of
/// the row's offsets reach into registers once, as vectors of four, and goes over the offsets there. The two rows of
/// pixels share the squares of the rows in between.
std::string tile_text(const DenoiseShape& s, const DenoiseText& t) {
  const std::string word = t.word_bytes == 1 ? "uchar" : "ushort", number = has_exact_floats(t) ? "float" : "int";
  std::string all = head_text(s, t);
  all += define("SEARCH", t.search) + define("ITEMS", s.across * s.down) + define("DOWN", s.down) +
         define("QUADS", s.across + 2) + define("REACH", kNearReach) +
         define("TILE_ROWS", kPair * s.down + 2 * kNearReach) + define("IS_DENSE", t.is_dense);
  all += has_exact_floats(t) ? define("TO_NUMBERS(cells)", "(convert_float4(cells) - (float)MIDDLE)") +
                                   define("VALUE(number)", "(number)")
                             : define("TO_NUMBERS(cells)", "convert_int4(cells)") +
                                   define("VALUE(number)", "((float)((number) - MIDDLE))");
  all += "typedef " + number + "4 N4;\n";
  all += R"(
// `shift`: column of the first pixel's left neighbour in `rows` and on, a constant.
static void add_offset(N own[4][6], N rows[4][12], const int shift, const float scale, const float least,
                       const float away, float weights[2][4], float values[2][4], float largest[2][4]) {
  D column[2][6];
#pragma unroll
  for (int c = 0; c < 6; ++c) {
    const N e0 = own[0][c] - rows[0][c + shift], e1 = own[1][c] - rows[1][c + shift];
    const N e2 = own[2][c] - rows[2][c + shift], e3 = own[3][c] - rows[3][c + shift];
    const D inner = SQUARE_ADDED(e2, SQUARE_ADDED(e1, (D)0));
    column[0][c] = SQUARE_ADDED(e0, inner);
    column[1][c] = SQUARE_ADDED(e3, inner);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const D left = column[r][1] + column[r][2], right = column[r][3] + column[r][4];
    const D distance[4] = {column[r][0] + left, left + column[r][3], column[r][2] + right, right + column[r][5]};
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      const F w = weight_of(FLOAT(distance[c]), scale, least, away);
      ADD_WEIGHT(w, weights[r][c], largest[r][c]);
      values[r][c] += w * VALUE(rows[r + 1][c + 1 + shift]);
    }
  }
}

static void get_rows(const __local N4* from, N rows[4][12]) {
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int q = 0; q < 3; ++q) {
      const N4 quad = from[r * QUADS + q];
      rows[r][4 * q] = quad.s0, rows[r][4 * q + 1] = quad.s1, rows[r][4 * q + 2] = quad.s2, rows[r][4 * q + 3] = quad.s3;
    }
}

#define ADD(rows, tx) \
  add_offset(own, rows, 3 + (tx), scale, least, (float)((tx) * (tx) + ty * ty) * spatial, weights, values, largest)
)";
  const auto both = [](int tx) {
    return "        ADD(below, " + str(tx) + ");\n        ADD(above, -(" + str(tx) + "));\n";
  };
  std::string first, rest, other;
  for (int tx = -t.search; tx <= t.search; ++tx) {
    (tx > 0 ? rest : first) += both(tx);
    other += "        ADD(rows, " + str(tx) + ");\n";
  }
  all += "__kernel __attribute__((reqd_work_group_size(" + str(s.across) + ", " + str(s.down) + ", 1)))\n";
  return all + signature_text() + R"(
  __local N4 tile[TILE_ROWS * QUADS];
  const int lx = (int)get_local_id(0), ly = (int)get_local_id(1), item = (int)(ly * get_local_size(0)) + lx;
  const int left = (int)get_group_id(0) * (4 * (QUADS - 2)), top = (int)get_group_id(1) * (2 * DOWN);
  const __local N4* here = tile + (2 * ly + REACH - 1) * QUADS + lx;
  N own[4][6];
  float weights[2][4], values[2][4], largest[2][4];
  for (int turn = 0; turn <= others; ++turn) {
    const __global CELL* frame = )" +
         frame_text() + R"(;
    const __global CELL* from = frame + at[0] + (long)(top - REACH) * pitch + left - REACH;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = item; i < TILE_ROWS * QUADS; i += ITEMS)
      tile[i] = TO_NUMBERS(*(const __global ushort4*)(from + i / QUADS * pitch + i % QUADS * 4));
    barrier(CLK_LOCAL_MEM_FENCE);
    if (turn == 0) {
      N rows[4][12];
      get_rows(here, rows);
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int c = 0; c < 6; ++c) own[r][c] = rows[r][c + 3];
#pragma unroll
      for (int r = 0; r < 2; ++r)
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          weights[r][c] = TAKES_LARGEST ? 0.0f : 1.0f;
          values[r][c] = TAKES_LARGEST ? 0.0f : VALUE(own[r + 1][c + 1]);
          largest[r][c] = LEAST_CENTER;
        }
      // No search at all: pixels are to keep their values.
      for (int ty = search > 0 ? 0 : 1; ty <= search; ++ty) {
        N below[4][12], above[4][12];
        get_rows(here + ty * QUADS, below);
        get_rows(here - ty * QUADS, above);
        if (ty > 0) {
)" + first +
         R"(        }
)" + rest +
         R"(      }
    } else {
      for (int ty = -search; ty <= search; ++ty) {
        N rows[4][12];
        get_rows(here + ty * QUADS, rows);
)" + other +
         R"(      }
    }
  }
  const int x = left + 4 * lx;
  if (x >= width) return;
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int y = top + 2 * ly + r;
    if (y >= height) return;
    uint code[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) {
#if TAKES_LARGEST
      weights[r][c] += largest[r][c];
      values[r][c] += largest[r][c] * VALUE(own[r + 1][c + 1]);
#endif
      code[c] = (uint)code_of(mean_of(values[r][c], weights[r][c]));
    }
    __global uchar* to = out + origins[0] + y * pitches[0] + (long)x * strides[0];
)" +
         (t.is_dense
              ? "    *(__global " + word + "4*)to = (" + word + "4)(" +
                    joined(kQuad, ", ", [&](int i) { return "(" + word + ")(code[" + str(i) + "] << SHIFT)"; }) + ");\n"
              : "    for (int c = 0; c < 4; ++c)\n      if (x + c < width) put_sample(to + c * strides[0], "
                "code[c]);\n") +
         "  }\n}\n";
}

}  // namespace framequality::opencl
