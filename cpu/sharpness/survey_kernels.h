// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the statistics on the host, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/sharpness/statistics.h"

#include <cstdint>

namespace framequality::cpu {

/// Rows of codes that a band of blocks is made of.
inline constexpr int kBandRows = kNoiseBlock + 2;

/// How codes lie in memory.
enum class Code : std::uint8_t {
  kByte,   ///< bytes
  kShort,  ///< 16-bit words of at most 12 bits
  kWord    ///< 16-bit words
};
inline constexpr int kCodes = 3;

struct SurveyKernels {
  /// sums[j]: |r| over block j of `blocks` side by side; squares: r^2 over all of them is added. rows: kBandRows that
  /// from code x on have blocks * kNoiseBlock + 2 codes; none beyond is read.
  void (*residuals[kCodes])(const std::uint8_t* const* rows, int x, int blocks, std::uint32_t* sums,
                            std::uint64_t& squares);
  /// Adds what n codes of a row add to words[kLumaSum], [kBlackCount] and [kWhiteCount].
  void (*expose[kCodes])(const std::uint8_t* row, int n, ClipCodes clip, std::uint64_t* words);
};

namespace baseline {
const SurveyKernels& survey_kernels();
}
namespace avx2 {
const SurveyKernels& survey_kernels();
}
namespace avx512 {
const SurveyKernels& survey_kernels();
}

}  // namespace framequality::cpu
