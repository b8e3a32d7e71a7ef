// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of metrics with rows, which moves down columns of samples.
#pragma once

#include "algorithms/sharpness/text.h"
#include "opencl/sharpness/pieces.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace framequality::opencl {

inline double power(double base, int exponent) {
  double p = 1;
  for (int e = 0; e < exponent; ++e) p *= base;
  return p;
}

/// Most rows whose sums per lane are exact in numbers that hold integers up to 2^bits.
template <class M>
int rows_within(int total, double largest, int bits) {
  return static_cast<int>(
      std::min(4096.0, std::ldexp(1.0, bits) / (M::kPeak[total].factor * power(largest, M::kPeak[total].power))));
}

// With fewer rows at a time, sums are 64 bits wide from the start.
constexpr int kFewestRows = 6;

template <class M>
Numbers numbers_of(const Shape& shape, double largest) {
  const double most = std::max(1, M::kGain) * largest;
  if (!shape.has_fast_floats) return most <= 32767 ? Numbers::kShort : Numbers::kInt;
  for (int i = 0; i < sharpness::kTotalsOf<M>; ++i)
    if (rows_within<M>(i, largest, 24) < kFewestRows) return Numbers::kInt;
  return most < 0x1p24 ? Numbers::kFloat : Numbers::kInt;
}

/// Text of a measuring kernel of a metric with rows, piece by piece.
template <class M>
class RowsText {
 public:
  RowsText(const Shape& shape, const MeasureText& measure)
      : s_(shape),
        m_(measure),
        n_(shape.lanes),
        numbers_(numbers_of<M>(shape, measure.largest)),
        name_(numbers_ == Numbers::kFloat ? "float"
              : numbers_ == Numbers::kInt ? "int"
                                          : "short") {
    const int bits = numbers_ == Numbers::kFloat ? 24 : 31;
    for (int i = 0; i < sharpness::kTotalsOf<M>; ++i) {
      const int rows = rows_within<M>(i, m_.largest, bits);
      narrow_[i] = rows >= kFewestRows;
      if (narrow_[i]) rows_ = std::min(rows_, rows);
    }
    if (m_.mean) rows_ = std::min(rows_, static_cast<int>(std::ldexp(1.0, bits) / m_.largest));
    if (m_.mean) rows_ -= kReach.up + kReach.down;  // at the edges, before the first flush
    rows_ = std::max(rows_ / 3 * 3, 3);
  }

  std::string text() const {
    const text::MetricText metric = text::metric_text<M>("  ");
    return "// " + std::string(M::kInfo.name) + ": " + M::kInfo.formula + "\n" + kAdd64 +
           group_sum(s_.across * s_.down) + types() + sums() + metric.row + rows() + pixel(metric.pixel) + flush() +
           kernel();
  }

 private:
  static constexpr sharpness::Reach kReach = M::kReach;

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

  /// Declarations of the sums that pixel() adds to.
  std::string sums() const {
    const std::string narrow = numbers_ == Numbers::kFloat ? "float" : "int";
    std::string t = "typedef " + vector_of(narrow, n_) + " Sum;\ntypedef struct {\n" +
                    std::string(has_wide() ? "  Mask mask;\n" : "");
    for (int i = 0; i < sharpness::kTotalsOf<M>; ++i)
      t += narrow_[i] ? "  Sum sum" + str(i) + ";\n" : "  long wide" + str(i) + ";\n";
    if (m_.mean) t += "  Sum mean;\n";
    t += "} Sums;\n";
    const std::string to_sum = numbers_ == Numbers::kShort ? "convert_" + vector_of("int", n_) : "";
    const std::string to_long = "convert_" + vector_of("long", n_);
    for (int i = 0; i < sharpness::kTotalsOf<M>; ++i) {
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

  /// The samples of N columns of a row with their neighbours: fetched as stored in memory, then converted to a Row.
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
      // Beyond the edges samples are mirrored; a single column is its own neighbour.
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

  /// Adds the narrow sums to the totals, except lanes whose neighbourhood is incomplete (from, to) or
  /// outside the cell. Masks are recomputed: registers limit the items that run at a time.
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
    for (int i = 0; i < sharpness::kTotalsOf<M>; ++i)
      if (narrow_[i]) add("sum" + str(i), "counts", i);
    if (m_.mean) {
      t += "  const Mask inside = column >= x0 && column < x1;\n";
      add("mean", "inside", sharpness::kTotalsOf<M>);
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
    const int words = sharpness::kTotalsOf<M> + (m_.mean ? 1 : 0);
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
    for (int i = 0; i < sharpness::kTotalsOf<M>; ++i)
      t += narrow_[i] ? "    sums.sum" + str(i) + " = (Sum)0;\n" : "    sums.wide" + str(i) + " = 0;\n";
    if (m_.mean) t += "    sums.mean = (Sum)0;\n";
    t += "    V own;\n    const int begin = max(first, " + str(up) + "), end = min(last, h - " + str(down) + ");\n";
    if (m_.mean) {
      // Rows without a neighbour count only in the mean.
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
      // With three rows at a time, rows change roles without a move.
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
    for (int i = 0; i < sharpness::kTotalsOf<M>; ++i)
      if (!narrow_[i]) t += "    mine[" + str(i) + "] += sums.wide" + str(i) + ";\n";
    t += "  }\n";
    return t + add_all(words, s_) + "}\n";
  }

  const Shape& s_;
  const MeasureText& m_;
  int n_;
  Numbers numbers_;
  std::string name_;
  bool narrow_[sharpness::kTotalsOf<M>] = {};
  int rows_ = 4096;  ///< rows at a time in narrow sums
};

}  // namespace framequality::opencl
