// SPDX-License-Identifier: LGPL-2.1-or-later
// The statistics of a frame: residuals of its noise, summed over blocks of 16 x 16, and its exposure. Ends with the
// choice of the block that counts, so that a frame needs one launch and nothing but five words go to the host.
//
// The first job.tiles blocks sum residuals: a thread takes four columns of a noise block and walks down its 16 rows,
// the last row's bend and the step to it in registers; four threads make up a noise block, 16 a group of them. The
// others take rows of the roi in turn, a thread every kThreads-th code, for the exposure. All reads are of adjacent
// codes by adjacent threads; those of rows that two blocks share come from the cache.
#include "cuda/loop_bound.cuh"
#include "cuda/sharpness/tile.cuh"

#include <cstdint>

namespace framequality::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
constexpr int kColumns = 4, kLanesPerBlock = kNoiseBlock / kColumns, kLanesPerGroup = kLanesPerBlock * kNoiseGroup;
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
  __device__ int at(const Word* p) const {
    if constexpr (sizeof(Word) == 1) return __ldg(p);
    return static_cast<int>(static_cast<unsigned>(__ldg(p)) >> job.layout.shift & mask);
  }
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
  const int x = column * kNoiseBlock + lane % kLanesPerBlock * kColumns, y0 = grid.y0 + band * kNoiseBlock;
  unsigned sum = 0;
  if (is_block) {
    int bend[kColumns], step[kColumns];
    // The first two rows begin bend and step; the others end residuals.
#pragma unroll
    for (int j = 0; j < kNoiseBlock + 2; ++j) {
      const Word* p = codes.row(grid, y0 + j) + x;
      int g4[kColumns + 2];
#pragma unroll
      for (int i = 0; i < kColumns + 2; ++i) g4[i] = codes.at(p + i);
#pragma unroll
      for (int i = 0; i < kColumns; ++i) {
        const int now = g4[i] - 2 * g4[i + 1] + g4[i + 2];
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
  }
#pragma unroll
  for (int d = 1; d < kLanesPerBlock; d *= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (group < grid.groups && lane % kLanesPerBlock == 0)
    job.sums[grid.first_sum + group * kNoiseGroup + block] = is_block ? sum : kNoBlock;
}

template <class Word>
__device__ void expose(const StatisticsJob& job, int first, int step, Sums& sums) {
  const Codes<Word> codes{job};
  for (int g = 0; g < job.grids; ++g) {
    const StatisticsGrid& grid = job.grid[g];
    const int width = grid.x1 - grid.x0;
    for (int y = grid.y0 + first; y < grid.y1; y += step) {
      const Word* p = codes.row(grid, y);
      unsigned sum = 0, black = 0, white = 0;  // of at most 2^31 / kThreads codes
      const auto take = [&](int x) {
        const int code = codes.at(p + x);
        sum += static_cast<unsigned>(code);
        black += code <= job.clip.black;
        white += code >= job.clip.white;
      };
      int x0 = 0, x1 = 0;  // what is taken four at a time
      if constexpr (sizeof(Word) == 1) {
        x0 = loop_bound(min(static_cast<int>(-reinterpret_cast<std::uintptr_t>(p) & 3u), width));
        x1 = x0 + (width - x0) / 4 * 4;
        const auto* fours = reinterpret_cast<const unsigned*>(p + x0);
        const unsigned blacks = static_cast<unsigned>(job.clip.black) * 0x01010101u,
                       whites = static_cast<unsigned>(job.clip.white) * 0x01010101u;
        for (int i = static_cast<int>(threadIdx.x); i < (x1 - x0) / 4; i += kThreads) {
          const unsigned four = __ldg(fours + i);
          sum = __dp4a(four, 0x01010101u, sum);
          black = __dp4a(__vsetleu4(four, blacks), 0x01010101u, black);
          white = __dp4a(__vsetgeu4(four, whites), 0x01010101u, white);
        }
      }
      for (int x = static_cast<int>(threadIdx.x); x < x0; x += kThreads) take(x);
      for (int x = x1 + static_cast<int>(threadIdx.x); x < width; x += kThreads) take(x);
      sums.word[kLumaSum] += sum;
      sums.word[kBlackCount] += black;
      sums.word[kWhiteCount] += white;
      if (job.sum_count > 0 || y == grid.y0 || y >= grid.y1 - 1) continue;
      for (int x = static_cast<int>(threadIdx.x); x < grid.width(); x += kThreads) {
        int around[3][3];
#pragma unroll
        for (int j = 0; j < 3; ++j)
#pragma unroll
          for (int i = 0; i < 3; ++i) around[j][i] = codes.at(codes.row(grid, y + j - 1) + x + i);
        const auto r = static_cast<unsigned long long>(noise_residual(around[0], around[1], around[2]));
        sums.word[kResidual] += r;
        sums.word[kSquaredResidual] += r * r;
      }
    }
  }
}

/// Value number `rank`, from 0 in ascending order, of the sums of all noise blocks. All threads of one block call it.
__device__ unsigned select(const unsigned* sums, int count, int rank, int digits) {
  __shared__ unsigned histogram[kDigits], of_warp[kWarps], digit, below;
  const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
  // As a rule there are few, and each thread keeps its own.
  constexpr int kKept = 8;
  const bool keeps = count <= kKept * kThreads;
  unsigned kept[kKept];
  if (keeps)
#pragma unroll
    for (int i = 0; i < kKept; ++i) kept[i] = i * kThreads + t < count ? __ldcg(sums + i * kThreads + t) : kNoBlock;
  unsigned prefix = 0;
  for (int d = digits - 1; d >= 0; --d) {
    const int shift = d * kDigitBits;
    for (int i = t; i < kDigits; i += kThreads) histogram[i] = 0;
    __syncthreads();
    const auto sort_in = [&](unsigned v) {
      if (v >> (shift + kDigitBits) != prefix) return;
      // Blocks of flat pictures are alike: one of the threads that have the same digit counts for all of them.
      const unsigned mine = v >> shift & (kDigits - 1), alike = __match_any_sync(__activemask(), mine);
      if (lane == __ffs(static_cast<int>(alike)) - 1) atomicAdd(&histogram[mine], static_cast<unsigned>(__popc(alike)));
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
    for (int i = 0; i < kEach; ++i) sum += own[i] = histogram[t * kEach + i];
    unsigned up_to = sum;
#pragma unroll
    for (int i = 1; i < 32; i *= 2) {
      const unsigned other = __shfl_up_sync(~0u, up_to, i);
      if (lane >= i) up_to += other;
    }
    if (lane == 31) of_warp[warp] = up_to;
    __syncthreads();
    for (int w = 0; w < warp; ++w) up_to += of_warp[w];
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
    __syncthreads();
  }
  return prefix;
}

template <class Word>
__global__ void __launch_bounds__(kThreads) measure_statistics(const __grid_constant__ StatisticsJob job) {
  const int block = static_cast<int>(blockIdx.x);
  Sums sums;
  if (block < job.tiles)
    sum_blocks<Word>(job, block, sums);
  else
    expose<Word>(job, block - job.tiles, static_cast<int>(gridDim.x) - job.tiles, sums);
  sums.add_to_frame(job);
  if (!is_last_block(job.ticket)) return;
  constexpr int kWordDigits = sizeof(Word) == 1 ? 2 : 3;
  const unsigned chosen = job.sum_count > 0 ? select(job.sums, job.sum_count, job.rank, kWordDigits) : 0;
  const int i = static_cast<int>(threadIdx.x);
  if (i >= kStatisticsWords) return;
  const unsigned long long sum = atomicExch(job.totals + i, 0ull);
  job.results[i] = static_cast<std::int64_t>(i == kResidual && job.sum_count > 0 ? chosen : sum);
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
