// SPDX-License-Identifier: LGPL-2.1-or-later
// Detection of lost focus while the lens is at rest, from the scores of its frames.
//
// Noise and light change scores as well as focus does. If a frame's noise and brightness are known, changes that they
// explain are not losses: noise adds to a score at most the whole score of an unfocused scene, and
// light scales it. A score that falls while the brightness stays is believed after half as many frames: that is what
// focus does, and what hides the scene does not.
#pragma once

#include "algorithms/focus/peak.h"
#include "algorithms/ring.h"

#include <array>
#include <cstdint>
#include <limits>

namespace framequality {

/// The measurements of a frame, as far as known.
struct FocusFrame {
  std::optional<double> score;  ///< finite; empty if not measured
  double noise =
      std::numeric_limits<double>::quiet_NaN();  ///< its standard deviation, 8-bit grey levels; NaN: not known
  double mean = std::numeric_limits<double>::quiet_NaN();  ///< luma, 8-bit grey levels; NaN: not known
  int light_power = 0;  ///< the score scales with this power of the light; 0 if it is normalized
  std::uint64_t known = std::numeric_limits<std::uint64_t>::max();  ///< commands so far that it may show
};

struct WatchSettings {
  double loss = 0.3;      ///< relative change of the score that loses focus, 0...1
  int loss_frames = 10;   ///< frames that it must last, >= 1; half if brightness is known to be unchanged
  bool tracking = true;   ///< smaller changes that last count too
  double noise_gain = 0;  ///< most that noise adds to a score, per unit of its variance, 8-bit grey levels^2
  double noise_least = 0, noise_most = 0;  ///< standard deviations that were estimated while nothing but focus changed:
                                           ///< texture counts as noise where it is in focus
};

class FocusWatch {
 public:
  enum class Sign {
    kNone,
    kSlipped,  ///< a small lasting loss
    kLost      ///< a large one, and the scene has come to rest
  };

  /// Starts watching: the lens has come to rest, at a new position or the same one.
  void begin() {
    reference_ = {};
    recent_.clear();
    outside_ = waited_ = explained_ = 0;
    was_outside_ = false;
    block_ = {};
    base_ = {};
    calm_ = 0;
  }
  /// If the last search, or probe, ended where it began, the next waits longer, until all has been calm.
  void was_useless(bool useless) { patience_ = useless ? std::min(2 * patience_, kMostPatience) : 1; }
  void probe_was_useless(bool useless) {
    probe_patience_ = useless ? std::min(2 * probe_patience_, kMostProbePatience) : std::max(1, probe_patience_ / 2);
    quiet_ = 0;
  }

  /// Judges a frame that has a score.
  Sign frame(const FocusFrame& f, const WatchSettings& s) {
    const double score = *f.score;
    calm_frames_ = std::clamp(static_cast<std::size_t>(s.loss_frames) / 2, kLeastCalmFrames, kMostCalmFrames);
    if (recent_.full()) recent_.pop();
    recent_.push({score, f.mean});
    ++quiet_;
    if (reference_.frames < s.loss_frames) {
      reference_.add(f);
      block(f);
      return Sign::kNone;
    }
    const auto [low, high] = explained(f, s);
    const bool outside = is_outside(score, low, high, s.loss);
    if (std::exchange(was_outside_, outside) && !outside) {
      // Forget frames of what passed by.
      recent_.clear();
      recent_.push({score, f.mean});
    }
    // Single frames inside take back one, so that a noisy score near the limit still counts.
    outside_ = std::max(0, outside_ + (outside ? 1 : -1));
    calm_ = outside_ > 0 ? 0 : calm_ + 1;
    if (calm_ == kCalm * s.loss_frames * patience_) {
      calm_ = 0;
      patience_ = std::max(1, patience_ / 2);
    }
    if (2 * outside_ >= s.loss_frames * patience_ && score < low && is_calm() && is_as_bright()) return Sign::kLost;
    if (outside_ >= s.loss_frames * patience_) {
      outside_ = s.loss_frames * patience_;
      ++waited_;
      if (is_calm() || waited_ >= kLongestWait) return Sign::kLost;
      return Sign::kNone;
    }
    waited_ = 0;
    if (outside) return Sign::kNone;
    if (!is_alike(low, high)) {
      // Light or noise that has changed for good becomes the new reference.
      if (++explained_ < kRebase) return Sign::kNone;
      begin();
      return Sign::kNone;
    }
    explained_ = 0;
    return s.tracking ? track(f) : Sign::kNone;
  }

  /// Mean score of the last frames.
  FocusSample level() const {
    const std::size_t n = std::min(calm_frames_, recent_.size());
    FocusSample sample{.at = 0, .score = 0, .frames = static_cast<int>(n)};
    for (std::size_t i = recent_.size() - n; i < recent_.size(); ++i) sample.score += recent_[i].score / sample.frames;
    return sample;
  }
  /// Standard deviation of single scores; 0 before it is known.
  double noise() const { return base_.frames ? base_.deviation : 0; }
  /// Standard deviation of recent scores, including the scene's own motion.
  double unrest() const {
    Block all;
    for (std::size_t i = recent_.size() - std::min(calm_frames_, recent_.size()); i < recent_.size(); ++i)
      all.add(recent_[i].score);
    if (all.frames < 2) return 0;
    all.end();
    return all.deviation;
  }
  /// Mean score of the first frames; 0 before there are enough.
  double reference() const { return reference_.score(); }

 private:
  static constexpr int kMostPatience = 16, kMostProbePatience = 16;
  static constexpr int kCalm = 4;            ///< times patience without a frame of another scene that halve it
  static constexpr int kLongestWait = 90;    ///< frames, for a scene that does not come to rest
  static constexpr double kSteady = 0.06;    ///< a score that has varied by less than this share is steady,
  static constexpr double kSteadyNoise = 6;  ///< or by fewer standard deviations
  static constexpr double kSteadyLight = 0.04;
  static constexpr double kSameLight = 0.01;
  static constexpr double kOtherScene = 3;  ///< a ratio of brightness beyond this means another scene
  static constexpr std::size_t kRecent = 8, kLeastCalmFrames = 3, kMostCalmFrames = 5;
  static constexpr int kBlock = 30, kRebase = 30;
  static constexpr double kSlip = 0.04, kSlipNoise = 6;          ///< of the recent frames
  static constexpr double kSlowSlip = 0.02, kSlowSlipNoise = 5;  ///< of a block

  struct Seen {
    double score, mean;
  };
  struct Reference {
    double sum = 0, noise_sum = 0, mean_sum = 0;
    int frames = 0;
    void add(const FocusFrame& f) {
      sum += *f.score;
      noise_sum += f.noise * f.noise;
      mean_sum += f.mean;
      ++frames;
    }
    double score() const { return frames ? sum / frames : 0; }
    double variance() const { return noise_sum / frames; }  ///< of noise
    double mean() const { return mean_sum / frames; }
  };
  /// Mean and standard deviation of a block of scores.
  struct Block {
    double sum = 0, squares = 0, first = 0;
    int frames = 0;
    double mean = 0, deviation = 0;
    void add(double score) {
      if (frames++ == 0) first = score;
      sum += score - first;
      squares += (score - first) * (score - first);
    }
    void end() {
      const double m = sum / frames;
      mean = first + m;
      deviation = std::sqrt(std::max(0.0, squares / frames - m * m));
    }
  };

  static bool is_outside(double score, double low, double high, double loss) {
    const double keep = 1 - loss, grow = 1 / std::max(1 - loss, 1e-3);
    return score < std::min(low * keep, low * grow) || score > std::max(high * keep, high * grow);
  }

  /// Least and highest score of the reference under this frame's noise and light.
  std::pair<double, double> explained(const FocusFrame& f, const WatchSettings& s) const {
    double low = reference_.score(), high = low;
    const double mean = reference_.mean();
    const double light = mean > 0 && f.mean > 0 ? f.mean / mean : 1;
    if (f.light_power > 0) low = high = low * std::pow(light, f.light_power);
    if (light > kOtherScene || light < 1 / kOtherScene) return {low, high};
    const double before = variance(std::sqrt(reference_.variance()), s);
    // A normalized score's noise goes with the inverse square of the light.
    for (const double noise : {f.noise, f.light_power > 0 ? f.noise : f.noise / light}) {
      const double more = s.noise_gain * (variance(noise, s) - before);
      if (more < 0) low += more;
      if (more > 0) high += more;
    }
    return {low, high};
  }
  /// Noise variance without the effect of focus on its estimate; NaN if unknown.
  static double variance(double noise, const WatchSettings& s) {
    const double most = s.noise_most * s.noise_most, least = s.noise_least * s.noise_least;
    if (noise > s.noise_most) return noise * noise;
    return noise < s.noise_least ? noise * noise + most - least : noise >= 0 ? most : noise;
  }
  bool is_alike(double low, double high) const {
    const double score = std::abs(reference_.score());
    return std::abs(low - reference_.score()) <= kSlip * score && std::abs(high - reference_.score()) <= kSlip * score;
  }

  bool is_calm() const {
    if (recent_.size() < calm_frames_) return false;
    double least = recent_.back().score, most = least, darkest = recent_.back().mean, lightest = darkest;
    for (std::size_t i = recent_.size() - calm_frames_; i < recent_.size(); ++i) {
      least = std::min(least, recent_[i].score), most = std::max(most, recent_[i].score);
      darkest = std::min(darkest, recent_[i].mean), lightest = std::max(lightest, recent_[i].mean);
    }
    const double allowed = std::max(kSteady * std::max(std::abs(least), std::abs(most)), kSteadyNoise * noise());
    return most - least <= allowed && !(lightest - darkest > kSteadyLight * lightest + 1);
  }

  /// True if the scene is known to be as bright as before. Blur spreads light and takes none away, while of photographs
  /// that cover 30 to 90% of another one, 6% leave it as bright as that.
  bool is_as_bright() const {
    double mean = 0;
    for (std::size_t i = recent_.size() - calm_frames_; i < recent_.size(); ++i)
      mean += recent_[i].mean / static_cast<double>(calm_frames_);
    return std::abs(mean - reference_.mean()) < kSameLight * reference_.mean();
  }

  /// Adds to the block; true if it is full.
  bool block(const FocusFrame& f) {
    block_.add(*f.score);
    if (block_.frames < kBlock) return false;
    block_.end();
    return true;
  }

  Sign track(const FocusFrame& f) {
    bool slipped = false;
    if (block(f)) {
      const Block full = std::exchange(block_, {});
      if (base_.frames == 0) {
        base_ = full;
      } else {
        const double error = base_.deviation * std::sqrt(2.0 / kBlock);
        slipped = base_.mean - full.mean > std::max(kSlowSlip * std::abs(base_.mean), kSlowSlipNoise * error) &&
                  full.deviation < 3 * base_.deviation + kSlowSlip * std::abs(base_.mean);
        if (full.mean > base_.mean + kSlowSlipNoise * error) base_ = full;
      }
    }
    if (base_.frames == 0 || quiet_ < kBlock * probe_patience_) return Sign::kNone;
    const double error = base_.deviation * std::sqrt(1.0 / static_cast<double>(calm_frames_) + 1.0 / kBlock);
    slipped = slipped || (recent_.full() &&
                          base_.mean - level().score > std::max(kSlip * std::abs(base_.mean), kSlipNoise * error));
    return slipped && is_calm() ? Sign::kSlipped : Sign::kNone;
  }

  Reference reference_;
  Ring<Seen, std::array<Seen, kRecent>> recent_;
  std::size_t calm_frames_ = kMostCalmFrames;  ///< frames without change that a scene at rest has shown
  Block block_, base_;                         ///< being filled; the first full one
  int outside_ = 0, calm_ = 0,
      waited_ = 0;  ///< frames of another scene, without one since, and that it has moved since
  bool was_outside_ = false;
  int explained_ = 0;  ///< frames whose difference noise or light explains
  int quiet_ = 0;      ///< frames since the last probe
  int patience_ = 1, probe_patience_ = 1;
};

}  // namespace framequality
