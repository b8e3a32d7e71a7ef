// SPDX-License-Identifier: LGPL-2.1-or-later
// Pseudo-random choices of the tests.
#pragma once

#include "algorithms/split_mix.h"

namespace framequality::test {

class Random : public SplitMix {
 public:
  using SplitMix::SplitMix;
  /// 0...n-1; n > 0.
  int below(int n) { return static_cast<int>((next() >> 32) % static_cast<std::uint64_t>(n)); }
  /// True once in n times.
  bool one_in(int n) { return below(n) == 0; }
};

}  // namespace framequality::test
