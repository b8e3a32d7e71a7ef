// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the statistics on the host, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/sharpness/statistics.h"

#include <cstdint>

namespace framequality::cpu {

/// Rows of luma that a band of blocks reads.
inline constexpr int kBandRows = sharpness::kNoiseBlock + 2;

/// Storage of luma in memory.
enum class Code : std::uint8_t {
  kByte,   ///< bytes
  kShort,  ///< 16-bit words of at most 12 bits
  kWord    ///< 16-bit words
};
inline constexpr int kCodes = 3;

struct StatisticsKernels {
  /// Sums of |r| over runs of blocks side by side: at block column `first`, and then every `step` columns up to
  /// `columns`, `run` blocks or as many as are left; they go to `sums` one by one. r^2 over all of them is added
  /// to squares. rows: kBandRows of columns * kNoiseBlock + 2 pixels; none beyond is read.
  void (*residuals[kCodes])(const std::uint8_t* const* rows, int first, int step, int run, int columns,
                            std::uint32_t* sums, std::uint64_t& squares);
  /// Adds the shares of n pixels from x on of each of `count` rows to words[kLumaSum], [kBlackCount], [kWhiteCount].
  void (*expose[kCodes])(const std::uint8_t* const* rows, int count, int x, int n, sharpness::ClipCodes clip,
                         std::uint64_t* words);
};

namespace baseline {
const StatisticsKernels& statistics_kernels();
}
namespace avx2 {
const StatisticsKernels& statistics_kernels();
}
namespace avx512 {
const StatisticsKernels& statistics_kernels();
}

}  // namespace framequality::cpu
