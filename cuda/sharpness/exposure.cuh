// SPDX-License-Identifier: LGPL-2.1-or-later
// The exposure of 8-bit samples, four at a time.
#pragma once

#include "algorithms/sharpness/statistics.h"

namespace framequality::cuda {

/// One thread's sums. Of at most 2^24 codes.
class ByteExposure {
 public:
  __device__ __forceinline__ explicit ByteExposure(const sharpness::ClipCodes& clip)
      : to_black_(static_cast<unsigned>(kHalf - 1 - clip.black) * kOnes),
        to_white_(static_cast<unsigned>(2 * kHalf - clip.white) * kOnes) {}

  /// Takes four codes. Black lies in the lower half of the codes and white in the upper. Added to a code's lower bits,
  /// what is short of half the range carries into its highest bit from the first code beyond black on, or from white
  /// on.
  __device__ __forceinline__ void take(unsigned word) {
    const unsigned low = word & ~kHighest;
    sum_ = __dp4a(word, kOnes, sum_);
    black_ = __dp4a(~((low + to_black_) | word) & kHighest, kOnes, black_);
    white_ = __dp4a((low + to_white_) & word & kHighest, kOnes, white_);
  }
  __device__ __forceinline__ unsigned sum() const { return sum_; }
  __device__ __forceinline__ unsigned black() const { return black_ / kHalf; }
  __device__ __forceinline__ unsigned white() const { return white_ / kHalf; }

 private:
  static constexpr int kHalf = 128;
  static constexpr unsigned kOnes = 0x01010101, kHighest = 0x80808080;
  unsigned to_black_, to_white_, sum_ = 0, black_ = 0, white_ = 0;
};

}  // namespace framequality::cuda
