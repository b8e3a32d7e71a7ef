// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernels of BLIINDS-II that pool: means and percentile means of blocks' values, by selection.
//
// Histograms locate the start of the highest tenth to within 3%; only values in that bin are examined
// further. Sums run in the same order every time; only integers are added by atomics.
#include "cuda/bliinds/histogram.cuh"
#include "cuda/bliinds/job.h"
#include "cuda/check.h"

namespace framequality::cuda {
namespace {

using namespace bliinds;

using Key = unsigned long long;

constexpr Key kNoKey = ~Key{0};

/// The bits of a double >= 0 as a number with the same order.
__device__ __forceinline__ Key key_of(double value) { return static_cast<Key>(__double_as_longlong(value)); }
__device__ __forceinline__ double value_of(Key key) { return __longlong_as_double(static_cast<long long>(key)); }

/// The sum over the block's threads, in the same order every time, for all of them. scratch: one value per warp.
template <int kThreadCount, class T, class Add>
__device__ __forceinline__ T reduce(T mine, T* scratch, Add add) {
#pragma unroll
  for (int d = kWarp / 2; d > 0; d /= 2) mine = add(mine, __shfl_xor_sync(kAll, mine, d));
  __syncthreads();  // for threads that still read an earlier result
  if (threadIdx.x % kWarp == 0) scratch[threadIdx.x / kWarp] = mine;
  __syncthreads();
  T all = scratch[0];
#pragma unroll
  for (int w = 1; w < kThreadCount / kWarp; ++w) all = add(all, scratch[w]);
  return all;
}
struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};
struct Least {
  __device__ Key operator()(Key a, Key b) const { return min(a, b); }
};
struct Most {
  __device__ Key operator()(Key a, Key b) const { return max(a, b); }
};

/// Sum over the threads before this one; scratch: one value per warp.
template <int kThreadCount, class T>
__device__ __forceinline__ T sum_before(T mine, T* scratch) {
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  T sum = mine;
#pragma unroll
  for (int d = 1; d < kWarp; d *= 2) {
    const T other = __shfl_up_sync(kAll, sum, d);
    if (lane >= d) sum += other;
  }
  __syncthreads();
  if (lane == kWarp - 1) scratch[warp] = sum;
  __syncthreads();
  T before = sum - mine;
#pragma unroll
  for (int w = 0; w < kThreadCount / kWarp; ++w) before += w < warp ? scratch[w] : T{};
  return before;
}

/// The bin at which counting down from the last one reaches `wanted`.
struct Found {
  int bin;
  unsigned wanted;  ///< values of that bin still wanted, 1...in_bin
  unsigned in_bin;
};

/// wanted: 1...sum of all bins. All threads call it and get the result. kBins: a multiple of the threads.
template <int kThreadCount, int kBins>
__device__ Found find_from_top(const unsigned* bins, unsigned wanted, unsigned* scratch, Found* answer) {
  constexpr int kMine = kBins / kThreadCount;
  static_assert(kBins % kThreadCount == 0);
  const int top = kBins - 1 - static_cast<int>(threadIdx.x) * kMine;
  unsigned n[kMine], sum = 0;
#pragma unroll
  for (int k = 0; k < kMine; ++k) sum += n[k] = bins[top - k];
  unsigned before = sum_before<kThreadCount>(sum, scratch);
#pragma unroll
  for (int k = 0; k < kMine; ++k) {
    // True for exactly one bin: the counts above it are too few, with it they suffice.
    if (before < wanted && wanted - before <= n[k]) *answer = {top - k, wanted - before, n[k]};
    before += n[k];
  }
  __syncthreads();
  return *answer;
}

constexpr int kChunkThreads = 256, kChunkValues = kChunk / kChunkThreads;

// Grid: chunks across, statistics down. Each block of threads finds the bin itself: faster than a separate kernel
// that all would have to wait for.
__global__ void __launch_bounds__(kChunkThreads) sum_chunks(const __grid_constant__ BliindsJob job) {
  constexpr int kWarps = kChunkThreads / kWarp;
  __shared__ double real[kWarps];
  __shared__ Key key[kWarps];
  __shared__ unsigned whole[kWarps];
  __shared__ Found answer;
  const int chunk = static_cast<int>(blockIdx.x), statistic = static_cast<int>(blockIdx.y);
  int index = 0;
  while (index + 1 < kScales && chunk >= job.scale[index + 1].first_chunk) ++index;
  const ScaleJob& s = job.scale[index];
  const int begin = (chunk - s.first_chunk) * kChunk, length = min(kChunk, s.blocks - begin);
  const double* const values = job.values[statistic] + s.first + begin;
  double value[kChunkValues];
#pragma unroll
  for (int k = 0; k < kChunkValues; ++k) {
    const int i = k * kChunkThreads + static_cast<int>(threadIdx.x);
    value[k] = i < length ? values[i] : -1;
  }
  const Found found =
      find_from_top<kChunkThreads, kValueBins>(job.value_bins + (index * kRealStatistics + statistic) * kValueBins,
                                               static_cast<unsigned>(tenth(s.blocks)), whole, &answer);
  ChunkSums sums = {0, 0, kNoKey, 0, 0, static_cast<int>(found.wanted)};
  unsigned mine = 0;
#pragma unroll
  for (int k = 0; k < kChunkValues; ++k) {
    if (value[k] < 0) continue;
    const int bin = value_bin(value[k]);
    sums.all += value[k];
    if (bin > found.bin) sums.above += value[k];
    if (bin != found.bin) continue;
    ++mine;
    sums.least = min(sums.least, key_of(value[k]));
    sums.most = max(sums.most, key_of(value[k]));
  }
  unsigned to = sum_before<kChunkThreads>(mine, whole);
  double* const inside = job.inside + static_cast<std::int64_t>(statistic) * job.blocks + s.first + begin;
#pragma unroll
  for (int k = 0; k < kChunkValues; ++k)
    if (value[k] >= 0 && value_bin(value[k]) == found.bin) inside[to++] = value[k];
  sums.all = reduce<kChunkThreads>(sums.all, real, Plus());
  sums.above = reduce<kChunkThreads>(sums.above, real, Plus());
  sums.least = reduce<kChunkThreads>(sums.least, key, Least());
  sums.most = reduce<kChunkThreads>(sums.most, key, Most());
  sums.inside = static_cast<int>(reduce<kChunkThreads>(mine, whole, Plus()));
  if (threadIdx.x == 0) job.sums[static_cast<std::int64_t>(statistic) * job.chunks + chunk] = sums;
}

constexpr int kPoolThreads = 512, kPoolWarps = kPoolThreads / kWarp;
// 11 bits at a time: after two digits, hardly any two values of an image are equal.
constexpr int kDigitBits = 11, kDigits = 1 << kDigitBits;

struct PoolScratch {
  double real[kPoolWarps];
  Key key[kPoolWarps];
  unsigned whole[kPoolWarps];
  Found found;
  unsigned bins[kDigits];
};

/// The values of one statistic of one scale that sum_chunks() gathered.
struct Gathered {
  const double* values;
  const ChunkSums* sums;
  int chunks;

  /// Calls f(key, is_one) for each, by whole warps, with false where there is none; every warp takes every 16th chunk,
  /// every lane every 32nd value: the same ones every time.
  template <class F>
  __device__ __forceinline__ void for_each(F f) const {
    constexpr int kAtOnce = 4;  // loads in flight together
    const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
    for (int c = warp; c < chunks; c += kPoolWarps) {
      const double* const from = values + static_cast<std::int64_t>(c) * kChunk;
      for (int i = lane, n = sums[c].inside; i - lane < n; i += kAtOnce * kWarp) {
        double value[kAtOnce];
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k) value[k] = i + k * kWarp < n ? from[i + k * kWarp] : 0;
#pragma unroll
        for (int k = 0; k < kAtOnce; ++k)
          if (i - lane + k * kWarp < n) f(key_of(value[k]), i + k * kWarp < n);
      }
    }
  }
};

/// Sum of the `wanted` highest values, at least 1: radix selection from the highest bit in which they differ.
__device__ double sum_highest(const Gathered& gathered, unsigned wanted, PoolScratch& s) {
  Key least = kNoKey, most = 0;
  for (int c = static_cast<int>(threadIdx.x); c < gathered.chunks; c += kPoolThreads) {
    least = min(least, gathered.sums[c].least);
    most = max(most, gathered.sums[c].most);
  }
  least = reduce<kPoolThreads>(least, s.key, Least());
  most = reduce<kPoolThreads>(most, s.key, Most());
  if (least == most) return wanted * value_of(most);
  int shift = 64 - __clzll(static_cast<long long>(least ^ most));  // bits still unknown, 1...63: no value has a sign
  Key prefix = most >> shift;                                      // the others, of the last value wanted
  bool all_of_it = false;                                          // all values with this prefix are wanted
  while (shift > 0 && !all_of_it) {
    const int bits = min(kDigitBits, shift);
    for (int i = static_cast<int>(threadIdx.x); i < kDigits; i += kPoolThreads) s.bins[i] = 0;
    __syncthreads();
    gathered.for_each([&](Key key, bool is_one) {
      const bool counts = is_one && key >> shift == prefix;
      const unsigned active = __ballot_sync(kAll, counts);
      if (counts) count(s.bins, static_cast<int>(key >> (shift - bits) & ((1u << bits) - 1)), active);
    });
    __syncthreads();
    const Found found = find_from_top<kPoolThreads, kDigits>(s.bins, wanted, s.whole, &s.found);
    shift -= bits;
    prefix = prefix << bits | static_cast<Key>(found.bin);
    wanted = found.wanted;
    all_of_it = found.wanted == found.in_bin;
    __syncthreads();  // before bins and found are written again
  }
  double sum = 0;
  gathered.for_each([&](Key key, bool is_one) {
    const Key head = key >> shift;
    if (is_one && (head > prefix || (all_of_it && head == prefix))) sum += value_of(key);
  });
  sum = reduce<kPoolThreads>(sum, s.real, Plus());
  return all_of_it ? sum : sum + wanted * value_of(prefix);  // shift is 0: all remaining values are equal to this one
}

/// Mean of all values, mean of the highest tenth.
__device__ void pool_values(const BliindsJob& job, int index, int statistic, PoolScratch& s, double* out) {
  const ScaleJob& scale = job.scale[index];
  const Gathered gathered{job.inside + static_cast<std::int64_t>(statistic) * job.blocks + scale.first,
                          job.sums + static_cast<std::int64_t>(statistic) * job.chunks + scale.first_chunk,
                          scale.chunks};
  double all = 0, above = 0;
  for (int c = static_cast<int>(threadIdx.x); c < scale.chunks; c += kPoolThreads) {
    all += gathered.sums[c].all;
    above += gathered.sums[c].above;
  }
  all = reduce<kPoolThreads>(all, s.real, Plus());
  above = reduce<kPoolThreads>(above, s.real, Plus());
  const double rest = sum_highest(gathered, static_cast<unsigned>(gathered.sums[0].wanted), s);
  if (threadIdx.x == 0) {
    out[0] = all / scale.blocks;
    out[1] = (above + rest) / tenth(scale.blocks);
  }
}

/// Mean of all shapes, mean of the lowest tenth; in integers, so exact but for the last division.
__device__ void pool_shapes(const BliindsJob& job, int index, PoolScratch& s, double* out) {
  constexpr int kMine = (kShapeBins + kPoolThreads - 1) / kPoolThreads;
  const ScaleJob& scale = job.scale[index];
  const unsigned* const bins = job.shape_bins + index * kShapeBins;
  const unsigned wanted = static_cast<unsigned>(tenth(scale.blocks));
  const int first = static_cast<int>(threadIdx.x) * kMine;
  unsigned n[kMine], count = 0;
#pragma unroll
  for (int k = 0; k < kMine; ++k) count += n[k] = first + k < kShapeBins ? bins[first + k] : 0;
  unsigned before = sum_before<kPoolThreads>(count, s.whole);
  Key all = 0, low = 0;
#pragma unroll
  for (int k = 0; k < kMine; ++k) {
    const Key shape = static_cast<Key>(first + k < kShapes ? kFirstShape + first + k : kNoShape);
    all += shape * n[k];
    low += shape * (before < wanted ? min(n[k], wanted - before) : 0u);
    before += n[k];
  }
  all = reduce<kPoolThreads>(all, s.key, Plus());
  low = reduce<kPoolThreads>(low, s.key, Plus());
  if (threadIdx.x == 0) {
    out[0] = static_cast<double>(all) / (double{kShapeUnits} * scale.blocks);
    out[1] = static_cast<double>(low) / (double{kShapeUnits} * tenth(scale.blocks));
  }
}

// Grid: statistics across, scales down.
__global__ void __launch_bounds__(kPoolThreads) pool(const __grid_constant__ BliindsJob job) {
  __shared__ PoolScratch scratch;
  const int statistic = static_cast<int>(blockIdx.x), index = static_cast<int>(blockIdx.y);
  double* const out = job.features + (index * kStatistics + statistic) * 2;
  unsigned* bins;
  int count;
  if (statistic == kGamma) {
    pool_shapes(job, index, scratch, out);
    bins = job.shape_bins + index * kShapeBins;
    count = kShapeBins;
  } else {
    const int real = statistic < kGamma ? statistic : statistic - 1;
    pool_values(job, index, real, scratch, out);
    bins = job.value_bins + (index * kRealStatistics + real) * kValueBins;
    count = kValueBins;
  }
  __syncthreads();  // histograms have been read
  for (int i = static_cast<int>(threadIdx.x); i < count; i += kPoolThreads) bins[i] = 0;
}
static_assert(kZeta == 0 && kGamma == 1 && kEnergy == 2 && kOrient == 3);

}  // namespace

void queue_chunks(const BliindsJob& job, CUstream_st* stream) {
  void* arguments[] = {const_cast<BliindsJob*>(&job)};
  const dim3 grid(static_cast<unsigned>(job.chunks), kRealStatistics);
  check(cudaLaunchKernel(reinterpret_cast<const void*>(&sum_chunks), grid, dim3(kChunkThreads), arguments, 0, stream),
        "cudaLaunchKernel");
}

void queue_features(const BliindsJob& job, CUstream_st* stream) {
  void* arguments[] = {const_cast<BliindsJob*>(&job)};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(&pool), dim3(kStatistics, kScales), dim3(kPoolThreads),
                         arguments, 0, stream),
        "cudaLaunchKernel");
}

}  // namespace framequality::cuda
