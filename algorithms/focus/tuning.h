// SPDX-License-Identifier: LGPL-2.1-or-later
// The numbers that a focus search decides by.
#pragma once

#include <cstddef>
#include <cstdint>

namespace framequality::focus {

/// Units: positions in steps, times in frames. "Widths" are those of the peak (FocusPeak::width), shares those of its
/// height, "deviations" standard deviations of single scores.
///
/// Where the values come from: "theory" says that they follow from it. The others were chosen with the tables of
/// focus_bench (docs/autofocus.md) that each part names, and the lenses of tests/focus/search_lens_test.cpp. Who
/// changes one compares all rows.
struct Tuning {
  // --- Sweep: tables focusing, contrast, flat ------------------------------------------------------------------------
  double divisions = 20;         ///< commands over the range: narrower peaks are missed, and each takes a frame
  double prompt_divisions = 10;  ///< the same where the lens is known to have no play, and to be at once where it is
                                 ///< sent: peaks of blur are wide, and positions far apart locate their top
  double stop_divisions = 14;    ///< the same where each is a stop, which takes settle_frames more
  double slower = 2.5;       ///< times nearer are commands of the next sweep if stops did not find the last one's peak
  double swept_width = 0.9;  ///< widths of the last peak that commands are apart, a sample on each flank (theory),
  double swept_least = 0.5, swept_most = 1.4;  ///< but within so many times the distance of one that is not known
  double swept_slew = 0.9;                     ///< share of a slow lens's way in a frame that they are apart at most
  double past = 0.5;             ///< share of its rise that the score has come down by when a leg may end,
  double past_peak = 3;          ///< the best so many times the least,
  double past_noise = 6;         ///< and down by so many deviations, which is not by chance
  double one_depth = 0.08;       ///< share by which one peak may be off all that it explains when a leg may end,
  double sure_peak = 0.01;       ///< and share of the range that its top may be uncertain by
  double moving = 0.05;          ///< share of all scores' range by which two differ that show a lens on its way
  double flat = 0.01;            ///< share of the score within which all lie where there is no peak
  double windows[2] = {1.5, 3};  ///< strides over which scores are averaged to see whether a peak stands out:
  double stands_out = 7;         ///< deviations by which one does,
  double may_stand_out = 3.5;    ///< and by which it may, so that another sweep is to tell
  double narrow_peak = 1.2;      ///< times sqrt(range / 2): how near commands must be for a flat sweep to be believed
  double offsets[4] = {0, 0.5, 0.25, 0.75};  ///< strides by which sweeps lie in between each other (theory: bisection)
  int enough_repeats = 6;                    ///< scores of positions seen before from which noise is told,
  double few_repeats = 1.3;                  ///< and how much more it may be
  double from_here = 0.75;                   ///< strides: nearer than that to the last focus nothing new was found

  // --- Lens: table lenses --------------------------------------------------------------------------------------------
  double deep = 0.25;                  ///< share of the range: most play that is thought possible,
  double deep_told = 1.2;              ///< times less is taken for play that cannot be told, for its spare comes on top
  double no_play = 0.5;                ///< less does not show on a grid of steps (theory)
  double spare_play = 0.1;             ///< share of the play that is passed on top of it, a step at least
  double slow_time = 1.5;              ///< times the way at the speed learned is waited for a slow lens
  int longest_settle = 40;             ///< that are waited for the lens to come to rest
  int patient_settle = 6;              ///< that are waited for an answer while the lag is not known,
  double seen_width = 0.5;             ///< if the way was longer than so many widths
  double seen_noise = 0.3;             ///< and the tolerance is below this share
  int scene_moves = 3;                 ///< that a stop waits for a lens that is known to be at once there
  double quiet = 0.1;                  ///< share of the score within which a sweep's frames show nothing,
  double quiet_change = 0.15;          ///< and of their range within which two of them show the same
  double far = 0.05, far_noise = 8;    ///< share of the score, deviations that a command's effect has at least,
  double near = 0.08, near_noise = 4;  ///< share of the effect, deviations within which it is complete
  double clean = 0.7;                  ///< share of the range by which one frame jumps if the lens took no time
  std::size_t most_trail = 256;        ///< after a command that are kept
  double tells_least = 0.05, tells_most = 0.9;  ///< shares between which a score tells a place on a flank
  double play_stride = 0.15, play_width = 0.1;  ///< strides, widths: less of it is none, as it is below a step

  // --- Noise: tables focusing, contrast ------------------------------------------------------------------------------
  int some_changes = 2, enough_changes = 8;  ///< from frame to frame at rest that make noise less, and that tell it,
  double few_changes = 1.5;                  ///< and what few of them may be below the mean
  double same = 0.02, same_noise = 7;   ///< share, deviations within which scores show the same: 5 sqrt(2) (theory)
  double frames_factor = 2.5;           ///< times width * noise / height: what a frame of noise moves the top by
  double sure = 0.5, sure_width = 0.1;  ///< steps, widths that it should be moved by,
  int most_frames = 8;                  ///< though a stop takes no more than so many

  // --- Stops: tables focusing, contrast, lenses ----------------------------------------------------------------------
  // Distances beside the top, widths: the first from the other side, the first, behind the top, and all later.
  double side_far = 1.6, side_near = 0.75, side_behind = 1.2, side = 0.8;
  double least_width = 0.7;  ///< steps that a width counts for at least there
  double behind = 0.3;       ///< widths that the lens is beyond a stop behind the top for it to tell
  double second_least = 0.1, second_most = 0.97;  ///< shares between which the first stop tells how far the top is,
  double second_reach = 2;                        ///< widths at most
  double wide = 1.2;                              ///< strides of width of a peak that is seen from both sides
  double near_top[3] = {0.55, 0.8, 1.3};  ///< widths beside the top that a fit takes in, until it is certain enough
  double side_seen = 0.4;                 ///< widths that the sweep must have seen on each side of the top
  double certain = 0.4, certain_width = 0.03;  ///< steps, widths: standard error of the top that is small enough
  double contradicts = 0.1;                   ///< share below what it should be with which a stop contradicts the sweep
  double believed = 1.5;                      ///< widths beyond what was seen that a parabola is believed
  double beyond = 0.3;                        ///< widths beyond what was seen where the top is looked for first
  double has_side = 0.4;                      ///< of `side` that a stop is beside the top to count for its side
  double few_width = 2.5;                     ///< steps: of narrower peaks the best position is seen, not computed,
  double could_be_best = 0.15;                ///< share below the fit's top of positions that could be it
  double gap = 2, gap_width = 0.12;           ///< steps, widths: neighbours of the best stop that are near
  int most_stops = 10, more_stops = 4;        ///< of a sweep's search, so many more where stops alone tell
  std::uint64_t most_time = 8;                ///< stops' time after which a search is to end,
  double slow_noise = 0.05;                   ///< share: unless noise makes it slow
  double nothing = 0.01, nothing_step = 0.8;  ///< share, steps that are not worth a move,
  int fine = 90;                              ///< where there are so many steps
  double agree = 0.06;                        ///< share that the end may be below what was promised
  double fail = 0.4;                          ///< share without which it has failed
  double less = 0.2, less_noise = 6;          ///< share, deviations that it may be below the sweep's best
  double missed = 0.5;                        ///< share that stops must reach
  int retries = 2;                            ///< after an end that was not what was promised, and of sweeps
  double width_least = 0.6, width_most = 1.6;  ///< times the width expected that a fitted one is believed

  // A peak as blur makes it (blur_peak.h): it takes in what is so near the best position, strides, or has that share of
  // its score, and no less than so many samples.
  double blur_strides = 2.6, blur_share = 0.5;
  std::size_t blur_samples = 5;
  double shape = 0.012, shape_noise = 4;    ///< share, and times noise's variance, that it may be off to be believed,
  double narrow = 0.8;                      ///< strides that half its width has at least,
  double look_error = 0.5;                  ///< and widths that its top may be uncertain by
  double more_noise = 2, blur_noise = 0.5;  ///< times the noise of few scores, and what it is off, that noise may be

  // --- Beside the last peak: tables refocus, drift, moving -----------------------------------------------------------
  int most_local_stops = 7, most_tracking_stops = 5;
  double local_step = 1, tracking_step = 0.6;    ///< widths of the first step at most,
  double local_reach = 1.2;                      ///< of each later one,
  double tracking_reach = 2;                     ///< and of all of tracking, from where focus was last
  double higher_step = 0.6;                      ///< widths of the first step where the score has grown
  double local_search = 2, tracking_search = 1;  ///< widths that the loss of score is taken for at most
  double near_peak = 0.3;                        ///< share that is left near the last peak
  double least_height = 0.1;                     ///< times the last one's height that a scene's is taken for
  double level_near = 0.35;                      ///< share with which one stays where all is level
  double level = 0.02, level_noise = 4;          ///< share, deviations within which all is level
  double noise_gain = 2;  ///< times what noise adds to a score, for the texture that its estimate has in it
};

inline constexpr Tuning kTuning;

}  // namespace framequality::focus
