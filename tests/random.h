// SPDX-License-Identifier: LGPL-2.1-or-later
// Pseudo-random numbers that are the same on every machine and standard library (splitmix64).
#pragma once

#include <cstdint>

namespace framequality::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// 0...n-1; n > 0.
  int below(int n) { return static_cast<int>((next() >> 32) % static_cast<std::uint64_t>(n)); }
  /// True once in n times.
  bool one_in(int n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace framequality::test
