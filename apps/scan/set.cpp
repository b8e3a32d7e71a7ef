// SPDX-License-Identifier: LGPL-2.1-or-later
// All inputs as one sequence, and the choice from it once everything has been scanned.
#include "apps/scan/set.h"

#include "apps/common/text.h"
#include "apps/scan/originals.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <utility>

namespace framequality::apps::scan {

namespace {

/// Time when a photograph was taken, on its camera's clock; ns since 1970.
std::optional<std::uint64_t> time_taken(const GstTagList* tags) {
  GstDateTime* date = nullptr;
  if (!tags || !gst_tag_list_get_date_time(tags, GST_TAG_DATE_TIME, &date)) return std::nullopt;
  GDateTime* whole = gst_date_time_has_time(date) ? gst_date_time_to_g_date_time(date) : nullptr;
  gst_date_time_unref(date);
  if (!whole) return std::nullopt;
  const gint64 seconds = g_date_time_to_unix(whole);
  g_date_time_unref(whole);
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seconds) * GST_SECOND;
}

}  // namespace

Member::Member(Result&& result)
    : picture(result.video.picture),
      timed(result.timed),
      width(result.video.width),
      height(result.video.height),
      length(result.length),
      decoded(result.decoded),
      moments(std::move(result.moments)),
      error(std::move(result.error)) {
  if (!picture || moments.empty()) return;
  likeness = {true, result.video.taken, result.look};
  const auto taken = likeness.taken.time ? likeness.taken.time : time_taken(result.video.tags.get());
  timed = taken.has_value();
  moments.front().time = taken.value_or(0);
}

void Set::add(std::size_t index, Member member) {
  const std::string& name = options_.inputs[index].name;
  if (!member.moments.empty()) {
    if (options_.every && options_.every->time > 0 && !member.timed)
      throw std::runtime_error("--every with seconds needs timestamps, but " + printable(name) +
                               " has none: use --every N, for the best of every N frames");
  }
  members_[index] = std::move(member);
}

Selected Set::choose() {
  make_candidates();
  const auto count = static_cast<std::size_t>(options_.best);
  Selected selected;
  if (options_.groups()) {
    make_groups();
    verdicts_ = choose_of_groups(candidates_, groups_, count);
    selected.groups = groups_;
    selected.note = note();
  } else {
    verdicts_ =
        options_.every ? choose_every(candidates_, *options_.every) : choose_best(candidates_, count, distances());
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    const std::string& name = options_.inputs[i].name;
    const std::size_t begin = first_[i], end = first_[i + 1], before = selected.chosen.size();
    std::size_t best = begin;
    selected.candidates += member.moments.size();
    selected.damaged += member.moments.size() - (end - begin);
    for (std::size_t at = begin; at < end; ++at) {
      if (candidates_[at].score > candidates_[best].score) best = at;
      if (verdicts_[at].fate != Verdict::Fate::kChosen) continue;
      const Moment& moment = moment_of(at);
      selected.chosen.push_back({i,
                                 member.picture,
                                 member.picture ? local_file(name) : "",
                                 name,
                                 moment.frame,
                                 time_of(at),
                                 moment.score,
                                 member.width,
                                 member.height,
                                 {},
                                 group_of(i)});
    }
    if (!member.error.empty())
      selected.rejected.push_back({name, {}, {}, {}, member.error});
    else if (selected.chosen.size() == before && begin < end)
      selected.rejected.push_back({name, moment_of(best).frame, time_of(best), moment_of(best).score,
                                   reason(verdicts_[best], i), member.picture, group_of(i)});
    else if (begin == end && !member.moments.empty())
      selected.rejected.push_back({name, {}, {}, {}, "damaged", member.picture, group_of(i)});
  }
  return selected;
}

void Set::make_candidates() {
  std::uint64_t begin = 0;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const Member& member = members_[i];
    first_.push_back(candidates_.size());
    for (std::size_t at = 0; at < member.moments.size(); ++at) {
      const Moment& moment = member.moments[at];
      if (moment.damaged) continue;
      candidates_.push_back({i, begin + moment.frame, member.timed ? moment.time : moment.frame, moment.score,
                             member.picture ? 0 : i + 1, at});
    }
    // A picture that cannot be read keeps its place, so that the others stay in the groups they belong to.
    begin += std::max<std::uint64_t>(member.decoded, 1);
  }
  first_.push_back(candidates_.size());
}

void Set::make_groups() {
  std::vector<Likeness> all;
  all.reserve(members_.size());
  for (const Member& member : members_) all.push_back(member.likeness);
  groups_ = groups_of(all, options_);
}

std::optional<std::size_t> Set::group_of(std::size_t input) const {
  return groups_.empty() ? std::nullopt : std::optional(groups_[input]);
}

/// A note about photographs for which no burst could be found.
std::string Set::note() const {
  std::size_t photographs = 0;
  std::set<std::size_t> groups;
  std::map<std::string, std::size_t> faults;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].likeness.picture) continue;
    ++photographs;
    groups.insert(groups_[i]);
    if (options_.burst_gap > 0 && !members_[i].likeness.taken.time) ++faults[members_[i].likeness.taken.fault];
  }
  std::string text = std::to_string(photographs) + " photographs in " + std::to_string(groups.size()) + " groups";
  for (const auto& [fault, count] : faults) text += "; " + std::to_string(count) + " with " + fault;
  return text + (faults.empty() ? "" : ", placed by file order");
}

const Moment& Set::moment_of(std::size_t candidate) const {
  return members_[candidates_[candidate].input].moments[candidates_[candidate].moment];
}

std::optional<std::uint64_t> Set::time_of(std::size_t candidate) const {
  // The time when a photograph was taken is not a clip's time.
  const Member& member = members_[candidates_[candidate].input];
  if (member.picture || !member.timed) return std::nullopt;
  return moment_of(candidate).time;
}

std::vector<std::uint64_t> Set::distances() const {
  std::vector<std::uint64_t> in_time, in_frames, apart(members_.size(), 0);
  for (const Member& member : members_)
    if (!member.picture) member.timed ? in_time.push_back(member.length) : in_frames.push_back(member.decoded);
  const auto count = static_cast<std::size_t>(options_.best);
  const std::uint64_t time = least_distance(in_time, count), frames = least_distance(in_frames, count);
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (!members_[i].picture) apart[i] = members_[i].timed ? time : frames;
  return apart;
}

std::string Set::reason(const Verdict& verdict, std::size_t loser) const {
  const std::size_t input = candidates_[verdict.other].input;
  const bool grouped = !groups_.empty() && input != loser && groups_[input] == groups_[loser];
  const std::string shared = grouped ? ", of the same group" : "";
  std::string other = options_.inputs[input].name;
  if (!members_[input].picture) other += " (frame " + std::to_string(moment_of(verdict.other).frame) + ')';
  switch (verdict.fate) {
    case Verdict::Fate::kLower:
      return "lower score than " + other + shared;
    case Verdict::Fate::kLater:
      return "same score as " + other + ", which comes first" + shared;
    case Verdict::Fate::kTooClose:
      return "too close to " + other;
    case Verdict::Fate::kChosen:
      break;
  }
  return "";
}

}  // namespace framequality::apps::scan
