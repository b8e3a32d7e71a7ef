// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice among the members of a set, and reasons for the others.
#include "apps/scan/selection.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace framequality::apps::scan {

namespace {

using Fate = Verdict::Fate;

/// The chosen candidates of one video, by position.
using Positions = std::map<std::uint64_t, std::size_t>;

std::optional<std::size_t> neighbour(const Positions& chosen, std::uint64_t position, std::uint64_t apart) {
  const auto after = chosen.lower_bound(position);
  if (after != chosen.end() && after->first - position < apart) return after->second;
  if (after != chosen.begin() && position - std::prev(after)->first < apart) return std::prev(after)->second;
  return std::nullopt;
}

Verdict lost_to(const std::vector<Candidate>& candidates, std::size_t loser, std::size_t winner) {
  return {candidates[loser].score < candidates[winner].score ? Fate::kLower : Fate::kLater, winner};
}

/// The highest score of the candidates in each group of `group_of`.
template <class F>
std::vector<Verdict> choose_of_each(const std::vector<Candidate>& candidates, F&& group_of) {
  std::map<decltype(group_of(candidates.front())), std::size_t> winners;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::size_t& winner = winners.try_emplace(group_of(candidates[i]), i).first->second;
    if (candidates[i].score > candidates[winner].score) winner = i;
  }
  std::vector<Verdict> verdicts(candidates.size());
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::size_t winner = winners.at(group_of(candidates[i]));
    verdicts[i] = winner == i ? Verdict{Fate::kChosen, i} : lost_to(candidates, i, winner);
  }
  return verdicts;
}

}  // namespace

std::vector<Verdict> choose_best(const std::vector<Candidate>& candidates, std::size_t count,
                                 const std::vector<std::uint64_t>& apart) {
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return candidates[a].score > candidates[b].score; });
  std::vector<Verdict> verdicts(candidates.size());
  std::map<std::size_t, Positions> chosen;
  std::size_t left = count, last = 0;
  for (const std::size_t i : order) {
    const Candidate& candidate = candidates[i];
    const auto of_input = chosen.find(candidate.input);
    const auto close = of_input == chosen.end()
                           ? std::nullopt
                           : neighbour(of_input->second, candidate.position, apart[candidate.input]);
    if (close) {
      verdicts[i] = {Fate::kTooClose, *close};
    } else if (left > 0) {
      verdicts[i] = {Fate::kChosen, i};
      chosen[candidate.input].emplace(candidate.position, i);
      last = i;
      --left;
    } else {
      verdicts[i] = lost_to(candidates, i, last);
    }
  }
  return verdicts;
}

std::vector<Verdict> choose_every(const std::vector<Candidate>& candidates, const Every& every) {
  const auto group_of = [&](const Candidate& c) {
    return every.time > 0 ? std::pair<std::uint64_t, std::uint64_t>{c.clock, c.position / every.time}
                          : std::pair<std::uint64_t, std::uint64_t>{0, c.place / every.frames};
  };
  return choose_of_each(candidates, group_of);
}

std::vector<Verdict> choose_of_groups(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& groups,
                                      std::size_t count) {
  std::vector<Verdict> verdicts =
      choose_of_each(candidates, [&](const Candidate& candidate) { return groups[candidate.input]; });
  if (count == 0) return verdicts;
  std::vector<Candidate> winners;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (verdicts[i].fate != Fate::kChosen) continue;
    winners.push_back(candidates[i]);
    places.push_back(i);
  }
  const std::vector<std::uint64_t> anywhere(groups.size(), 0);
  const std::vector<Verdict> among = choose_best(winners, count, anywhere);
  for (std::size_t w = 0; w < winners.size(); ++w) verdicts[places[w]] = {among[w].fate, places[among[w].other]};
  return verdicts;
}

std::uint64_t least_distance(const std::vector<std::uint64_t>& lengths, std::size_t count) {
  const std::uint64_t all = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  return all / (2 * count);
}

}  // namespace framequality::apps::scan
