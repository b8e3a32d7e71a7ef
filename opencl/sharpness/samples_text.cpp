// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel that computes working samples from a frame.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "algorithms/text/recorder.h"
#include "opencl/sharpness/source.h"
#include "opencl/words.h"

#include <functional>

namespace framequality::opencl {

using namespace sharpness;

std::string samples_text(const PixelLayout& layout, const SampleFormat& samples, int out_bytes) {
  using text::Bytes;
  using Index = text::Expression<text::Signed>;
  constexpr int kSide = 16;
  const int r = samples.radius, side = kSide + 2 * r;
  std::string t = text::function_text<Bytes, Bytes, Bytes, Index>(
      "luma_code", {"row0", "row1", "row2", "x"},
      [&](Bytes row0, Bytes row1, Bytes row2, Index x) { return generic::luma_code(layout, row0, row1, row2, x); });
  t += define("SIDE", str(side)) + define("RADIUS", str(r)) + define("DOWNSCALE", str(samples.downscale));
  t += R"(__kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void make_samples(const __global uchar* frame, const long origin0, const long origin1, const long origin2,
                  const long pitch0, const long pitch1, const long pitch2, const int fields, __global uchar* out,
                  const int out_pitch, const int w0, const int h0, const int w1, const int h1) {
  const int field = (int)get_global_id(2), w = field ? w1 : w0, h = field ? h1 : h0;
  const int x = (int)get_global_id(0), y = (int)get_global_id(1), lx = (int)get_local_id(0), ly = (int)get_local_id(1);
  __local uint box[SIDE][SIDE + 1];
  if (w > 0 && h > 0)
    for (int j = ly; j < SIDE; j += 16)
      for (int i = lx; i < SIDE; i += 16) {
        const int bx = clamp(x - lx + i - RADIUS, 0, w - 1), by = clamp(y - ly + j - RADIUS, 0, h - 1);
        uint sum = 0;
        for (int v = 0; v < DOWNSCALE; ++v) {
          const long row = (long)(by * DOWNSCALE + v) * fields + field;
          for (int u = 0; u < DOWNSCALE; ++u)
            sum += luma_code(frame + origin0 + row * pitch0, frame + origin1 + row * pitch1,
                             frame + origin2 + row * pitch2, bx * DOWNSCALE + u);
        }
        box[j][i] = sum;
      }
  barrier(CLK_LOCAL_MEM_FENCE);
)";
  // Along rows, then along columns.
  const auto taps = [&](const std::function<std::string(int)>& sample) {
    return joined(2 * r + 1, " + ", [&](int i) { return str(binomial_tap(r, i - r)) + "u * " + sample(i); });
  };
  if (r > 0)
    t += "  __local uint line[SIDE][16];\n  for (int j = ly; j < SIDE; j += 16)\n    line[j][lx] = " +
         taps([](int i) { return "box[j][lx + " + str(i) + "]"; }) + ";\n  barrier(CLK_LOCAL_MEM_FENCE);\n";
  t += "  if (x >= w || y >= h) return;\n  const uint sum = " +
       taps([&](int i) { return r > 0 ? "line[ly + " + str(i) + "][lx]" : std::string("box[ly][lx]"); }) + ";\n";
  const std::string type = out_bytes == 1 ? "uchar" : "ushort";
  using Uint = text::Expression<text::Unsigned>;
  t = text::function_text<Uint>("round_sample", {"scaled"}, [&](Uint scaled) { return samples.round(scaled); }) + t;
  return t + "  ((__global " + type + "*)(out + ((long)y * fields + field) * out_pitch))[x] = (" + type +
         ")round_sample(sum);\n}\n";
}

}  // namespace framequality::opencl
