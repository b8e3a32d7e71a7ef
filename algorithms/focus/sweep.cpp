// SPDX-License-Identifier: LGPL-2.1-or-later
// A sweep over the range: its path, its scores, and whether they show a peak.
#include "algorithms/focus/sweep.h"

namespace framequality::focus {
namespace {

/// How far a score is from half a peak's height, as a share of that.
double off_half(const FocusPeak& peak, double score) { return std::abs((score - peak.floor) / peak.height - 0.5); }

}  // namespace

int stride_of(const Pace& pace) {
  double spacing = pace.wanted;
  if (!(spacing > 0)) {
    const double divisions = pace.stop_and_go ? kTuning.stop_divisions
                             : pace.is_prompt ? kTuning.prompt_divisions
                                              : kTuning.divisions;
    spacing = pace.last / divisions / std::pow(kTuning.slower, pace.times_slower);
    if (pace.width > 0)
      spacing =
          std::clamp(kTuning.swept_width * pace.width, kTuning.swept_least * spacing, kTuning.swept_most * spacing);
    if (pace.slew > 0) spacing = std::min(spacing, kTuning.swept_slew * pace.slew);
  }
  if (pace.creeps) spacing = pace.last;
  // Clamped before conversion: a coarse step of any size may exceed an int.
  const auto stride = static_cast<int>(std::lround(std::clamp<double>(spacing, 1, std::max(1, pace.last))));
  return pace.is_halved && stride > 1 && !(pace.wanted > 0) ? stride + stride % 2 : stride;
}

std::vector<Leg> legs_of(const Lens& lens, const FocusSettings& settings, bool from_here) {
  const int n = lens.last();
  const std::optional<int> at = lens.here();
  if (from_here && at && lens.is_free()) {
    const bool down = *at < n - *at;  // the shorter way first
    return {{*at, down ? 0 : n}, {*at, down ? n : 0}};
  }
  const bool is_nearer_above = at && lens.position() - settings.min > settings.max - lens.position();
  const bool down = lens.is_free() ? is_nearer_above : settings.approach == FocusApproach::kFromAbove;
  return {{down ? n : 0, down ? 0 : n}};
}

void Sweep::clear() {
  row_.clear();
  seen_.clear();
  trace_.clear();
  legs_.clear();
  turns_.clear();
  play_.reset();
  first_command_ = 0;
  passes_ = 0;
  stood_ = 0;
  is_shifted_ = is_near_ = false;
}

void Sweep::begin(int stride, std::vector<Leg> legs) {
  stride_ = stride;
  legs_ = std::move(legs);
}

void Sweep::begin_anew(int stride) {
  legs_.insert(legs_.begin(), leg_);
  std::vector<Leg> legs = std::move(legs_);
  clear();
  begin(stride, std::move(legs));
}

void Sweep::begin_between(int at, const Lens& lens) {
  const int n = lens.last(), off = static_cast<int>(std::lround(kTuning.offsets[passes_] * stride_)) % stride_;
  const bool down = at > n / 2;
  is_shifted_ = false;
  legs_ = {{lens.clamped(down ? n - off : off), down ? 0 : n}};
}

void Sweep::begin_near(const Lens& lens) {
  const double top = best().at, reach = kTuning.near_strides * stride_ * lens.direction();
  legs_ = {{lens.reachable(top - reach), lens.reachable(top + reach)}};
  is_near_ = true;
}

void Sweep::begin_shifted() {
  legs_ = {leg_};
  is_shifted_ = true;
}

const Leg& Sweep::begin_leg() {
  leg_ = legs_.front();
  legs_.erase(legs_.begin());
  leg_begin_ = trace_.size();
  return leg_;
}

std::optional<int> Sweep::next(int at) const {
  const int way = leg_.to - at;
  if (way == 0) return {};
  const int stride = is_near_ || (is_shifted_ && at == leg_.from) ? std::max(1, stride_ / 2) : stride_;
  return std::abs(way) < stride * 3 / 2 ? leg_.to : at + (way > 0 ? stride : -stride);
}

bool Sweep::is_past(int lag) const {
  const std::size_t n = trace_.size();
  if (n < leg_begin_ + 4) return false;
  const auto [least, most] = extremes(trace_);
  const auto best = std::max_element(trace_.begin() + static_cast<std::ptrdiff_t>(leg_begin_), trace_.end(),
                                     [](const Seen& a, const Seen& b) { return a.score < b.score; });
  const auto index = static_cast<std::size_t>(best - trace_.begin());
  if (best->score < most || index <= leg_begin_ + static_cast<std::size_t>(lag) || index + 2 >= n) return false;
  const double now = trace_[n - 1].score, down = most - kTuning.past * (most - least);
  if (!(least > 0 && most > kTuning.past_peak * least && now < down && trace_[n - 2].score < most)) return false;
  // If noise alone explains the lowest or the highest score, higher peaks may follow.
  const double noise = trace_noise();
  return most - now > kTuning.past_noise * noise && most - 2 * noise > kTuning.past_peak * (least + 2 * noise);
}

std::optional<BlurPeak> Sweep::blur_peak(std::span<const FocusSample> stops) const {
  const FocusSample& highest = best();
  const double near = kTuning.blur_strides * stride_;
  std::vector<FocusSample> samples(stops.begin(), stops.end());
  samples.insert(samples.end(), row_.begin(), row_.end());
  const auto distance = [&](const FocusSample& s) { return std::abs(s.at - highest.at); };
  std::sort(samples.begin(), samples.end(),
            [&](const FocusSample& a, const FocusSample& b) { return distance(a) < distance(b); });
  std::size_t n = 0;
  for (const FocusSample s : samples)
    if (distance(s) <= near || s.score >= kTuning.blur_share * highest.score || n < kTuning.blur_samples)
      samples[n++] = s;
  samples.resize(n);
  // Noise that is more than that shows in how far the samples are off.
  return blur_peak_of(samples, least_noise(), highest.at, kTuning.wide * stride_);
}

bool Sweep::shows_one_peak(const FocusMotion& motion, int last) {
  if (!credit(motion) || row_.size() < kTuning.blur_samples) return false;
  const bool up = leg_.to > leg_.from;
  const FocusSample &highest = best(), &now = up ? row_.back() : row_.front();
  const auto [least, most] = extremes(row_);
  const double noise = least_noise(), room = up ? last - now.at : now.at;
  if (std::abs(now.at - highest.at) < 1.5 * stride_ || most - now.score < kTuning.past_noise * noise) return false;
  const std::optional<BlurPeak> all = blur_peak_of(row_, noise, highest.at, kTuning.wide * stride_);
  if (!all || all->off > kTuning.one_depth) return false;
  const std::optional<BlurPeak> peak = blur_peak({});
  if (!peak || peak->error > kTuning.sure_peak * last) return false;
  return most > kTuning.past_peak * least || room < peak->half_width();
}

bool Sweep::falls(double noise) const {
  const bool up = leg_.to > leg_.from;
  const double first = (up ? row_.front() : row_.back()).score, last = (up ? row_.back() : row_.front()).score;
  const double same = kTuning.past_noise * noise;
  return best().score - first <= same && first - last > std::max(kTuning.falls * first, same);
}

bool Sweep::is_too_coarse() const {
  const std::optional<BlurPeak> peak = blur_peak({});
  if (!peak) return true;
  const double noise = least_noise() / peak->height, allowed = kTuning.shape;
  return peak->off * peak->off > allowed * allowed + kTuning.shape_noise * noise * noise ||
         peak->error > kTuning.look_error * peak->half_width() || peak->half_width() < kTuning.narrow * stride_;
}

bool Sweep::ran_until_now() const {
  const std::span<const Seen> all = trace_;
  return all.size() > 4 && is_running(all.first(all.size() - 1)) && is_running(all.first(all.size() - 2));
}

bool Sweep::is_moving() const {
  if (trace_.size() < 2) return false;
  if (is_running(trace_)) return true;
  const auto [least, most] = extremes(trace_);
  const double moving = std::max(kTuning.moving * (most - least), kTuning.past_noise * trace_noise());
  return std::abs(trace_.back().score - trace_[trace_.size() - 2].score) > moving;
}

double Sweep::trace_noise() const {
  std::vector<FocusSample> samples;
  for (const Seen& s : trace_) samples.push_back({static_cast<double>(samples.size()), s.score, 1});
  return noise_of(samples);
}

bool Sweep::credit(const FocusMotion& motion) {
  row_.clear();
  seen_.clear();
  repeated_ = repeats_ = 0;
  lag_ = motion.lag();
  std::vector<PlayLook> looks;
  for (const Seen& s : trace_) {
    if (const std::optional<std::size_t> command = motion.shown_command(s.frame)) {
      if (*command >= first_command_ && (play_ || !is_back(*command))) looks.push_back({*command, s.score});
    } else if (const std::optional<int> at = motion.shown(s.frame)) {
      row_.push_back({static_cast<double>(*at), s.score, 1});
    }
  }
  for (const FocusSample& s : where_seen(motion.path(), looks, direction_, play_.value_or(0))) row_.push_back(s);
  std::sort(row_.begin(), row_.end(), [](const FocusSample& a, const FocusSample& b) { return a.at < b.at; });
  std::size_t n = 0;
  for (const FocusSample& s : row_) {
    if (n > 0 && row_[n - 1].at == s.at) {
      FocusSample& same = row_[n - 1];
      repeated_ += (s.score - same.score) * (s.score - same.score) * same.frames / (same.frames + 1);
      ++repeats_;
      ++same.frames;
      same.score += (s.score - same.score) / same.frames;
    } else {
      row_[n++] = s;
    }
  }
  row_.resize(n);
  return n > 0;
}

std::vector<int> Sweep::flanks(const FocusPeak& peak, int at) const {
  const int direction = leg_.to > leg_.from ? 1 : -1;
  const auto off = [&](const FocusSample& s) { return off_half(peak, s.score); };
  std::vector<FocusSample> flank[2];  // behind the peak, and where the sweep came from
  for (const FocusSample& s : row_)
    if (off(s) < kTuning.flank && (at - s.at) * direction > 0) flank[(s.at - peak.top) * direction < 0].push_back(s);
  std::vector<int> all;
  const std::size_t most = flank[0].empty() || flank[1].empty() ? kTuning.looks_at_one : kTuning.looks_at_both;
  for (std::vector<FocusSample>& some : flank) {
    std::sort(some.begin(), some.end(), [&](const FocusSample& a, const FocusSample& b) { return off(a) < off(b); });
    for (std::size_t i = 0; i < std::min(some.size(), most); ++i)
      all.push_back(static_cast<int>(std::lround(some[i].at)));
  }
  std::sort(all.begin(), all.end(), [&](int a, int b) { return a * direction > b * direction; });
  return all;
}

void Sweep::forget_way_back(const FocusMotion& motion) {
  std::erase_if(trace_, [&](const Seen& s) {
    const std::optional<std::size_t> command = motion.shown_command(s.frame);
    return command && is_back(*command);
  });
  leg_begin_ = trace_.size();
}

double Sweep::reach_of_fits() const {
  // What blur_peak() takes in, and as many more as play is unknown.
  const FocusSample& highest = best();
  std::vector<double> distances;
  for (const FocusSample& s : row_) distances.push_back(std::abs(s.at - highest.at));
  std::sort(distances.begin(), distances.end());
  return std::max(kTuning.blur_strides * stride_, distances[std::min(distances.size(), kTuning.blur_samples + 2) - 1]);
}

std::optional<PlayFit> Sweep::play_fit(const FocusMotion& motion, int direction, double most) const {
  if (row_.empty()) return {};
  const FocusSample& highest = best();
  const double reach = reach_of_fits();
  std::vector<PlayLook> looks;
  for (const Seen& s : trace_)
    if (const std::optional<std::size_t> command = motion.shown_command(s.frame); command && *command >= first_command_)
      looks.push_back(
          {*command, s.score,
           std::abs(motion.sent(*command) - highest.at) <= reach || s.score >= kTuning.blur_share * highest.score});
  return play_of(motion.path(), looks, direction, most, least_noise(), highest.at, kTuning.wide * stride_);
}

std::optional<SlewFit> Sweep::slew_fit(const FocusMotion& motion) const {
  if (row_.empty()) return {};
  const FocusSample& highest = best();
  const double reach = reach_of_fits();
  std::optional<SlewFit> best;
  std::vector<FocusSample> samples;
  // Slower ones show in the sweep, and faster ones are at once where they are sent.
  double slew = std::max(1.0, stride_ / 2.0);
  while (slew < 8.0 * stride_) {
    samples.clear();
    for (const Seen& s : trace_) {
      const std::optional<std::size_t> command = motion.shown_command(s.frame);
      if (!command || *command < first_command_) continue;
      if (std::abs(motion.sent(*command) - highest.at) > reach && s.score < kTuning.blur_share * highest.score)
        continue;
      if (const std::optional<int> at = motion.shown_on_the_way(s.frame, slew))
        samples.push_back({static_cast<double>(*at), s.score, 1});
    }
    const std::optional<BlurPeak> peak = blur_peak_of(samples, least_noise(), highest.at, kTuning.wide * stride_);
    if (peak && (!best || peak->squares < best->peak.squares)) best = {slew, *peak};
    slew *= 1.03;
  }
  return best;
}

bool Sweep::repeats(const FocusMotion& motion, const FocusPeak& peak, double within) const {
  std::vector<int> repeated;
  for (const Seen& back : trace_) {
    const std::optional<std::size_t> command = motion.shown_command(back.frame);
    if (!command || !is_back(*command)) continue;
    const int at = motion.sent(*command);
    for (const Seen& there : trace_) {
      const std::optional<std::size_t> before = motion.shown_command(there.frame);
      if (!before || is_back(*before) || *before < first_command_ || motion.sent(*before) != at) continue;
      if (!(off_half(peak, there.score) < kTuning.flank)) continue;
      if (std::abs(back.score - there.score) > within) return false;
      if (std::find(repeated.begin(), repeated.end(), at) == repeated.end()) repeated.push_back(at);
    }
  }
  // A single score may be that of the other flank.
  return repeated.size() >= 2;
}

void Sweep::leave_out_standstill() {
  stood_ = 0;
  if (play_ || row_.size() < kTuning.stood_samples + 2) return;
  const bool up = leg_.to > leg_.from;
  const auto at = [&](std::size_t i) -> const FocusSample& { return row_[up ? i : row_.size() - 1 - i]; };
  const auto [lowest, highest] = extremes(row_);
  const double noise = least_noise();
  double least = at(0).score, most = least;
  std::size_t n = 1;
  for (; n + 1 < row_.size(); ++n) {
    const double change = std::abs(at(n).score - at(n - 1).score);
    if (n >= kTuning.stood_samples && change > kTuning.stood_jump * std::max(most - least, noise)) break;
    least = std::min(least, at(n).score), most = std::max(most, at(n).score);
  }
  if (n + 1 >= row_.size() || most - least > kTuning.stood_spread * (highest - lowest) ||
      least - lowest < kTuning.stood_height * (highest - lowest))
    return;
  stood_ = std::abs(at(n - 1).at - at(0).at);
  const auto left_out = static_cast<std::ptrdiff_t>(n - 1);
  if (up)
    row_.erase(row_.begin(), row_.begin() + left_out);
  else
    row_.erase(row_.end() - left_out, row_.end());
}

void Sweep::narrow(FocusGoal goal, double noise) {
  seen_ = row_;
  const std::vector<Summit> summits = summits_of(seen_, noise);
  if (summits.size() < 2) return;
  const Summit& wanted = goal == FocusGoal::kNearest ? summits.back() : summits.front();
  row_.assign(seen_.begin() + static_cast<std::ptrdiff_t>(wanted.first),
              seen_.begin() + static_cast<std::ptrdiff_t>(wanted.last) + 1);
}

bool Sweep::end(const FocusMotion& motion) {
  legs_.clear();
  if (!credit(motion)) return false;
  ++passes_;
  return true;
}

double Sweep::noise() const {
  const auto [least, most] = extremes(row_);
  const double noise = row_.size() < 4 ? most - least : noise_of(row_);  // which needs four
  if (repeats_ < std::min(kTuning.enough_repeats, static_cast<int>(row_.size()))) return noise;
  return std::min(noise, kTuning.few_repeats * std::sqrt(repeated_ / repeats_));
}

double Sweep::least_noise() const {
  return repeats_ < kTuning.some_changes ? 0 : std::min(noise(), std::sqrt(repeated_ / repeats_));
}

Verdict Sweep::verdict(int last, double noise) const {
  if (last == 0) return {Verdict::Is::kPeak, "there is only one position"};
  const auto [least, most] = extremes(trace_);
  const double stands_out = std::max(significance(row_, kTuning.windows[0] * stride_, noise),
                                     significance(row_, kTuning.windows[1] * stride_, noise));
  const bool is_flat = most - least <= kTuning.flat * std::max(std::abs(most), std::abs(least));
  if (!is_flat && stands_out >= kTuning.stands_out) return {Verdict::Is::kPeak, "a peak stands out of the noise"};
  // Sweep again in between: to find a narrow peak, or to be certain.
  const bool has_room = static_cast<double>(stride_) / passes_ > kTuning.narrow_peak * std::sqrt(last / 2.0);
  const bool may_be = passes_ == 1 || stands_out >= kTuning.may_stand_out;
  if (passes_ < static_cast<int>(std::size(kTuning.offsets)) && (is_flat ? has_room : may_be))
    return {Verdict::Is::kDoubt, is_flat ? "all scores are alike, but a narrow peak may lie between them"
                                         : "no peak stands out of the noise yet"};
  return {Verdict::Is::kNothing, is_flat ? "all scores are alike" : "no peak stands out of the noise"};
}

double Sweep::score_at(int at) const {
  const auto nearest = std::min_element(row_.begin(), row_.end(), [&](const FocusSample& a, const FocusSample& b) {
    return std::abs(a.at - at) < std::abs(b.at - at);
  });
  return nearest->score;
}

double Sweep::distance(const FocusPeak& peak, double share, int side) const {
  const auto share_of = [&](const FocusSample& s) { return (s.score - peak.floor) / peak.height; };
  double nearer = 0, above = 1;
  const auto n = static_cast<std::ptrdiff_t>(row_.size());
  for (std::ptrdiff_t i = side > 0 ? 0 : n - 1; i >= 0 && i < n; i += side) {
    const FocusSample& s = row_[static_cast<std::size_t>(i)];
    const double distance = (s.at - peak.top) * side, here = share_of(s);
    if (distance <= 0) continue;
    if (here <= share) return nearer + (above > here ? (above - share) / (above - here) : 1) * (distance - nearer);
    nearer = distance, above = here;
  }
  return nearer;
}

}  // namespace framequality::focus
