// SPDX-License-Identifier: LGPL-2.1-or-later
// Groups of similar photographs in a set: bursts, and near-duplicates.
#include "apps/scan/groups.h"

#include "apps/common/perceptual_hash.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace framequality::apps::scan {

namespace {

/// Disjoint sets that can be joined; each is named by its first member.
class Joined {
 public:
  explicit Joined(std::size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t first(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = first(a);
    b = first(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

/// By time, separately for each camera: photographers of one event have different clocks.
void join_bursts(const std::vector<Likeness>& inputs, std::uint64_t gap, Joined& joined) {
  std::map<std::string, std::vector<std::size_t>> cameras;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].picture && inputs[i].taken.time) cameras[inputs[i].taken.camera].push_back(i);
  for (auto& [camera, all] : cameras) {
    std::stable_sort(all.begin(), all.end(),
                     [&](std::size_t a, std::size_t b) { return *inputs[a].taken.time < *inputs[b].taken.time; });
    for (std::size_t i = 1; i < all.size(); ++i)
      if (*inputs[all[i]].taken.time - *inputs[all[i - 1]].taken.time <= gap) joined.join(all[i - 1], all[i]);
  }
}

/// Photographs without a time join the burst around them in the list.
void join_timeless(const std::vector<Likeness>& inputs, Joined& joined) {
  std::optional<std::size_t> before;
  std::vector<std::size_t> between;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].picture && !inputs[i].taken.time) {
      between.push_back(i);
      continue;
    }
    if (before && inputs[i].picture && joined.first(*before) == joined.first(i))
      for (const std::size_t timeless : between) joined.join(i, timeless);
    between.clear();
    before = inputs[i].picture ? std::optional(i) : std::nullopt;
  }
}

void join_similar(const std::vector<Likeness>& inputs, int distance, Joined& joined) {
  std::vector<std::size_t> leaders;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].picture || !inputs[i].look) continue;
    const auto leader = std::find_if(leaders.begin(), leaders.end(), [&](std::size_t other) {
      return hash_distance(*inputs[i].look, *inputs[other].look) <= distance;
    });
    if (leader == leaders.end())
      leaders.push_back(i);
    else
      joined.join(*leader, i);
  }
}

}  // namespace

std::vector<std::size_t> groups_of(const std::vector<Likeness>& inputs, const Options& options) {
  Joined joined(inputs.size());
  if (options.burst_gap > 0) {
    join_bursts(inputs, options.burst_gap, joined);
    join_timeless(inputs, joined);
  }
  if (options.similar) join_similar(inputs, options.similar_distance, joined);
  std::vector<std::size_t> groups(inputs.size());
  std::size_t count = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::size_t first = joined.first(i);
    groups[i] = first == i ? count++ : groups[first];
  }
  return groups;
}

}  // namespace framequality::apps::scan
