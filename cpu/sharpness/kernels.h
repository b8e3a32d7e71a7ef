// SPDX-License-Identifier: LGPL-2.1-or-later
// The inner loops of the host twin, built once for each instruction set and called through this table.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/sharpness/metrics.h"

#include <cstdint>

namespace framequality::cpu {

/// Number of a vector lane in which a metric stays exact.
enum class Lane : std::uint8_t {
  kByte,   ///< samples are bytes
  kShort,  ///< samples are 16-bit words, arithmetic fits 16 bits
  kInt,    ///< samples are 16-bit words, arithmetic needs 32 bits
  kSplit,  ///< as kShort, even columns of a row first, odd ones kSplitBytes later; blocks start at an even column
  kLow,    ///< as kShort, the samples are the low bits of the frame's words
  kHigh,   ///< as kShort, the samples are the high bits of the frame's words
};
inline constexpr int kLanes = 6;
inline constexpr int kSplitBytes = 704;

/// Columns that a vector may touch beyond a tile's own: every buffer of samples has this many after its last.
inline constexpr int kSlack = 128;

/// Where a sample of kLow and kHigh lies: (word & mask) >> shift.
struct WordFormat {
  std::uint16_t mask = 0xffff;
  std::uint8_t shift = 0;
  /// The sample is the first byte of its word, whose second one a row's last sample need not have: the word that ends
  /// with the sample serves there.
  bool is_byte = false;
  std::uint8_t before = 0;  ///< bytes from the word to the sample's own byte, if that word serves
};

/// Rows of samples, bytes or native 16-bit words, at any alignment. rows[i] is row i of a block; where a metric
/// reaches up or down, rows[-1] and rows[count] exist too.
struct Block {
  const std::uint8_t* const* rows;
  int count;     ///< rows to measure
  int x0, x1;    ///< columns to measure; the metric's reach to either side lies in 0...readable
  int readable;  ///< columns 0...readable-1 may be loaded, at least kSlack
  int largest;   ///< no sample is larger
  WordFormat words;
};

/// Conversion of values to samples: binomial taps each way, then (sum + half) >> shift.
struct PrefilterFormat {
  int radius = 0;  ///< of the binomial: 1 or 2
  int shift = 0;
  int half = 0;
  std::uint16_t mask = 0;  ///< bits of a word that hold its value
};

/// Counters of a histogram: eight of each bin, then one of each pair of bins.
inline constexpr int kSingleCounters = 8 * sharpness::kHistogramBins;
inline constexpr int kCounters = kSingleCounters + sharpness::kHistogramBins * sharpness::kHistogramBins;

struct SharpnessKernels {
  int vector_bytes;  ///< of the values that measure_prefiltered processes at once
  /// Adds the block's totals to the metric's, or its counts to 256 bins.
  using Measure = void (*)(const Block&, std::int64_t* totals);
  Measure measure[sharpness::kMetricCount][kLanes];
  /// As measure, of samples computed on the fly: sample (x, y) of the block from values x...x+2*radius of rows
  /// y...y+2*radius, of which columns 0...readable-1 may be loaded, at least 2*radius more than a vector's. In place of
  /// kSplit from bytes that are 8-bit luma, of kShort and kInt from words. Null where prefilter and measure are
  /// faster.
  using MeasurePrefiltered = void (*)(const Block&, const PrefilterFormat&, std::int64_t* totals);
  MeasurePrefiltered measure_prefiltered[sharpness::kMetricCount][kLanes];
  /// The same for mean.
  MeasurePrefiltered mean_prefiltered[kLanes];
  /// Adds the sum of the block's samples to *totals. In place of kSplit from words.
  Measure mean[kLanes];
  /// Counts the block's samples >> shift (shift = bits - 8); [0] bytes, [1] words, as the block says. has_pairs: some
  /// of them in the counters of pairs, which is faster, but not where fewer than these are counted.
  void (*count[2])(const Block&, int shift, bool has_pairs, std::uint32_t* counters);
  /// Adds what was counted to bins, and clears the counters.
  void (*fold)(std::uint32_t* counters, bool has_pairs, std::int64_t* bins);

  /// Luma of pixels x...x+n-1, as bytes if the depth is 8, else as words. rows: the row in each plane.
  void (*luma)(const PixelLayout&, const std::uint8_t* const* rows, int x, int n, std::uint8_t* out);
  /// out[i] = sum of k x k luma values; [0] bytes to words, [1] words to words, [2] words to 32 bits. rows: k rows.
  void (*box[3])(const std::uint8_t* const* rows, int k, int n, std::uint8_t* out);
  /// Binomial prefilter of radius 1 or 2 and rounding, from values scaled by 2^a to samples: output row i reads rows
  /// i...i+2*radius, column x reads columns x...x+2*radius. scratch: (count + 4) * (n + kSlack) 32-bit words.
  /// [0] bytes, to split rows, [1] words whose sums fit 16 bits, [2] words, [3] 32 bits.
  void (*prefilter[4])(const std::uint8_t* const* rows, int radius, int count, int n, int shift,
                       std::uint16_t* const* out, std::uint32_t* scratch);
  /// out[i] = in[i] rounded to samples; [0] words, [1] 32 bits.
  void (*round[2])(const std::uint8_t* in, int n, int shift, std::uint16_t* out);
};

namespace baseline {
const SharpnessKernels& sharpness_kernels();
}
namespace avx2 {
const SharpnessKernels& sharpness_kernels();
}
namespace avx512 {
const SharpnessKernels& sharpness_kernels();
}

/// Widest exact lane for a metric on samples of at most `largest` (more than a byte).
template <class M>
constexpr Lane word_lane(int largest) {
  if constexpr (M::kHistogram) {
    return Lane::kShort;
  } else {
    const std::int64_t gain = M::kGain > 1 ? M::kGain : 1;
    if (gain * largest > 32767) return Lane::kInt;
    for (const sharpness::Peak& p : M::kPeak) {
      std::int64_t worst = std::int64_t{4} * p.factor;  // up to four words of a row are added in one 32-bit lane
      for (int e = 0; e < p.power; ++e) worst *= largest;
      if (worst > 0x7fffffff) return Lane::kInt;
    }
    return Lane::kShort;
  }
}

}  // namespace framequality::cpu
