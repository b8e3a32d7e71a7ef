// SPDX-License-Identifier: LGPL-2.1-or-later
// The text of the sharpness meter's kernels, around what the metrics' own functions write down.
//
// OpenCL C 1.2, and of that only what every device has: no doubles, no 64-bit atomics, no generic address space. All
// sums are integers: 32 bits, or floats, as long as the metric's peaks prove them exact, 64 bits beyond.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "opencl/sharpness/source.h"

#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"
#include "algorithms/sharpness/statistics.h"
#include "algorithms/sharpness/text.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>

namespace framequality::opencl {
namespace {

std::string str(std::int64_t v) { return std::to_string(v); }
std::string vector_of(const std::string& type, int n) { return n == 1 ? type : type + str(n); }
std::string define(const std::string& name, const std::string& value) { return "#define " + name + " " + value + "\n"; }

/// Lane i of a vector.
std::string lane(const std::string& vector, int i) { return vector + ".s" + "0123456789abcdef"[i]; }
/// The text of each of n lanes, joined.
std::string joined(int n, const std::string& separator, const std::function<std::string(int)>& text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += (i > 0 ? separator : "") + text(i);
  return all;
}

/// Totals as two words each, by 32-bit atomics: devices need not have wider ones.
constexpr char kAdd64[] = R"(
static void add64(volatile __global uint* total, const long v) {
  const uint low = (uint)v, high = (uint)((ulong)v >> 32);
  const uint old = atomic_add(total, low);
  const uint carried = high + ((uint)(old + low) < low ? 1u : 0u);
  if (carried) atomic_add(total + 1, carried);
}
)";

/// Adds up a number of each item of a group: `name`(sums, item, mine) returns the group's sum to item 0.
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

double power(double base, int exponent) {
  double p = 1;
  for (int e = 0; e < exponent; ++e) p *= base;
  return p;
}

/// The signature of `measure`, and the variables that all its forms begin with.
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

/// Adds what the items of a group have in mine[] to the cell's totals.
std::string add_all(int words, const Shape& s) {
  std::string t;
  for (int i = 0; i < words; ++i)
    t += "  {\n    const long all = GROUP_SUM(mine[" + str(i) + "]);\n    if (" +
         (s.across * s.down > 1 ? "item == 0 && " : "") + "all) add64(totals + 2 * (cell[4] + " + str(i) +
         "), all);\n  }\n";
  return t;
}

/// The numbers that a metric's samples are computed with.
enum class Numbers { kFloat, kInt, kShort };

/// Most rows whose sums of one lane are exact in numbers that hold integers up to 2^bits.
template <class M>
int rows_within(int total, double largest, int bits) {
  return static_cast<int>(
      std::min(4096.0, std::ldexp(1.0, bits) / (M::kPeak[total].factor * power(largest, M::kPeak[total].power))));
}

// With fewer rows at a time than this, sums are 64 bits wide from the start.
constexpr int kFewestRows = 6;

template <class M>
Numbers numbers_of(const Shape& shape, double largest) {
  const double most = std::max(1, M::kGain) * largest;
  if (!shape.has_fast_floats) return most <= 32767 ? Numbers::kShort : Numbers::kInt;
  for (int i = 0; i < kTotalsOf<M>; ++i)
    if (rows_within<M>(i, largest, 24) < kFewestRows) return Numbers::kInt;
  return most < 0x1p24 ? Numbers::kFloat : Numbers::kInt;
}

/// Types and what a metric asks of its numbers. On CPUs as comparisons, which compilers turn into their instructions:
/// pocl's own functions of vectors are many times slower.
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

/// A measuring kernel of a metric with rows, piece by piece.
template <class M>
class Writer {
 public:
  Writer(const Shape& shape, const MeasureText& measure)
      : s_(shape),
        m_(measure),
        n_(shape.lanes),
        numbers_(numbers_of<M>(shape, measure.largest)),
        name_(numbers_ == Numbers::kFloat ? "float"
              : numbers_ == Numbers::kInt ? "int"
                                          : "short") {
    const int bits = numbers_ == Numbers::kFloat ? 24 : 31;
    for (int i = 0; i < kTotalsOf<M>; ++i) {
      const int rows = rows_within<M>(i, m_.largest, bits);
      narrow_[i] = rows >= kFewestRows;
      if (narrow_[i]) rows_ = std::min(rows_, rows);
    }
    if (m_.mean) rows_ = std::min(rows_, static_cast<int>(std::ldexp(1.0, bits) / m_.largest));
    if (m_.mean) rows_ -= kReach.up + kReach.down;  // at the edges, which come in front of the first flush
    rows_ = std::max(rows_ / 3 * 3, 3);
  }

  std::string text() const {
    const text::MetricText metric = text::metric_text<M>("  ");
    return "// " + std::string(M::kInfo.name) + ": " + M::kInfo.formula + "\n" + kAdd64 +
           group_sum(s_.across * s_.down) + types() + sums() + metric.row + rows() + pixel(metric.pixel) + flush() +
           kernel();
  }

 private:
  static constexpr Reach kReach = M::kReach;

  std::string types() const {
    const std::string code = m_.word_bytes == 1 ? "uchar" : "ushort";
    std::string t = define("N", str(n_)) + numbers_text(numbers_, n_, !s_.has_fast_floats);
    t += "typedef " + vector_of(code, n_) + " Codes;\n";
    t += "typedef " + vector_of("int", n_) + " Mask;\n";
    t += define("CODES(row, x)", "(*(const __global Codes*)((row) + " + str(m_.word_bytes) + " * (x)))");
    std::string bits = "(c)";
    if (m_.shift > 0) bits += " >> (Word)" + str(m_.shift);
    if (m_.shift > 0 || m_.bits != 8 * m_.word_bytes) bits = "(" + bits + ") & (Word)" + str((1 << m_.bits) - 1);
    t += "static V widen(const Codes c) {\n  return convert_" + vector_of(name_, n_) + "(" +
         substituted(bits, "Codes") + ");\n}\n";
    t += define("CODE(row, x)", "(*(const __global " + code + "*)((row) + " + str(m_.word_bytes) + " * (x)))");
    t += "static " + name_ + " sample(const " + code + " c) {\n  return convert_" + name_ + "((" + code + ")(" +
         substituted(bits, code) + "));\n}\n";
    return t;
  }
  static std::string substituted(std::string text, const std::string& word) {
    for (std::size_t at; (at = text.find("Word")) != std::string::npos;) text.replace(at, 4, word);
    return text;
  }

  bool has_wide() const {
    return !std::ranges::all_of(narrow_, [](bool narrow) { return narrow; });
  }

  /// Where pixel() adds to.
  std::string sums() const {
    const std::string narrow = numbers_ == Numbers::kFloat ? "float" : "int";
    std::string t = "typedef " + vector_of(narrow, n_) + " Sum;\ntypedef struct {\n" +
                    std::string(has_wide() ? "  Mask mask;\n" : "");
    for (int i = 0; i < kTotalsOf<M>; ++i)
      t += narrow_[i] ? "  Sum sum" + str(i) + ";\n" : "  long wide" + str(i) + ";\n";
    if (m_.mean) t += "  Sum mean;\n";
    t += "} Sums;\n";
    const std::string to_sum = numbers_ == Numbers::kShort ? "convert_" + vector_of("int", n_) : "";
    const std::string to_long = "convert_" + vector_of("long", n_);
    for (int i = 0; i < kTotalsOf<M>; ++i) {
      const std::string id = str(i);
      if (narrow_[i]) {
        t += define("ADD" + id + "(v)", "sums->sum" + id + " += " + to_sum + "(v)");
        t += define("ADD_PRODUCT" + id + "(a, b)", "sums->sum" + id + " += " + to_sum + "(a) * " + to_sum + "(b)");
      } else {
        t += define("ADD" + id + "(v)",
                    "sums->wide" + id + " += lane_sum(" + to_long + "(v) & " + to_long + "(sums->mask))");
        t += define("ADD_PRODUCT" + id + "(a, b)", "sums->wide" + id + " += lane_sum(" + to_long + "(a) * (" + to_long +
                                                       "(b) & " + to_long + "(sums->mask)))");
      }
    }
    if (has_wide())
      t += "static long lane_sum(const " + vector_of("long", n_) + " v) {\n  return " +
           joined(n_, " + ", [&](int i) { return lane("v", i); }) + ";\n}\n";
    return t;
  }

  /// The samples of N columns of a row with their neighbours: fetched as they are in memory, then made into a Row.
  std::string rows() const {
    const std::string code = m_.word_bytes == 1 ? "uchar" : "ushort";
    std::string t = "typedef struct {\n  Codes own;\n";
    std::string fetch = "  raw.own = CODES(row, x);\n";
    std::string make = "  const V c = widen(raw.own);\n  V l = c, r = c, r2 = c;\n  *own = c;\n";
    const auto beside = [&](const std::string& member, const std::string& column, const std::string& condition) {
      t += "  " + code + " " + member + ";\n";
      fetch += "  raw." + member + " = " + condition + " ? CODE(row, " + column + ") : (" + code + ")0;\n";
    };
    if (kReach.left > 0) beside("left", "x - 1", "x > 0");
    if (kReach.right > 0) beside("right", "x + N", "x + N < w");
    if (kReach.right > 1) beside("right2", "x + N + 1", "x + N + 1 < w");
    const auto moved = [&](const std::string& to, int by) {
      make += "  " + to + " = (V)(" +
              joined(n_, ", ",
                     [&](int i) {
                       const int at = i + by;
                       return at < 0     ? std::string("sample(raw.left)")
                              : at < n_  ? lane("c", at)
                              : at == n_ ? std::string("sample(raw.right)")
                                         : std::string("sample(raw.right2)");
                     }) +
              ");\n";
    };
    if (kReach.left > 0) moved("l", -1);
    if (kReach.right > 0) moved("r", 1);
    if (kReach.right > 1) moved("r2", 2);
    if (M::kReflect) {
      // Beyond the edges samples are mirrored; one column alone is its own neighbour.
      const std::string mask = numbers_ == Numbers::kShort ? vector_of("short", n_) : "Mask";
      make += "  if (x == 0 || x + N >= w) {\n    const " + mask + " column = (" + mask + ")(" +
              joined(n_, ", ", [&](int i) { return str(i); }) + ");\n    const " + mask + " first = column == (" +
              mask + ")(x == 0 ? 0 : -1), last = column == (" + mask +
              ")(min(w - 1 - x, N));\n    const V left = l;\n" +
              "    l = first ? (w == 1 ? c : r) : l;\n    r = last ? (w == 1 ? c : left) : r;\n  }\n";
    }
    return t + "} Raw;\nstatic Raw fetch(const __global uchar* row, const int x, const int w) {\n  Raw raw;\n" + fetch +
           "  return raw;\n}\nstatic Row row_of(const Raw raw, const int x, const int w, V* own) {\n" + make +
           "  return make_row(l, c, r, r2);\n}\n";
  }

  static std::string pixel(const std::string& body) {
    return "static void pixel(const Row up, const Row mid, const Row down, Sums* sums) {\n" + body + "}\n";
  }

  std::string columns() const {
    return "x + (Mask)(" + joined(n_, ", ", [](int i) { return str(i); }) + ")";
  }

  /// Adds what the narrow sums hold to the totals, but for lanes without all in the metric's reach (from, to) or
  /// outside of the cell. Masks are made anew: registers are what limits the items that run at a time.
  std::string flush() const {
    std::string t =
        "static void flush(Sums* sums, const int x, const int x0, const int x1, const int from, const int to, "
        "long* totals) {\n  const Mask column = " +
        columns() + ";\n";
    const auto add = [&](const std::string& sum, const std::string& mask, int total) {
      const std::string lanes = sum + "_lanes";
      t += "  const Mask " + lanes + " = " +
           (numbers_ == Numbers::kFloat ? "convert_" + vector_of("int", n_) + "(sums->" + sum + ")" : "sums->" + sum) +
           " & " + mask + ";\n  sums->" + sum + " = (Sum)0;\n";
      t += "  totals[" + str(total) +
           "] += " + joined(n_, " + ", [&](int i) { return (i == 0 ? "(long)" : "") + lane(lanes, i); }) + ";\n";
    };
    t += "  const Mask counts = column >= max(x0, from) && column < min(x1, to);\n";
    for (int i = 0; i < kTotalsOf<M>; ++i)
      if (narrow_[i]) add("sum" + str(i), "counts", i);
    if (m_.mean) {
      t += "  const Mask inside = column >= x0 && column < x1;\n";
      add("mean", "inside", kTotalsOf<M>);
    }
    return t + "}\n";
  }

  std::string row_number(const std::string& y) const {
    return M::kReflect
               ? "(h == 1 ? 0 : " + y + " < 0 ? -(" + y + ") : " + y + " >= h ? 2 * (h - 1) - (" + y + ") : " + y + ")"
               : "(" + y + ")";
  }

  std::string kernel() const {
    const int left = M::kReflect ? 0 : kReach.left, right = M::kReflect ? 0 : kReach.right;
    const int up = M::kReflect ? 0 : kReach.up, down = M::kReflect ? 0 : kReach.down;
    const int words = kTotalsOf<M> + (m_.mean ? 1 : 0);
    std::string t = "#define FETCH(y) fetch(plane + (long)" + row_number("y") + " * pitch, x, w)\n";
    t += "#define AT(y) row_of(FETCH(y), x, w, &own)\n";
    t += kernel_head(s_);
    t += "  const int x0 = cell[0], x1 = cell[1], y0 = cell[2], y1 = cell[3], w = cell[6], h = cell[7];\n"
         "  const int x = (x0 / N + (int)get_global_id(0)) * N;\n"
         "  const int first = y0 + (int)get_global_id(1) * rows, last = min(first + rows, y1);\n"
         "  const __global uchar* plane = frame + origin + cell[5] * field_step;\n"
         "  long mine[" +
         str(words) + "] = {" + joined(words, ", ", [](int) { return "0"; }) + "};\n";
    t += "  if (x < x1 && first < last) {\n";
    t += "    const int from = " + str(left) + ", to = w - " + str(right) + ";\n    Sums sums;\n";
    if (has_wide())
      t += "    {\n      const Mask column = " + columns() +
           ";\n      sums.mask = column >= max(x0, from) && column < min(x1, to);\n    }\n";
    for (int i = 0; i < kTotalsOf<M>; ++i)
      t += narrow_[i] ? "    sums.sum" + str(i) + " = (Sum)0;\n" : "    sums.wide" + str(i) + " = 0;\n";
    if (m_.mean) t += "    sums.mean = (Sum)0;\n";
    t += "    V own;\n    const int begin = max(first, " + str(up) + "), end = min(last, h - " + str(down) + ");\n";
    if (m_.mean) {
      // Rows without a neighbour count in the mean alone.
      const std::string add = "sums.mean += convert_" + vector_of(numbers_ == Numbers::kFloat ? "float" : "int", n_) +
                              "(widen(CODES(plane + (long)y * pitch, x)));\n";
      t += "    for (int y = first; y < min(begin, last); ++y) " + add +
           "    for (int y = max(end, max(begin, first)); y < last; ++y) " + add;
    }
    const std::string centre =
        m_.mean ? "sums.mean += " + std::string(numbers_ == Numbers::kShort ? "convert_" + vector_of("int", n_) : "") +
                      "(own_mid); "
                : "";
    if (kReach.down > 0) {
      t += "    if (begin < end) {\n      int y = begin;\n      Row r1 = AT(y);\n";
      if (m_.mean) t += "      V own_mid = own;\n";
      t += "      Row r0 = " + std::string(kReach.up > 0 ? "AT(y - 1)" : "r1") + ", r2;\n";
      // Rows change roles without a move where three are done at a time.
      const auto step = [&](const std::string& a, const std::string& b, const std::string& c, const std::string& y) {
        return c + " = AT(" + y + "); pixel(" + a + ", " + b + ", " + c + ", &sums); " + centre +
               (m_.mean ? "own_mid = own;" : "");
      };
      t += "      while (y < end) {\n        const int stop = min(y + " + str(rows_) + ", end);\n";
      t += "        for (; y + 3 <= stop; y += 3) {\n          " + step("r0", "r1", "r2", "y + 1") + "\n          " +
           step("r1", "r2", "r0", "y + 2") + "\n          " + step("r2", "r0", "r1", "y + 3") + "\n        }\n";
      t += "        for (; y < stop; ++y) {\n          " + step("r0", "r1", "r2", "y + 1") +
           "\n          r0 = r1; r1 = r2;\n        }\n";
      t += "        flush(&sums, x, x0, x1, from, to, mine);\n      }\n    }\n";
    } else {
      t += "    for (int y = begin; y < end;) {\n      const int stop = min(y + " + str(rows_) +
           ", end);\n      for (; y < stop; ++y) {\n        const Row mid = AT(y);\n        pixel(mid, mid, mid, "
           "&sums);\n";
      if (m_.mean) t += "        const V own_mid = own;\n        " + centre + "\n";
      t += "      }\n      flush(&sums, x, x0, x1, from, to, mine);\n    }\n";
    }
    if (m_.mean) t += "    flush(&sums, x, x0, x1, from, to, mine);\n";
    for (int i = 0; i < kTotalsOf<M>; ++i)
      if (!narrow_[i]) t += "    mine[" + str(i) + "] += sums.wide" + str(i) + ";\n";
    t += "  }\n";
    return t + add_all(words, s_) + "}\n";
  }

  const Shape& s_;
  const MeasureText& m_;
  int n_;
  Numbers numbers_;
  std::string name_;
  bool narrow_[kTotalsOf<M>] = {};
  int rows_ = 4096;  ///< at a time in narrow sums
};

// --- Lags -----------------------------------------------------------------------------------------------------------

/// The kernel of 8-bit samples for metrics that are sums of products of samples (algorithms/sharpness/quadratic.h).
///
/// Let g0 be the samples of a cell with zeros all around it. What the metric makes of g0, summed over the whole plane,
/// is exactly a sum of lags of g0: products of four neighbours in one instruction, no border to beware of. It differs
/// from the cell's total only by the pixels along the cell's border, whose neighbourhoods reach out of the cell or of
/// the image: these few are computed one by one, as the metric defines them and as they were summed.
template <class M>
class LagWriter {
 public:
  static constexpr int kBytes = 16;    ///< columns of a work item
  static constexpr int kStrips = 640;  ///< as Shape::strips; measured on an H100, as those were

  LagWriter(const Shape& shape, const MeasureText& measure) : s_(shape), m_(measure) {
    static_assert(255.0 * 255 * kBytes * kLags<M>.most_shared * (kMostStripRows + kAhead) < 0x1p32);
  }

  std::string text() const {
    const text::MetricText metric = text::metric_text<M>("  ");
    return "// " + std::string(M::kInfo.name) + ", as sums of lags\n" + kAdd64 + group_sum(s_.across * s_.down) +
           primitives() + scalars(metric) + kCorrection + kernel();
  }

 private:
  static constexpr Reach kReach = M::kReach;
  static constexpr int kWords = kBytes / 4, kAhead = 3;  ///< rows fetched before they are needed
  static constexpr int kDown = kLags<M>.down, kAcross = kLags<M>.across;
  static constexpr int kTotals = kTotalsOf<M>;
  static_assert(kAhead % (kDown + 1) == 0);

  bool sums_samples() const {
    return m_.mean || std::ranges::any_of(kLagForm<M>.slope, [](int slope) { return slope != 0; });
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

  /// The metric pixel by pixel, for the border.
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

  /// Word k of the row in place `role`, from `across` columns further right.
  static std::string word(int role, int across, int k) { return "r" + str(role) + "_" + str(across) + "_" + str(k); }

  /// Takes the chunk in place `ahead`, sends for another, and makes the row in place `role` of it.
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

  /// Adds the products of the row in place `role` with those above it.
  std::string products(int role) const {
    std::string t;
    for (int i = 0; i < kLags<M>.count; ++i) {
      const Lag& lag = kLags<M>.lag[i];
      const std::string sum = "a" + str(lag.accumulator);
      const int above = (role - lag.dy + kDown + 1) % (kDown + 1);
      // Both samples as seen from the column of the left one.
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
    for (int a = 0; a < kLags<M>.accumulators; ++a) t += ", a" + str(a) + " = 0";
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
      for (int a = 0; a < kLags<M>.accumulators; ++a)
        if (const int weight = kLags<M>.weight[a][i]; weight != 0)
          t += "    mine[" + str(i) + "] += (long)" + str(weight) + " * a" + str(a) + ";\n";
      if (const int slope = kLagForm<M>.slope[i]; slope != 0)
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

/// True if a metric of such samples is summed as lags.
template <class M>
bool is_lags(const Shape& shape, const MeasureText& m) {
  return kLagForm<M>.is_quadratic && shape.dot != Dot::kNone && m.word_bytes == 1 && m.bits == 8 && m.shift == 0;
}

/// The kernel of metrics that are a histogram of the samples' top 8 bits.
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
      return is_lags<M>(shape, measure) ? LagWriter<M>(shape, measure).text() : Writer<M>(shape, measure).text();
    else
      return Writer<M>(shape, measure).text();
  });
}

Cut cut_of(const Shape& shape, const MeasureText& measure) {
  return with_totals_of(measure.metric, [&](auto metric) -> Cut {
    using M = decltype(metric);
    if constexpr (kLagForm<M>.is_quadratic)
      if (is_lags<M>(shape, measure)) return {LagWriter<M>::kBytes, LagWriter<M>::kStrips};
    return {shape.lanes, shape.strips};
  });
}

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
        return framequality::noise_residual(up, mid, down);
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

// A group has a block of 16 x 16 residuals. A group's squares fit 64 bits, of which the sign is one.
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
