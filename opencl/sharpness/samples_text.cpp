// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that computes working samples from a frame.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "algorithms/text/recorder.h"
#include "opencl/sharpness/source.h"
#include "opencl/words.h"

namespace framequality::opencl {

using namespace sharpness;

bool is_direct(const PixelLayout& l) {
  return l.kind == PixelLayout::Kind::kLuma && l.pixel_stride == l.word_bytes && l.offset[0] == 0 && !l.big_endian &&
         l.plane[0] == 0;
}

/// A work item walks down a strip of kMadeColumns columns. Each row's taps are summed from registers; the sums of the
/// rows above stay in registers, as (1 1)^2r is the binomial. Nothing is shared between items, and no sum is computed
/// twice but at strips' ends.
std::string samples_text(const PixelLayout& layout, const SampleFormat& samples, int out_bytes) {
  using text::Bytes;
  using Index = text::Expression<text::Signed>;
  using Uint = text::Expression<text::Unsigned>;
  const int r = samples.radius, codes = kMadeColumns + 2 * r;
  std::string t =
      text::function_text<Uint>("round_sample", {"scaled"}, [&](Uint scaled) { return samples.round(scaled); }) +
      text::function_text<Bytes, Bytes, Bytes, Index>(
          "luma_code", {"row0", "row1", "row2", "x"},
          [&](Bytes row0, Bytes row1, Bytes row2, Index x) { return generic::luma_code(layout, row0, row1, row2, x); });
  t += define("COLUMNS", str(kMadeColumns)) + define("CODES", str(codes)) + define("RADIUS", str(r)) +
       define("DOWNSCALE", str(samples.downscale)) + define("ACROSS", str(kMadeAcross)) +
       define("DOWN", str(kMadeDown));
  t += R"(__kernel __attribute__((reqd_work_group_size(ACROSS, DOWN, 1)))
void make_samples(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                  const long pitch0, const long pitch1, const long pitch2, const int fields, __global uchar* out,
                  const int out_pitch, const int w0, const int h0, const int w1, const int h1, const int rows) {
  const int field = (int)get_global_id(2), w = field ? w1 : w0, h = field ? h1 : h0;
  const int x = (int)get_global_id(0) * COLUMNS, first = (int)get_global_id(1) * rows, last = min(first + rows, h);
  if (x >= w || first >= h) return;
)";
  if (r > 0) t += "  uint before[2 * RADIUS][COLUMNS] = {{0}};\n";
  t += R"(  for (int y = first - RADIUS; y < last + RADIUS; ++y) {
    const int by = clamp(y, 0, h - 1);
    uint code[CODES];
)";
  if (is_direct(layout) && samples.downscale == 1) {
    // Three aligned vectors hold an inner strip's codes.
    const std::string word = layout.word_bytes == 1 ? "uchar" : "ushort", quad = word + str(kMadeColumns);
    const std::string at = "      const __global " + quad + "* near = (const __global " + quad +
                           "*)(frame + origin0 + ((long)by * fields + field) * pitch0) + x / COLUMNS;\n";
    t += "    if (x >= COLUMNS && x + 2 * COLUMNS <= w) {\n" + at + "      const " + quad +
         " vectors[3] = {near[-1], near[0], near[1]};\n";
    for (int i = 0; i < codes; ++i) {
      const int column = kMadeColumns - r + i;
      t += "      code[" + str(i) + "] = (uint)(vectors[" + str(column / kMadeColumns) + "].s" +
           str(column % kMadeColumns) + " >> " + str(layout.shift) + ") & " + str((1 << layout.depth) - 1) + "u;\n";
    }
    t += "    } else\n";
  }
  t += R"(#pragma unroll
    for (int i = 0; i < CODES; ++i) {
      const int bx = clamp(x + i - RADIUS, 0, w - 1);
      uint sum = 0;
      for (int v = 0; v < DOWNSCALE; ++v) {
        const long row = (long)(by * DOWNSCALE + v) * fields + field;
        for (int u = 0; u < DOWNSCALE; ++u)
          sum += luma_code(frame + origin0 + row * pitch0, frame + origin1 + row * pitch1,
                           frame + origin2 + row * pitch2, bx * DOWNSCALE + u);
      }
      code[i] = sum;
    }
    uint sums[COLUMNS];
#pragma unroll
    for (int i = 0; i < COLUMNS; ++i) {
)";
  t += "      uint sum = " +
       joined(2 * r + 1, " + ", [&](int i) { return str(binomial_tap(r, i - r)) + "u * code[i + " + str(i) + "]"; }) +
       ";\n";
  if (r > 0)
    t += R"(#pragma unroll
      for (int t = 0; t < 2 * RADIUS; ++t) {
        const uint above = before[t][i];
        before[t][i] = sum;
        sum += above;
      }
)";
  const std::string type = out_bytes == 1 ? "uchar" : "ushort", made = type + str(kMadeColumns);
  t += "      sums[i] = sum;\n    }\n";
  if (r > 0) t += "    if (y < first + RADIUS) continue;\n";
  // Rows of samples have room behind their last ones.
  return t + "    __global uchar* to = out + ((long)(y - RADIUS) * fields + field) * out_pitch;\n    ((__global " +
         made + "*)to)[x / COLUMNS] =\n        (" + made + ")(" +
         joined(kMadeColumns, ", ", [&](int i) { return "(" + type + ")round_sample(sums[" + str(i) + "])"; }) +
         ");\n  }\n}\n";
}

}  // namespace framequality::opencl
