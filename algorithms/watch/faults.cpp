// SPDX-License-Identifier: LGPL-2.1-or-later
// Evidence for each fault in a reading, against the baseline. Thresholds without an explanation were found with
// watch_bench: faults detected in time and false alarms, on photographs and clips.
#include "algorithms/watch/camera_watch.h"

#include <algorithm>
#include <cmath>

namespace framequality {

namespace {

// Of each pair, the second, milder threshold ends the fault.

// Defocused.
constexpr double kBelowLow = 0.85;  ///< of the usual low quantile, where scores vary by themselves,
constexpr double kWidest = 0.7;     ///< of min_ratio at most

// Covered.
constexpr double kFaded = 0.05, kFadedEnd = 0.1;      ///< of the usual contrast, and
constexpr double kBlurred = 0.3, kBlurredEnd = 0.45;  ///< of the usual score, or an unusual pattern,
constexpr double kAnother = 0.5;                      ///< which differs by this
constexpr double kUnrest = 0.25;     ///< difference from the reading before, of a pattern that is noise
constexpr double kAlikeNoise = 0.5;  ///< of the usual spread of the zones, if it is restless
constexpr double kAlike = 0.15;      ///< the same if it is not
constexpr double kAlikeEnd = 1.3;    ///< times these
constexpr double kChance = 2.5;      ///< times kUnrest, so that there is nothing but noise

constexpr double kDarkEnd = 1.5;                  ///< of dark_level
constexpr double kWhiteEnd = 0.7;                 ///< of overexposed_share
constexpr double kLight = 0.9, kLightEnd = 0.85;  ///< mean luma, of its range: codecs make white a little less

// Frozen.
constexpr double kExact = 1e-9;      ///< octaves: exact numbers that are averaged differ in the last bits
constexpr double kStill = 0.125;     ///< of the least distance that readings usually have, if that is more than
constexpr double kActive = 1e-5;     ///< octaves
constexpr double kLonger = 2;        ///< times as long as it stood still by itself
constexpr std::size_t kStillOf = 4;  ///< all zones but one in this many

// Moved.
constexpr double kOther = 0.3;           ///< difference of the patterns
constexpr double kOtherUnsure = 0.45;    ///< the same in a light that is not learned
constexpr double kOtherThanUsual = 2.2;  ///< times the usual difference at least
constexpr double kOtherEnd = 0.7;        ///< of these
constexpr double kMostZones = 0.45;      ///< share that has changed: parked cars cover less
constexpr double kMostZonesEnd = 0.3;    ///< the same of two patterns that have nothing in common
constexpr double kMuchWhite = 0.25;      ///< share of the pixels
// Moved, by the template of the view.
constexpr double kStays = 0.5, kStaysEnd = 0.7;                     ///< share of the calm zones that are as usual
constexpr double kMisfit = 0.3;                                     ///< octaves^2
constexpr double kFound = 0.25;                                     ///< of the misfit that another place takes away
constexpr double kNear = 0.4, kNearDegrees = 3, kNearScale = 0.06;  ///< kNear in zones: a smaller change is no move
constexpr double kFoundSurely = 0.4;  ///< the same, so that it does not matter how sharp it is
// Smeared: part of the lens, so that only the zones behind it lose detail. Judged by zones that are calm by themselves.
constexpr int kEnoughCalm = 16;
constexpr double kSoftZones = 0.36, kSoftZonesEnd = 0.25;  ///< shares of them
constexpr double kSharperZones = 0.08;                     ///< share of them: more, and it is another view
constexpr double kSharperNow = 0.12;                       ///< the same of a reading, in which cars are

constexpr double kSwing = 1.5, kSwingEnd = 1.2;  ///< turns a second

// Noisy.
constexpr double kNoisier = 1.3;   ///< of the usual noise, in addition to it, and
constexpr double kNoise = 6;       ///< grey levels at least
constexpr double kNoiseEnd = 0.7;  ///< of these

/// Octaves between two numbers; 0 if neither is known.
double apart(double a, double b) {
  return std::isnan(a) && std::isnan(b) ? 0 : std::abs(std::log2((std::abs(a) + kExact) / (std::abs(b) + kExact)));
}

}  // namespace

Likeness CameraWatch::compare(const Reading& r, const LevelBaseline* b, const CameraWatchSettings& s) {
  const WatchedFrame& f = r.frame;
  Likeness is;
  if (f.noise >= 0) is.noise = Baseline::log_of(f.noise);
  if (f.energy >= 0 && f.mean > 0) is.energy = Baseline::log_of(f.energy / (f.mean * f.mean));
  figures_ = {};
  figures_.score = f.score;
  figures_.noise = f.noise;
  figures_.mean = f.mean;
  figures_.clipped_black = f.clipped_black;
  figures_.clipped_white = f.clipped_white;
  figures_.swing = r.swing;
  const Distance from_recent = distance();
  is.distance = from_recent.most;
  if (b) {
    figures_.baseline = std::exp2(b->score);
    figures_.ratio = f.score / figures_.baseline;
    figures_.least_ratio = baseline_.knows(level_) ? std::clamp(kBelowLow * std::exp2(b->low - b->score),
                                                                kWidest * s.min_ratio, s.min_ratio)
                                                   : s.min_ratio * s.min_ratio;
    figures_.usual_noise = std::exp2(b->noise);
    figures_.contrast = std::exp2(is.energy - b->energy);
    is.difference = pattern_.difference(b->pattern, b->floor);
    if (!pattern_.empty() && !b->pattern.empty()) {
      const double floor = std::max(pattern_.floor(), b->floor);
      figures_.spread = Pattern::spread(pattern_.logs(), floor) / std::max(Pattern::spread(b->pattern, floor), 1e-3);
    }
    if (!recent_.empty()) figures_.unrest = pattern_.difference(recent_.back().logs, recent_.back().floor).value_or(1);
    if (is.difference) {
      figures_.difference = *is.difference;
      figures_.changed = pattern_.changed(b->pattern, b->floor);
    }
  }
  // If the zones of an image never rest by themselves, most of them are enough; else all must be still.
  const bool is_still =
      from_recent.all <= kExact || (b && b->activity > kActive && is.distance <= kStill * b->activity);
  if (!is_still) is.still = still_;  // a natural standstill, now over
  figures_.still = still_ = is_still ? still_ + r.seconds : 0;
  return is;
}

ViewFit CameraWatch::fit_view(std::span<const double> levels, double floor) {
  const ViewFit own = matcher_.fit(levels, floor, baseline_.usual_view(level_));
  if (own.calm < kEnoughCalm || own.stays >= kStaysEnd) return own;
  // Something may have been parked there while this light was learned: a view that fits in similar light is no fault.
  for (const int level : {level_ - 1, level_ + 1}) {
    if (level < 0 || level >= kLightLevels) continue;
    const ViewFit other = matcher_.fit(levels, floor, baseline_.usual_view(level));
    if (other.calm >= kEnoughCalm && other.stays >= kStaysEnd) return other;
  }
  return matcher_.fit(levels, floor, baseline_.usual_view(level_));  // which is what search() goes on with
}

bool CameraWatch::compare_view(const Reading& r) {
  const bool is_new = window_.add(pattern_.logs(), pattern_.floor(), r.seconds);
  if (is_new) {
    lasting_ = fit_view(window_.view().levels, window_.view().floor);
    found_ = {};
    if (lasting_.misfit > kMisfit && lasting_.stays < kStays) found_ = matcher_.search(r.frame.grid);
    const ViewPlace& p = found_.place;
    if (std::hypot(p.right, p.down) < kNear && std::abs(p.degrees) < kNearDegrees && std::abs(p.scale - 1) < kNearScale)
      found_ = {};
  }
  figures_.lasting = lasting_;
  figures_.found = found_;
  figures_.view = fit_view(pattern_.logs(), pattern_.floor());
  const auto smeared = [](const ViewFit& v, double sharper) {
    return v.calm >= kEnoughCalm && v.sharper <= sharper ? v.softer : 0;
  };
  figures_.smeared = std::max(smeared(figures_.view, kSharperNow), smeared(lasting_, kSharperZones));
  return is_new;
}

CameraWatch::Distance CameraWatch::distance() {
  Distance least;
  for (std::size_t i = recent_.size(); i-- > 0;) {
    const Recent& other = recent_[i];
    if (other.logs.size() != pattern_.size()) continue;
    const double by_score = apart(score(), other.score);
    Distance d{by_score, std::max({by_score, apart(figures_.noise, other.noise), apart(figures_.mean, other.mean)})};
    if (!pattern_.empty()) {
      changes_.clear();
      for (std::size_t z = 0; z < pattern_.size(); ++z) {
        const double now = pattern_.logs()[z], before = other.logs[z], change = std::abs(now - before);
        d.all = std::max(d.all, change);
        // Zones on the floor carry no information.
        if (now > pattern_.floor() || before > other.floor) changes_.push_back(change);
      }
      d.most = kUnknown;
      if (changes_.size() > pattern_.size() / 2) {
        const auto at =
            changes_.begin() + static_cast<std::ptrdiff_t>(changes_.size() - 1 - changes_.size() / kStillOf);
        std::nth_element(changes_.begin(), at, changes_.end());
        d.most = *at;
      }
    }
    if (d.most < least.most || std::isnan(least.most)) least.most = d.most;
    if (d.all < least.all || std::isnan(least.all)) least.all = d.all;
  }
  return least;
}
void CameraWatch::remember() {
  if (recent_.full()) recent_.pop();
  Recent& now = recent_.next();  // reuses the memory of an old one
  now.score = score();
  now.noise = figures_.noise;
  now.mean = figures_.mean;
  now.floor = pattern_.floor();
  now.logs.assign(pattern_.logs().begin(), pattern_.logs().end());
  recent_.push();
}

CameraWatch::Sign CameraWatch::sign_of_moved(const LevelBaseline* b) const {
  const CameraFigures& is = figures_;
  if (!b) return kClear;
  // A blurred or white image says little about where the camera looks.
  if (!(is.ratio >= is.least_ratio) && !(is.found.gain > kFoundSurely)) return kBetween;
  if (is.clipped_white > kMuchWhite) return kBetween;
  const double other = std::max(baseline_.knows(level_) ? kOther : kOtherUnsure, kOtherThanUsual * b->restless);
  // An image unrelated to the usual one is another view even where many zones hold as much by
  // chance.
  const double most = is.difference > 2 * other ? kMostZonesEnd : kMostZones;
  if (is.smeared >= kSoftZones) return kBetween;
  const bool at_once = is.difference > other && is.changed >= most;
  if (is.view.calm < kEnoughCalm)
    return sign(at_once, !(is.difference > kOtherEnd * other) || !(is.changed >= kOtherEnd * most));
  const bool is_elsewhere = at_once || is.found.gain > kFound, returned = is.view.stays > kStaysEnd;
  return sign(is_elsewhere && is.view.stays < kStays, returned);
}

CameraWatch::Sign CameraWatch::sign_of(CameraState fault, const Reading& r, const LevelBaseline* b,
                                       const CameraWatchSettings& s) const {
  const WatchedFrame& f = r.frame;
  const CameraFigures& is = figures_;
  const bool own = b && baseline_.knows(level_);
  switch (fault) {
    case CameraState::kDark:
      return sign(f.mean < s.dark_level, !(f.mean < kDarkEnd * s.dark_level));
    case CameraState::kOverexposed: {
      const double light = f.mean / f.range;
      return sign(f.clipped_white >= s.overexposed_share || light > kLight,
                  !(f.clipped_white >= kWhiteEnd * s.overexposed_share) && !(light > kLightEnd));
    }
    case CameraState::kCovered: {
      if (f.score == 0) return kBad;
      // Noise that was not subtracted, or was compressed, covers all zones alike and changes every moment.
      const double unrest = b ? std::max(kUnrest, kOtherThanUsual * b->restless) : kUnrest;
      const bool other = is.difference > kAnother;  // unlike the usual pattern; fog leaves it alike
      const double alike = is.unrest > unrest ? kAlikeNoise : kAlike;
      const bool faded = is.contrast < kFaded && (is.ratio < kBlurred || other),
                 still_faded = is.contrast < kFadedEnd && (is.ratio < kBlurredEnd || other);
      const bool chance = other && is.unrest > kChance * unrest;
      return sign(faded || chance || is.spread < alike, !still_faded && !chance && !(is.spread < kAlikeEnd * alike));
    }
    case CameraState::kFrozen: {
      const double hold = static_cast<double>(s.hold_time) * 1e-9;
      const bool too_long = still_ >= (b ? std::max(hold, kLonger * b->longest_still) : kLonger * hold);
      return sign(still_ > 0 && too_long, still_ == 0 || state_ != CameraState::kFrozen);
    }
    case CameraState::kMoved:
      return sign_of_moved(b);
    case CameraState::kDefocused:
      return sign(is.ratio < is.least_ratio || (is.smeared >= kSoftZones && is.view.softer >= kSoftZonesEnd),
                  !(is.ratio < is.least_ratio * s.resume_ratio / s.min_ratio) && is.view.softer < kSoftZonesEnd);
    case CameraState::kFlickering:
      return sign(r.swing > kSwing, r.swing < kSwingEnd);
    case CameraState::kNoisy: {
      if (!own) return kClear;
      // The noise added to the usual one.
      const double most = std::max(kNoise, kNoisier * is.usual_noise),
                   more = std::sqrt(std::max(0.0, is.noise * is.noise - is.usual_noise * is.usual_noise));
      return sign(more > most, !(more > kNoiseEnd * most));
    }
    default:
      return kClear;
  }
}

}  // namespace framequality
