// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoising kernel of independent work items.
#include "opencl/denoise/text.h"

namespace framequality::opencl {
namespace {

/// The offsets of a turn, in the order of weight.h: the following text is the body of loops over them.
constexpr char kOffsets[] = R"(
    for (int ty = turn ? -search : 0; ty <= search; ++ty)
      for (int tx = turn || ty ? -search : 1; tx <= search; ++tx)
        for (int sign = 1; sign >= (turn ? 1 : -1); sign -= 2) {
          const float away = (float)(tx * tx + ty * ty) * spatial;
)";

}  // namespace

/// The kernel's text.
std::string lone_text(const DenoiseShape& s, const DenoiseText& t) {
  const std::string n = s.lanes == 1 ? "" : str(s.lanes);
  const bool is_exact = has_exact_floats(t), is_centred = has_float_cells(s, t);
  std::string all = head_text(s, t);
  all += define("LOAD(p)", (is_centred ? "" : "convert_" + std::string(is_exact ? "float" : "int") + n) +
                               (s.lanes == 1 ? "(*(p))" : "(vload" + n + "(0, p))"));
  all += define("VALUE(v)", is_centred ? "(v)"
                            : is_exact ? "((v) - (float)MIDDLE)"
                                       : "convert_float" + n + "((v) - MIDDLE)");
  const std::string word = t.word_bytes == 1 ? "uchar" : "ushort";
  if (s.lanes == 1)
    all += define("STORE(code, to)", "*(__global " + word + "*)(to) = (" + word + ")(code)");
  else
    all +=
        define("STORE(code, to)", "vstore" + n + "(convert_" + word + n + "(code), 0, (__global " + word + "*)(to))");
  all += define("IS_DENSE", t.is_dense);
  all += "__kernel __attribute__((reqd_work_group_size(" + str(s.across) + ", " + str(s.down) + ", 1)))\n";
  all += signature_text() + R"(
  const int x = (int)get_global_id(0) * LANES, y = (int)get_global_id(1) * RUN;
  if (x >= width || y >= height) return;
  const long here = (long)y * pitch + x;
  F weights[RUN], values[PLANES][RUN], largest[RUN];
#pragma unroll
  for (int r = 0; r < RUN; ++r) {
    weights[r] = (F)(TAKES_LARGEST ? 0.0f : 1.0f);
    largest[r] = (F)LEAST_CENTER;
#pragma unroll
    for (int k = 0; k < PLANES; ++k)
      values[k][r] = TAKES_LARGEST ? (F)0.0f : VALUE(LOAD(frame0 + at[k] + here + (long)r * pitch));
  }
  for (int turn = 0; turn <= others; ++turn) {
    const __global CELL* frame = )" +
         frame_text() + ";" + kOffsets + R"(
          const long there = here + sign * ((long)ty * pitch + tx);
          D row[SUMS];
#pragma unroll
          for (int j = 0; j < SUMS; ++j) row[j] = (D)0;
#pragma unroll
          for (int k = 0; k < PLANES; ++k) {
            const __global CELL* own = frame0 + at[k] + here;
            const __global CELL* other = frame + at[k] + there;
#pragma unroll
            for (int j = 0; j < SUMS; ++j)
#pragma unroll 1
              for (int i = -PATCH; i <= PATCH; ++i) {
                const N e = LOAD(own + (j - PATCH) * pitch + i) - LOAD(other + (j - PATCH) * pitch + i);
                row[j] = SQUARE_ADDED(e, row[j]);
              }
          }
          D distance = (D)0;
#pragma unroll
          for (int j = 0; j < 2 * PATCH; ++j) distance += row[j];
#pragma unroll
          for (int r = 0; r < RUN; ++r) {
            distance += row[r + 2 * PATCH];
            const F w = weight_of(FLOAT(distance), (F)scale, (F)least, (F)away);
            ADD_WEIGHT(w, weights[r], largest[r]);
#pragma unroll
            for (int k = 0; k < PLANES; ++k) values[k][r] += w * VALUE(LOAD(frame + at[k] + there + (long)r * pitch));
            distance -= row[r];
          }
        }
  }
#pragma unroll
  for (int r = 0; r < RUN; ++r) {
    if (y + r >= height) break;
#if TAKES_LARGEST
    weights[r] += largest[r];
#endif
#pragma unroll
    for (int k = 0; k < PLANES; ++k) {
#if TAKES_LARGEST
      values[k][r] += largest[r] * VALUE(LOAD(frame0 + at[k] + here + (long)r * pitch));
#endif
      const I code = code_of(mean_of(values[k][r], weights[r]));
      __global uchar* to = out + origins[k] + (y + r) * pitches[k] + (long)x * strides[k];
#if IS_DENSE
      STORE(code << SHIFT, to);
#elif LANES == 1
      put_sample(to, (uint)code);
#else
      int codes[LANES];
      )" +
         (s.lanes == 1 ? "" : "vstore" + n + "(code, 0, codes);") + R"(
      for (int i = 0; i < LANES; ++i)
        if (x + i < width) put_sample(to + i * strides[k], (uint)codes[i]);
#endif
    }
  }
}
)";
  // Arrays of vectors fit in a CPU's cache, and compilers would take seconds to unroll.
  const std::string unrolled = "#pragma unroll\n";
  for (std::size_t at = 0; s.lanes > 1 && (at = all.find(unrolled, at)) != std::string::npos; ++at)
    all.replace(at, unrolled.size(), "#pragma unroll 1\n");
  return all;
}

}  // namespace framequality::opencl
