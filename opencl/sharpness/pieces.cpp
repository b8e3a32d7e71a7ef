// SPDX-License-Identifier: LGPL-2.1-or-later
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "opencl/sharpness/pieces.h"

namespace framequality::opencl {

const char kAdd64[] = R"(
static void add64(volatile __global uint* total, const long v) {
  const uint low = (uint)v, high = (uint)((ulong)v >> 32);
  const uint old = atomic_add(total, low);
  const uint carried = high + ((uint)(old + low) < low ? 1u : 0u);
  if (carried) atomic_add(total + 1, carried);
}
)";

std::string group_sum(int items) {
  if (items == 1) return "#define GROUP_SUM(v) (v)\n";
  return "#define ITEMS " + str(items) + R"(
static long group_sum(__local long* sums, const int item, const long mine) {
  barrier(CLK_LOCAL_MEM_FENCE);
  sums[item] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = ITEMS / 2; step > 0; step /= 2) {
    if (item < step) sums[item] += sums[item + step];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return sums[0];
}
#define GROUP_SUM(v) group_sum(group_sums, item, v)
)";
}

std::string kernel_head(const Shape& s) {
  std::string t =
      "__kernel __attribute__((reqd_work_group_size(" + str(s.across) + ", " + str(s.down) +
      ", 1)))\nvoid measure(const __global uchar* frame, const long origin, const long field_step, const long "
      "pitch,\n             const __global int* cells, volatile __global uint* totals, const int rows) {\n";
  if (s.across * s.down > 1)
    t += "  __local long group_sums[ITEMS];\n"
         "  const int item = (int)(get_local_id(1) * get_local_size(0) + get_local_id(0));\n";
  return t + "  const __global int* cell = cells + " + str(kCellNumbers) + " * get_global_id(2);\n";
}

std::string add_all(int words, const Shape& s) {
  std::string t;
  for (int i = 0; i < words; ++i)
    t += "  {\n    const long all = GROUP_SUM(mine[" + str(i) + "]);\n    if (" +
         (s.across * s.down > 1 ? "item == 0 && " : "") + "all) add64(totals + 2 * (cell[4] + " + str(i) +
         "), all);\n  }\n";
  return t;
}

std::string numbers_text(Numbers numbers, int n, bool compares) {
  std::string t = "typedef " +
                  vector_of(numbers == Numbers::kFloat ? "float"
                            : numbers == Numbers::kInt ? "int"
                                                       : "short",
                            n) +
                  " V;\n";
  if (numbers == Numbers::kFloat) {
    t += define("absolute", "fabs") + define("minimum", "fmin") + define("maximum", "fmax") +
         define("abs_difference(a, b)", "fabs((a) - (b))");
  } else if (compares) {
    t += define("absolute(a)", "((a) < (V)0 ? -(a) : (a))") + define("minimum(a, b)", "((a) < (b) ? (a) : (b))") +
         define("maximum(a, b)", "((a) > (b) ? (a) : (b))") +
         define("abs_difference(a, b)", "(maximum(a, b) - minimum(a, b))");
  } else {
    const std::string as = "as_" + vector_of(numbers == Numbers::kInt ? "int" : "short", n);
    t += define("absolute(a)", as + "(abs(a))") + define("minimum", "min") + define("maximum", "max") +
         define("abs_difference(a, b)", as + "(abs_diff(a, b))");
  }
  return t;
}

}  // namespace framequality::opencl
