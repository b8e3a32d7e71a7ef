// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers that record the operations on them: functions that are templates of their numbers run on these, and come
// out as functions of OpenCL C. So devices that compile text at run time compute with the same source as all others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace framequality::text {

/// Keeps the values computed so far, each one once. Operations go to the recorder that their thread made last.
class Recorder {
 public:
  Recorder() : outer_(std::exchange(current(), this)) {}
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder() { current() = outer_; }

  static Recorder& in_use() { return *current(); }

  /// A value: each $ of the expression stands for the next operand. type: of the constant that holds it; empty: a
  /// name, constant or condition, written where it is used. Returns its number.
  int value(const char* type, const std::string& expression, std::initializer_list<int> operands = {}) {
    const auto [known, is_new] = known_.try_emplace({type, expression, operands}, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({type, expression, operands, {}});
    return known->second;
  }

  /// Statements that compute these values and what they need, in the order of operands, whatever order a compiler
  /// evaluates arguments in; then name() knows them.
  std::string statements(std::initializer_list<int> values, const std::string& indent = "  ") {
    std::string all;
    for (const int number : values) compute(number, indent, all);
    return all;
  }
  const std::string& name(int number) const { return nodes_[static_cast<std::size_t>(number)].name; }

 private:
  struct Node {
    std::string type, expression;
    std::vector<int> operands;
    std::string name;  ///< empty: not computed yet
  };
  static Recorder*& current() {
    static thread_local Recorder* in_use = nullptr;
    return in_use;
  }
  void compute(int number, const std::string& indent, std::string& all) {
    Node& node = nodes_[static_cast<std::size_t>(number)];
    if (!node.name.empty()) return;
    std::string text;
    auto operand = node.operands.begin();
    for (const char c : node.expression) {
      if (c != '$') {
        text += c;
        continue;
      }
      compute(*operand, indent, all);
      text += name(*operand++);
    }
    if (node.type.empty()) {
      node.name = text;
      return;
    }
    node.name = "t" + std::to_string(made_++);
    all += indent + "const " + node.type + " " + node.name + " = " + text + ";\n";
  }

  std::vector<Node> nodes_;
  std::map<std::tuple<std::string, std::string, std::vector<int>>, int> known_;
  int made_ = 0;
  Recorder* outer_;
};

// Types of recorded numbers: their name in OpenCL C, and their constants.
struct Signed {
  static constexpr char kName[] = "int";
  using Constant = std::int32_t;
  static std::string constant(Constant v) { return v < 0 ? "(" + std::to_string(v) + ")" : std::to_string(v); }
};
struct Unsigned {
  static constexpr char kName[] = "uint";
  using Constant = std::uint32_t;
  static std::string constant(Constant v) { return std::to_string(v) + "u"; }
};
/// `F`: float, or a vector of floats, as the program defines.
struct Real {
  static constexpr char kName[] = "F";
  using Constant = float;
  static std::string constant(Constant v) {
    char text[32];
    std::snprintf(text, sizeof text, "%af", static_cast<double>(v));  // hexadecimal: exact
    return v < 0 ? "(" + std::string(text) + ")" : text;
  }
};
/// `I`: an int for each float of an `F`.
struct Bits : Signed {
  static constexpr char kName[] = "I";
};
/// `V`, a metric's numbers: a vector of the type that the program defines. Metrics have no constants.
struct Lanes {
  static constexpr char kName[] = "V";
  struct Constant {};
  static std::string constant(Constant) { return {}; }
};
/// A comparison's result.
struct Truth {
  static constexpr char kName[] = "";
  struct Constant {};
};

/// A recorded number of type T.
template <class T>
struct Expression {
  using Constant = typename T::Constant;
  int node;

  Expression() = default;
  explicit constexpr Expression(int n) : node(n) {}
  static Expression leaf(const std::string& name) { return Expression(Recorder::in_use().value("", name)); }
  static Expression constant(Constant v) { return leaf(T::constant(v)); }
  static Expression make(const std::string& expression, std::initializer_list<int> operands) {
    return Expression(Recorder::in_use().value(T::kName, expression, operands));
  }

#define FQ_RECORDED(op)                                                                                       \
  friend Expression operator op(Expression a, Expression b) { return make("$ " #op " $", {a.node, b.node}); } \
  friend Expression operator op(Expression a, Constant b) { return a op constant(b); }                        \
  friend Expression operator op(Constant a, Expression b) { return constant(a) op b; }
  FQ_RECORDED(+)
  FQ_RECORDED(-)
  FQ_RECORDED(*)
  FQ_RECORDED(/)
  FQ_RECORDED(%)
  FQ_RECORDED(&)
  FQ_RECORDED(|)
#undef FQ_RECORDED
#define FQ_COMPARED(op)                                                \
  friend Expression<Truth> operator op(Expression a, Expression b) {   \
    return Expression<Truth>::make("($ " #op " $)", {a.node, b.node}); \
  }                                                                    \
  friend Expression<Truth> operator op(Expression a, Constant b) { return a op constant(b); }
  FQ_COMPARED(<)
  FQ_COMPARED(>)
  FQ_COMPARED(>=)
  FQ_COMPARED(==)
#undef FQ_COMPARED
  friend Expression operator-(Expression a) { return make("-$", {a.node}); }
  friend Expression operator<<(Expression a, int bits) { return make("$ << " + std::to_string(bits), {a.node}); }
  friend Expression operator>>(Expression a, int bits) { return make("$ >> " + std::to_string(bits), {a.node}); }

  /// a where the condition holds, else b; both are computed.
  friend Expression choose(Expression<Truth> c, Expression a, Expression b) {
    return make("$ ? $ : $", {c.node, a.node, b.node});
  }
  friend Expression choose(Expression<Truth> c, Expression a, Constant b) { return choose(c, a, constant(b)); }
  friend Expression choose(Expression<Truth> c, Constant a, Expression b) { return choose(c, constant(a), b); }

  friend Expression constant(Expression, Constant v) { return constant(v); }

  // Further operations of the maths: functions of the program that the text becomes a part of.
  friend Expression twice(Expression a) { return a + a; }
  friend Expression absolute(Expression a) { return make("absolute($)", {a.node}); }
  friend Expression minimum(Expression a, Expression b) { return make("minimum($, $)", {a.node, b.node}); }
  friend Expression maximum(Expression a, Expression b) { return make("maximum($, $)", {a.node, b.node}); }
  friend Expression abs_difference(Expression a, Expression b) {
    return make("abs_difference($, $)", {a.node, b.node});
  }
  friend Expression saturated(Expression a) { return make("clamp($, 0.0f, 1.0f)", {a.node}); }
  friend Expression product_added(Expression a, Expression b, Expression c) {
    return make("PRODUCT_ADDED($, $, $)", {a.node, b.node, c.node});
  }
  friend Expression product_added(Expression a, Constant b, Expression c) { return product_added(a, constant(b), c); }
};

template <class T, class B>
Expression<T> operator>>(Expression<T> a, Expression<B> bits) {
  return Expression<T>::make("$ >> $", {a.node, bits.node});
}
inline Expression<Bits> bits_of(Expression<Real> a) { return Expression<Bits>::make("BITS($)", {a.node}); }
inline Expression<Real> real_of(Expression<Bits> a) { return Expression<Real>::make("REAL($)", {a.node}); }

/// Bytes in a buffer.
struct Bytes {
  int node;

  static Bytes leaf(const std::string& name) { return {Recorder::in_use().value("", name)}; }
  Expression<Unsigned> operator[](int i) const {
    return Expression<Unsigned>::make("$[" + std::to_string(i) + "]", {node});
  }
  friend Bytes operator+(Bytes a, Expression<Signed> b) {
    return {Recorder::in_use().value("__global uchar*", "$ + $", {a.node, b.node})};
  }
  friend Bytes operator+(Bytes a, int b) { return b == 0 ? a : a + Expression<Signed>::constant(b); }
};

namespace detail {
template <class T>
inline constexpr const char* kTypeName = nullptr;
template <class T>
inline constexpr const char* kTypeName<Expression<T>> = T::kName;
template <>
inline constexpr const char* kTypeName<Bytes> = "const __global uchar*";
}  // namespace detail

/// A function of OpenCL C that does what f does. A: types of its parameters; names: theirs.
template <class... A, class F>
std::string function_text(const std::string& name, const std::array<const char*, sizeof...(A)>& names, F&& f) {
  Recorder recorder;
  const std::array<const char*, sizeof...(A)> types{detail::kTypeName<A>...};
  const auto result = [&]<std::size_t... i>(std::index_sequence<i...>) {
    return std::forward<F>(f)(A::leaf(names[i])...);
  }
  (std::index_sequence_for<A...>{});
  std::string text = "static " + std::string(detail::kTypeName<std::remove_cv_t<decltype(result)>>) + " " + name + "(";
  for (std::size_t i = 0; i < sizeof...(A); ++i) text += (i > 0 ? ", " : "") + std::string(types[i]) + " " + names[i];
  text += ") {\n" + recorder.statements({result.node});
  return text + "  return " + recorder.name(result.node) + ";\n}\n";
}

}  // namespace framequality::text
