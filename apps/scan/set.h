// SPDX-License-Identifier: LGPL-2.1-or-later
// All inputs as one sequence, and the choice from it once everything has been scanned.
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

/// The data kept of a scanned input.
struct Member {
  Member() = default;
  explicit Member(Result&& result);

  bool picture = false;  ///< it is a photograph, not a video
  bool timed = true;     ///< its frames have times; for a photograph, when it was taken
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
  /// Adds the scanned input `index`; in any order. Throws std::runtime_error if it lacks data for the choice.
  void add(std::size_t index, Member member);
  /// After the last add(): what is chosen and rejected; photographs with their paths, frames of videos without. Once.
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
  std::vector<std::size_t> first_;     ///< first candidate of each input
  std::vector<Verdict> verdicts_;
  std::vector<std::size_t> groups_;  ///< of each input; empty without groups
};

}  // namespace framequality::apps::scan
