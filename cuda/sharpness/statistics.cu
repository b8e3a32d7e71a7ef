// SPDX-License-Identifier: LGPL-2.1-or-later
// The statistics of a frame: residuals of its noise, summed over blocks of 16 x 16, and its exposure. Ends with the
// choice of the block that counts, so that a frame needs one launch and only five words go to the host.
//
// The first job.tiles blocks sum residuals: a thread takes four columns and four rows of a noise block, all of its
// loads on their way at once; 16 threads make up a noise block, 64 a group of them. The others expose: a thread takes
// 16 bytes of four rows, then those of the same size further on. All reads are of adjacent codes by adjacent threads;
// those of rows that two threads share come from the cache. Where the metric's kernel exposes, there are none of the
// others.
#include "cuda/loop_bound.cuh"
#include "cuda/sharpness/exposure.cuh"
#include "cuda/sharpness/tile.cuh"

#include <cstdint>

namespace framequality::cuda {

using namespace sharpness;

namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kColumns = 4, kRows = 4, kAcross = kNoiseBlock / kColumns;
constexpr int kLanesPerBlock = kAcross * kNoiseBlock / kRows, kLanesPerGroup = kLanesPerBlock * kNoiseGroup;
static_assert(kThreads / kLanesPerGroup == kStatisticsTileGroups);
// Ranks are found digit by digit: 20 bits of bytes' sums are two digits, 28 of words' three.
constexpr int kDigitBits = 10, kDigits = 1 << kDigitBits;

template <class Word>
struct Codes {
  const StatisticsJob& job;
  unsigned mask = (1u << job.layout.depth) - 1u;

  __device__ const Word* row(const StatisticsGrid& grid, int y) const {
    const int plane = job.layout.plane[0];
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(y) * job.fields + grid.field;
    return reinterpret_cast<const Word*>(job.frame.plane[plane] + line * job.frame.stride[plane]) + grid.x0;
  }
  /// The code in the lowest bits of a word.
  __device__ int from(unsigned word) const {
    return static_cast<int>(sizeof(Word) == 1 ? word & 255u : word >> job.layout.shift & mask);
  }
  __device__ int at(const Word* p) const { return from(__ldg(p)); }
};

/// Sums of one thread, then of all of them.
struct Sums {
  unsigned long long word[kStatisticsWords] = {};

  /// Adds them to the frame's. All threads of the block call it.
  __device__ void add_to_frame(const StatisticsJob& job) {
    __shared__ unsigned long long of_warp[kStatisticsWords][kWarps];
#pragma unroll
    for (int i = 0; i < kStatisticsWords; ++i) {
      unsigned long long sum = word[i];
#pragma unroll
      for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
      if (threadIdx.x % 32 == 0) of_warp[i][threadIdx.x / 32] = sum;
    }
    __syncthreads();
    if (threadIdx.x >= kStatisticsWords) return;
    unsigned long long sum = 0;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) sum += of_warp[threadIdx.x][w];
    if (sum) atomicAdd(job.totals + threadIdx.x, sum);
  }
};

/// Codes side by side, as the aligned 32-bit words that hold them.
template <class Word, int kCount>
class Run {
 public:
  __device__ __forceinline__ explicit Run(const Word* p) {
    constexpr int kBytes = kCount * static_cast<int>(sizeof(Word));
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    const std::uintptr_t first = at & ~std::uintptr_t{3}, last = (at + kBytes - 1) & ~std::uintptr_t{3};
    unsigned loaded[kWords + 1];
#pragma unroll
    for (int i = 0; i <= kWords; ++i)
      loaded[i] = __ldg(reinterpret_cast<const unsigned*>(i < kBytes / 4 ? first + 4 * i : min(first + 4 * i, last)));
#pragma unroll
    for (int i = 0; i < kWords; ++i)
      word_[i] = __funnelshift_r(loaded[i], loaded[i + 1], 8 * static_cast<unsigned>(at & 3));
  }
  __device__ __forceinline__ int code(const Codes<Word>& codes, int i) const {
    constexpr int kPerWord = 4 / static_cast<int>(sizeof(Word));
    return codes.from(word_[i / kPerWord] >> (32 / kPerWord * (i % kPerWord)));
  }

 private:
  static constexpr int kWords = (kCount * static_cast<int>(sizeof(Word)) + 3) / 4;
  unsigned word_[kWords];
};

template <class Word>
__device__ void sum_blocks(const StatisticsJob& job, int tile, Sums& sums) {
  const Codes<Word> codes{job};
  const int g = job.grids > 1 && tile >= job.first_tile[1] ? 1 : 0;
  const StatisticsGrid& grid = job.grid[g];
  const int lane = static_cast<int>(threadIdx.x), in_row = grid.groups_in_row();
  const int group = (tile - job.first_tile[g]) * kStatisticsTileGroups + lane / kLanesPerGroup;
  const int number = group * job.step, band = number / in_row, block = lane / kLanesPerBlock % kNoiseGroup;
  const int column = number % in_row * kNoiseGroup + block;
  const bool is_block = group < grid.groups && column < grid.columns;
  unsigned sum = 0;
  if (is_block) {
    const int x = column * kNoiseBlock + lane % kAcross * kColumns,
              y = grid.y0 + band * kNoiseBlock + lane % kLanesPerBlock / kAcross * kRows;
    const auto row = [&](int j) { return Run<Word, kColumns + 2>(codes.row(grid, y + j) + x); };
    const Run<Word, kColumns + 2> rows[kRows + 2] = {row(0), row(1), row(2), row(3), row(4), row(5)};
    int bend[kColumns], step[kColumns];
    // The first two rows start bend and step; the others complete residuals.
#pragma unroll
    for (int j = 0; j < kRows + 2; ++j)
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        const auto code = [&](int at) { return rows[j].code(codes, at); };
        const int now = code(i) - 2 * code(i + 1) + code(i + 2);
        if (j > 0) {
          const int next = now - bend[i];
          if (j > 1) {
            const auto r = static_cast<unsigned>(abs(next - step[i]));
            sum += r;
            sums.word[kSquaredResidual] += static_cast<unsigned long long>(r) * r;
          }
          step[i] = next;
        }
        bend[i] = now;
      }
  }
#pragma unroll
  for (int d = 1; d < kLanesPerBlock; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (group < grid.groups && lane % kLanesPerBlock == 0)
    job.sums[grid.first_sum + group * kNoiseGroup + block] = is_block ? sum : kNoBlock;
}

/// As ByteExposure, of two words' codes at a time.
class WordExposure {
 public:
  __device__ explicit WordExposure(const StatisticsJob& job) : codes_{job}, clip_(job.clip) {}
  __device__ __forceinline__ void take(unsigned word) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const int code = codes_.from(word >> 16 * i);
      sum_ += static_cast<unsigned>(code);
      black_ += code <= clip_.black;
      white_ += code >= clip_.white;
    }
  }
  __device__ __forceinline__ unsigned sum() const { return sum_; }
  __device__ __forceinline__ unsigned black() const { return black_; }
  __device__ __forceinline__ unsigned white() const { return white_; }

 private:
  Codes<std::uint16_t> codes_;
  ClipCodes clip_;
  unsigned sum_ = 0, black_ = 0, white_ = 0;
};

/// Exposes a grid by `threads` threads, this one being number `thread`.
template <class Word>
__device__ void expose(const StatisticsJob& job, const StatisticsGrid& grid, int thread, int threads, Sums& sums) {
  constexpr int kRun = kExposedBytes / static_cast<int>(sizeof(Word));
  const Codes<Word> codes{job};
  const auto begun = [&] {
    if constexpr (sizeof(Word) == 1) {
      return ByteExposure(job.clip);
    } else {
      return WordExposure(job);
    }
  };
  // Runs that lie wholly in the grid; what is left and right of them is taken code by code.
  const int width = grid.x1 - grid.x0, height = grid.y1 - grid.y0;
  const int x0 = loop_bound(min((grid.x0 + kRun - 1) / kRun * kRun - grid.x0, width)), across = (width - x0) / kRun,
            x1 = x0 + across * kRun, beside = width - across * kRun;
  const unsigned columns = static_cast<unsigned>(across),
                 items = columns * (static_cast<unsigned>(height + kExposedRows - 1) / kExposedRows);
  for (unsigned i = static_cast<unsigned>(thread); i < items; i += static_cast<unsigned>(threads)) {
    const int x = x0 + static_cast<int>(i % columns) * kRun, first = static_cast<int>(i / columns) * kExposedRows;
    uint4 run[kExposedRows];
#pragma unroll
    for (int j = 0; j < kExposedRows; ++j)
      run[j] = __ldg(reinterpret_cast<const uint4*>(codes.row(grid, grid.y0 + min(first + j, height - 1)) + x));
    auto exposure = begun();
#pragma unroll
    for (int j = 0; j < kExposedRows; ++j) {
      if (first + j >= height) break;
      exposure.take(run[j].x), exposure.take(run[j].y), exposure.take(run[j].z), exposure.take(run[j].w);
    }
    sums.word[kLumaSum] += exposure.sum();
    sums.word[kBlackCount] += exposure.black();
    sums.word[kWhiteCount] += exposure.white();
  }
  for (std::int64_t i = thread, n = std::int64_t{beside} * height; i < n; i += threads) {
    const int column = static_cast<int>(i % beside), y = grid.y0 + static_cast<int>(i / beside);
    const int code = codes.at(codes.row(grid, y) + (column < x0 ? column : column - x0 + x1));
    sums.word[kLumaSum] += static_cast<unsigned>(code);
    sums.word[kBlackCount] += code <= job.clip.black;
    sums.word[kWhiteCount] += code >= job.clip.white;
  }
}

/// All residuals of a grid that has no whole noise block, by `threads` threads.
template <class Word>
__device__ void sum_all(const StatisticsJob& job, const StatisticsGrid& grid, int thread, int threads, Sums& sums) {
  const Codes<Word> codes{job};
  const std::int64_t n = std::int64_t{grid.width()} * grid.height();
  for (std::int64_t i = thread; i < n; i += threads) {
    const int x = static_cast<int>(i % grid.width()), y = grid.y0 + static_cast<int>(i / grid.width());
    int around[3][3];
#pragma unroll
    for (int j = 0; j < 3; ++j)
#pragma unroll
      for (int k = 0; k < 3; ++k) around[j][k] = codes.at(codes.row(grid, y + j) + x + k);
    const auto r = static_cast<unsigned long long>(noise_residual(around[0], around[1], around[2]));
    sums.word[kResidual] += r;
    sums.word[kSquaredResidual] += r * r;
  }
}

/// The sum of rank `rank`, from 0 in ascending order, among those of all noise blocks. All threads of a block call it.
__device__ unsigned select(const unsigned* sums, int count, int rank, int digits) {
  __shared__ unsigned histogram[kDigits], of_warp[kWarps], digit, below;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  // Usually there are few, and each thread keeps its own.
  constexpr int kKept = 8;
  const bool keeps = count <= kKept * kThreads;
  unsigned kept[kKept];
  if (keeps)
#pragma unroll
    for (int i = 0; i < kKept; ++i) kept[i] = i * kThreads + t < count ? __ldcg(sums + i * kThreads + t) : kNoBlock;
  for (int i = t; i < kDigits; i += kThreads) histogram[i] = 0;
  unsigned prefix = 0;
  for (int d = digits - 1; d >= 0; --d) {
    const int shift = d * kDigitBits;
    __syncthreads();
    const auto sort_in = [&](unsigned v) {
      // Adding a constant 1 is one operation even where all of a warp add to the same one: blocks of flat pictures.
      if (v >> (shift + kDigitBits) == prefix) atomicAdd(&histogram[v >> shift & (kDigits - 1)], 1u);
    };
    if (keeps) {
#pragma unroll
      for (int i = 0; i < kKept; ++i) sort_in(kept[i]);
    } else {
      for (int i = t; i < count; i += kThreads) sort_in(__ldcg(sums + i));
    }
    __syncthreads();
    constexpr int kEach = kDigits / kThreads;
    unsigned own[kEach], sum = 0;
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      sum += own[i] = histogram[t * kEach + i];
      histogram[t * kEach + i] = 0;
    }
    unsigned up_to = sum;
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
      const unsigned other = __shfl_up_sync(~0u, up_to, i);
      if (lane >= i) up_to += other;
    }
    if (lane == 31) of_warp[warp] = up_to;
    __syncthreads();
#pragma unroll
    for (int w = 0; w < kWarps; ++w) up_to += w < warp ? of_warp[w] : 0;
    unsigned at = up_to - sum;
    const auto wanted = static_cast<unsigned>(rank);
    if (at <= wanted && wanted < up_to)
#pragma unroll
      for (int i = 0; i < kEach; ++i) {
        if (at <= wanted && wanted < at + own[i]) digit = static_cast<unsigned>(t * kEach + i), below = at;
        at += own[i];
      }
    __syncthreads();
    prefix = prefix << kDigitBits | digit;
    rank -= static_cast<int>(below);
  }
  return prefix;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) measure_statistics(const __grid_constant__ StatisticsJob job) {
  begin_block(job);
  const int block = static_cast<int>(blockIdx.x);
  const bool has_others = static_cast<int>(gridDim.x) > job.tiles;
  Sums sums;
  if (block < job.tiles) {
    sum_blocks<Word>(job, block, sums);
  } else {
    const int thread = (block - job.tiles) * kThreads + static_cast<int>(threadIdx.x),
              threads = (static_cast<int>(gridDim.x) - job.tiles) * kThreads;
    for (int g = 0; g < job.grids; ++g) {
      expose<Word>(job, job.grid[g], thread, threads, sums);
      if (job.sum_count == 0) sum_all<Word>(job, job.grid[g], thread, threads, sums);
    }
  }
  sums.add_to_frame(job);
  if (block < job.tiles) {
    // The last of them chooses, while others may still expose.
    const bool is_last = is_last_block(job.chosen, static_cast<unsigned>(job.tiles));
    if (is_last) {
      constexpr int kWordDigits = sizeof(Word) == 1 ? 2 : 3;
      const unsigned chosen = select(job.sums, job.sum_count, job.rank, kWordDigits);
      if (threadIdx.x == 0) atomicAdd(job.totals + kResidual, static_cast<unsigned long long>(chosen));
      __syncthreads();
    }
    if (!has_others && !is_last) return;
  }
  if (has_others && !is_last_block(job.ticket, gridDim.x)) return;
  if (!job.is_made) wait_for_earlier();
  const int i = static_cast<int>(threadIdx.x);
  if (i >= job.first_word && i < kStatisticsWords)
    job.results[i] = static_cast<std::int64_t>(atomicExch(job.totals + i, 0ull));
}

}  // namespace

Kernel statistics_kernel(int word_bytes) {
  Kernel k;
  k.function = word_bytes == 1 ? reinterpret_cast<const void*>(&measure_statistics<std::uint8_t>)
                               : reinterpret_cast<const void*>(&measure_statistics<std::uint16_t>);
  k.threads = kThreads;
  return k;
}

}  // namespace framequality::cuda
