// SPDX-License-Identifier: LGPL-2.1-or-later
// All inputs as one sequence: what is chosen of it once everything was scanned.
#pragma once

#include "apps/scan/groups.h"
#include "apps/scan/job.h"
#include "apps/scan/manifest.h"
#include "apps/scan/selection.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// What has to be remembered of an input that was scanned.
struct Member {
  Member() = default;
  explicit Member(Result&& result);

  bool picture = false;  ///< it is a picture itself, not a frame of a video
  bool timed = true;     ///< its frames have times; of a picture, when it was taken
  int width = 0, height = 0;
  std::uint64_t length = 0, decoded = 0;  ///< ns; frames
  std::vector<Moment> moments;
  std::string error;
  Likeness likeness;
};

class Set {
 public:
  /// `options` outlives it.
  explicit Set(const Options& options) : options_(options), members_(options.inputs.size()) {}
  /// Input `index` was scanned; in any order. Throws std::runtime_error if it has not what the choice needs.
  void add(std::size_t index, Member member);
  /// All were added: what is chosen, and what is not; pictures with their own paths, frames of videos without. Once.
  Selected choose();

 private:
  void make_candidates();
  void make_groups();
  std::string note() const;
  std::vector<std::uint64_t> distances() const;
  const Moment& moment_of(std::size_t candidate) const;
  std::optional<std::uint64_t> time_of(std::size_t candidate) const;
  std::optional<std::size_t> group_of(std::size_t input) const;
  std::string reason(const Verdict& verdict, std::size_t loser) const;

  const Options& options_;
  std::vector<Member> members_;
  std::vector<Candidate> candidates_;  ///< input by input
  std::vector<std::size_t> first_;     ///< candidate of each input
  std::vector<Verdict> verdicts_;
  std::vector<std::size_t> groups_;  ///< of each input; empty without
};

}  // namespace framequality::apps::scan
