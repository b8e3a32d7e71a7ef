// SPDX-License-Identifier: LGPL-2.1-or-later
// focus::Search as an Autofocus: the one place that knows its interface.
#include "algorithms/focus/search.h"
#include "benchmarks/focus/autofocus.h"

namespace framequality::bench {
namespace {

FocusSettings settings_for(const LensRange& range, const Settings& settings) {
  FocusSettings s;
  s.min = range.min;
  s.max = range.max;
  s.step = range.step;
  s.settle_frames = range.settle_frames;
  s.mode = range.continuous ? FocusMode::kContinuous : FocusMode::kOneShot;
  SettingsReader(settings)
      .take("coarse_step", s.coarse_step)
      .take("average_frames", s.average_frames)
      .take("lag_frames", s.lag_frames)
      .take("backlash", s.backlash)
      .take("settle_frames", s.settle_frames)
      .take("stop_and_go", s.stop_and_go)
      .take("tracking", s.tracking)
      .take("loss", s.loss)
      .take("loss_frames", s.loss_frames)
      .take("min_certainty", s.min_certainty)
      .finish("focus");
  return s;
}

class FocusSearchAutofocus : public Autofocus {
 public:
  FocusSearchAutofocus(const FocusSettings& settings, double position) : search_(settings, position) {}

  std::optional<double> frame(const Sight& sight) override {
    FocusFrame f;
    f.score = sight.score;
    f.noise = sight.noise;
    f.mean = sight.mean;
    f.light_power = sight.normalized ? 0 : 2;
    return search_.frame(f);
  }
  bool done() const override {
    const FocusState s = search_.state();
    return s == FocusState::kFocused || s == FocusState::kFailed || s == FocusState::kIdle ||
           s == FocusState::kTracking;
  }
  bool failed() const override { return search_.state() == FocusState::kFailed; }
  double certainty() const override { return search_.curve().certainty; }
  std::vector<double> evidence() const override {
    const focus::Evidence& e = search_.evidence();
    return {e.error, e.blind, e.short_of_best, e.trusts_sweep ? 1.0 : 0.0};
  }
  double position() const override { return search_.position(); }

 private:
  focus::Search search_;
};

}  // namespace

std::unique_ptr<Autofocus> make_focus_search(const LensRange& range, const Settings& settings) {
  return std::make_unique<FocusSearchAutofocus>(settings_for(range, settings), range.position);
}

}  // namespace framequality::bench
