// SPDX-License-Identifier: LGPL-2.1-or-later
// The fast kernel for adjacent samples: streams rows through registers, each read once from memory.
#include "algorithms/sharpness/metrics/all.h"
#include "algorithms/sharpness/quadratic.h"
#include "cuda/sharpness/chunk.cuh"

namespace framequality::cuda {

using namespace sharpness;

namespace {

// One warp's strip is 512 bytes wide: each thread owns 16 adjacent bytes, the widest load there is, and moves down
// TiledGrid::rows rows. The warps of a block process strips one below the other, so that halo rows meet in L1. Every
// block of a histogram adds 256 bins to the totals: fewer and larger ones do that less often.
template <class M>
constexpr int kWarps = M::kHistogram ? 16 : 4;
template <class M>
constexpr int kThreads = 32 * kWarps<M>;
// Rows in flight ahead of the current one. 16 warps on an SM then have 24 KiB in flight: H200's 4.2 TB/s require this
// of each of 132 SMs at a latency of 0.75 us. Loops are unrolled by it, and 3 is also the number of roles of a row.
constexpr int kAhead = 3;
// 16 warps on an SM leave a thread 128 registers, which three rows of features and the rows in flight need.
constexpr int kWarpsPerSm = 16;

/// One warp's strip, rows y0...y1-1 of the tile. Edge::kNone: every pixel counts, and they come in kAhead rows at a
/// time.
template <class M, class S, Edge kEdge>
__device__ __forceinline__ void march(const Job& job, int field, const Lane& lane, int x, int y0, int y1,
                                      long long (&mine)[kWordsOf<M>]) {
  using V = typename S::V;
  using Row = typename M::template Row<V>;
  constexpr int kUp = M::kReach.up, kDown = M::kReach.down;
  static_assert(kUp <= kDown && kDown <= 1);
  const S samples(job);
  const int w = job.width[field], h = job.height[field];
  const int plane = job.layout.plane[0];
  const std::uint8_t* base = field_row(job, plane, field);
  const int stride = static_cast<int>(job.frame.stride[plane]) * job.fields;

  const int first = loop_bound(M::kReflect ? y0 : max(y0, kUp)),
            end = loop_bound(M::kReflect ? y1 : min(y1, h - kDown));
  const int last = end - 1 + kDown;  // row to read
  int next = first - kUp;
  Chunk ring[kAhead];
  const auto fetch = [&] {
    const Chunk c = load<kEdge>(row_at<M::kReflect>(base, stride, min(next, last), h), lane, job.readable);
    ++next;
    return c;
  };
#pragma unroll
  for (int i = 0; i < kAhead; ++i) ring[i] = fetch();

  const auto features = [&](Chunk& chunk, auto use) {
    const typename S::Window window(samples, chunk);
    chunk = fetch();
#pragma unroll
    for (int i = 0; i < S::kUnits; ++i) {
      Around<V> n = window.around(i);
      if constexpr (kEdge != Edge::kNone && M::kReflect) {
        const V left = n.left;
        n.left = S::chosen(i, 0 - x, n.right, n.left);
        n.right = S::chosen(i, w - 1 - x, left, n.right);
      }
      use(i, M::template row<V>(n));
    }
  };

  using Sums = typename S::template Sums<M, kEdge != Edge::kNone>;
  static_assert(S::kPixels * (kMaxStripRows + kAhead) <= Sums::kPixels);
  constexpr bool kHasUnits = S::kUnits != S::kPixels;
  Sums sums;
  unsigned mask[S::kUnits];
  if constexpr (kHasUnits)
#pragma unroll
    for (int i = 0; i < S::kUnits; ++i) mask[i] = unit_mask<S>(lane.live, i);
  Row up[S::kUnits], mid[S::kUnits];
  constexpr int kLead = kUp + kDown;
  if constexpr (kUp > 0) features(ring[0], [&](int i, const Row& f) { up[i] = f; });
  if constexpr (kDown > 0) features(ring[kUp], [&](int i, const Row& f) { mid[i] = f; });
  for (int y = first; y < end; y += kAhead) {
    // Unrolled, without a branch, so that rows change roles and chunks their index without a move. Rows past the
    // strip's end are computed too and dropped: a branch would keep loads from running ahead.
#pragma unroll
    for (int j = 0; j < kAhead; ++j) {
      const unsigned row_mask = kEdge == Edge::kNone || y + j < end ? ~0u : 0u;
      features(ring[(kLead + j) % kAhead], [&](int i, const Row& down) {
        const Row& m = kDown > 0 ? mid[i] : down;
        if constexpr (kHasUnits) {
          // Lanes wholly outside the cell are dropped at the end.
          const bool whole = kEdge == Edge::kNone || (kEdge == Edge::kAligned && !is_beside<S>(M::kReach, i));
          sums.begin(i, whole ? row_mask : mask[i] & row_mask);
          M::pixel(kUp > 0 ? up[i] : m, m, down, sums);
          sums.end();
        } else if (kEdge == Edge::kNone || lane.live & row_mask & 1u << i) {
          M::pixel(kUp > 0 ? up[i] : m, m, down, sums);
        }
        up[i] = mid[i];
        mid[i] = down;
      });
    }
  }
  if (lane.inside == 0) return;
#pragma unroll
  for (int i = 0; i < kTotalsOf<M>; ++i) mine[i] = sums.total(i);
}

/// Sum of the samples of one warp's strip, for `normalize`: a second pass over rows that the first left in
/// the caches, at no cost without it.
template <class S>
__device__ unsigned sum_samples(const Job& job, int field, const Lane& lane, int y0, int y1) {
  constexpr int kPerWord = S::kPixels / kLaneWords;
  const S samples(job);
  const int plane = job.layout.plane[0];
  const int stride = static_cast<int>(job.frame.stride[plane]) * job.fields;
  const std::uint8_t* base = field_row(job, plane, field);
  unsigned inside[kLaneWords], sum = 0;  // all bits of the samples in the cell
#pragma unroll
  for (int k = 0; k < kLaneWords; ++k) {
    inside[k] = 0;
#pragma unroll
    for (int i = 0; i < kPerWord; ++i)
      if (lane.inside >> (k * kPerWord + i) & 1) inside[k] |= (~0u >> (32 - 32 / kPerWord)) << (32 / kPerWord * i);
  }
  for (int y = y0; y < y1; ++y) {
    const Chunk chunk = load<Edge::kAny>(row_at<false>(base, stride, y, 0), lane, job.readable);
#pragma unroll
    for (int k = 0; k < kLaneWords; ++k) sum = samples.sum(chunk.word[k] & inside[k], sum);
  }
  return sum;
}

/// One warp's strip of a histogram.
template <class S, int kCopies>
__device__ __forceinline__ void count(const Job& job, int field, const Lane& lane, int y0, int y1,
                                      Bins<kCopies>& bins) {
  constexpr int kPerWord = S::kPixels / kLaneWords;
  const S samples(job);
  const int plane = job.layout.plane[0], shift = job.samples.bits() - 8;
  const int stride = static_cast<int>(job.frame.stride[plane]) * job.fields;
  const std::uint8_t* base = field_row(job, plane, field);
  const unsigned copy = bins.copy(static_cast<int>(threadIdx.x) % kCopies);
  const auto add_row = [&](const uint4& v, unsigned inside) {
    const unsigned word[kLaneWords] = {v.x, v.y, v.z, v.w};
#pragma unroll
    for (int i = 0; i < S::kPixels; ++i)
      if (inside >> i & 1) bins.add(copy, samples.code(word[i / kPerWord], i % kPerWord) >> shift);
  };
  const auto row = [&](int y) { return row_at<false>(base, stride, y, 0); };
  if (lane.inside == (1u << S::kPixels) - 1 && lane.at + kLaneBytes <= job.readable) {
    const auto fetch = [&](int y) { return __ldg(reinterpret_cast<const uint4*>(row(min(y, y1 - 1)) + lane.at)); };
    uint4 ring[kAhead];
#pragma unroll
    for (int j = 0; j < kAhead; ++j) ring[j] = fetch(y0 + j);
    for (int y = y0; y < y1; y += kAhead)
#pragma unroll
      for (int j = 0; j < kAhead; ++j) {
        const uint4 v = ring[j];
        ring[j] = fetch(y + j + kAhead);
        if (y + j < y1) add_row(v, ~0u);
      }
  } else {
    for (int y = y0; y < y1; ++y) {
      const Chunk c = load<Edge::kAny>(row(y), lane, job.readable);
      add_row({c.word[0], c.word[1], c.word[2], c.word[3]}, lane.inside);
    }
  }
}

template <class M, class S>
__global__ void __launch_bounds__(kThreads<M>, kWarpsPerSm / kWarps<M>) stream_rows(const __grid_constant__ Job job) {
  constexpr Reach kReach = kReachOf<M>;
  constexpr int kWidth = 32 * S::kPixels;
  begin_block(job);
  const TiledGrid grid = find_grid(job, static_cast<int>(blockIdx.x));
  const Tile tile = find_tile(grid, static_cast<int>(blockIdx.x), kWidth, kWarps<M> * grid.rows, S::kPixels);
  if (!tile.empty()) {
    const int w = job.width[tile.field], left = tile.left;
    const int warp = static_cast<int>(threadIdx.x) / 32, index = static_cast<int>(threadIdx.x) % 32;
    const int x = left + index * S::kPixels;
    const int y0 = loop_bound(min(tile.y0 + warp * grid.rows, tile.y1));
    const int y1 = loop_bound(min(y0 + grid.rows, tile.y1));
    // Chunks that begin past the row's end read the last one and count nothing.
    Lane lane;
    lane.at = min(x, (w - 1) / S::kPixels * S::kPixels) * S::kWordBytes;
    lane.whole = lane.at + kLaneBytes + 4 <= job.readable;
    lane.inside = pixel_bits(x, S::kPixels, tile.x0, tile.x1);
    lane.live = M::kReflect ? lane.inside
                            : pixel_bits(x, S::kPixels, max(tile.x0, kReach.left), min(tile.x1, w - kReach.right));
    if constexpr (M::kHistogram) {
      // A copy for each lane: each has a separate memory bank, whatever the samples.
      __shared__ Bins<32> bins;
      bins.clear();
      if (y0 < y1) count<S>(job, tile.field, lane, y0, y1, bins);
      bins.add_to_cell(job, tile.cell);
    } else {
      long long mine[kWordsOf<M>] = {};
      if (y0 < y1) {
        const bool inner = left > 0 && left >= tile.x0 && left + kWidth <= min(tile.x1, w - kReach.right) &&
                           (left + kWidth) * S::kWordBytes + 4 <= job.readable && (y1 - y0) % kAhead == 0 &&
                           (M::kReflect || (y0 >= kReach.up && y1 + kReach.down <= job.height[tile.field]));
        if (inner) {
          march<M, S, Edge::kNone>(job, tile.field, lane, x, y0, y1, mine);
        } else if (job.readable % kLaneBytes == 0 && tile.x0 % S::kPixels == 0 && tile.x1 % S::kPixels == 0) {
          march<M, S, Edge::kAligned>(job, tile.field, lane, x, y0, y1, mine);
        } else {
          march<M, S, Edge::kAny>(job, tile.field, lane, x, y0, y1, mine);
        }
        if (job.mean) mine[kTotalsOf<M>] = sum_samples<S>(job, tile.field, lane, y0, y1);
      }
      add_to_cell<M, kThreads<M>>(job, tile.cell, mine);
    }
  }
  finish_block(job);
}

}  // namespace

Kernel stream_kernel(int metric, Measure measure) {
  return with_totals_of(metric, [&](auto m) {
    using M = decltype(m);
    Kernel k;
    if (measure == Measure::kStreamWords) k.function = reinterpret_cast<const void*>(&stream_rows<M, Words>);
    if constexpr (!M::kHistogram)
      if (measure == Measure::kStreamShorts) k.function = reinterpret_cast<const void*>(&stream_rows<M, ShortWords>);
    if constexpr (!kLagForm<M>.is_quadratic)
      if (measure == Measure::kStreamBytes) k.function = reinterpret_cast<const void*>(&stream_rows<M, Bytes>);
    k.threads = kThreads<M>;
    k.x_align = measure == Measure::kStreamBytes ? Bytes::kPixels : Words::kPixels;
    k.tile_width = 32 * k.x_align;
    k.strips = kWarps<M>;
    k.row_step = kAhead;
    return k;
  });
}

}  // namespace framequality::cuda
