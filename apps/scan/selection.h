// SPDX-License-Identifier: LGPL-2.1-or-later
// Which members of a set are chosen, and why the others are not.
#pragma once

#include "apps/scan/options.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::apps::scan {

/// One that may be chosen: a picture, or a measured frame of a video.
struct Candidate {
  std::size_t input;       ///< which of the set it is of
  std::uint64_t place;     ///< in the whole sequence, from 0; frames that were not measured have places too
  std::uint64_t position;  ///< of a frame in its video: ns, or its number where the video has no times
  double score;
  std::size_t clock = 0;   ///< positions count in time with those of the same clock
  std::size_t moment = 0;  ///< which of the input's measured frames
};

/// What became of a candidate.
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

/// The `count` highest scores, of equal ones the earlier, no two of input i closer together than apart[i] (in the unit
/// of its positions). One verdict for each candidate. The losers of all lost to the last one chosen.
std::vector<Verdict> choose_best(const std::vector<Candidate>& candidates, std::size_t count,
                                 const std::vector<std::uint64_t>& apart);

/// The highest score of every so many places of the sequence, or of every so many ns of each clock; of equal ones the
/// earlier. One verdict for each candidate.
std::vector<Verdict> choose_every(const std::vector<Candidate>& candidates, const Every& every);

/// The highest score of each group, whose number groups[input] is; of equal ones the earlier. With `count` above 0 only
/// the so many highest of them are chosen. One verdict for each candidate.
std::vector<Verdict> choose_of_groups(const std::vector<Candidate>& candidates, const std::vector<std::size_t>& groups,
                                      std::size_t count);

/// How far chosen frames of a video must lie apart so that the best of a set are no row of neighbours: half of what
/// each would have if `count` shared all videos of the set evenly, so that there is always room for `count`. `lengths`
/// of all videos that count in the same unit.
std::uint64_t least_distance(const std::vector<std::uint64_t>& lengths, std::size_t count);

}  // namespace framequality::apps::scan
