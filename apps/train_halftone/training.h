// SPDX-License-Identifier: LGPL-2.1-or-later
// Weights and thresholds of tone-dependent error diffusion, found by comparing spectra.
#pragma once

#include "algorithms/halftone/tone_dependent.h"
#include "apps/train_halftone/spectrum.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace framequality::tools {

struct TrainingOptions {
  int swath_rows = 4;
  std::uint64_t seed = 1;
  int threads = 1;
  int patterns = 4;  ///< reference patterns of each tone
  int pattern_side = 256;
  int evaluations = 160;  ///< of the cost, for each search
  int first_tone = 1, last_tone = halftone::kTones - 1;
};

/// Patterns of one tone for a reference. Same seed, same patterns; training and evaluation use different ones.
std::vector<Dots> reference_patterns(int tone, int count, int side, std::uint64_t seed);

/// A patch of kPatchWidth x kPatchHeight of an 8-bit grey, diffused by the table.
Dots tone_dependent_patch(int tone, const halftone::ToneTable& table, const std::uint32_t* pattern);

/// Finds the row of every tone from first_tone to last_tone; the others are those of Floyd and Steinberg. Each tone
/// starts from the one before it in its group of 16, so that neighbours stay similar; groups are dealt to threads,
/// whose number does not affect the result. progress(done, all) is called from any of them, one at a time.
halftone::ToneTable train_tones(const TrainingOptions& options, const std::uint32_t* pattern,
                                const std::function<void(int, int)>& progress);

/// The table as a C++ file that defines it by this name.
std::string file_of(const halftone::ToneTable& table, const std::string& name, const std::string& command);

}  // namespace framequality::tools
