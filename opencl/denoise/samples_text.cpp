// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoising kernel of work items that share samples: for patches of 3x3 and small windows.
#include "opencl/denoise/text.h"

#include <cmath>

namespace framequality::opencl {
namespace {

/// How far a mean of rough weights, added in any order, can be from the host twin's, in pixel values: this, and so much
/// for each unit of Weights::floor.
///
/// Unit: a rounding of a number as large as the range of values. Of each weight, the exponential is off by 5 in the
/// twin (weight.h), by 8 here (4 ulp: what OpenCL allows), and an exponent x is off by 6 x + 2 floor in both together.
/// The mean x, by weights, is at most log2 of their number: entropy is. Each of both sums of n + 1 numbers, of weights
/// and of values up to half of the range, is off by n / 2 + 1, in both filters; quotients and what is added to them by
/// 3 in all.
struct Doubt {
  double all, per_floor;
};
Doubt doubt_of(const DenoiseText& t) {
  const double others = (2 * t.search + 1) * (2 * t.search + 1) - 1, unit = std::ldexp(1.0, t.depth - 24);
  return {unit * (5 + 8 + 6 * std::log(2.0) * std::log2(others + 1) + 4 * (others / 2 + 1) + 3),
          unit * 2 * std::log(2.0)};
}

/// Means of rough weights, and which of them could be another pixel value in the twin.
constexpr char kRough[] = R"(
  // Columns x - 4 ... x + 7 of the item's pixels x ... x + 3, row by row.
  const __local float4* rows = tile + 2 * ly * TILE_QUADS + lx;
#define READ_ROW(row, number)                        \
  {                                                  \
    const __local float4* quads = row;               \
    const float4 a = quads[0], b = quads[1], c = quads[2]; \
    number[0] = a.s0, number[1] = a.s1, number[2] = a.s2, number[3] = a.s3; \
    number[4] = b.s0, number[5] = b.s1, number[6] = b.s2, number[7] = b.s3; \
    number[8] = c.s0, number[9] = c.s1, number[10] = c.s2, number[11] = c.s3; \
  }
  float mine[4][12], weights[2][QUAD], values[2][QUAD];
#pragma unroll
  for (int j = 0; j < 4; ++j) READ_ROW(rows + (SEARCH + j) * TILE_QUADS, mine[j])
#pragma unroll
  for (int r = 0; r < 2; ++r)
#pragma unroll
    for (int c = 0; c < QUAD; ++c) weights[r][c] = values[r][c] = 0.0f;
#pragma unroll 1
  for (int ty = -SEARCH; ty <= SEARCH; ++ty) {
    float other[4][12];
#pragma unroll
    for (int j = 0; j < 4; ++j) READ_ROW(rows + (SEARCH + ty + j) * TILE_QUADS, other[j])
#pragma unroll
    for (int tx = -SEARCH; tx <= SEARCH; ++tx) {
      const float away = (float)(tx * tx + ty * ty) * spatial;
      float column[2][6];
#pragma unroll
      for (int c = 0; c < 6; ++c) {
        float e[4];
#pragma unroll
        for (int j = 0; j < 4; ++j) e[j] = mine[j][c + 3] - other[j][c + 3 + tx];
        const float both = SQUARE_ADDED(e[2], e[1] * e[1]);
        column[0][c] = SQUARE_ADDED(e[0], both);
        column[1][c] = SQUARE_ADDED(e[3], both);
      }
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const float first = column[r][1] + column[r][2], second = column[r][3] + column[r][4];
        const float distance[QUAD] = {column[r][0] + first, first + column[r][3], column[r][2] + second,
                                      second + column[r][5]};
#pragma unroll
        for (int c = 0; c < QUAD; ++c) {
          const float w = exp2(-rough_exponent(distance[c], scale, least, away));
          weights[r][c] += w;
          values[r][c] = PRODUCT_ADDED(w, other[r + 1][c + 4 + tx], values[r][c]);
        }
      }
    }
  }
  const float clear = 0.5f - (DOUBT + DOUBT_PER_FLOOR * least);
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    const int row = 2 * ly + r, x = left + QUAD * lx, y = top + row;
    if (x >= width || y >= height) continue;
    uint code[QUAD];
#pragma unroll
    for (int c = 0; c < QUAD; ++c) {
      const float mean = mean_of(values[r][c], weights[r][c]);
      code[c] = (uint)code_of(mean);
      if (fabs(mean - (float)code[c]) > clear && x + c < width)
        doubtful[atomic_inc(&doubts)] = (ushort)(row * WIDTH + QUAD * lx + c);
    }
    __global uchar* to = out + origins[0] + y * pitches[0] + (long)x * strides[0];
)";

/// The doubtful pixels by the host twin's operations, in its order.
constexpr char kAgain[] = R"(
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  const int count = (int)doubts;
  for (int first = 0; first < count; first += BATCH) {
    const int some = min(BATCH, count - first);
    for (int n = item; n < some * OTHERS; n += ITEMS) {
      const int nth = n / OTHERS, i = n % OTHERS, place = doubtful[first + nth];
      const int pair = i / 2, below = pair - SEARCH, ty = below < 0 ? 0 : below / SIDE + 1;
      const int tx = below < 0 ? pair + 1 : below % SIDE - SEARCH;
      const __local float* own = SAMPLE_OF(place);
      const __local float* there = own + (i % 2 ? -1 : 1) * (ty * TILE_PITCH + tx);
      float distance = 0.0f;
#pragma unroll
      for (int dy = -1; dy <= 1; ++dy)
#pragma unroll
        for (int dx = -1; dx <= 1; ++dx) {
          const float e = own[dy * TILE_PITCH + dx] - there[dy * TILE_PITCH + dx];
          distance = SQUARE_ADDED(e, distance);
        }
      const float w = weight_of(distance, scale, least, (float)(tx * tx + ty * ty) * spatial);
      kept[nth * KEPT_PITCH + i] = w;
      added[nth * KEPT_PITCH + i] = w * *there;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < some) {
      const int place = doubtful[first + item], x = left + place % WIDTH, y = top + place / WIDTH;
      float sum = 1.0f, value = *SAMPLE_OF(place);
      for (int i = 0; i < OTHERS; ++i) {
        sum += kept[item * KEPT_PITCH + i];
        value += added[item * KEPT_PITCH + i];
      }
      put_sample(out + origins[0] + y * pitches[0] + (long)x * strides[0], (uint)code_of(mean_of(value, sum)));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
)";

}  // namespace

/// The kernel's text.
///
/// An item has 4x2 pixels. For each row of the window it reads the samples that all of the row's offsets reach once.
/// Weights are rough, which takes a third of the operations; where a mean is so close to the middle between two values
/// that the twin's could be on the other side, in few pixels of a thousand, the group computes it again, exactly.
std::string samples_text(const DenoiseShape& s, const DenoiseText& t) {
  const int width = denoise_columns(s, t.patch), height = denoise_rows(s), side = 2 * t.search + 1;
  const int others = side * side - 1, quads = width / kQuad + 2;
  const Doubt doubt = doubt_of(t);
  std::string all = head_text(s, t);
  all += define("SEARCH", t.search) + define("SIDE", side) + define("OTHERS", others) +
         define("KEPT_PITCH", others + 1) + define("ITEMS", s.across * s.down) + define("ACROSS", s.across) +
         define("WIDTH", width) + define("HEIGHT", height) + define("QUAD", kQuad) + define("TILE_QUADS", quads) +
         define("TILE_PITCH", quads * kQuad) + define("TILE_ROWS", height + 2 * (1 + t.search)) +
         define("BATCH", kBatch) + define("DOUBT", text::Real::constant(static_cast<float>(doubt.all))) +
         define("DOUBT_PER_FLOOR", text::Real::constant(static_cast<float>(doubt.per_floor))) +
         define("SAMPLE_OF(place)",
                "(((const __local float*)tile) + ((place) / WIDTH + 1 + SEARCH) * TILE_PITCH + "
                "(place) % WIDTH + QUAD)");
  all += "__kernel __attribute__((reqd_work_group_size(" + str(s.across) + ", " + str(s.down) + ", 1)))\n";
  all += signature_text() + R"(
  __local float4 tile[TILE_ROWS * TILE_QUADS];
  __local ushort doubtful[WIDTH * HEIGHT];
  __local float kept[BATCH * KEPT_PITCH], added[BATCH * KEPT_PITCH];
  __local uint doubts;
  const int left = (int)get_group_id(0) * WIDTH, top = (int)get_group_id(1) * HEIGHT;
  const int lx = (int)get_local_id(0), ly = (int)get_local_id(1), item = ly * ACROSS + lx;
  if (item == 0) doubts = 0;
  const __global CELL* from = frame0 + at[0] + (long)(top - 1 - SEARCH) * pitch + left - QUAD;
#pragma unroll 4
  for (int i = item; i < TILE_ROWS * TILE_QUADS; i += ITEMS)
    tile[i] = convert_float4(vload4(0, from + i / TILE_QUADS * pitch + i % TILE_QUADS * QUAD)) - (float)MIDDLE;
  barrier(CLK_LOCAL_MEM_FENCE);
)" + kRough;
  const std::string word = t.word_bytes == 1 ? "uchar" : "ushort";
  if (t.is_dense)
    all += "    *(__global " + word + "4*)to = (" + word + "4)(" +
           joined(kQuad, ", ", [&](int i) { return "(" + word + ")(code[" + str(i) + "] << SHIFT)"; }) + ");\n";
  else
    all +=
        "#pragma unroll\n    for (int c = 0; c < QUAD; ++c)\n      if (x + c < width) put_sample(to + c * strides[0], "
        "code[c]);\n";
  return all + "  }\n" + kAgain;
}

}  // namespace framequality::opencl
