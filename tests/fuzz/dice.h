// SPDX-License-Identifier: LGPL-2.1-or-later
// Random decisions that a case's number repeats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <random>

namespace framequality::fuzz {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  /// least...most, each as likely.
  std::int64_t in(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % (static_cast<std::uint64_t>(most - least) + 1));
  }
  int small(int least, int most) { return static_cast<int>(in(least, most)); }
  bool one_in(int n) { return in(1, n) == 1; }
  double unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
  template <class T>
  T of(std::initializer_list<T> list) {
    return list.begin()[in(0, static_cast<std::int64_t>(list.size()) - 1)];
  }
  template <class Container>
  const auto& of(const Container& list) {
    return list[static_cast<std::size_t>(in(0, static_cast<std::int64_t>(std::size(list)) - 1))];
  }
  std::uint64_t word() { return random_(); }
  /// A number that arithmetic is least prepared for.
  double odd() {
    using Limits = std::numeric_limits<double>;
    return of({0.0,
               -0.0,
               1.0,
               -1.0,
               0.5,
               1e-9,
               1e-300,
               Limits::denorm_min(),
               2147483648.0,
               4294967296.0,
               0x1p63,
               0x1p64,
               1e30,
               -1e30,
               1e300,
               -1e300,
               Limits::max(),
               Limits::lowest(),
               Limits::infinity(),
               -Limits::infinity(),
               Limits::quiet_NaN()});
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace framequality::fuzz
