// SPDX-License-Identifier: LGPL-2.1-or-later
// The autofocus search.
#include "algorithms/focus/search.h"
#include "c/internal.h"

#include <cmath>
#include <limits>

using namespace framequality;
using namespace framequality::c;

struct fq_focus {
  focus::Search search;
};

namespace {

/// More positions than any drive has; the search keeps some numbers for each.
constexpr double kMostPositions = 1e7;

fq_focus_options default_options() {
  fq_focus_options o{};
  o.size = sizeof o;
  o.max = 100;
  o.step = 1;
  o.average_frames = 1;
  o.min_certainty = FocusSettings{}.min_certainty;
  return o;
}

FocusSettings settings_of(const fq_focus_options& o) {
  require(std::isfinite(o.min) && std::isfinite(o.max) && o.min <= o.max,
          "options->min and max must be finite, and min at most max");
  require(o.step > 0 && std::isfinite(o.step) && (o.max - o.min) / o.step <= kMostPositions,
          "options->step must be larger than 0, and leave at most 10,000,000 positions");
  require(o.coarse_step == 0 || o.coarse_step >= o.step, "options->coarse_step must be 0, or at least step");
  require(std::isfinite(o.coarse_step) && std::isfinite(o.backlash),
          "options->coarse_step and backlash must be finite");
  require_range("options->lag_frames", o.lag_frames, -1, 1000);
  require_range("options->settle_frames", o.settle_frames, 0, 1000);
  require_range("options->average_frames", o.average_frames, 1, 1000);
  require_range("options->stop_and_go", o.stop_and_go, 0, 1);
  require_range("options->continuous", o.continuous, 0, 1);
  require_range("options->reserved", o.reserved, 0, 0);
  require_range("options->stack", o.stack, 0, 1000);
  require(o.stack_step >= 0 && std::isfinite(o.stack_step), "options->stack_step must be 0 or larger");
  require_range("options->goal", o.goal, FQ_GOAL_PEAK, FQ_GOAL_FARTHEST);
  require(o.min_certainty >= 0 && o.min_certainty <= 1, "options->min_certainty must be within 0...1");
  FocusSettings s;
  s.min = o.min;
  s.max = o.max;
  s.step = o.step;
  s.coarse_step = o.coarse_step;
  s.backlash = o.backlash < 0 ? -1 : o.backlash;
  s.lag_frames = o.lag_frames;
  s.settle_frames = o.settle_frames;
  s.average_frames = o.average_frames;
  s.stop_and_go = o.stop_and_go;
  s.min_certainty = o.min_certainty;
  s.goal = static_cast<FocusGoal>(o.goal);
  s.stack = o.stack;
  s.stack_step = o.stack_step;
  s.mode = o.continuous ? FocusMode::kContinuous : FocusMode::kOneShot;
  return s;
}

int next(fq_focus* focus, const FocusFrame& frame, double* position) {
  require(position != nullptr, "position is NULL");
  const std::optional<double> to = focus->search.frame(frame);
  *position = focus->search.position();
  return to ? 1 : 0;
}

std::optional<double> score_of(double score) { return std::isfinite(score) ? std::optional(score) : std::nullopt; }

static_assert(static_cast<int>(FocusState::kStack) == FQ_FOCUS_STACK &&
              static_cast<int>(FocusState::kFocused) == FQ_FOCUS_FOCUSED &&
              static_cast<int>(FocusGoal::kFarthest) == FQ_GOAL_FARTHEST);

}  // namespace

extern "C" {

int fq_focus_options_init(fq_focus_options* options) {
  return guarded([&] { give(options, default_options(), "options"); });
}

int fq_focus_open(const fq_focus_options* options, double position, fq_focus** focus) {
  return guarded([&] {
    require(focus != nullptr, "focus is NULL");
    *focus = nullptr;
    *focus = new fq_focus{focus::Search(settings_of(known(options, default_options(), "options")), position)};
  });
}
void fq_focus_close(fq_focus* focus) { delete focus; }

int fq_focus_next(fq_focus* focus, double score, double* position) {
  return guarded([&] {
    require(focus != nullptr, "focus is NULL");
    return next(focus, {.score = score_of(score)}, position);
  });
}
int fq_focus_next_result(fq_focus* focus, const fq_result* result, double* position) {
  return guarded([&] {
    require(focus != nullptr, "focus is NULL");
    const fq_result r = known(result, {}, "result");
    FocusFrame frame;
    frame.score = score_of(r.score);
    frame.noise = r.noise;
    frame.mean = r.mean;
    frame.light_power = r.light_power;
    return next(focus, frame, position);
  });
}
int fq_focus_trigger(fq_focus* focus) {
  return guarded([&] {
    require(focus != nullptr, "focus is NULL");
    focus->search.trigger();
  });
}

int fq_focus_get_state(const fq_focus* focus) {
  return focus ? static_cast<int>(focus->search.state()) : FQ_FOCUS_IDLE;
}
int32_t fq_focus_stack_image(const fq_focus* focus, int32_t* count, double* position) {
  const FocusStackImage none, &image = focus ? focus->search.stack_image() : none;
  if (count) *count = image.count;
  if (position) *position = image.position;
  return image.number;
}
const char* fq_focus_reason(const fq_focus* focus) { return focus ? focus->search.reason() : ""; }

size_t fq_focus_curve(const fq_focus* focus, double* positions, double* scores, size_t room, double* top,
                      double* error) {
  const FocusCurve none, &curve = focus ? focus->search.curve() : none;
  const std::size_t count = std::min(room, curve.positions.size());
  if (positions) std::copy_n(curve.positions.begin(), count, positions);
  if (scores) std::copy_n(curve.scores.begin(), count, scores);
  // A peak that was found has a width.
  if (top) *top = curve.width > 0 ? curve.top : std::numeric_limits<double>::quiet_NaN();
  if (error) *error = curve.error;
  return curve.positions.size();
}
double fq_focus_certainty(const fq_focus* focus) { return focus ? focus->search.curve().certainty : 0; }

}  // extern "C"
