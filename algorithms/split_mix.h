// SPDX-License-Identifier: LGPL-2.1-or-later
// Pseudo-random numbers that are the same on every machine and standard library.
#pragma once

#include <cmath>
#include <cstdint>

namespace framequality {

/// splitmix64: Steele, Lea, Flood, Fast splittable pseudorandom number generators, OOPSLA 2014.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// In [0, 1).
  double uniform() { return std::ldexp(static_cast<double>(next() >> 11), -53); }

 private:
  std::uint64_t state_;
};

}  // namespace framequality
