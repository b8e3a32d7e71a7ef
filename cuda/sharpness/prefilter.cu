// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of 8-bit samples behind a prefilter: smoothing, metric and reduction in registers, each pixel read once.
//
// The tensor cores smooth. 16 chunks of a row, each 32 bytes around the 24 pixels that it is to measure, are the rows
// of a matrix; its products with banded matrices that hold the prefilter's taps, one for each row that the filter
// spans, add up to smoothed samples. Each thread is handed the samples of 6 adjacent pixels and their neighbours in two
// chunks. It keeps those of one chunk in the lower and of the other in the upper half of its registers, so that
// neighbours lie in registers of their own: no bytes to shift, nothing to ask of other threads, two pixels in each
// operation.
#include "algorithms/sharpness/metrics/all.h"
#include "cuda/sharpness/duo.cuh"

#include <cstdint>

namespace framequality::cuda {
namespace {

// Others are not given this kernel.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool kHasProducts = false;
#else
constexpr bool kHasProducts = true;
#endif

constexpr int kWarps = 4, kThreads = 32 * kWarps;
// 3 blocks on an SM leave a thread 168 registers: the taps, the rows that the filter spans, sums, and the metric's
// rows.
constexpr int kBlocksPerSm = 3;
constexpr int kChunks = 16;         ///< of a warp: rows of the matrix
constexpr int kRun = 6;             ///< pixels of a chunk that a thread measures
constexpr int kChunk = 4 * kRun;    ///< pixels of a chunk
constexpr int kWindow = 32;         ///< bytes of a chunk that are read
constexpr int kBefore = 4;          ///< of these, before its first pixel
constexpr int kHalf = kWindow / 2;  ///< bytes; a thread reads 4 of each half of a window
// Rows in registers: those that the filter spans and those on their way. A multiple of the three roles that a row of
// features plays in turn, so that the unrolled loop moves nothing.
constexpr int kRing = 6;

/// Rows of a strip for which 32-bit sums are wide enough: each adds at most 2 products for each of 12 pixels.
constexpr int kMaxRows = 240;
static_assert(255ll * 255 * 2 * 2 * kRun * kMaxRows < 1ll << 31);

/// A thread's part of the matrix: 4 bytes of each chunk, from two places of it.
struct Bytes16 {
  unsigned word[4];  ///< of the lower and the upper chunk, from the first half of the window, then from the second
};
struct Taps {
  unsigned word[2];
};

/// A thread's part of the product: two samples of the lower chunk, two of the upper.
struct Products {
  int sum[4];
};

/// c + bytes * taps, as the warp's matrices of 16 x 32 and 32 x 8.
__device__ __forceinline__ Products multiply_add(const Bytes16& a, const Taps& b, const Products& c) {
  Products d = c;
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%10, %11, %12, %13};"
      : "=r"(d.sum[0]), "=r"(d.sum[1]), "=r"(d.sum[2]), "=r"(d.sum[3])
      : "r"(a.word[0]), "r"(a.word[1]), "r"(a.word[2]), "r"(a.word[3]), "r"(b.word[0]), "r"(b.word[1]), "r"(c.sum[0]),
        "r"(c.sum[1]), "r"(c.sum[2]), "r"(c.sum[3]));
#endif
  return d;
}

/// A thread's part of one chunk: what it reads and measures.
struct Run {
  int x;             ///< of the first pixel that it measures
  int at;            ///< of the first byte that it reads
  int y0, y1;        ///< rows
  int live0, live1;  ///< of these, the rows on which the metric is defined
};

/// All bits of the halves whose chunks meet a condition.
__device__ __forceinline__ unsigned half_mask(bool lower, bool upper) {
  return (lower ? 0x0000ffffu : 0u) | (upper ? 0xffff0000u : 0u);
}
__device__ __forceinline__ bool is_within(int v, int from, int to) {
  return static_cast<unsigned>(v - from) < static_cast<unsigned>(max(to - from, 0));
}

/// 4 bytes of each row of a picture, whose edges are repeated.
class EdgeWord {
 public:
  EdgeWord() = default;
  /// at: of the first byte in a row of w, a multiple of 4. y: of the first row, of h.
  __device__ __forceinline__ EdgeWord(const std::uint8_t* picture, std::int64_t stride, int at, int w, int y, int h)
      : y_(y), last_row_(h - 1) {
    const int from = min(max(at, 0), (w - 1) / 4 * 4);
    word_ = reinterpret_cast<const unsigned*>(picture + min(max(y, 0), h - 1) * stride + from);
#pragma unroll
    for (int i = 0; i < 4; ++i) select_ |= static_cast<unsigned>(min(max(at + i, 0), w - 1) - from) << (4 * i);
  }
  __device__ __forceinline__ unsigned next(std::int64_t stride) {
    const unsigned word = __byte_perm(__ldg(word_), 0, select_);
    if (static_cast<unsigned>(y_) < static_cast<unsigned>(last_row_))
      word_ = reinterpret_cast<const unsigned*>(reinterpret_cast<const std::uint8_t*>(word_) + stride);
    ++y_;
    return word;
  }

 private:
  const unsigned* word_ = nullptr;
  unsigned select_ = 0;
  int y_ = 0, last_row_ = 0;
};

/// Rows behind its last sample's that a strip reads: those of the filter, and the next to come.
template <int kRadius>
constexpr int kAfter = kRing - kRadius;

template <class M>
constexpr int kSlots = kRun + M::kReach.left + M::kReach.right;  ///< samples that a thread needs of a chunk
template <class M>
constexpr int kProducts = (kSlots<M> + 1) / 2;  ///< a product brings two

/// The thread's taps of product j.
template <class M, int kRadius>
__device__ __forceinline__ Taps taps(int j) {
  const int lane = static_cast<int>(threadIdx.x) % 32, column = lane / 4, first = 4 * (lane % 4);
  const int centre = kBefore + kRun * (column / 2) + 2 * j + column % 2 - M::kReach.left;
  Taps t = {};
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int d = first + i / 4 * kHalf + i % 4 - centre;
    if (d >= -kRadius && d <= kRadius) t.word[i / 4] |= binomial_tap(kRadius, d) << (8 * (i % 4));
  }
  return t;
}

/// One warp's strip. kEdge: rows or columns may lie outside the cell or the picture, and chunks one below the other.
/// kMean: samples are summed too.
template <class M, int kRadius, bool kEdge, bool kMean>
__device__ __forceinline__ void march(const Job& job, const Tile& tile, int rows, const Run (&chunk)[2],
                                      long long (&mine)[kWordsOf<M>]) {
  using Row = typename M::template Row<Duo>;
  constexpr Reach kReach = M::kReach;
  constexpr int kUp = kReach.up, kDown = kReach.down, kLead = kUp + kDown, kSpan = 2 * kRadius + 1;
  static_assert(kUp <= kDown && kDown <= 1 && kSpan < kRing);
  const int w = job.width[tile.field], h = job.height[tile.field];
  const std::int64_t stride = job.frame.stride[job.layout.plane[0]] * job.fields;

  // Rows of bytes, the one that the first sample's filter begins with first.
  const std::uint8_t* picture = field_row(job, job.layout.plane[0], tile.field);
  const std::uint8_t* from = nullptr;
  std::int64_t upper = 0;  // from a thread's lower chunk to its upper one
  EdgeWord edge[4];
  if constexpr (kEdge) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Run& c = chunk[i % 2];
      edge[i] = {picture, stride, c.at + i / 2 * kHalf, w, c.y0 - kUp - kRadius, h};
    }
  } else {
    from = picture + chunk[0].at + (chunk[0].y0 - kUp - kRadius) * stride;
    upper = chunk[1].at - chunk[0].at + (chunk[1].y0 - chunk[0].y0) * stride;
  }
  const auto fetch = [&] {
    Bytes16 bytes;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      bytes.word[i] =
          kEdge ? edge[i].next(stride) : __ldg(reinterpret_cast<const unsigned*>(from + i % 2 * upper + i / 2 * kHalf));
    if constexpr (!kEdge) from += stride;
    return bytes;
  };
  Bytes16 ring[kRing];
#pragma unroll
  for (int i = 0; i < kRing; ++i) ring[i] = fetch();

  Taps tap[kRadius + 1][kProducts<M>];  // by weight of the row
#pragma unroll
  for (int j = 0; j < kProducts<M>; ++j) {
    const Taps once = taps<M, kRadius>(j);
#pragma unroll
    for (int d = 0; d <= kRadius; ++d) {
      const unsigned weight = binomial_tap(kRadius, kRadius - d);
      tap[d][j] = {once.word[0] * weight, once.word[1] * weight};  // at most 36 in a byte
    }
  }

  unsigned mask[kRun];
  if constexpr (kEdge) {
    const int x0 = M::kReflect ? tile.whole.x0 : max(tile.whole.x0, kReach.left),
              x1 = M::kReflect ? tile.whole.x1 : min(tile.whole.x1, w - kReach.right);
#pragma unroll
    for (int i = 0; i < kRun; ++i)
      mask[i] = half_mask(is_within(chunk[0].x + i, x0, x1), is_within(chunk[1].x + i, x0, x1));
  }

  // Rounds. From memory: of a constant the compiler would make copies in every row.
  const int half = kRadius == 2 ? 1 << (job.samples.shift - 1) : 0;
  unsigned sum = 0;  // of samples, for `mean`
  int row = -kUp;    // of the sample next to be made, from the strip's first one on
  // The products of one row are on their way while the metric is made of those of the row before.
  struct Row16 {
    Products part[kProducts<M>];
  };
  const auto multiply = [&](int at) {
    Row16 made;
#pragma unroll
    for (int d = 0; d < kSpan; ++d)
#pragma unroll
      for (int j = 0; j < kProducts<M>; ++j)
        made.part[j] = multiply_add(ring[(at + d) % kRing], tap[d <= kRadius ? d : 2 * kRadius - d][j],
                                    d == 0 ? Products{{half, half, half, half}} : made.part[j]);
    return made;
  };
  Row16 made = multiply(0);
  const auto features = [&](int at, auto use) {
    Duo g[2 * kProducts<M>];
#pragma unroll
    for (int i = 0; i < 2 * kProducts<M>; ++i) {
      const auto low = static_cast<unsigned>(made.part[i / 2].sum[i % 2]),
                 high = static_cast<unsigned>(made.part[i / 2].sum[2 + i % 2]);
      g[i] = {kRadius == 2 ? (high << 12 & 0xffff0000u) | low >> 4 : high << 16 | low};
    }
    ring[at % kRing] = fetch();
    made = multiply(at + 1);
    if constexpr (kMean) {
#pragma unroll
      for (int i = 0; i < kRun; ++i) {
        unsigned inside = is_within(row, 0, rows) ? ~0u : 0u;
        if constexpr (kEdge) {
          const auto is_inside = [&](const Run& c) {
            return is_within(c.x + i, tile.whole.x0, tile.whole.x1) && is_within(c.y0 + row, c.y0, c.y1);
          };
          inside = half_mask(is_inside(chunk[0]), is_inside(chunk[1]));
        }
        sum = __dp2a_lo(g[i + kReach.left].bits & inside, 0x0101u, sum);
      }
    }
    ++row;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      const auto sample = [&](int slot) {
        return slot >= 0 && slot < kSlots<M> ? g[slot] : Duo{0};  // others are never asked for
      };
      const int centre = i + kReach.left;
      Around<Duo> n{sample(centre - 1), g[centre], sample(centre + 1), sample(centre + 2)};
      if constexpr (kEdge && M::kReflect) {
        const auto mirror = [&](Duo& v, Duo other, int x) {
          const unsigned m = half_mask(chunk[0].x + i == x, chunk[1].x + i == x);
          v.bits = (v.bits & ~m) | (other.bits & m);
        };
        const Duo left = n.left;
        mirror(n.left, n.right, 0);
        mirror(n.right, left, w - 1);
      }
      use(i, M::template row<Duo>(n));
    }
  };

  DuoSums<M, kEdge> sums;
  Row up[kRun], mid[kRun];
  if constexpr (kUp > 0) features(0, [&](int i, const Row& f) { up[i] = f; });
  if constexpr (kDown > 0) features(kUp, [&](int i, const Row& f) { mid[i] = f; });
  for (int y = 0; y < rows; y += kRing) {
    // Unrolled, without a branch, so that rows change roles and places without a move.
#pragma unroll
    for (int j = 0; j < kRing; ++j) {
      unsigned row_mask = ~0u, top = 0, bottom = 0;
      if constexpr (kEdge) {
        const int y_low = chunk[0].y0 + y + j, y_high = chunk[1].y0 + y + j;
        row_mask = half_mask(is_within(y_low, chunk[0].live0, chunk[0].live1),
                             is_within(y_high, chunk[1].live0, chunk[1].live1));
        if constexpr (M::kReflect) {
          top = half_mask(y_low == 0, y_high == 0);
          bottom = half_mask(y_low == h - 1, y_high == h - 1);
        }
      }
      features(kLead + j, [&](int i, Row down) {
        const Row& m = kDown > 0 ? mid[i] : down;
        sums.begin(i, kEdge ? mask[i] & row_mask : ~0u);
        if constexpr (kEdge && M::kReflect) {
          Row above = up[i], below = down;
          above.c.bits = (above.c.bits & ~top) | (down.c.bits & top);
          below.c.bits = (below.c.bits & ~bottom) | (up[i].c.bits & bottom);
          M::pixel(above, m, below, sums);
        } else {
          M::pixel(kUp > 0 ? up[i] : m, m, down, sums);
        }
        up[i] = mid[i];
        mid[i] = down;
      });
    }
  }
#pragma unroll
  for (int i = 0; i < kTotalsOf<M>; ++i) mine[i] = sums.total(i);
  mine[kTotalsOf<M>] = sum;
}

template <class M, int kRadius>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) measure_prefiltered(const __grid_constant__ Job job) {
  if constexpr (!kHasProducts) return;
  begin_block(job);
  constexpr Reach kReach = M::kReach;
  const TiledGrid grid = find_grid(job, static_cast<int>(blockIdx.x));
  const int across = grid.across, bands = kChunks / across, rows = grid.rows;
  const Tile tile = find_tile(grid, static_cast<int>(blockIdx.x), kChunk * across, kWarps * bands * rows, kBefore);
  if (!tile.empty()) {
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int w = job.width[tile.field], h = job.height[tile.field];
    const int first = tile.y0 + warp * bands * rows;
    Run chunk[2];
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      const int index = lane / 4 + c * kChunks / 2, x = tile.left + index % across * kChunk;
      chunk[c].x = x + lane % 4 * kRun;
      chunk[c].at = x - kBefore + lane % 4 * 4;
      chunk[c].y0 = index / across < bands ? first + index / across * rows : tile.y1;
      chunk[c].y1 = loop_bound(min(chunk[c].y0 + rows, tile.y1));
      chunk[c].live0 = M::kReflect ? chunk[c].y0 : max(chunk[c].y0, kReach.up);
      chunk[c].live1 = M::kReflect ? chunk[c].y1 : min(chunk[c].y1, h - kReach.down);
    }
    long long mine[kWordsOf<M>] = {};
    if (first < tile.y1) {
      // Of chunks that lie below each other all are high, or the last one of them all may be less so.
      const int high = loop_bound(bands == 1 ? min(rows, tile.y1 - first) : rows);
      const bool is_inner = kChunks % across == 0 && high % kRing == 0 && tile.left >= max(tile.x0, kBefore) &&
                            tile.left + kChunk * across <= min(tile.x1, w - kBefore) && first >= kReach.up + kRadius &&
                            first + bands * high <= tile.y1 &&
                            first + bands * high + kReach.down + kAfter<kRadius> <= h;
      if (!is_inner && job.mean) {
        march<M, kRadius, true, true>(job, tile, loop_bound(min(rows, tile.y1 - first)), chunk, mine);
      } else if (!is_inner) {
        march<M, kRadius, true, false>(job, tile, loop_bound(min(rows, tile.y1 - first)), chunk, mine);
      } else if (job.mean) {
        march<M, kRadius, false, true>(job, tile, high, chunk, mine);
      } else {
        march<M, kRadius, false, false>(job, tile, high, chunk, mine);
      }
    }
    add_to_cell<M, kThreads>(job, tile.cell, mine);
  }
  finish_block(job);
}

}  // namespace

Kernel prefilter_kernel(int metric, int radius) {
  return with_totals_of(metric, [&](auto m) {
    using M = decltype(m);
    Kernel k;
    if constexpr (!M::kHistogram) {
      k.function = radius == 1 ? reinterpret_cast<const void*>(&measure_prefiltered<M, 1>)
                               : reinterpret_cast<const void*>(&measure_prefiltered<M, 2>);
      k.threads = kThreads;
      k.tile_width = kChunk * kChunks;
      k.chunks = kChunks;
      k.strips = kWarps;
      k.x_align = kBefore;
      k.row_step = kRing;
      k.max_rows = kMaxRows;
      k.edge_percent = 120;
      k.lead_rows = 2 * radius + 4;
    }
    return k;
  });
}

}  // namespace framequality::cuda
