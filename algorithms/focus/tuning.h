// SPDX-License-Identifier: LGPL-2.1-or-later
// Thresholds of the focus search.
#pragma once

#include <cstddef>
#include <cstdint>

namespace framequality::focus {

/// Units: positions in steps, times in frames. "Widths" are those of the peak (FocusPeak::width), shares those of its
/// height, "deviations" standard deviations of single scores.
///
/// Where the values come from: "theory" says that they follow from it. The others were chosen with the tables of
/// focus_bench (docs/autofocus.md) that each part names, and the lenses of tests/focus/search_lens_test.cpp. After
/// changing one, compare all rows.
struct Tuning {
  // --- Sweep: tables focusing, contrast, flat ------------------------------------------------------------------------
  double divisions = 20;         ///< commands over the range: narrower peaks are missed, and each takes a frame
  double prompt_divisions = 10;  ///< the same where the lens is at once where it is sent: peaks of blur are wide, and
                                 ///< positions far apart locate their top
  double stop_divisions = 14;    ///< the same where each is a stop, which takes settle_frames more
  double slower = 2.5;       ///< times nearer are commands of the next sweep if stops did not find the last one's peak
  double swept_width = 0.9;  ///< widths of the last peak that commands are apart, a sample on each flank (theory),
  double swept_least = 0.5, swept_most = 1.4;  ///< but within so many times the distance of one that is not known
  double swept_slew = 0.9;                     ///< share of a slow lens's way in a frame that they are apart at most
  double way_in_frame = 0.5;                   ///< and share from which on frames show it on its way
  double past = 0.5;             ///< share of its rise that the score has come down by when a leg may end,
  double past_peak = 3;          ///< the best so many times the least,
  double past_noise = 6;         ///< and down by so many deviations, which is not by chance
  double one_depth = 0.08;       ///< share by which one peak may be off all that it explains when a leg may end,
  double sure_peak = 0.01;       ///< and share of the range that its top may be uncertain by
  double moving = 0.05;          ///< share of all scores' range by which two differ that show a lens on its way
  double falls = 0.15;           ///< share of the score that leads away from the peak, where it may be on either side
  double flat = 0.01;            ///< share of the score within which all lie where there is no peak
  double windows[2] = {1.5, 3};  ///< strides over which scores are averaged to see whether a peak stands out:
  double stands_out = 7;         ///< deviations from which one does,
  double may_stand_out = 3.5;    ///< and from which it may, so that another sweep must decide
  double narrow_peak = 1.2;      ///< times sqrt(range / 2): largest stride at which a flat sweep is believed
  double offsets[4] = {0, 0.5, 0.25, 0.75};  ///< strides by which repeated sweeps are shifted (theory: bisection)
  std::size_t stood_samples = 3;             ///< scores that are alike where a sweep begins tell that the lens stands,
  double stood_jump = 8, stood_spread = 0.03;  ///< if they then change by so many times as much, and differ by at most
                                               ///< this share of all scores' range
  double stood_height = 0.05;                  ///< at more than that: far from a peak scores are alike anyway
  int enough_repeats = 6;                      ///< repeated scores of a position that suffice to estimate noise,
  double few_repeats = 1.3;                    ///< and factor by which it may exceed that estimate
  double from_here = 0.75;                     ///< strides: a peak nearer than this to the last focus is no new one
  // Of objects at several distances: tests/focus/planes_test.cpp.
  double plane_share = 0.03;  ///< share of the highest peak's rise from which on another stands out,
  double plane_noise = 5;     ///< and deviations

  // --- Lens: table lenses --------------------------------------------------------------------------------------------
  double deep = 0.25;                  ///< share of the range: largest play considered possible,
  double deep_told = 1.2;              ///< divided by this if play cannot be measured, as its spare comes on top
  double no_play = 0.5;                ///< steps: less does not show on a grid of steps (theory)
  double spare_play = 0.1;             ///< share of the play passed in addition to it, at least one step,
  double spare_learned = 0.5;          ///< and if it was learned, from a sweep that shows it within a third
  double play_room = 0.015;            ///< share of the range that stops keep clear of learned play at its end
  double slow_time = 1.5;              ///< factor on a slow lens's learned travel time, to wait for it
  int tells_speed = 3;                 ///< frames that a move takes at least to tell its speed better than another did
  int late = 2;                        ///< frames that a lens slower than the sweep moves after its last command
  double creeping = 0.6;               ///< strides per frame below which a sweep does not wait for the lens, as a long
  int long_move = 6;                   ///< move of at least so many frames shows,
  int creeping_late = 6;               ///< or frames that it moves after the last command of a sweep
  double creeping_time = 1.1;          ///< factor on the travel time at a speed that a sweep has shown
  double jump = 3;                     ///< times further than that in one frame, it does not creep after all
  std::size_t rest_frames = 16;        ///< scores that tell whether a lens that creeps is at rest:
  double rest_ratio = 0.6;             ///< least share of their spread that they change by (theory: 2 at rest),
  double rest_noise = 4;               ///< and deviations within which earlier ones belong to them
  double running = 0.05;               ///< share of the score: so large and even changes show a lens on its way
  std::size_t gliding = 6;             ///< scores that show a lens on its way by changes of one sign,
  double even[2] = {0.04, 0.5};        ///< each within these shares of their sum
  int longest_settle = 40;             ///< frames to wait at most for the lens to come to rest,
  int slowest = 4, most_wait = 1024;   ///< and that the slowest lens takes for each step; most of both together
  int unknown_settle = 3;              ///< settle_frames where neither that nor the lag was set, until scores after a
  double settled = 0.1;                ///< move differ by at most this share of those during it
  int patient_settle = 6;              ///< frames to wait for a response while the lag is unknown,
  double seen_width = 0.5;             ///< if the move was longer than this many widths
  double seen_noise = 0.3;             ///< and the tolerance is below this share
  int scene_moves = 3;                 ///< frames that a stop waits for a lens known to move instantly
  double answer = 0.01;                ///< share of the score by which an answer to a command differs at least,
  std::size_t answer_frames = 9;       ///< frames until it must be seen,
  double calm = 0.003;                 ///< share of the score by which two differ that show little noise;
  double clear_step[3] = {16, 9, 7};   ///< Student's t of an answer that is seen, of 4, 5, and more scores: 1.4% of
  std::size_t step_scores = 9;         ///< noise has as much somewhere; scores until it must be seen,
  double no_step = 3;                  ///< and what 5 of them must have to wait for more
  double even_pace = 0.5;              ///< and share of a lens's way in a frame that it goes in the next, on its way
  double quiet = 0.1;                  ///< share of the score: frames that vary less show nothing,
  double quiet_change = 0.15;          ///< and share of their range within which two of them are equal
  double far = 0.05, far_noise = 8;    ///< share of the score, deviations: least effect of a command
  double near = 0.08, near_noise = 4;  ///< share of the effect, deviations: within it, the lens has arrived
  double clean = 0.7;                  ///< share of the range: a larger jump in one frame means no travel time
  std::size_t most_trail = 1024;       ///< frames kept after a command
  double tells_least = 0.05, tells_most = 0.9;   ///< shares between which a score locates a place on a flank
  double play_stride = 0.15, play_width = 0.1;   ///< strides, widths: smaller play counts as none, from stops,
  std::size_t tells_slow = 3;                    ///< if it is slow, at least so many before play is told;
  double falls_behind = 1.7, play_behind = 0.2;  ///< strides per frame of a lens slower than the sweep, and share of
                                                 ///< the distance from the top: smaller play counts as none

  // --- Way back: table lenses ----------------------------------------------------------------------------------------
  int most_times_back = 2;  ///< after the sweep, and after looking closer
  int wide_least = 3;       ///< steps: with less stride, positions are not far apart
  double as_well = 2;       ///< times the squares with play, within which a limited speed explains scores as well
  double keeps_up = 1.3;    ///< strides per frame from which on a lens is seen where it is sent
  double flank = 0.45;      ///< most share of the peak's height that a look is off half of it
  std::size_t looks_at_both = 1, looks_at_one = 3;  ///< at each flank, and where only one is seen
  double play_off = 0.05, slew_off = 0.035;         ///< share that scores may be off to tell the play, or a speed,
  double play_gain = 4;                             ///< deviations by which it must explain them better than none,
  double play_error = 1.5, play_share = 0.15;       ///< steps, and share of it, that it may be uncertain by
  double repeated = 0.03;                           ///< share of the height within which scores are the same
  double clear = 0.01;                              ///< share of the lowest score that noise is below, to be sure
  double clear_of_play = 1.1;  ///< times `deep`: farther from where the sweep began it has no effect
  double near_strides = 1.5;   ///< strides around the top to look at closer

  // --- Noise: tables focusing, contrast ------------------------------------------------------------------------------
  double least_light = 1;                    ///< grey levels: darker frames count as lit like this
  int some_changes = 2, enough_changes = 8;  ///< changes between frames at rest that may lower the noise, or define it,
  double few_changes = 1.5;                  ///< and factor on the estimate from few of them
  double same = 0.02, same_noise = 7;        ///< share, deviations within which scores are equal: 5 sqrt(2) (theory)
  double frames_factor = 2.5;                ///< times width * noise / height: error of the top from one noisy frame
  double sure = 0.5, sure_width = 0.1;       ///< steps, widths: largest error of the top accepted,
  int most_frames = 8;                       ///< but a stop takes at most this many frames

  // --- Stops: tables focusing, contrast, lenses ----------------------------------------------------------------------
  // Distances from the top, widths: first from the other side, first, behind the top, and all later.
  double side_far = 1.6, side_near = 0.75, side_behind = 1.2, side = 0.8;
  double least_width = 0.7;                       ///< steps: least width assumed there
  double behind = 0.3;                            ///< widths that the lens must be beyond a stop behind the top
  double second_least = 0.1, second_most = 0.97;  ///< shares between which the first stop's score locates the top,
  double second_reach = 2;                        ///< at most this many widths away
  double wide = 1.2;                              ///< strides: wider peaks are fitted from both sides
  double near_top[3] = {0.55, 0.8, 1.3};          ///< widths around the top used by a fit, until it is certain enough
  double side_seen = 0.4;                         ///< widths that the sweep must cover on each side of the top
  double certain = 0.4, certain_width = 0.03;     ///< steps, widths: standard error at which the top is certain enough
  double contradicts = 0.1;                       ///< share of the height by which a stop below the fit contradicts it
  double believed = 1.5;                          ///< widths beyond the stops within which a parabola is trusted
  double beyond = 0.3;                            ///< widths beyond the stops from which on the top is visited first
  double one_place = 0.5;                         ///< widths over which scores that are alike show a lens at rest
  double has_side = 0.4;                          ///< of `side`, from which on a stop counts as beside the top
  double few_width = 2.5;                         ///< steps: the best position of narrower peaks is seen, not computed,
  double could_be_best = 0.15;                    ///< share below the fit's top of positions that could be it
  double gap = 2, gap_width = 0.12;               ///< steps, widths: nearer neighbours of the best stop are near
  int most_stops = 10, more_stops = 4;            ///< after a sweep, and additional ones if the sweep is not trusted
  std::uint64_t most_time = 8;                    ///< durations of a stop after which a search must end,
  double slow_noise = 0.05;                       ///< unless noise exceeds this share and makes it slow
  double nothing = 0.01, nothing_step = 0.8;      ///< share, steps: smaller gains are not worth a move,
  int fine = 90;                                  ///< if the range has at least this many steps
  double higher = 2, swept_higher = 3;            ///< deviations by which a stop, or a look of the sweep, is higher,
                                                  ///< so that the search does not end elsewhere
  double agree = 0.06;                            ///< share by which the final score may fall short of the promise
  double fail = 0.4;                              ///< share of the promise below which the search has failed
  double below_prompt = 2;                        ///< times these if the lens is prompt: which are
  double below = 0.01, below_noise = 4;           ///< share, deviations by which the end may fall short of the sweep,
                                                  ///< else stops are made again,
  double less = 0.2, less_noise = 6;              ///< share, deviations by which stops may fall short of the sweep
  double missed = 0.5;                            ///< share of the sweep's peak that stops must reach
  int most_measured = 40;                         ///< stops of all sweeps of a search; it fails after more
  int retries = 2;                                ///< after a final score below the promise, and of sweeps
  double width_least = 0.6, width_most = 1.6;     ///< limits of a fitted width, relative to the expected one

  // A peak as blur makes it (blur_peak.h): it takes in what is so near the best position, strides, or has that share of
  // its score, and no less than so many samples.
  double blur_strides = 2.6, blur_share = 0.5;
  std::size_t blur_samples = 5;
  double shape = 0.012, shape_noise = 4;    ///< share, and times noise's variance, that it may be off to be believed,
  double narrow = 0.8;                      ///< strides that half its width has at least,
  double look_error = 0.5;                  ///< and widths that its top may be uncertain by
  double more_noise = 2, blur_noise = 0.5;  ///< times the noise of few scores, and what it is off, that noise may be

  // --- Certainty: table certainty. Coefficients of a logistic regression on logarithms, shares and a flag
  // (certainty.h), fitted by docs/figures/focus_certainty.py: to be fitted again after any change to a search.
  double logit_constant = 1.84;
  double logit_error = -0.04, least_error = 0.1, most_error = 3;   ///< limits: tolerances
  double logit_blind = -0.94, least_blind = 0.02, most_blind = 5;  ///< limits: tolerances
  double logit_short = -2.77, most_short = 0.12;                   ///< limit: share of the height
  double logit_swept = 1.67;
  double least_certainty = 0.37;  ///< share in focus where the rest says that nearly none is
  int again_frames = 4;           ///< frames at each stop of the second fine pass, which halves the error (theory)

  // --- Beside the last peak: tables refocus, drift, moving -----------------------------------------------------------
  int most_local_stops = 7, most_tracking_stops = 5;
  double local_step = 1, tracking_step = 0.6;    ///< widths: largest first step,
  double local_reach = 1.2;                      ///< largest later step,
  double tracking_reach = 2;                     ///< and largest distance in tracking, from the last focus
  double higher_step = 0.6;                      ///< widths: first step if the score has grown
  double local_search = 2, tracking_search = 1;  ///< widths: largest distance inferred from the loss of score
  double near_peak = 0.3;                        ///< share of the height: with more left, the last peak is near
  double least_height = 0.1;                     ///< least height assumed for a scene, relative to the last one's
  double level_near = 0.35;                      ///< share left from which on the lens stays if all is level
  double level = 0.02, level_noise = 4;          ///< share, deviations within which all is level
  double known_shape = 0.03;  ///< share that looks may be off the sweep's peak for its shape to be known,
  double placed_squares = 9, placed_height = 0.29;  ///< squared deviations, logarithm: and later looks off that shape
  double far_away = 1.2;    ///< widths: where the peak may have gone farther, looks tell first on which side it is
  double found = 0.4;       ///< share of the height: a look that scores this found the peak
  double beyond_end = 0.1;  ///< share of the distance: a peak that is farther beyond the range is not there
  double noise_gain = 2;    ///< factor on noise's share of a score: estimates of noise include texture

  // --- Stack: theory -------------------------------------------------------------------------------------------------
  double stack_width = 0.9;  ///< widths that its images are apart: halfway, a bell has 90% of its height
};

inline constexpr Tuning kTuning;

}  // namespace framequality::focus
