// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of metrics that are sums of products of samples.
#pragma once

#include "algorithms/sharpness/quadratic.h"
#include "algorithms/sharpness/text.h"
#include "opencl/sharpness/pieces.h"

#include <algorithm>
#include <string>

namespace framequality::opencl {

/// The kernel of 8-bit samples for metrics that are sums of products of samples (algorithms/sharpness/quadratic.h).
///
/// Let g0 be the samples of a cell with zeros all around it. The metric of g0, summed over the whole plane,
/// is exactly a sum of lags of g0: products of four neighbours in one instruction, without borders. It differs
/// from the cell's total only by the pixels along the cell's border, whose neighbourhoods extend out of the cell or
/// the image: these few are computed one by one, as the metric defines them and as they were summed.
template <class M>
class LagsText {
 public:
  static constexpr int kBytes = 16;    ///< columns per work item
  static constexpr int kStrips = 640;  ///< as Shape::strips; measured on an H100, too

  LagsText(const Shape& shape, const MeasureText& measure) : s_(shape), m_(measure) {
    static_assert(255.0 * 255 * kBytes * sharpness::kLags<M>.most_shared * (kMostStripRows + kAhead) < 0x1p32);
  }

  std::string text() const {
    const text::MetricText metric = text::metric_text<M>("  ");
    return "// " + std::string(M::kInfo.name) + ", as sums of lags\n" + kAdd64 + group_sum(s_.across * s_.down) +
           primitives() + scalars(metric) + kCorrection + kernel();
  }

 private:
  static constexpr sharpness::Reach kReach = M::kReach;
  static constexpr int kWords = kBytes / 4, kAhead = 3;  ///< rows fetched in advance
  static constexpr int kDown = sharpness::kLags<M>.down, kAcross = sharpness::kLags<M>.across;
  static constexpr int kTotals = sharpness::kTotalsOf<M>;
  static_assert(kAhead % (kDown + 1) == 0);

  bool sums_samples() const {
    return m_.mean || std::ranges::any_of(sharpness::kLagForm<M>.slope, [](int slope) { return slope != 0; });
  }

  std::string primitives() const {
    if (s_.dot == Dot::kNvidia)
      return R"(
static uint dot4(const uint a, const uint b, const uint sum) {
  uint d;
  asm("dp4a.u32.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(sum));
  return d;
}
static uint moved(const uint low, const uint high, const uint bits) {
  uint d;
  asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(d) : "r"(low), "r"(high), "r"(bits));
  return d;
}
)";
    return R"(
static uint dot4(const uint a, const uint b, const uint sum) {
  return sum + (a & 255) * (b & 255) + (a >> 8 & 255) * (b >> 8 & 255) + (a >> 16 & 255) * (b >> 16 & 255) +
         (a >> 24) * (b >> 24);
}
static uint moved(const uint low, const uint high, const uint bits) { return low >> bits | high << (32 - bits); }
)";
  }

  /// The metric for single pixels, for the border.
  std::string scalars(const text::MetricText& metric) const {
    std::string t = numbers_text(Numbers::kInt, 1, true) + metric.row;
    for (int i = 0; i < kTotals; ++i)
      t += define("ADD" + str(i) + "(v)", "totals[" + str(i) + "] += sign * (long)(v)") +
           define("ADD_PRODUCT" + str(i) + "(a, b)", "totals[" + str(i) + "] += sign * ((long)(a) * (b))");
    t += "static void pixel(const Row up, const Row mid, const Row down, const int sign, long* totals) {\n" +
         metric.pixel + "}\n";
    const auto inside = [](const char* v, const char* n) {
      const std::string a = v, b = n;
      return M::kReflect ? "(" + b + " == 1 ? 0 : " + a + " < 0 ? -" + a + " : " + a + " >= " + b + " ? 2 * (" + b +
                               " - 1) - " + a + " : " + a + ")"
                         : "clamp(" + a + ", 0, " + b + " - 1)";
    };
    return t + define("UP", str(kReach.up)) + define("DOWN", str(kReach.down)) + define("LEFT", str(kReach.left)) +
           define("RIGHT", str(kReach.right)) + define("REFLECTS", M::kReflect ? "1" : "0") +
           define("INSIDE(v, n)", inside("(v)", "(n)"));
  }

  /// pixel() at the cell's border.
  static constexpr char kCorrection[] = R"(
typedef struct {
  const __global uchar* plane;
  long pitch;
  int w, h, x0, x1, y0, y1;
} Cell;

static int holds(const Cell* cell, const int x, const int y) {
  return x >= cell->x0 && x < cell->x1 && y >= cell->y0 && y < cell->y1;
}
static int sample(const Cell* cell, const int x, const int y, const int all) {
  return all || holds(cell, x, y) ? cell->plane[INSIDE(y, cell->h) * cell->pitch + INSIDE(x, cell->w)] : 0;
}
// all: samples outside of the cell count as they are, not as 0.
static Row row_at(const Cell* cell, const int x, const int y, const int all) {
  return make_row(LEFT > 0 ? sample(cell, x - 1, y, all) : 0, sample(cell, x, y, all),
                  RIGHT > 0 ? sample(cell, x + 1, y, all) : 0, RIGHT > 1 ? sample(cell, x + 2, y, all) : 0);
}
// What pixel (x, y) adds to the cell's totals, less what the lags have made of it.
static void correct(const Cell* cell, const int x, const int y, long* totals) {
  pixel(row_at(cell, x, y - UP, 0), row_at(cell, x, y, 0), row_at(cell, x, y + DOWN, 0), -1, totals);
  if (holds(cell, x, y) && (REFLECTS != 0 || (x >= LEFT && x + RIGHT < cell->w && y >= UP && y + DOWN < cell->h)))
    pixel(row_at(cell, x, y - UP, 1), row_at(cell, x, y, 1), row_at(cell, x, y + DOWN, 1), 1, totals);
}
// correct() for all pixels that need it, spread over `items` items. The lags are right within the core; beyond the
// halo there is nothing.
static void correct_border(const Cell* cell, const int item, const int items, long* totals) {
  const int left = cell->x0 - RIGHT, right = cell->x1 + LEFT, top = cell->y0 - DOWN, bottom = cell->y1 + UP;
  int core_left = cell->x0 + LEFT, core_right = cell->x1 - RIGHT, core_top = cell->y0 + UP,
      core_bottom = cell->y1 - DOWN;
  if (core_left >= core_right || core_top >= core_bottom) {
    core_left = core_right = right;
    core_top = core_bottom = bottom;
  }
  const int width = right - left, beside = width - (core_right - core_left), above = width * (core_top - top);
  const int sides = above + beside * (core_bottom - core_top), end = sides + width * (bottom - core_bottom);
  for (int i = item; i < end; i += items) {
    const int across = i < above || i >= sides;
    const int n = i < above ? i : i < sides ? i - above : i - sides, per_row = across ? width : beside;
    const int row = n / per_row, column = n % per_row;
    const int y = row + (i < above ? top : i < sides ? core_top : core_bottom);
    const int x = left + column + (across || column < core_left - left ? 0 : core_right - core_left);
    correct(cell, x, y, totals);
  }
}
// The bytes of a word at column x that lie in x0...x1-1.
static uint byte_mask(const int x, const int x0, const int x1) {
  uint mask = 0;
  for (int i = 0; i < 4; ++i)
    if (x + i >= x0 && x + i < x1) mask |= 255u << (8 * i);
  return mask;
}
)";

  /// Word k of the row with this role, from `across` columns further right.
  static std::string word(int role, int across, int k) { return "r" + str(role) + "_" + str(across) + "_" + str(k); }

  /// Uses chunk `ahead`, requests another, and makes the row with this role from it.
  std::string take(int ahead, int role, const std::string& counts) const {
    const std::string chunk = "c" + str(ahead), inside = "(" + counts + " ? 0xffffffffu : 0u)";
    std::string t = "        {\n          const uint inside = " + inside + ";\n";
    for (int k = 0; k < kWords; ++k)
      t += "          " + word(role, 0, k) + " = " + lane(chunk, k) + " & m" + str(k) + " & inside;\n";
    if (kAcross > 0) t += "          const uint beyond = e" + str(ahead) + " & m" + str(kWords) + " & inside;\n";
    t += "          NEXT(" + chunk + ", e" + str(ahead) + ")\n";
    for (int across = 1; across <= kAcross; ++across)
      for (int k = 0; k < kWords; ++k)
        t += "          " + word(role, across, k) + " = moved(" + word(role, 0, k) + ", " +
             (k + 1 < kWords ? word(role, 0, k + 1) : "beyond") + ", " + str(8 * across) + ");\n";
    return t + "        }\n";
  }

  /// Adds the products of the row with this role and those above it.
  std::string products(int role) const {
    std::string t;
    for (int i = 0; i < sharpness::kLags<M>.count; ++i) {
      const sharpness::Lag& lag = sharpness::kLags<M>.lag[i];
      const std::string sum = "a" + str(lag.accumulator);
      const int above = (role - lag.dy + kDown + 1) % (kDown + 1);
      // Both samples relative to the left one's column.
      for (int k = 0; k < kWords; ++k)
        t += "        " + sum + " = dot4(" + word(above, lag.dx < 0 ? -lag.dx : 0, k) + ", " +
             word(role, lag.dx > 0 ? lag.dx : 0, k) + ", " + sum + ");\n";
    }
    if (sums_samples())
      for (int k = 0; k < kWords; ++k) t += "        sum = dot4(" + word(role, 0, k) + ", 0x01010101u, sum);\n";
    return t;
  }

  /// A strip's rows first...last-1 as the lower ones of all products, those from y0 on as the upper ones.
  std::string march() const {
    std::string t = "    const __global uchar* from = plane + (long)max(first - " + str(kDown) + ", y0) * pitch + x;\n";
    t += "    int next = first - " + str(kDown) + ";\n";
    for (int k = 0; k <= (kAcross > 0 ? kWords : kWords - 1); ++k)
      t += "    const uint m" + str(k) + " = byte_mask(x + " + str(4 * k) + ", x0, x1);\n";
    for (int i = 0; i < kAhead; ++i) t += "    uint4 c" + str(i) + ";\n    uint e" + str(i) + " = 0;\n";
    for (int role = 0; role <= kDown; ++role) {
      t += "    uint ";
      for (int across = 0; across <= kAcross; ++across)
        for (int k = 0; k < kWords; ++k) t += (across + k > 0 ? ", " : "") + word(role, across, k);
      t += ";\n";
    }
    t += "    uint sum = 0";
    for (int a = 0; a < sharpness::kLags<M>.accumulators; ++a) t += ", a" + str(a) + " = 0";
    t += ";\n";
    for (int i = 0; i < kAhead; ++i) t += "    NEXT(c" + str(i) + ", e" + str(i) + ")\n";
    for (int i = 0; i < kDown; ++i) t += take(i, i, "first - " + str(kDown - i) + " >= y0");
    t += "    for (int y = first; y < last; y += " + str(kAhead) + ") {\n";
    for (int i = 0; i < kAhead; ++i) {
      const int role = (kDown + i) % (kDown + 1);
      t += take((kDown + i) % kAhead, role, "y + " + str(i) + " < last") + products(role);
    }
    t += "    }\n";
    for (int i = 0; i < kTotals; ++i) {
      for (int a = 0; a < sharpness::kLags<M>.accumulators; ++a)
        if (const int weight = sharpness::kLags<M>.weight[a][i]; weight != 0)
          t += "    mine[" + str(i) + "] += (long)" + str(weight) + " * a" + str(a) + ";\n";
      if (const int slope = sharpness::kLagForm<M>.slope[i]; slope != 0)
        t += "    mine[" + str(i) + "] += (long)" + str(slope) + " * sum;\n";
    }
    if (m_.mean) t += "    mine[" + str(kTotals) + "] += sum;\n";
    return t;
  }

  std::string kernel() const {
    const int words = kTotals + (m_.mean ? 1 : 0);
    // The row below the strip's last one is never needed: the last is fetched again.
    std::string t = "#define NEXT(chunk, edge) \\\n  chunk = *(const __global uint4*)from; \\\n";
    if (kAcross > 0) t += "  edge = *(const __global uint*)(from + beside); \\\n";
    t += "  if (next >= y0 && next < last - 1) from += pitch; \\\n  ++next;\n";
    t += kernel_head(s_);
    t += "  const int x0 = cell[0], x1 = cell[1], y0 = cell[2], y1 = cell[3], w = cell[6], h = cell[7];\n"
         "  const int x = (x0 / 16 + (int)get_global_id(0)) * 16;\n"
         "  const int first = y0 + (int)get_global_id(1) * rows, last = min(first + rows, y1);\n"
         "  const __global uchar* plane = frame + origin + cell[5] * field_step;\n"
         "  long mine[" +
         str(words) + "] = {" + joined(words, ", ", [](int) { return "0"; }) +
         "};\n"
         "  if (x < x1 && first < last) {\n    const int beside = x + 16 < x1 ? 16 : 0;\n" +
         march() +
         "  }\n"
         "  const Cell border = {plane, pitch, w, h, x0, x1, y0, y1};\n"
         "  correct_border(&border, (int)(get_global_id(1) * get_global_size(0) + get_global_id(0)),\n"
         "                 (int)(get_global_size(0) * get_global_size(1)), mine);\n";
    return t + add_all(words, s_) + "}\n";
  }

  const Shape& s_;
  const MeasureText& m_;
};

/// True if a metric of these samples is summed as lags.
template <class M>
bool is_lags(const Shape& shape, const MeasureText& m) {
  return sharpness::kLagForm<M>.is_quadratic && shape.dot != Dot::kNone && m.word_bytes == 1 && m.bits == 8 &&
         m.shift == 0;
}

}  // namespace framequality::opencl
