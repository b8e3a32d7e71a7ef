// SPDX-License-Identifier: LGPL-2.1-or-later
// An autofocus, a lens and a scene, frame by frame.
#pragma once

#include "algorithms/focus/lens_drive.h"
#include "algorithms/split_mix.h"
#include "benchmarks/focus/autofocus.h"
#include "benchmarks/focus/score_table.h"

#include <memory>

namespace framequality::bench {

/// A subject behind a lens of so many positions, 0...positions - 1, one apart.
struct View {
  const ScoreTable* seen = nullptr;   ///< what the camera sees
  const ScoreTable* truth = nullptr;  ///< the same at full contrast
  bool is_sweep = false;
  int positions = 101;
  double best = 50;           ///< where it is sharp
  double per_position = 0.1;  ///< pixels of blur, or pictures of the sweep, for one position

  double node(double position) const;
  double blur(double position) const { return is_sweep ? 0 : node(position); }
  /// Share of the swing of the score, from its least to its greatest over all positions, that is reached.
  double reached(double position) const;
};

/// A view of a subject. Of a photograph, where it is sharp and how fast it blurs are random: the whole range is 5 to 30
/// pixels of blur. Of a sweep, each position is one of its images, so `positions` does not count.
View random_view(Subject& subject, int positions, double contrast, SplitMix& random);

/// What may change from frame to frame.
struct Light {
  double sigma = 0;         ///< of the noise, codes
  double flicker = 0;       ///< exposure is random in 1 - flicker...1 + flicker
  double lamp = 0;          ///< exposure also varies as a cosine in 1 - lamp...1 + lamp,
  double lamp_periods = 0;  ///< periods of this cosine between two frames
  double exposure = 1;      ///< times the codes
  bool normalized = true;   ///< the score is divided by the squared mean luma, as normalize=mean does
  double veil = 1;          ///< times the score, of what passes in front of the scene
};

class Rig {
 public:
  /// settle_frames: as the autofocus is told.
  struct Options {
    DriveSettings drive{.lag = 2};
    int settle_frames = 3;
    bool continuous = false;
    std::uint64_t seed = 0;
    bool is_parked = false;
  };
  /// The lens is anywhere at first, by the seed, or where its range begins, if it is parked.
  Rig(const Algorithm& algorithm, const View& view, const Light& light, const Options& options);

  /// One frame; true if the lens was told to move.
  bool frame();
  /// Frames until the search is over, or so many.
  int run(int most);
  /// Where the lens is once it obeyed all commands.
  double settled();

  const Autofocus& autofocus() const { return *autofocus_; }
  double lens() const { return lens_; }      ///< where it was when the last frame ended
  double target() const { return target_; }  ///< where it was sent
  int moves() const { return moves_; }
  int searches() const { return searches_; }                ///< that began after another had ended
  int failed_searches() const { return failed_searches_; }  ///< that ended so

  View view;
  Light light;

 private:
  Sight look(std::span<const double> positions);
  double gaussian();

  SplitMix random_;
  LensDrive drive_;
  double target_, lens_;
  double lamp_phase_;  ///< periods
  std::unique_ptr<Autofocus> autofocus_;
  int moves_ = 0, searches_ = 0, failed_searches_ = 0;
};

}  // namespace framequality::bench
