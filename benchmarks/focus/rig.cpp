// SPDX-License-Identifier: LGPL-2.1-or-later
// An autofocus, a lens and a scene, frame by frame.
#include "benchmarks/focus/rig.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace framequality::bench {

double View::node(double position) const {
  return is_sweep ? std::clamp(position * per_position, 0.0, truth->last()) : std::abs(position - best) * per_position;
}

double View::reached(double position) const {
  double least = truth->clean(node(0)), most = least;
  for (int i = 1; i < positions; ++i) {
    const double score = truth->clean(node(i));
    least = std::min(least, score);
    most = std::max(most, score);
  }
  return most > least ? (truth->clean(node(position)) - least) / (most - least) : 1;
}

View random_view(Subject& subject, int positions, double contrast, SplitMix& random) {
  constexpr double kLeastBlur = 5, kMostBlur = 30;  // pixels, over the whole range
  View view{.seen = &subject.table(contrast), .truth = &subject.table(), .is_sweep = subject.is_sweep()};
  if (view.is_sweep) {
    view.positions = subject.nodes();
    view.per_position = 1;
    double most = -1;
    for (int at = 0; at < view.positions; ++at)
      if (const double score = view.truth->clean(at); score > most) most = score, view.best = at;
    return view;
  }
  view.positions = positions;
  const double range = positions - 1, u = random.uniform(), v = random.uniform();
  view.best = u * range;
  view.per_position = kLeastBlur * std::pow(kMostBlur / kLeastBlur, v) / range;
  return view;
}

namespace {

LensRange range_of(const View& view, const Rig::Options& options, double position) {
  LensRange range;
  range.min = 0;
  range.max = view.positions - 1;
  range.step = 1;
  range.settle_frames = options.settle_frames;
  range.continuous = options.continuous;
  range.position = position;
  return range;
}

}  // namespace

Rig::Rig(const Algorithm& algorithm, const View& v, const Light& l, const Options& options)
    : view(v), light(l), random_(options.seed) {
  target_ = lens_ = std::floor(random_.uniform() * view.positions);
  lamp_phase_ = target_ / view.positions;  // as random as where the lens is
  if (options.is_parked) target_ = lens_ = 0;
  drive_.configure(options.drive);
  autofocus_ = algorithm.make(range_of(view, options, target_));
}

double Rig::gaussian() {
  const double r = std::sqrt(-2 * std::log(1 - random_.uniform()));
  return r * std::cos(2 * std::numbers::pi * random_.uniform());
}

Sight Rig::look(std::span<const double> positions) {
  lamp_phase_ += light.lamp_periods;
  const double lamp = 1 + light.lamp * std::cos(2 * std::numbers::pi * lamp_phase_);
  const double gain = light.exposure * lamp * (1 + light.flicker * (2 * random_.uniform() - 1));
  // Brighter by a gain with the same noise is the same picture with less noise; the score is in units of the mean.
  const double sigma = light.sigma / gain;
  Expected sum;
  for (const double at : positions) {
    const Expected e = view.seen->at(view.node(at), sigma);
    const double share = 1 / static_cast<double>(positions.size());
    sum.mean += e.mean * share, sum.sd += e.sd * share, sum.noise += e.noise * share, sum.luma += e.luma * share;
  }
  Sight sight;
  sight.mean = std::min(255.0, sum.luma * gain);
  sight.noise = sum.noise * gain;
  sight.score = (sum.mean + sum.sd * gaussian()) * light.veil;
  sight.normalized = light.normalized;
  if (!light.normalized) sight.score *= gain * gain;
  return sight;
}

bool Rig::frame() {
  const std::span<const double> positions = drive_.frame(target_);
  lens_ = positions.back();
  const bool was_done = autofocus_->done();
  const std::optional<double> to = autofocus_->frame(look(positions));
  searches_ += was_done && !autofocus_->done();
  failed_searches_ += !was_done && autofocus_->done() && autofocus_->failed();
  if (!to || *to == target_) return false;
  target_ = *to;
  ++moves_;
  return true;
}

int Rig::run(int most) {
  for (int frames = 1; frames <= most; ++frames) {
    frame();
    if (autofocus_->done()) return frames;
  }
  return most;
}

double Rig::settled() {
  for (double before = lens_ + 1; before != lens_;) {
    before = lens_;
    for (int i = 0; i <= LensDrive::kMaxLag; ++i) lens_ = drive_.frame(target_).back();
  }
  return lens_;
}

}  // namespace framequality::bench
