// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the sharpness meter's kernels, around the metrics' recorded functions.
//
// OpenCL C 1.2, limited to features of every device: no doubles, no 64-bit atomics, no generic address space. All
// sums are integers: 32 bits, or floats, as long as the metric's peaks prove them exact, 64 bits beyond.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "opencl/sharpness/source.h"

#include "algorithms/sharpness/metrics/all.h"
#include "opencl/sharpness/lags_text.h"
#include "opencl/sharpness/rows_text.h"

namespace framequality::opencl {

using namespace sharpness;

namespace {

/// The kernel of metrics that use a histogram of the samples' top 8 bits.
std::string histogram_text(const Shape& s, const MeasureText& m) {
  const int items = s.across * s.down, copies = items >= 128 ? 4 : 1;
  const std::string code = m.word_bytes == 1 ? "uchar" : "ushort";
  std::string t = "// histogram of the top 8 bits of samples\n" + std::string(kAdd64);
  t += define("N", str(s.lanes)) + define("ITEMS", str(items)) + define("COPIES", str(copies));
  t += "typedef " + vector_of(code, s.lanes) + " Codes;\n";
  t += "__kernel __attribute__((reqd_work_group_size(" + str(s.across) + ", " + str(s.down) +
       ", 1)))\nvoid measure(const __global uchar* frame, const long origin, const long field_step, const long pitch,\n"
       "             const __global int* cells, volatile __global uint* totals, const int rows) {\n";
  t += R"(  const int item = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));
  __local uint bins[256 * COPIES];
  for (int i = item; i < 256 * COPIES; i += ITEMS) bins[i] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
)";
  t += "  const __global int* cell = cells + " + str(kCellNumbers) + R"( * get_global_id(2);
  const int x0 = cell[0], x1 = cell[1], y0 = cell[2], y1 = cell[3];
  const int x = (x0 / N + (int)get_global_id(0)) * N;
  const int first = y0 + (int)get_global_id(1) * rows, last = min(first + rows, y1);
  const __global uchar* plane = frame + origin + cell[5] * field_step;
  __local uint* mine = bins + 256 * (item % COPIES);
  if (x < x1)
    for (int y = first; y < last; ++y) {
)";
  t += "      const Codes c = (*(const __global Codes*)(plane + (long)y * pitch + " + str(m.word_bytes) +
       " * x) >> (Codes)" + str(m.shift + m.bits - 8) + ") & (Codes)255;\n";
  for (int i = 0; i < s.lanes; ++i)
    t += "      if (x + " + str(i) + " >= x0 && x + " + str(i) + " < x1) atomic_inc(mine + " + lane("c", i) + ");\n";
  t += R"(    }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = item; i < 256; i += ITEMS) {
    uint sum = 0;
    for (int copy = 0; copy < COPIES; ++copy) sum += bins[256 * copy + i];
    if (sum) add64(totals + 2 * (cell[4] + i), sum);
  }
}
)";
  return t;
}

}  // namespace

std::string measure_text(const Shape& shape, const MeasureText& measure) {
  return with_totals_of(measure.metric, [&](auto metric) -> std::string {
    using M = decltype(metric);
    if constexpr (M::kHistogram)
      return histogram_text(shape, measure);
    else if constexpr (kLagForm<M>.is_quadratic)
      return is_lags<M>(shape, measure) ? LagsText<M>(shape, measure).text() : RowsText<M>(shape, measure).text();
    else
      return RowsText<M>(shape, measure).text();
  });
}

Cut cut_of(const Shape& shape, const MeasureText& measure) {
  return with_totals_of(measure.metric, [&](auto metric) -> Cut {
    using M = decltype(metric);
    if constexpr (kLagForm<M>.is_quadratic)
      if (is_lags<M>(shape, measure)) return {LagsText<M>::kBytes, LagsText<M>::kStrips};
    return {shape.lanes, shape.strips};
  });
}

}  // namespace framequality::opencl
