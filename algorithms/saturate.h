// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of any double to an integer, which C++ leaves undefined beyond the integer's range.
#pragma once

#include <limits>
#include <type_traits>

namespace framequality {

/// The number rounded towards zero, clamped to the range of T; 0 for NaN.
template <class T>
constexpr T saturated(double number) {
  static_assert(std::is_integral_v<T>);
  using Limits = std::numeric_limits<T>;
  constexpr T kHalf = Limits::max() / 2 + 1;
  constexpr double kEnd = 2.0 * static_cast<double>(kHalf);  // the first number above the range
  if (!(number > static_cast<double>(Limits::min()))) return number == number ? Limits::min() : T{0};
  return number < kEnd ? static_cast<T>(number) : Limits::max();
}

}  // namespace framequality
