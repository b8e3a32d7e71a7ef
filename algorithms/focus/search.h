// SPDX-License-Identifier: LGPL-2.1-or-later
// Where to move a lens, from nothing but the score of each frame: the search of an autofocus, and its watch.
//
// The score of a scene as a function of the lens position has one main peak, where it is in focus, and may be nearly
// flat far from it. So:
//   coarse  a sweep over the range, wide apart, from the nearer end; it ends early once it is clearly past a peak
//   fine    around the best position: probes where the parabola through the best and its neighbours has its top, then
//           on the side with the wider gap, until the neighbours are one step away (successive parabolic
//           interpolation, Brent 1973, ch. 5, on a grid and with a bracket that shrinks by thirds). Differences between
//           neighbours drown in noise first; points further out, from the earlier thirds, then carry the fit
//   settle  to the top of the parabola fitted to all points near the peak; if what is seen there is far from what was
//           seen on the way, the scene changed meanwhile and the search begins again
//   focused the score is compared with what it was at first. A lasting change, down (defocus) or up (another scene),
//           starts a new search. One that ends where it began was useless: the next needs twice the patience, until
//           all has been calm for a while
// N positions one step apart take about 2 sqrt(2 N) moves; a sweep of all of them takes N.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace framequality {

enum class FocusMode : int {
  kManual,     ///< searches when triggered
  kOneShot,    ///< searches once at the start, and when triggered
  kContinuous  ///< searches at the start, when triggered, and whenever focus is lost
};

enum class FocusState : int { kIdle, kCoarse, kFine, kSettle, kFocused, kFailed };

struct FocusSettings {
  double min = 0, max = 100;  ///< range of positions, any unit; min <= max
  double step = 1;            ///< distance of neighbouring positions, > 0; the lens stands at min + i * step only
  double coarse_step = 0;     ///< of the sweep, >= step; 0: sqrt(N / 2) steps
  int settle_frames = 0;      ///< frames between a command and the first that shows it, >= 0
  int average_frames = 2;     ///< scores that are averaged at each position, >= 1; from 2 on they also tell the noise
  double loss = 0.3;          ///< relative change of the score that loses focus, 0...1
  int loss_frames = 15;       ///< frames that it must last, >= 1
  FocusMode mode = FocusMode::kContinuous;

  bool operator==(const FocusSettings&) const = default;
};

/// Searches the position with the highest score and watches over it. Positions are in the unit of FocusSettings, scores
/// in any unit; only their order and ratios count. Its only clock are the frames it is told of. Allocates nothing per
/// frame once a search has grown its memory. Thread-safety: none.
class FocusSearch {
 public:
  /// position: where the lens is; NaN if that is not known.
  FocusSearch(const FocusSettings& settings, double position) : settings_(settings), position_(position) {
    if (settings_.mode != FocusMode::kManual) trigger();
  }

  /// One frame has arrived; score: if it was measured, finite. Returns where the lens is to go now, if anywhere. The
  /// caller leaves out frames that it knows were exposed before the last command was carried out; settle_frames of the
  /// others are left out here.
  std::optional<double> frame(std::optional<double> score) {
    if (score) score_ = *score;
    if (!active_) return {};
    if (starting_) return start();
    if (settling_ > 0) {
      --settling_;
      return {};
    }
    if (!score) return {};
    if (watching_) return watch(*score);
    if (positive_ && *score <= 0) positive_ = false, spread_ = spreads_ = 0;
    if (summed_ > 0) {
      const double change = scaled(*score) - scaled(previous_);
      spread_ += change * change;
      spreads_ += 1;
    }
    previous_ = *score;
    sum_ += *score;
    // A probe for certainty waits for the lens as any other does, so it may as well look as long as it waited.
    if (++summed_ < settings_.average_frames + (probes_ > 0 ? settings_.settle_frames : 0)) return {};
    return measured(sum_ / summed_);
  }

  /// Starts a search with the next frame, also in the middle of one.
  void trigger() {
    patience_ = 1;
    ended_at_.reset();
    search();
  }
  /// Ends a search, and watching, where the lens is; only trigger() starts again.
  void cancel() { rest(FocusState::kIdle); }
  /// Ends a search without result (no scores come, say). It is not tried again before trigger().
  void give_up() { rest(FocusState::kFailed); }

  /// Takes effect at once. Another range, step or settle time starts a search under way, or found in focus, anew.
  void configure(const FocusSettings& settings) {
    const FocusSettings old = std::exchange(settings_, settings);
    FocusSettings same = settings;  // as far as a search depends on it
    same.mode = old.mode;
    same.loss = old.loss;
    same.loss_frames = old.loss_frames;
    if (settings.mode == FocusMode::kContinuous && !active_ && old.mode != settings.mode) {
      if (state_ == FocusState::kFocused)
        watch_from_here();
      else
        trigger();
    }
    if (settings.mode != FocusMode::kContinuous && watching_) active_ = watching_ = false;
    if (active_ && !(same == old)) trigger();
  }

  FocusState state() const { return state_; }
  /// Where the lens was told to go, or was at first.
  double position() const { return position_; }
  /// Of the last frame that had one; 0 before the first.
  double score() const { return score_; }
  /// Commands since the last search began, its own final one included.
  int moves() const { return moves_; }

 private:
  struct Sample {
    int at;        ///< position, in steps from min
    double score;  ///< mean of these frames'
    int frames;
  };

  static constexpr double kPastPeak = 0.5;  ///< a sweep may end when the score is below this share of its best,
  static constexpr double kPeak = 2;        ///< and its best so often its least
  static constexpr double kFlat = 0.03;     ///< a sweep whose scores differ by less than this share has no peak,
  static constexpr double kFlatNoise = 6;   ///< nor one where they differ by less than so many standard deviations
  static constexpr double kTop = 0.9;       ///< points above this share of the best carry the last fit,
  static constexpr double kNoise = 5;       ///< and those less than so many standard deviations below it
  static constexpr double kCertain = 0.2;   ///< standard error of the top that needs no more points, steps
  static constexpr double kNothing = 3e-4;  ///< loss of score that needs none either
  static constexpr double kDiffer = 2;      ///< standard deviations that tell two scores apart
  static constexpr double kAgree = 0.6;     ///< of the best score the final position must show at least this share
  static constexpr int kFewMoves = 8;
  static constexpr int kRetries = 2;        ///< searches begun again because they did not agree
  static constexpr int kMostPatience = 16;  ///< times loss_frames
  static constexpr int kCalm = 4;           ///< so many times patience without a frame of another scene halve it

  int last() const {
    return std::max(0, static_cast<int>(std::floor((settings_.max - settings_.min) / settings_.step + 1e-6)));
  }
  double position_of(int at) const { return std::min(settings_.min + at * settings_.step, settings_.max); }

  void search() {
    retries_ = 0;
    begin();
  }
  void begin() {
    state_ = FocusState::kCoarse;
    active_ = starting_ = true;
    watching_ = false;
  }
  void rest(FocusState state) {
    state_ = state;
    active_ = starting_ = watching_ = false;
  }

  std::optional<double> start() {
    starting_ = false;
    started_at_ = position_;
    samples_.clear();
    moves_ = probes_ = 0;
    positive_ = true;
    spread_ = spreads_ = 0;
    const int n = last() + 1;
    const double spacing =
        settings_.coarse_step > 0 ? settings_.coarse_step / settings_.step : std::sqrt(static_cast<double>(n) / 2);
    // Within the range first: a coarse step of any size is no number of steps that an int would hold.
    gap_ = static_cast<int>(std::lround(std::clamp<double>(spacing, 1, std::max(1, last()))));
    // NaN compares false: from min upwards.
    const bool down = position_ - settings_.min > settings_.max - position_;
    stride_ = down ? -gap_ : gap_;
    return go(down ? last() : 0);
  }

  /// Towards position `at`; no command if the lens is there.
  std::optional<double> go(int at) {
    at_ = at;
    sum_ = 0;
    summed_ = 0;
    const double to = position_of(at);
    if (to == position_) return {};
    position_ = to;
    settling_ = settings_.settle_frames;
    ++moves_;
    return to;
  }

  std::optional<double> measured(double score) {
    const int frames = std::exchange(summed_, 0);
    sum_ = 0;
    if (state_ == FocusState::kSettle) return arrived(score);
    const auto s = samples_.begin() + (place(at_) - samples_.begin());
    if (s == samples_.end() || s->at != at_) {
      samples_.insert(s, {at_, score, frames});
    } else {
      s->frames += frames;
      s->score += (score - s->score) * frames / s->frames;
    }
    if (state_ == FocusState::kCoarse) {
      if (!swept(score)) return go(std::clamp(at_ + stride_, 0, last()));
      if (flat()) return fail();
      state_ = FocusState::kFine;
    }
    return refine();
  }

  /// The first sample at or behind a position.
  std::vector<Sample>::const_iterator place(int at) const {
    return std::lower_bound(samples_.begin(), samples_.end(), at, [](const Sample& s, int x) { return s.at < x; });
  }

  /// True when the coarse sweep is at its end, or clearly past a peak.
  bool swept(double score) const {
    if (at_ == (stride_ > 0 ? last() : 0)) return true;
    const auto [least, best] = extremes();
    return score < kPastPeak * best && best > kPeak * least && least > 0 && best != first();
  }
  /// Score where the sweep began.
  double first() const { return stride_ > 0 ? samples_.front().score : samples_.back().score; }
  std::pair<double, double> extremes() const {
    const auto [low, high] = std::minmax_element(samples_.begin(), samples_.end(), less);
    return {low->score, high->score};
  }
  static bool less(const Sample& a, const Sample& b) { return a.score < b.score; }
  /// True if the scores of the sweep differ by no more than noise would make them.
  bool flat() const {
    const auto [least, best] = extremes();
    const double noise = std::sqrt(variance() / settings_.average_frames);
    const double high = std::max(std::abs(best), std::abs(least));
    return last() > 0 && (best - least <= kFlat * high || scaled(best) - scaled(least) <= kFlatNoise * noise);
  }
  /// Of the scores of single frames, on their scale.
  double variance() const { return spreads_ > 0 ? spread_ / (2 * spreads_) : 0; }

  /// After these the final one follows: less than half of a sweep over all positions, unless that is a short one.
  int most_moves() const { return std::max(last() / 2 - 1, kFewMoves); }

  /// Next probe around the best position, or on to the top of the peak.
  std::optional<double> refine() {
    for (;;) {
      const auto best = std::max_element(samples_.begin(), samples_.end(), less);
      const int left = best == samples_.begin() ? -1 : std::prev(best)->at;
      const int right = std::next(best) == samples_.end() ? last() + 1 : std::next(best)->at;
      if (moves_ >= most_moves()) break;
      const int gap_left = left < 0 ? best->at : best->at - left;
      const int gap_right = right > last() ? last() - best->at : right - best->at;
      if (std::max(gap_left, gap_right) <= gap_) {
        if (gap_ == 1) break;
        gap_ = std::max(1, gap_ / 3);
        continue;
      }
      const double top = peak(best);
      const int guess = static_cast<int>(std::lround(top));
      if (guess != best->at && guess > left && guess < right) return go(guess);
      const bool to_right = gap_right == gap_left ? top >= best->at : gap_right > gap_left;
      const int probe = to_right ? best->at + std::min(gap_, gap_right) : best->at - std::min(gap_, gap_left);
      return go(probe);
    }
    const std::optional<Fit> f = fit();
    const auto best = std::max_element(samples_.begin(), samples_.end(), less);
    const std::optional<int> probe = f ? probe_for(*f) : probe_beside(best);
    if (probe && moves_ < most_moves() && ++probes_ < std::sqrt(8.0 * last())) return go(*probe);
    int top = std::clamp(static_cast<int>(std::lround(f ? f->top : peak(best))), 0, last());
    // The parabola proposes; where a peak is not one, what was seen there decides.
    const auto seen = place(top);
    const bool is_seen = seen != samples_.end() && seen->at == top;
    if (!is_seen && moves_ < most_moves()) return go(top);
    if (is_seen && is_below(*seen, *best)) top = best->at;
    state_ = FocusState::kSettle;
    return go(top);
  }

  /// True if noise does not explain that one score is lower than the other.
  bool is_below(const Sample& a, const Sample& b) const {
    const double spread = std::sqrt(variance() * (1.0 / a.frames + 1.0 / b.frames));
    return spreads_ > 0 && scaled(b.score) - scaled(a.score) > kDiffer * spread;
  }

  /// Score on the scale where a peak looks most like a parabola, and noise is the same everywhere: its logarithm, if
  /// all are positive.
  double scaled(double score) const { return positive_ ? std::log(score) : score; }

  /// Top of the parabola through a sample and its neighbours; itself where it has but one.
  double peak(std::vector<Sample>::const_iterator best) const {
    if (best == samples_.begin() || std::next(best) == samples_.end()) return best->at;
    const auto left = std::prev(best), right = std::next(best);
    const double x1 = best->at - left->at, x2 = right->at - best->at;
    const double d1 = scaled(best->score) - scaled(left->score), d2 = scaled(best->score) - scaled(right->score);
    const double curvature = d1 * x2 + d2 * x1;
    if (!(curvature > 0)) return best->at;
    return best->at + (d1 * x2 * x2 - d2 * x1 * x1) / (2 * curvature);
  }

  /// A least-squares parabola through the points near the best one.
  struct Fit {
    int from, to;  ///< its points lie in here
    double top;    ///< of the parabola, between them
    double error;  ///< its standard error, steps
    double loss;   ///< share of the score that so large an error costs
  };
  /// Nothing where fewer than four points are near.
  std::optional<Fit> fit() const {
    const auto best = std::max_element(samples_.begin(), samples_.end(), less);
    auto from = best, to = best;
    const double noise = kNoise * std::sqrt(variance() / settings_.average_frames);
    const double share = positive_ ? std::min(kTop, std::exp(-noise)) : kTop;
    const double least = best->score > 0 ? share * best->score : best->score / share;
    while (from != samples_.begin() && std::prev(from)->score >= least) --from;
    while (std::next(to) != samples_.end() && std::next(to)->score >= least) ++to;
    if (to - from < 3) return {};
    // Moments about the best point for s = a + b x + c x^2, weighted by the number of frames.
    double w = 0, x = 0, xx = 0, xxx = 0, xxxx = 0, y = 0, xy = 0, xxy = 0;
    for (auto s = from; s <= to; ++s) {
      const double n = s->frames, d = s->at - best->at, v = scaled(s->score) - scaled(best->score);
      w += n, x += n * d, xx += n * d * d, xxx += n * d * d * d, xxxx += n * d * d * d * d;
      y += n * v, xy += n * d * v, xxy += n * d * d * v;
    }
    const double s2 = xx - x * x / w, s3 = xxx - x * xx / w, s4 = xxxx - xx * xx / w;
    const double t1 = xy - x * y / w, t2 = xxy - xx * y / w, det = s2 * s4 - s3 * s3;
    const double b = (t1 * s4 - t2 * s3) / det, c = (t2 * s2 - t1 * s3) / det;
    if (!(c < 0)) return {};
    const double top = std::clamp(best->at - b / (2 * c), static_cast<double>(from->at), static_cast<double>(to->at));
    const double error = std::sqrt(variance() * s4 / det) / (-2 * c);
    return Fit{from->at, to->at, top, error, -c * error * error};
  }

  /// Where another point would tell most about the top of a fit that is not certain: far out, on the side that has
  /// fewer frames; one not probed yet, if there is one, else the outermost again.
  std::optional<int> probe_for(const Fit& f) const {
    if (f.error <= kCertain || f.loss <= kNothing) return {};
    int left = 0, right = 0;
    for (auto s = place(f.from); s != samples_.end() && s->at <= f.to; ++s) {
      if (s->at < f.top) left += s->frames;
      if (s->at > f.top) right += s->frames;
    }
    const bool go_left = left < right;
    const int middle = static_cast<int>(std::lround(f.top));
    for (int at = go_left ? f.from : f.to; at != middle; at += go_left ? 1 : -1)
      if (place(at)->at != at) return at;
    return place(f.from)->frames < place(f.to)->frames ? f.from : f.to;
  }

  /// Where another point makes a fit possible, if noise may have chosen between the best one and a neighbour.
  std::optional<int> probe_beside(std::vector<Sample>::const_iterator best) const {
    std::optional<Sample> rival;
    if (best != samples_.begin()) rival = *std::prev(best);
    if (std::next(best) != samples_.end() && (!rival || rival->score < std::next(best)->score))
      rival = *std::next(best);
    if (!rival || spreads_ == 0 || is_below(*rival, *best)) return {};
    const int at = rival->at + (rival->at < best->at ? -1 : 1);
    const auto seen = place(at);
    if (at < 0 || at > last() || (seen != samples_.end() && seen->at == at)) return {};
    return at;
  }

  /// First score at the final position.
  std::optional<double> arrived(double score) {
    const double best = extremes().second;
    const bool agrees = score >= best - (1 - kAgree) * std::abs(best);
    if (!agrees && retries_++ < kRetries)
      begin();
    else
      end(agrees ? FocusState::kFocused : FocusState::kFailed);
    return {};
  }

  /// The search found no peak: back to where it began.
  std::optional<double> fail() {
    end(FocusState::kFailed);
    if (std::isnan(started_at_) || started_at_ == position_) return {};
    position_ = started_at_;
    settling_ = settings_.settle_frames;
    ++moves_;
    return position_;
  }

  void end(FocusState state) {
    const bool useless = ended_at_ && std::abs(at_ - *ended_at_) <= 1;
    patience_ = useless ? std::min(2 * patience_, kMostPatience) : 1;
    ended_at_ = at_;
    rest(state);
    watch_from_here();
  }

  void watch_from_here() {
    watching_ = active_ = settings_.mode == FocusMode::kContinuous;
    sum_ = 0;
    summed_ = outside_ = calm_ = 0;
  }

  /// One score of a lens at rest.
  std::optional<double> watch(double score) {
    if (summed_ < settings_.loss_frames) {
      sum_ += score;
      if (++summed_ == settings_.loss_frames) reference_ = sum_ / summed_;
      return {};
    }
    const double least = reference_ * (1 - settings_.loss), most = reference_ / std::max(1 - settings_.loss, 1e-3);
    const bool outside = score < std::min(least, most) || score > std::max(least, most);
    // Single frames inside take back one, so that a noisy score near the limit still counts.
    outside_ = std::max(0, outside_ + (outside ? 1 : -1));
    calm_ = outside_ > 0 ? 0 : calm_ + 1;
    if (calm_ == kCalm * settings_.loss_frames * patience_) {
      calm_ = 0;
      patience_ = std::max(1, patience_ / 2);
    }
    if (outside_ >= settings_.loss_frames * patience_) search();
    return {};
  }

  FocusSettings settings_;
  FocusState state_ = FocusState::kIdle;
  double position_;
  double started_at_ = 0;
  double score_ = 0;
  bool active_ = false;    ///< scores are used
  bool starting_ = false;  ///< a search begins with the next frame
  bool watching_ = false;
  int at_ = 0;        ///< where samples are being taken, steps from min
  int settling_ = 0;  ///< frames to leave out still
  double sum_ = 0;
  int summed_ = 0;
  double previous_ = 0;              ///< the last of these scores
  double spread_ = 0, spreads_ = 0;  ///< sum and number of squared changes from frame to frame, lens at rest
  bool positive_ = true;             ///< all scores of this search
  std::vector<Sample> samples_;      ///< of this search, by position
  int stride_ = 1;                   ///< of the sweep, steps
  int gap_ = 1;                      ///< neighbours of the best position are to be this near, steps
  int moves_ = 0;
  int probes_ = 0;  ///< beyond the bracket, for certainty
  int retries_ = 0;
  std::optional<int> ended_at_;  ///< where the last search was when it ended, steps from min
  int patience_ = 1;
  double reference_ = 0;
  int outside_ = 0, calm_ = 0;  ///< frames of another scene, and without one since
};

}  // namespace framequality
