// SPDX-License-Identifier: LGPL-2.1-or-later
// A metric's own row() and pixel() as text of OpenCL C.
#pragma once

#include "algorithms/sharpness/metric.h"
#include "algorithms/text/recorder.h"

#include <array>
#include <bit>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>

namespace framequality::text {

using Number = Expression<Lanes>;

/// A metric as text: `Row`, a structure of Vs; `Row make_row(V l, V c, V r, V r2)`; and the body of pixel(), where Rows
/// up, mid and down are in scope. pixel() adds to total i by ADDi(v) or ADD_PRODUCTi(a, b).
struct MetricText {
  std::string row, pixel;
};

namespace detail {

/// The samples that row() reads.
struct Neighbours {
  Number l() const { return Number::leaf("l"); }
  Number c() const { return Number::leaf("c"); }
  Number r() const { return Number::leaf("r"); }
  Number r2() const { return Number::leaf("r2"); }
};

/// The totals, as pixel() sees them: records additions.
class Sink {
 public:
  explicit Sink(const std::string& indent) : indent_(indent) {}
  template <int kTotal>
  void add(Number v) {
    put("ADD", kTotal, {v.node});
  }
  template <int kTotal>
  void add_product(Number a, Number b) {
    put("ADD_PRODUCT", kTotal, {a.node, b.node});
  }
  const std::string& text() const { return text_; }

 private:
  void put(const char* what, int total, std::initializer_list<int> operands) {
    Recorder& recorder = Recorder::in_use();
    text_ += recorder.statements(operands, indent_) + indent_ + what + std::to_string(total);
    const char* separator = "(";
    for (const int operand : operands) text_ += std::exchange(separator, ", ") + recorder.name(operand);
    text_ += ");\n";
  }

  std::string indent_, text_;
};

}  // namespace detail

/// M: a metric that is no histogram. indent: of pixel()'s body.
template <class M>
MetricText metric_text(const std::string& indent) {
  using Features = std::array<Number, sharpness::kFeaturesOf<M>>;
  using Row = typename M::template Row<Number>;
  MetricText text;
  {
    Recorder recorder;
    const auto features = std::bit_cast<Features>(M::template row<Number>(detail::Neighbours{}));
    std::string members, values, statements;
    for (std::size_t i = 0; i < features.size(); ++i) {
      const std::string member = "f" + std::to_string(i);
      statements += recorder.statements({features[i].node});
      members += (i > 0 ? ", " : "") + member;
      values += "  row." + member + " = " + recorder.name(features[i].node) + ";\n";
    }
    text.row = "typedef struct {\n  V " + members + ";\n} Row;\nstatic Row make_row(V l, V c, V r, V r2) {\n" +
               statements + "  Row row;\n" + values + "  return row;\n}\n";
  }
  const Recorder recorder;
  const auto row = [](const std::string& name) {
    Features features;
    for (std::size_t i = 0; i < features.size(); ++i) features[i] = Number::leaf(name + ".f" + std::to_string(i));
    return std::bit_cast<Row>(features);
  };
  detail::Sink sink(indent);
  M::template pixel<Number>(row("up"), row("mid"), row("down"), sink);
  text.pixel = sink.text();
  return text;
}

}  // namespace framequality::text
