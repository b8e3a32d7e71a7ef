// SPDX-License-Identifier: LGPL-2.1-or-later
// The fast kernel of 8-bit samples for metrics that are sums of products of samples: see
// algorithms/sharpness/quadratic.h.
//
// Let g0 be the samples of a cell with zeros all around it. The metric of g0, summed over the whole plane,
// is exactly a sum of lags of g0: four products of neighbouring pixels' bytes in one instruction, without borders.
// It differs from the cell's total only by the pixels along the cell's border, whose neighbourhoods extend out of
// the cell or the image: these few are computed one by one, as the metric defines them and as they were summed.
#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"
#include "cuda/sharpness/exposure.cuh"
#include "cuda/sharpness/sums.cuh"

#include <cstdint>
#include <utility>

namespace framequality::cuda {

using namespace sharpness;

namespace {

// One warp's strip is 512 bytes wide: each thread owns 16 adjacent bytes, the widest load there is, and moves down
// TiledGrid::rows rows. The warps of a block take strips one below the other.
constexpr int kLaneBytes = 16, kLaneWords = kLaneBytes / 4, kWarps = 4, kThreads = 32 * kWarps;
// 5 blocks on an SM leave a thread 96 registers, enough for all metrics.
constexpr int kBlocksPerSm = 5;
// Rows in flight ahead of the current one: 30 KiB on an SM. The loop over rows is unrolled by it: a multiple of the
// roles that a row plays in turn, 1 or 3.
constexpr int kAhead = 3;
constexpr unsigned kOnes = 0x01010101;

/// Totals that a strip sums besides lags.
enum class Beside { kNothing, kSamples, kExposure };

/// Sums of a thread: words of the cell's totals, and codes that are black and white.
template <class M>
struct Sums {
  long long words[kWordsOf<M>] = {}, black = 0, white = 0;
};

/// A thread's 16 bytes of a row, as they are and from 1, 2, ... kAcross columns further right.
template <int kAcross>
struct ShiftedBytes {
  unsigned word[kAcross + 1][kLaneWords];
};

/// 16 bytes of a row and the word right of them.
struct LoadedBytes {
  unsigned word[kLaneWords + 1];
};

/// A thread's position, the same in every row.
struct Lane {
  const std::uint8_t* first;      ///< its chunk of row 0
  int stride;                     ///< bytes from row to row
  int beside;                     ///< bytes from the chunk to the word right of it, or to another readable one
  unsigned mask[kLaneWords + 1];  ///< the bytes that are inside
};

/// A strip's rows y0...y1-1 as the lower ones of all products, those from y_top on as the upper ones. Calls `meanwhile`
/// when the first loads are on their way.
template <class M, Beside kBeside, class F>
__device__ __forceinline__ void march(const Lane& lane, int y_top, int y0, int y1, const ClipCodes& clip, Sums<M>& mine,
                                      F meanwhile) {
  constexpr int kDown = kLags<M>.down, kAcross = kLags<M>.across;
  using Row = ShiftedBytes<kAcross>;
  static_assert(kAhead % (kDown + 1) == 0);
  static_assert(std::uint64_t{255 * 255} * kLaneBytes * kLags<M>.most_shared * (kMaxStripRows + kAhead) <= UINT32_MAX);
  const int last = loop_bound(y1 - 1);
  int next = y0 - kDown;
  const std::uint8_t* from = lane.first + static_cast<std::int64_t>(max(next, y_top)) * lane.stride;
  // The next row, or if it lies beyond, the first of the cell or the last of the strip again.
  const auto fetch = [&] {
    LoadedBytes c;
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(from));
    c.word[0] = v.x, c.word[1] = v.y, c.word[2] = v.z, c.word[3] = v.w;
    if constexpr (kAcross > 0) c.word[kLaneWords] = __ldg(reinterpret_cast<const unsigned*>(from + lane.beside));
    if (next >= y_top && next < last) from += lane.stride;
    ++next;
    return c;
  };
  LoadedBytes ring[kAhead];
#pragma unroll
  for (int i = 0; i < kAhead; ++i) ring[i] = fetch();
  meanwhile();

  // Takes a chunk and requests another in its place. inside: all bits, or none for rows that count as zeros.
  const auto take = [&](LoadedBytes& chunk, unsigned inside) {
    constexpr int kWords = kAcross > 0 ? kLaneWords + 1 : kLaneWords;
    unsigned w[kWords];
#pragma unroll
    for (int k = 0; k < kWords; ++k) w[k] = chunk.word[k] & lane.mask[k] & inside;
    chunk = fetch();
    Row row;
#pragma unroll
    for (int s = 0; s <= kAcross; ++s)
#pragma unroll
      for (int k = 0; k < kLaneWords; ++k) row.word[s][k] = s == 0 ? w[k] : __funnelshift_r(w[k], w[k + 1], 8 * s);
    return row;
  };

  unsigned sums[kLags<M>.accumulators] = {}, sum = 0;
  ByteExposure exposure(clip);
  Row rows[kDown + 1];  // row y in place y - (y0 - kDown), modulo their number
#pragma unroll
  for (int i = 0; i < kDown; ++i) rows[i] = take(ring[i], y0 - kDown + i >= y_top ? ~0u : 0u);
  for (int y = y0; y < y1; y += kAhead) {
    // Unrolled, without a branch, so that rows change roles and chunks their index without a move.
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      rows[(kDown + i) % (kDown + 1)] = take(ring[(kDown + i) % kAhead], y + i <= last ? ~0u : 0u);
      const Row& low = rows[(kDown + i) % (kDown + 1)];
      unrolled<kLags<M>.count>([&](auto index) {
        constexpr Lag kLag = kLags<M>.lag[decltype(index)::value];
        const Row& high = rows[(kDown + i - kLag.dy) % (kDown + 1)];
        // Both samples relative to the left one's column.
#pragma unroll
        for (int k = 0; k < kLaneWords; ++k)
          sums[kLag.accumulator] = __dp4a(high.word[kLag.dx < 0 ? -kLag.dx : 0][k],
                                          low.word[kLag.dx > 0 ? kLag.dx : 0][k], sums[kLag.accumulator]);
      });
#pragma unroll
      for (int k = 0; k < kLaneWords; ++k) {
        if constexpr (kBeside == Beside::kSamples) sum = __dp4a(low.word[0][k], kOnes, sum);
        if constexpr (kBeside == Beside::kExposure) exposure.take(low.word[0][k]);
      }
    }
  }
  if constexpr (kBeside == Beside::kExposure) {
    // Masked values are zeros, which were counted as black.
    int inside = 0;
#pragma unroll
    for (int k = 0; k < kLaneWords; ++k) inside += __popc(lane.mask[k]) / 8;
    const int height = y1 - y0, taken = (height + kAhead - 1) / kAhead * kAhead * kLaneBytes;
    sum = exposure.sum();
    mine.black += static_cast<int>(exposure.black()) - (taken - inside * height);
    mine.white += exposure.white();
  }
  unrolled<kTotalsOf<M>>([&](auto index) {
    constexpr int t = decltype(index)::value;
    unrolled<kLags<M>.accumulators>([&](auto accumulator) {
      constexpr int a = decltype(accumulator)::value, kWeight = kLags<M>.weight[a][t];
      if constexpr (kWeight != 0) mine.words[t] += static_cast<long long>(kWeight) * sums[a];
    });
    constexpr int kSlope = kLagForm<M>.slope[t];
    if constexpr (kSlope != 0) mine.words[t] += static_cast<long long>(kSlope) * sum;
  });
  mine.words[kTotalsOf<M>] += sum;
}

/// The samples summed as lags, their cell, and the image.
struct Cell {
  Area summed, whole;
  int width, height;
  const std::uint8_t* base;
  int stride;
};

/// Sample index v of n, moved inside: reflected without repeating the edge, or to the edge.
template <bool kReflect>
__device__ __forceinline__ int inside(int v, int n) {
  if constexpr (kReflect) return v < 0 ? -v : v >= n ? 2 * (n - 1) - v : v;
  return min(max(v, 0), n - 1);
}

/// Contribution of pixel (x, y) to the cell's totals, less that of the lags.
template <class M>
__device__ __forceinline__ void correct(const Cell& cell, int x, int y, const ClipCodes& clip, Sums<M>& mine) {
  constexpr Reach kReach = M::kReach;
  constexpr int kRows = kReach.up + 1 + kReach.down;
  int real[kRows][4] = {}, summed[kRows][4] = {};  // columns x-1...x+2
#pragma unroll
  for (int j = 0; j < kRows; ++j) {
    const int v = y + j - kReach.up;
    const std::uint8_t* row = cell.base + static_cast<std::int64_t>(inside<M::kReflect>(v, cell.height)) * cell.stride;
#pragma unroll
    for (int dx = -kReach.left; dx <= kReach.right; ++dx) {
      real[j][dx + 1] = __ldg(row + inside<M::kReflect>(x + dx, cell.width));
      summed[j][dx + 1] = cell.summed.holds(x + dx, v) ? real[j][dx + 1] : 0;
    }
  }
  const auto add = [&](const int(&g)[kRows][4], int sign) {
    const auto row = [&](int dy) {
      const auto& n = g[dy + kReach.up];
      return M::template row<int>(Around<int>{n[0], n[1], n[2], n[3]});
    };
    WordSums<M> sums;
    M::pixel(row(-kReach.up), row(0), row(kReach.down), sums);
#pragma unroll
    for (int i = 0; i < kTotalsOf<M>; ++i) mine.words[i] += sign * sums.total(i);
  };
  add(summed, -1);
  if (!cell.whole.holds(x, y)) return;
  if (M::kReflect ||
      (x >= kReach.left && x + kReach.right < cell.width && y >= kReach.up && y + kReach.down < cell.height))
    add(real, 1);
  if (cell.summed.holds(x, y)) return;
  const int code = real[kReach.up][1];
  mine.words[kTotalsOf<M>] += code;
  mine.black += code <= clip.black;
  mine.white += code >= clip.white;
}

/// correct() for all pixels that need it, spread over the threads of the cell's blocks.
template <class M>
__device__ __forceinline__ void correct_border(const Cell& cell, int thread, int threads, const ClipCodes& clip,
                                               Sums<M>& mine) {
  constexpr Reach kReach = M::kReach;
  const Area& s = cell.summed;
  // The lags are right in `core`; everything outside `all` is zero.
  const Area all{s.x0 - kReach.right, max(s.x1 + kReach.left, cell.whole.x1), s.y0 - kReach.down, s.y1 + kReach.up};
  Area core{s.x0 + kReach.left, s.x1 - kReach.right, s.y0 + kReach.up, s.y1 - kReach.down};
  if (core.empty()) core = {all.x1, all.x1, all.y1, all.y1};
  const int width = all.x1 - all.x0, beside = width - (core.x1 - core.x0), top = width * (core.y0 - all.y0);
  const int sides = top + beside * (core.y1 - core.y0), end = loop_bound(sides + width * (all.y1 - core.y1));
  for (int i = thread; i < end; i += threads) {
    const bool across = i < top || i >= sides;
    const int n = i < top ? i : i < sides ? i - top : i - sides, per_row = across ? width : beside;
    const int row = n / per_row, column = n % per_row;
    const int y = row + (i < top ? all.y0 : i < sides ? core.y0 : core.y1);
    const int x = all.x0 + column + (across || column < core.x0 - all.x0 ? 0 : core.x1 - core.x0);
    correct<M>(cell, x, y, clip, mine);
  }
}

/// Mask of those of the word's bytes, at x...x+3, that lie in x0...x1-1.
__device__ __forceinline__ unsigned byte_mask(int x, int x0, int x1) {
  unsigned mask = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i)
    if (x + i >= x0 && x + i < x1) mask |= 255u << (8 * i);
  return mask;
}

template <class M>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) sum_lags(const __grid_constant__ Job job) {
  begin_block(job);
  const TiledGrid grid = find_grid(job, static_cast<int>(blockIdx.x));
  const Tile tile = find_tile(grid, static_cast<int>(blockIdx.x), 32 * kLaneBytes, kWarps * grid.rows, kLaneBytes);
  if (!tile.whole.empty()) {
    const int plane = job.layout.plane[0], thread = static_cast<int>(threadIdx.x);
    Cell cell{tile.whole,
              tile.whole,
              job.width[tile.field],
              job.height[tile.field],
              field_row(job, plane, tile.field),
              static_cast<int>(job.frame.stride[plane]) * job.fields};
    // Chunks that are not wholly inside a row are left to the border's computation.
    const int chunks_end = job.readable / kLaneBytes * kLaneBytes;
    cell.summed.x1 = max(min(cell.whole.x1, chunks_end), cell.whole.x0);

    Sums<M> mine;
    const auto border = [&] {
      correct_border<M>(cell, tile.index * kThreads + thread, tile.blocks * kThreads, job.clip, mine);
    };
    const int y0 = loop_bound(min(tile.y0 + thread / 32 * grid.rows, tile.y1)),
              y1 = loop_bound(min(y0 + grid.rows, tile.y1));
    if (y0 < y1 && tile.left < cell.summed.x1) {
      const int x = tile.left + thread % 32 * kLaneBytes, at = min(x, chunks_end - kLaneBytes);
      Lane lane{cell.base + at, cell.stride, at + kLaneBytes < chunks_end ? kLaneBytes : 0, {}};
#pragma unroll
      for (int k = 0; k <= kLaneWords; ++k) lane.mask[k] = byte_mask(x + 4 * k, cell.summed.x0, cell.summed.x1);
      constexpr bool kLinear = [] {
        for (const int slope : kLagForm<M>.slope)
          if (slope != 0) return true;
        return false;
      }();
      const auto sum = [&](auto beside) {
        march<M, decltype(beside)::value>(lane, cell.summed.y0, y0, y1, job.clip, mine, border);
      };
      if (job.exposes) {
        sum(std::integral_constant<Beside, Beside::kExposure>{});
      } else if (kLinear || job.mean) {
        sum(std::integral_constant<Beside, Beside::kSamples>{});
      } else {
        sum(std::integral_constant<Beside, Beside::kNothing>{});
      }
    } else {
      border();
    }
    add_to_cell<M, kThreads>(job, tile.cell, mine.words);
    if (job.exposes) {
      __syncthreads();  // the cell's sums may lie in the same shared memory
      add_sums<kThreads>(job.totals + job.total_count - kExposureWords,
                         {mine.words[kTotalsOf<M>], mine.black, mine.white});
    }
  }
  finish_block(job);
}

}  // namespace

Kernel quadratic_kernel(int metric) {
  return with_totals_of(metric, [](auto m) {
    using M = decltype(m);
    Kernel k;
    if constexpr (kLagForm<M>.is_quadratic) {
      k.function = reinterpret_cast<const void*>(&sum_lags<M>);
      k.threads = kThreads;
      k.x_align = kLaneBytes;
      k.tile_width = 32 * kLaneBytes;
      k.strips = kWarps;
    }
    return k;
  });
}

}  // namespace framequality::cuda
