// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice among the members of a set, and reasons for the others.
#pragma once

#include "apps/scan/options.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::apps::scan {

/// A candidate: a photograph, or a measured frame of a video.
struct Candidate {
  std::size_t input;       ///< index in the set
  std::uint64_t place;     ///< in the whole sequence, from 0; unmeasured frames have places too
  std::uint64_t position;  ///< of a frame in its video: ns, or its number if the video has no times
  double score;
  std::size_t clock = 0;   ///< positions count in time with those of the same clock
  std::size_t moment = 0;  ///< which of the input's measured frames
};

/// The decision on a candidate.
struct Verdict {
  enum class Fate : std::uint8_t {
    kChosen,
    kLower,     ///< its score is lower than the other's
    kLater,     ///< it is no better than the other, and comes later
    kTooClose,  ///< to the other, which is chosen
  };
  Fate fate = Fate::kChosen;
  std::size_t other = 0;  ///< index of the chosen candidate that it lost to; its own if chosen
};

/// Chooses the `count` highest scores, the earlier among equals, no two of input i closer than apart[i] (in the unit
/// of its positions). One verdict per candidate. All others lost to the last one chosen.
std::vector<Verdict> choose_best(const std::vector<Candidate>& candidates, std::size_t count,
                                 const std::vector<std::uint64_t>& apart);

/// Chooses the highest score of every N places of the sequence, or of every N ns of each clock; the earlier among
/// equals. One verdict per candidate.
std::vector<Verdict> choose_every(const std::vector<Candidate>& candidates, const Every& every);

/// Chooses the highest score of each group, numbered groups[input]; the earlier among equals. With `count` above 0
/// only the `count` highest of them. One verdict per candidate.
std::vector<Verdict> choose_of_groups(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& groups,
                                      std::size_t count);

/// Least distance of a video's chosen frames, so that the best of a set are not neighbours: half of what
/// each would have if `count` were spread over all videos of the set, so that there is room for `count`. `lengths`
/// of all videos that count in the same unit.
std::uint64_t least_distance(const std::vector<std::uint64_t>& lengths, std::size_t count);

}  // namespace framequality::apps::scan
