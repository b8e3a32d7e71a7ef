// SPDX-License-Identifier: LGPL-2.1-or-later
// Stops beside a peak: what they show of it and of the lens's play, and the choice of the next one.
#include "algorithms/focus/stops.h"

#include <limits>

namespace framequality::focus {

/// Whether frames of the sweep were exposed while the lens moved, at a speed that is known badly: what they show is up
/// to a stride off.
static bool was_on_its_way(const View& view) {
  const Lens& lens = view.lens;
  return view.kind == Kind::kSweep && lens.is_slow() && !lens.creeps() &&
         view.sweep.stride() > std::max(1.0, kTuning.way_in_frame * lens.slew());
}

void Stops::clear() {
  all_.clear();
  other_side_.reset();
  fit_ = {};
  distrusts_sweep_ = false;
  made_ = settled_ = 0;
}

void Stops::begin_again(const FocusSample& sample, double step) {
  all_ = {sample};
  fit_.peak.reset();
  step_ = step;
  made_ = 0;
}

void Stops::be_content_with(const FocusSample& sample) {
  all_ = {sample};
  made_ = kTuning.most_local_stops;
  began_ = 0;
}

void Stops::add(const FocusSample& sample) {
  const auto s = std::lower_bound(all_.begin(), all_.end(), sample.at,
                                  [](const FocusSample& other, double at) { return other.at < at; });
  if (s == all_.end() || s->at != sample.at) {
    all_.insert(s, sample);
  } else {
    s->frames += sample.frames;
    s->score += (sample.score - s->score) * sample.frames / s->frames;
  }
}

const FocusSample* Stops::at(int at) const {
  for (const FocusSample& s : all_)
    if (s.at == at) return &s;
  return nullptr;
}

double Stops::promised(int at, const Sweep& sweep) const {
  double most = empty() ? -std::numeric_limits<double>::infinity() : best().score;
  if (fit_.trusts_sweep) most = std::max(most, sweep.best().score);
  return std::min(fit_.peak->score(at), most);
}

const Fit& Stops::make_fit(const View& view) {
  const Lens& lens = view.lens;
  fit_ = {};
  if (view.kind == Kind::kSweep && lens.motion().lag_is_known() && !distrusts_sweep_ && view.sweep.row().size() >= 3 &&
      !lens.creeps() && (!lens.is_slow() || view.sweep.stride() <= lens.slew())) {
    const std::vector<FocusSample>& row = view.sweep.row();
    const double seen = kTuning.side_seen * view.expected.peak.width;
    if (view.is_prompt) fit_.peak = blur_fitted(view);
    fit_.trusts_sweep = fit_.peak.has_value();
    if (!fit_.peak) fit_.peak = fitted_with_sweep(view);
    // At an end of the range one side of the peak is missing: stops have to tell.
    // Positions near a top that a prompt lens was seen at tell it, even if one of its sides is missing.
    if (view.is_prompt && fit_.peak && fit_.peak->error <= view.expected.error_wanted())
      fit_.trusts_sweep |= fit_.peak->top > row.front().at && fit_.peak->top < row.back().at;
    fit_.trusts_sweep = fit_.trusts_sweep ||
                        (fit_.peak && fit_.peak->top - row.front().at > seen && row.back().at - fit_.peak->top > seen);
    fit_.contradicts = fit_.trusts_sweep && contradicts(*fit_.peak, view);
    if (fit_.trusts_sweep && !fit_.contradicts) return fit_;
    fit_.trusts_sweep = false;
    fit_.peak.reset();
    distrusts_sweep_ = !fit_.contradicts || !lens.may_have_play(lens.at());
  }
  if (all_.size() < 2) return fit_;
  if (view.kind != Kind::kSweep && (fit_.peak = placed(view.expected))) return fit_;
  FocusPeak known = view.expected.peak;
  known.top = best().at;
  fit_.peak = refined(known, all_, view.expected.noise);
  return fit_;
}

std::optional<FocusPeak> Stops::placed(const Expected& expected) const {
  if (!expected.shape || all_.size() < 3) return {};
  const BlurPeak& known = *expected.shape;
  const double reach = expected.peak.width;
  const std::optional<BlurPeak> peak =
      placed_peak(known, all_, expected.noise, all_.front().at - reach, all_.back().at + reach);
  // Else something else has changed too.
  const bool is_known = peak && peak->squares < kTuning.placed_squares &&
                        std::abs(std::log(peak->height / known.height)) < kTuning.placed_height;
  if (!is_known) return {};
  FocusPeak bell = expected.peak;
  bell.top = peak->top, bell.height = peak->height - bell.floor, bell.error = peak->error;
  return bell;
}

std::optional<FocusPeak> Stops::blur_fitted(const View& view) const {
  const double wanted = view.expected.error_wanted();
  std::optional<BlurPeak> fit = view.sweep.blur_peak(all_);
  // Right at the top a score may be less round than the peak: that makes the fit no worse than it was without.
  if (!all_.empty() && !(fit && fit->error <= wanted)) fit = view.sweep.blur_peak({});
  return fit && fit->error <= wanted ? std::optional(fit->bell(view.expected.peak.floor)) : std::nullopt;
}

double Stops::shift_of_sweep(const View& view) const {
  const std::vector<FocusSample>& row = view.sweep.row();
  if (all_.empty() || row.size() < 3 || !was_on_its_way(view)) return 0;
  const auto swept = [&](double at) {
    const auto after = std::lower_bound(row.begin(), row.end(), at,
                                        [](const FocusSample& s, double position) { return s.at < position; });
    if (after == row.begin()) return row.front().score;
    if (after == row.end()) return row.back().score;
    const FocusSample& before = *std::prev(after);
    return before.score + (after->score - before.score) * (at - before.at) / (after->at - before.at);
  };
  double shift = 0, least = std::numeric_limits<double>::infinity();
  for (int i = 0; i <= 40; ++i) {  // from none on, to either side
    const int size = (i + 1) / 2;
    const double tried = (i % 2 ? size : -size) * view.sweep.stride() / 20.0;
    double off = 0;
    for (const FocusSample& s : all_) off += (s.score - swept(s.at - tried)) * (s.score - swept(s.at - tried));
    if (off < least) shift = tried, least = off;
  }
  return shift;
}

std::optional<FocusPeak> Stops::fitted_with_sweep(const View& view) const {
  const double noise = view.expected.noise, shift = shift_of_sweep(view);
  FocusPeak peak = view.expected.peak;
  peak.top += shift;
  const std::vector<FocusSample> row = [&] {
    std::vector<FocusSample> moved = view.sweep.row();
    for (FocusSample& s : moved) s.at += shift;
    return moved;
  }();
  const double wanted = view.expected.error_wanted();
  // Use both sides, or samples as near the top as noise allows: farther out a peak may lean to one side.
  std::optional<FocusPeak> fit;
  if (peak.width > kTuning.wide * view.sweep.stride()) fit = bisected(peak, row, noise);
  if (fit && fit->error <= wanted) return fit;
  fit.reset();
  const double highest = view.sweep.best().at + shift;
  std::vector<FocusSample> samples;
  for (const double widths : kTuning.near_top) {
    samples.clear();
    for (const auto* all : {&all_, &row})
      for (const FocusSample& s : *all)
        if (std::abs(s.at - peak.top) <= widths * peak.width || std::abs(s.at - highest) <= 1.01 * view.sweep.stride())
          samples.push_back(s);
    if (samples.size() < 3) continue;
    fit = refined(peak, samples, noise);
    if (fit && fit->error <= wanted) break;
  }
  return fit;
}

bool Stops::contradicts(const FocusPeak& fit, const View& view) const {
  const double allowed = std::max(kTuning.contradicts * fit.height, view.expected.tolerance());
  return std::any_of(all_.begin(), all_.end(), [&](const FocusSample& s) {
    // Higher scores than expected are normal between the sweep's positions.
    return std::abs(s.at - fit.top) <= std::max(1.0, view.expected.peak.width) && fit.score(s.at) - s.score > allowed;
  });
}

std::optional<PlaySeen> Stops::play_seen(const View& view) const {
  const Lens& lens = view.lens;
  const FocusPeak& swept = view.expected.peak;
  if (!other_side_ || lens.play() || view.kind != Kind::kSweep) return {};
  if (lens.suspects_play() && empty()) return {};
  // At an end of the range nothing is fitted yet: the sweep alone has to tell.
  const bool is_fitted = fit_.peak && (fit_.trusts_sweep || all_.size() >= 2);
  if (!is_fitted && !(lens.motion().lag_is_known() && !lens.is_slow() && empty())) return {};
  if (was_on_its_way(view) && empty()) return {};
  // Of a slow lens the sweep's positions are not certain, so that stops have to tell where the peak is.
  const bool is_certain = !lens.is_slow() || (lens.motion().lag_is_known() && view.sweep.stride() <= lens.slew());
  if (!is_certain && all_.size() < kTuning.tells_slow) return {};
  // Where the sweep began, it saw the lens as it came from the other side, too.
  if (lens.is_slow() && other_side_->at == view.sweep.start()) return {};
  const double share = (other_side_->score - swept.floor) / swept.height;
  // There are two places where the sweep saw this score. The lens went down from beyond the peak, so it is beyond the
  // stop.
  const int direction = lens.direction();
  double off = std::max({1.0, kTuning.play_stride * view.sweep.stride(), kTuning.play_width * swept.width});
  double stood = (other_side_->at - swept.top - shift_of_sweep(view)) * direction;
  double near = -view.sweep.distance(swept, share, -direction) - stood;
  double far = view.sweep.distance(swept, share, direction) - stood;
  if (lens.is_slow() && view.sweep.stride() > kTuning.falls_behind * lens.slew() && fit_.peak) {
    // It fell behind the sweep's commands: then not even distances are certain that the sweep shows.
    stood = (other_side_->at - fit_.peak->top) * direction;
    const double distance = fit_.peak->distance(other_side_->score, std::numeric_limits<double>::infinity());
    near = -distance - stood, far = distance - stood;
    off = std::max(off, kTuning.play_behind * std::abs(stood));
  }
  const bool tells = share > kTuning.tells_least && share < kTuning.tells_most;
  if (const double least = view.sweep.stood(); least > 0) {
    // Scores on both sides of a peak may be alike by chance, so that it may have stood one position less.
    const int stride = view.sweep.stride();
    for (const double told : {near, far})
      if (tells && told > std::max(off, least - stride - off) && told < least + stride + off) return PlaySeen{told};
    return PlaySeen{};
  }
  if (lens.suspects_play()) {  // it certainly has some
    if (!tells) return PlaySeen{kTuning.deep * lens.last() / kTuning.deep_told};
    return PlaySeen{near > off && near > lens.refuted_play() + off ? near : std::max(far, 0.0)};
  }
  // Behind the peak, near an end of the range, too little is seen to rule out play.
  const bool is_behind = stood > 0;
  const double told = is_behind ? far : near;
  if (!tells || !(told > (is_behind ? off : -3 * off))) return PlaySeen{};
  if (!is_behind && told > off && far < kTuning.deep * lens.last()) return PlaySeen{};  // it may be on either side
  return PlaySeen{told > off ? told : 0};
}

Choice Stops::choose(const View& view) const {
  using enum Choice::Is;
  const Lens& lens = view.lens;
  const bool is_swept = view.kind == Kind::kSweep;
  if (takes_too_long(view)) {
    // A scene that keeps changing makes stops low; use them if they are not.
    const bool is_low = view.sweep.row().empty() || best().score < view.sweep.best().score - view.expected.tolerance();
    const int end = is_swept && is_low && lens.motion().lag_is_known() ? lens.reachable(view.expected.peak.top)
                                                                       : static_cast<int>(best().at);
    return {lens.at() == end ? kFinish : kEnd, "the stops take too long: the scene keeps changing", end};
  }
  if (is_swept && empty() && !(fit_.trusts_sweep && (other_side_ || view.is_prompt))) return first(view);
  if (all_.size() == 1 && !fit_.trusts_sweep) return {kStop, "one stop does not locate the peak", second(view)};
  if (!is_swept && is_level(view.expected)) {
    const char* reason = "all scores near the last peak are alike";
    if (share_left_ < kTuning.level_near) return {kNothing, reason};
    return to_top(view, view.ended_at.value_or(static_cast<int>(best().at)), reason);
  }
  if (misses_peak(view)) return {kSlower, "the stops did not find the peak of the sweep"};
  const double top = believed_top(view);
  const int there = lens.reachable(top);
  if (!fit_.trusts_sweep) {
    if (const std::optional<int> at = next(view, top))
      return {*at == there ? kEnd : kStop, "the peak's position is not certain yet", *at};
    if (is_swept && made_ < kTuning.most_stops + kTuning.more_stops)
      if (const std::optional<int> at = between(view, top))
        return {kStop, "the stops next to the best one are far from it", *at};
  }
  return to_top(view, there, fit_.trusts_sweep ? "the peak follows from the sweep" : "the peak follows from the stops");
}

bool Stops::takes_too_long(const View& view) const {
  const Lens& lens = view.lens;
  const std::uint64_t stop = static_cast<std::uint64_t>(lens.motion().rest()) + 4;
  const std::uint64_t most = (lens.suspects_play() ? 2 * kTuning.most_time : kTuning.most_time) * stop;
  return !empty() && !lens.is_slow() && view.expected.noise < kTuning.slow_noise * view.expected.peak.height &&
         (began_ == 0 || lens.motion().now() - began_ > most);
}

bool Stops::is_level(const Expected& expected) const {
  if (all_.size() < 3) return false;
  const auto [least, most] = extremes(all_);
  return most - least < std::max(kTuning.level_noise * expected.noise, kTuning.level * expected.peak.height);
}

bool Stops::are_one_place(const Expected& expected) const {
  return all_.size() >= 3 && all_.back().at - all_.front().at > kTuning.one_place * expected.peak.width &&
         is_level(expected);
}

bool Stops::misses_peak(const View& view) const {
  const FocusPeak& peak = view.expected.peak;
  return view.kind == Kind::kSweep && all_.size() >= 3 && view.sweep.stride() > 1 &&
         view.times_slower < kTuning.retries && best().score - peak.floor < kTuning.missed * peak.height;
}

Choice Stops::first(const View& view) const {
  using enum Choice::Is;
  const Lens& lens = view.lens;
  const int direction = lens.direction();
  const double top = view.expected.peak.top, w = std::max(view.expected.peak.width, kTuning.least_width);
  const auto beside = [&](double widths) { return lens.reachable(top - direction * widths * w); };
  int near = beside(kTuning.side_near);
  if (near == lens.reachable(top)) near = lens.reachable(top - direction);
  if (!lens.play() && lens.is_free() && !other_side_ && !lens.suspects_play()) {
    const char* reason = "approaching from the other side: the lens may have backlash";
    int far = beside(kTuning.side_far);
    if (far == near) far = lens.reachable(near - direction);
    if (std::abs(far - top) > w && (lens.at() - far) * direction > 0) return {kStop, reason, far, true};
    // Where the range begins: use a stop behind the peak.
    far = beside(-kTuning.side_behind);
    if ((lens.at() - far) * direction > kTuning.behind * w) return {kStop, reason, far, true};
  }
  return {kStop, "near the peak of the sweep", near};
}

int Stops::second(const View& view) const {
  const Lens& lens = view.lens;
  const FocusPeak& peak = view.expected.peak;
  const FocusSample& s = all_.front();
  const int here = static_cast<int>(s.at);
  if (view.kind != Kind::kSweep) {
    const double step = std::copysign(std::max(1.0, std::abs(step_)), step_);
    const int to = lens.reachable(s.at + step);
    return to != here ? to : lens.reachable(s.at - step);
  }
  double top = peak.top;
  const double share = (s.score - peak.floor) / peak.height;
  if (share > kTuning.second_least && share < kTuning.second_most)
    top = s.at + lens.direction() * peak.distance(s.score, kTuning.second_reach);
  const double most = kTuning.second_reach * peak.width + 1, side = lens.direction() * view.expected.side();
  int at = lens.reachable(std::clamp(top, s.at - most, s.at + most));
  if (at == here) at = lens.reachable(s.at + side);
  if (at == here) at = lens.reachable(s.at - side);
  return at;
}

double Stops::believed_top(const View& view) const {
  const FocusPeak& peak = view.expected.peak;
  const double from = fit_.trusts_sweep ? peak.top : all_.front().at;
  const double to = fit_.trusts_sweep ? peak.top : all_.back().at;
  // Trust a parabola only near the scores it was fitted to.
  const double reach = kTuning.believed * peak.width;
  double top = fit_.peak ? fit_.peak->top : best().at == from ? from - reach : best().at == to ? to + reach : best().at;
  top = std::clamp(top, std::max(0.0, from - reach), std::min<double>(view.lens.last(), to + reach));
  if (view.kind == Kind::kSweep) return top;
  // Limit each step: the scene may be changing rather than focus.
  const double step = std::max(1.0, kTuning.local_reach * peak.width);
  top = std::clamp(top, best().at - step, best().at + step);
  const double all = kTuning.tracking_reach * peak.width;
  return view.kind == Kind::kTracking ? std::clamp(top, *view.ended_at - all, *view.ended_at + all) : top;
}

std::optional<int> Stops::next(const View& view, double top) const {
  const Lens& lens = view.lens;
  const double width = view.expected.peak.width;
  const int most = view.kind == Kind::kSweep   ? kTuning.most_stops
                   : view.kind == Kind::kLocal ? kTuning.most_local_stops
                                               : kTuning.most_tracking_stops;
  if (made_ >= most) return {};
  const int there = lens.reachable(top);
  // If the top lies beyond the stops, go there first.
  const bool is_beyond =
      top < all_.front().at - kTuning.beyond * width || top > all_.back().at + kTuning.beyond * width;
  if (!at(there) && is_beyond) return there;
  if (!fit_.peak || fit_.peak->error > view.expected.error_wanted())
    if (const std::optional<int> side = beside(view, top)) return side;
  if (width >= kTuning.few_width) return {};
  // Few positions are near the top: visit all that could be it.
  const int highest = static_cast<int>(best().at);
  for (const int near : {there, highest + lens.direction(), highest - lens.direction()}) {
    if (near < 0 || near > lens.last() || at(near)) continue;
    if (!fit_.peak ||
        fit_.peak->score(fit_.peak->top) - fit_.peak->score(near) < kTuning.could_be_best * fit_.peak->height)
      return near;
  }
  return {};
}

std::optional<int> Stops::beside(const View& view, double top) const {
  const double side = view.expected.side();
  const int there = view.lens.reachable(top), low = view.lens.reachable(top - side),
            high = view.lens.reachable(top + side);
  const double near = kTuning.has_side * side;
  const bool has_left = all_.front().at<top - near, has_right = all_.back().at> top + near;
  if (!has_right && !at(high) && high != there) return high;
  if (!has_left && !at(low) && low != there) return low;
  return {};
}

std::optional<int> Stops::between(const View& view, double top) const {
  const auto b = all_.begin() + (&best() - all_.data());
  // Sent beyond these, a lens with play does not follow.
  const int low = view.lens.reachable(0), high = view.lens.reachable(view.lens.last());
  const double left = b->at - (b == all_.begin() ? low : std::prev(b)->at);
  const double right = (std::next(b) == all_.end() ? high : std::next(b)->at) - b->at;
  const bool is_certain = fit_.peak && fit_.peak->error <= view.expected.error_wanted();
  const double near = is_certain ? std::max(kTuning.gap, kTuning.gap_width * view.expected.peak.width) : kTuning.gap;
  if (std::max(left, right) <= near) return {};
  const int there = view.lens.reachable(top);
  if (!at(there) && std::abs(there - b->at) < std::max(left, right)) return there;
  const bool to_right = left <= near || (right > near && top >= b->at);
  const double gap = to_right ? right : left;
  // Use a third of a wide gap: the top is nearer to the best stop.
  const double step = gap > 3 * near ? gap / 3 : gap / 2;
  const int between = view.lens.reachable(b->at + (to_right ? 1 : -1) * std::max(1.0, step));
  return at(between) ? std::nullopt : std::optional(between);
}

Choice Stops::to_top(const View& view, int there, const char* reason) const {
  using enum Choice::Is;
  const int here = view.lens.at();
  const std::optional<FocusPeak>& fit = fit_.peak;
  // A step aside that gains next to nothing is not worth its frames.
  if (view.lens.last() >= kTuning.fine && fit && at(here) && !from_other_side_ &&
      std::abs(fit->top - here) <= kTuning.nothing_step &&
      fit->score(there) - fit->score(here) < kTuning.nothing * fit->height)
    there = here;
  int end = there;
  if (const FocusSample* s = at(there)) {
    const auto is_higher = [&](const FocusSample& b, double deviations) {
      const double spread = view.expected.noise * std::sqrt(1.0 / s->frames + 1.0 / b.frames);
      return b.score - s->score > std::max(deviations * spread, 1e-6 * view.expected.peak.height);
    };
    if (is_higher(best(), kTuning.higher)) end = static_cast<int>(best().at);
    // Nor is the end beside the best position that the sweep saw, whatever the shape that was fitted.
    if (fit_.trusts_sweep) {
      const FocusSample& swept = view.sweep.best();
      const int seen = view.lens.reachable(swept.at);
      if (end == there && std::abs(seen - there) > 1 && !at(seen) && is_higher(swept, kTuning.swept_higher)) end = seen;
    }
  }
  const bool is_enough = !from_other_side_ || settled_ > kTuning.retries + 2 || takes_too_long(view);
  if (at(end) && here == end && is_enough) return {kFinish, reason, end};
  return {kTop, reason, end};
}

}  // namespace framequality::focus
