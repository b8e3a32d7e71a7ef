// SPDX-License-Identifier: LGPL-2.1-or-later
// Void and cluster, with the filtered pattern kept up to date.
#include "apps/train_halftone/void_and_cluster.h"

#include "algorithms/split_mix.h"

#include <cmath>
#include <cstddef>

namespace framequality::tools {
namespace {

constexpr double kSigma = 1.5;
/// Distance at which the Gaussian has fallen below 1e-11.
constexpr int kReach = 11;

class Pattern {
 public:
  explicit Pattern(int side)
      : side_(side), on_(static_cast<std::size_t>(side) * static_cast<std::size_t>(side)), filtered_(on_.size()) {}

  std::size_t size() const { return on_.size(); }
  std::size_t count() const { return count_; }
  bool on(std::size_t i) const { return on_[i]; }

  void flip(std::size_t i) {
    on_[i] = !on_[i];
    count_ += on_[i] ? 1 : std::size_t(-1);
    const int x = static_cast<int>(i) % side_, y = static_cast<int>(i) / side_;
    for (int dy = -kReach; dy <= kReach; ++dy)
      for (int dx = -kReach; dx <= kReach; ++dx)
        filtered_[static_cast<std::size_t>(((y + dy) & (side_ - 1)) * side_ + ((x + dx) & (side_ - 1)))] +=
            (on_[i] ? 1 : -1) * std::exp(-(dx * dx + dy * dy) / (2 * kSigma * kSigma));
  }

  /// The set pixel in the tightest cluster, or the unset one in the largest void. For voids, the filtered
  /// complement is a constant less this, so the smallest value is searched.
  std::size_t extreme(bool cluster) const {
    std::size_t best = size();
    for (std::size_t i = 0; i < size(); ++i)
      if (on_[i] == cluster &&
          (best == size() || (cluster ? filtered_[i] > filtered_[best] : filtered_[i] < filtered_[best])))
        best = i;
    return best;
  }

 private:
  int side_;
  std::size_t count_ = 0;
  std::vector<bool> on_;
  std::vector<double> filtered_;
};

}  // namespace

std::vector<std::uint16_t> void_and_cluster(int side, std::uint64_t seed) {
  Pattern pattern(side);
  SplitMix random(seed);
  while (pattern.count() < pattern.size() / 10) {
    const std::size_t i = random.next() % pattern.size();
    if (!pattern.on(i)) pattern.flip(i);
  }
  for (;;) {
    const std::size_t cluster = pattern.extreme(true);
    pattern.flip(cluster);
    const std::size_t largest = pattern.extreme(false);
    pattern.flip(largest);
    if (largest == cluster) break;
  }
  std::vector<std::uint16_t> ranks(pattern.size());
  Pattern rest = pattern;
  while (rest.count() > 0) {
    const std::size_t i = rest.extreme(true);
    rest.flip(i);
    ranks[i] = static_cast<std::uint16_t>(rest.count());
  }
  // From one half on, Ulichney uses the tightest cluster of unset pixels, which is the same one: their
  // filtered pattern is a constant less this one.
  while (pattern.count() < pattern.size()) {
    const std::size_t i = pattern.extreme(false);
    ranks[i] = static_cast<std::uint16_t>(pattern.count());
    pattern.flip(i);
  }
  return ranks;
}

}  // namespace framequality::tools
