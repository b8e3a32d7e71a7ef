// SPDX-License-Identifier: LGPL-2.1-or-later
// The focus search: sweeps, which find the peak.
#include "algorithms/focus/search.h"

#include <limits>

namespace framequality {

namespace {

constexpr double kDivisions = 20;      // steps of a sweep over the range,
constexpr double kStopDivisions = 14;  // and if each is a stop
constexpr double kPast = 0.5;          // a leg may end when the score has come down by this share of its rise,
constexpr double kPeak = 2;            // and its best is so often its least
constexpr double kPastNoise = 6;       // and has come down by so many standard deviations
constexpr double kFlat = 0.01;         // a sweep whose scores differ by less than this share has no peak,
constexpr double kStandsOut = 6;       // nor one whose peak stands out by less than so many standard deviations;
constexpr double kMay = 3.5;           // one that stands out by so many may be one
constexpr double kSlower = 2.5;        // times smaller are the steps of the next sweep where stops found no peak
constexpr int kPasses = 4;             // sweeps to find out

}  // namespace

std::optional<double> FocusSearch::start_sweep(std::optional<double> score) {
  clear();
  kind_ = Kind::kSweep;
  noise_least_ = std::numeric_limits<double>::infinity();
  noise_most_ = 0;
  score_began_ = score;
  const int n = last_step();
  const double divisions = settings_.stop_and_go ? kStopDivisions : kDivisions;
  double spacing = settings_.coarse_step / settings_.step;
  if (!(spacing > 0)) {
    spacing = n / divisions / std::pow(kSlower, resweeps_);
    // A peak of known width needs a sample on each flank.
    if (shape_) spacing = std::clamp(0.9 * shape_->width, 0.5 * spacing, 1.4 * spacing);
    if (is_slow()) spacing = std::min(spacing, 0.9 * slew_);
  }
  // Within the range first: a coarse step of any size is no number of steps that an int would hold.
  stride_ = static_cast<int>(std::lround(std::clamp<double>(spacing, 1, std::max(1, n))));
  const bool is_free = settings_.approach == FocusApproach::kAuto;
  const std::optional<int> at = here();
  if (from_here_ && at && is_free) {
    const bool down = *at < n - *at;  // the shorter way first
    legs_ = {{*at, down ? 0 : n}, {*at, down ? n : 0}};
  } else {
    const bool is_nearer_above = at && position_ - settings_.min > settings_.max - position_;
    const bool down = is_free ? is_nearer_above : settings_.approach == FocusApproach::kFromAbove;
    legs_ = {{down ? n : 0, down ? 0 : n}};
  }
  return begin_leg();
}

std::optional<double> FocusSearch::sweep_slower() {
  ++resweeps_;
  state_ = FocusState::kCoarse;
  return start_sweep(score_);
}

std::optional<double> FocusSearch::begin_leg() {
  leg_ = legs_.front();
  legs_.erase(legs_.begin());
  leg_begin_ = trace_.size();
  if (settings_.approach == FocusApproach::kAuto) direction_ = leg_.to >= leg_.from ? 1 : -1;
  phase_ = Phase::kToLeg;
  const bool is_there = here() && position_of(leg_.from) == position_;
  if (const auto to = send(leg_.from)) return to;
  // Already there: this frame is the first of the leg.
  if (is_there && score_began_) return to_leg(score_);
  return {};
}

std::optional<double> FocusSearch::to_leg(double score) {
  if (!is_steady(score)) return {};
  learn_lag(score);
  phase_ = Phase::kLeg;
  return leg(score);
}

std::optional<double> FocusSearch::leg(double score) {
  if (settings_.stop_and_go) {
    if (!motion_.at_rest()) return {};
    sum_ += score;
    if (++summed_ < settings_.average_frames) return {};
    score = take_mean();
  }
  trace_.push_back({motion_.now(), score});
  if (is_past()) return leg_done();
  const int way = leg_.to - at_;
  if (way == 0) {
    phase_ = Phase::kLegEnd;
    return motion_.at_rest() ? leg_done() : std::nullopt;
  }
  const int next = std::abs(way) < stride_ * 3 / 2 ? leg_.to : at_ + (way > 0 ? stride_ : -stride_);
  const double to = position_of(next);
  at_ = next;
  if (to == position_) return {};
  return command(next, to);
}

std::optional<double> FocusSearch::leg_end(double score) {
  trace_.push_back({motion_.now(), score});
  if (!motion_.at_rest()) return {};
  // A lens slower than the sweep is still on its way.
  const double before = trace_[trace_.size() - 2].score;
  const auto [least, most] = extremes(trace_);
  const double moving = std::max(0.05 * (most - least), kPastNoise * trace_noise());
  if (std::abs(score - before) > moving && motion_.since() < motion_.rest() + kLongestSettle) return {};
  return leg_done();
}

std::optional<double> FocusSearch::leg_done() {
  const bool past = is_past();
  if (!past && !legs_.empty()) return begin_leg();
  legs_.clear();
  make_row();
  if (row_.empty()) {  // no frame has shown a position of the sweep yet
    phase_ = Phase::kLegEnd;
    return {};
  }
  ++passes_;
  noise_ = focus::noise_of(row_);
  constexpr int kEnoughRepeats = 6;
  if (repeats_ >= kEnoughRepeats) noise_ = std::min(noise_, 1.3 * std::sqrt(repeated_ / repeats_));
  const int n = last_step();
  if (n > 0 && !past) {
    const auto [least, most] = extremes(trace_);
    const double spacing = static_cast<double>(stride_) / passes_;
    const double stands_out =
        std::max(focus::significance(row_, 1.5 * stride_, noise_), focus::significance(row_, 3.0 * stride_, noise_));
    const bool is_flat = most - least <= kFlat * std::max(std::abs(most), std::abs(least));
    if (is_flat || stands_out < kStandsOut) {
      // Between the positions seen so far: for a narrow peak, and for certainty.
      const bool may_be = passes_ == 1 || stands_out >= kMay;
      const bool is_narrow = spacing > 1.2 * std::sqrt(n / 2.0);
      if (passes_ < kPasses && (is_flat ? is_narrow : may_be)) {
        constexpr double kOffsets[kPasses] = {0, 0.5, 0.25, 0.75};
        const int off = static_cast<int>(std::lround(kOffsets[passes_] * stride_)) % stride_;
        const bool down = at_ > n / 2;
        legs_ = {{clamped(down ? n - off : off), down ? 0 : n}};
        score_began_.reset();
        return begin_leg();
      }
      return fail();
    }
  }
  prior_ = focus::peak_of(row_, noise_);
  if (!(prior_.height > 0)) prior_.height = std::max(std::abs(prior_.floor) * 0.01, 1e-300);
  state_ = FocusState::kFine;
  fine_began_ = motion_.now();
  const int began = nearest(began_at_);
  if (from_here_ && motion_.lag_is_known() && std::abs(prior_.top - began) < 0.75 * stride_) {
    // Nothing is sharper than where the lens was: back to it, with no more stops.
    kind_ = Kind::kLocal;
    stops_made_ = kMostLocalStops;
    fine_began_ = 0;
    stops_.clear();
    add({static_cast<double>(began), swept_score(began), 1});
  }
  return refine();
}

bool FocusSearch::is_past() {
  const std::size_t n = trace_.size();
  if (n < leg_begin_ + 4) return false;
  const auto [least, most] = extremes(trace_);
  const auto best = std::max_element(trace_.begin() + static_cast<std::ptrdiff_t>(leg_begin_), trace_.end(),
                                     [](const Seen& a, const Seen& b) { return a.score < b.score; });
  const auto index = static_cast<std::size_t>(best - trace_.begin());
  if (best->score < most || index <= leg_begin_ + static_cast<std::size_t>(motion_.lag()) || index + 2 >= n)
    return false;
  const double now = trace_[n - 1].score, down = most - kPast * (most - least);
  if (!(least > 0 && most > kPeak * least && now < down && trace_[n - 2].score < most)) return false;
  // Where noise made the least so little, or the best so high, there may be higher peaks to come.
  const double noise = trace_noise();
  return most - now > kPastNoise * noise && most - 2 * noise > kPeak * (least + 2 * noise);
}

double FocusSearch::trace_noise() {
  samples_.clear();
  for (const Seen& s : trace_) samples_.push_back({static_cast<double>(samples_.size()), s.score, 1});
  return focus::noise_of(samples_);
}

void FocusSearch::make_row() {
  row_.clear();
  repeated_ = repeats_ = 0;
  lag_used_ = motion_.lag();
  for (const Seen& s : trace_)
    if (const std::optional<int> at = motion_.shown(s.frame)) row_.push_back({static_cast<double>(*at), s.score, 1});
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
}

double FocusSearch::swept_score(int at) const {
  const auto nearest = std::min_element(row_.begin(), row_.end(), [&](const FocusSample& a, const FocusSample& b) {
    return std::abs(a.at - at) < std::abs(b.at - at);
  });
  return nearest->score;
}

}  // namespace framequality
