// SPDX-License-Identifier: LGPL-2.1-or-later
// Delays before reconnecting.
#pragma once

#include "algorithms/split_mix.h"

#include <algorithm>
#include <cstdint>

namespace framequality::apps::watch {

/// 1, 2, 4 ... 60 s, with 20% jitter: cameras that failed together do not all come back at once.
class Backoff {
 public:
  explicit Backoff(std::uint64_t seed) : random_(seed) {}

  /// ns until the next attempt.
  std::uint64_t next() {
    const double wait = seconds_ * (1 - kJitter + 2 * kJitter * random_.uniform());
    seconds_ = std::min(2 * seconds_, kLongest);
    return static_cast<std::uint64_t>(wait * 1e9);
  }
  /// Restarts at the shortest delay.
  void reset() { seconds_ = kShortest; }

 private:
  static constexpr double kShortest = 1, kLongest = 60, kJitter = 0.2;
  SplitMix random_;
  double seconds_ = kShortest;
};

}  // namespace framequality::apps::watch
