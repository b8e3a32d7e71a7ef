// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of 8-bit samples after a prefilter: smoothing, metric and reduction in registers, each pixel read once.
//
// The tensor cores smooth along rows. 16 chunks of a row, each 32 bytes around the 24 pixels that it is to measure, are
// the rows of a matrix; its product with a banded matrix that holds the prefilter's taps are sums along the row. Each
// thread is handed the sums of 6 adjacent pixels and their neighbours in two chunks. It keeps those of one chunk in the
// lower and of the other in the upper half of its registers, so that neighbours lie in registers of their own: no bytes
// to shift, nothing to ask of other threads, two pixels in each operation. Down the columns a binomial is that many
// sums of two rows: it adds up what the row before has put into each.
#include "algorithms/sharpness/metrics/all.h"
#include "cuda/sharpness/duo.cuh"

#include <cstdint>

namespace framequality::cuda {

using namespace sharpness;

namespace {

// Other architectures never get this kernel.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr bool kHasProducts = false;
#else
constexpr bool kHasProducts = true;
#endif

constexpr int kWarps = 4, kThreads = 32 * kWarps;
// 3 blocks on an SM leave a thread 168 registers: rows on their way, sums down the columns, and the metric's rows.
constexpr int kBlocksPerSm = 3;
constexpr int kChunks = 16;         ///< per warp: rows of the matrix
constexpr int kRun = 6;             ///< pixels of a chunk that a thread measures
constexpr int kChunk = 4 * kRun;    ///< pixels of a chunk
constexpr int kWindow = 32;         ///< bytes of a chunk that are read
constexpr int kBefore = 4;          ///< of these, before its first pixel
constexpr int kHalf = kWindow / 2;  ///< bytes; a thread reads 4 of each half of a window
// Rows on their way. A multiple of the three roles that a row of features plays in turn, so that the unrolled loop
// moves nothing.
constexpr int kRing = 3;

/// Most rows of a strip for which 32-bit sums suffice: each adds at most 2 products for each of 12 pixels.
constexpr int kMaxRows = 240;
static_assert(255ll * 255 * 2 * 2 * kRun * kMaxRows < 1ll << 31);

/// A thread's part of the matrix: 4 bytes of each chunk, from two places in it.
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

/// A thread's part of one chunk: the bytes that it reads and the pixels that it measures.
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

/// Two times 4 bytes, kHalf apart, of each row of a picture, whose edges are repeated.
class EdgeWords {
 public:
  EdgeWords() = default;
  /// at: of the first byte in a row of w, a multiple of 4. y: of the first row, of h.
  __device__ __forceinline__ EdgeWords(const std::uint8_t* picture, std::int64_t stride, int at, int w, int y, int h)
      : y_(y), last_row_(h - 1) {
    const auto inside = [&](int byte) { return min(max(byte, 0), (w - 1) / 4 * 4); };
    const auto select = [&](int byte) {
      unsigned selected = 0;
#pragma unroll
      for (int i = 0; i < 4; ++i)
        selected |= static_cast<unsigned>(min(max(byte + i, 0), w - 1) - inside(byte)) << (4 * i);
      return selected;
    };
    from_ = picture + min(max(y, 0), h - 1) * stride + inside(at);
    apart_ = inside(at + kHalf) - inside(at);
    select_ = select(at) | select(at + kHalf) << 16;
  }
  __device__ __forceinline__ uint2 next(std::int64_t stride) {
    const uint2 words = {__byte_perm(__ldg(reinterpret_cast<const unsigned*>(from_)), 0, select_),
                         __byte_perm(__ldg(reinterpret_cast<const unsigned*>(from_ + apart_)), 0, select_ >> 16)};
    if (static_cast<unsigned>(y_) < static_cast<unsigned>(last_row_)) from_ += stride;
    ++y_;
    return words;
  }

 private:
  const std::uint8_t* from_ = nullptr;
  int apart_ = 0;
  unsigned select_ = 0;  ///< of the bytes of the first word, and above of those of the second
  int y_ = 0, last_row_ = 0;
};

/// Rows after its last sample's that a strip reads: those of the filter, and prefetched ones.
template <int kRadius>
constexpr int kAfter = kRing + kRadius;

/// One warp's rows of samples, the first of them `up` rows above its strips. kSlots: samples that a thread needs of a
/// chunk, kLeft of them before those that it measures. kEdge: rows or columns may lie outside the picture.
template <int kSlots, int kLeft, int kRadius, bool kEdge>
class Smoother {
 public:
  static constexpr int kProducts = (kSlots + 1) / 2;  ///< a product brings two
  using Samples = Duo[2 * kProducts];                 ///< of the lower chunk in the lower halves

  __device__ __forceinline__ Smoother(const Job& job, const Tile& tile, const Run (&chunk)[2], int up)
      : stride_(job.frame.stride[job.layout.plane[0]] * job.fields) {
    const std::uint8_t* picture = field_row(job, job.layout.plane[0], tile.field);
    if constexpr (kEdge) {
      const int w = job.width[tile.field], h = job.height[tile.field];
#pragma unroll
      for (int c = 0; c < 2; ++c) edge_[c] = {picture, stride_, chunk[c].at, w, chunk[c].y0 - up - kRadius, h};
    } else {
      from_ = picture + chunk[0].at + (chunk[0].y0 - up - kRadius) * stride_;
      upper_ = chunk[1].at - chunk[0].at + (chunk[1].y0 - chunk[0].y0) * stride_;
    }
#pragma unroll
    for (Bytes16& bytes : ring_) bytes = fetch();
#pragma unroll
    for (int j = 0; j < kProducts; ++j) taps_[j] = taps(j);
    multiply(0);
#pragma unroll
    for (int i = 0; i < 2 * kRadius; ++i) {  // rows that no sample ends with
      Samples none;
      smooth(i, none);
    }
  }

  /// The next row. at: how many were taken before, or a number that is as much modulo kRing.
  __device__ __forceinline__ void next(int at, Samples& g) { smooth(2 * kRadius + at, g); }

 private:
  /// The thread's taps of product j.
  __device__ static __forceinline__ Taps taps(int j) {
    const int lane = static_cast<int>(threadIdx.x) % 32, column = lane / 4, first = 4 * (lane % 4);
    const int centre = kBefore + kRun * (column / 2) + 2 * j + column % 2 - kLeft;
    Taps t = {};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const int d = first + i / 4 * kHalf + i % 4 - centre;
      if (d >= -kRadius && d <= kRadius) t.word[i / 4] |= binomial_tap(kRadius, d) << (8 * (i % 4));
    }
    return t;
  }
  __device__ __forceinline__ Bytes16 fetch() {
    Bytes16 bytes;
#pragma unroll
    for (int c = 0; c < 2; ++c) {
      if constexpr (kEdge) {
        const uint2 words = edge_[c].next(stride_);
        bytes.word[c] = words.x, bytes.word[2 + c] = words.y;
      } else {
#pragma unroll
        for (int i = 0; i < 2; ++i)
          bytes.word[2 * i + c] = __ldg(reinterpret_cast<const unsigned*>(from_ + c * upper_ + i * kHalf));
      }
    }
    if constexpr (!kEdge) from_ += stride_;
    return bytes;
  }
  __device__ __forceinline__ void multiply(int at) {
#pragma unroll
    for (int j = 0; j < kProducts; ++j) made_[j] = multiply_add(ring_[at % kRing], taps_[j], Products{});
  }
  __device__ __forceinline__ void smooth(int at, Samples& g) {
#pragma unroll
    for (int i = 0; i < 2 * kProducts; ++i) {
      unsigned sum = __byte_perm(static_cast<unsigned>(made_[i / 2].sum[i % 2]),
                                 static_cast<unsigned>(made_[i / 2].sum[2 + i % 2]), 0x5410);
#pragma unroll
      for (int k = 0; k < 2 * kRadius; ++k) {  // at most 255 * 256 in a half
        const unsigned last = before_[i][k];
        before_[i][k] = sum;
        sum += last;
      }
      g[i] = {kRadius == 2 ? sum + 0x00080008u >> 4 & 0x0fff0fffu : sum};
    }
    ring_[at % kRing] = fetch();
    multiply(at + 1);  // on their way while the metric is made of this row
  }

  std::int64_t stride_;
  const std::uint8_t* from_ = nullptr;
  std::int64_t upper_ = 0;  ///< from a thread's lower chunk to its upper one
  EdgeWords edge_[2];
  Bytes16 ring_[kRing];
  Taps taps_[kProducts];
  Products made_[kProducts];  ///< of the next row
  unsigned before_[2 * kProducts][2 * kRadius] = {};
};

/// One warp's strip. kEdge: rows or columns may lie outside the cell or the image, and chunks one below the other.
/// kMean: samples are summed too.
template <class M, int kRadius, bool kEdge, bool kMean>
__device__ __forceinline__ void march(const Job& job, const Tile& tile, int rows, const Run (&chunk)[2],
                                      long long (&mine)[kWordsOf<M>]) {
  using Row = typename M::template Row<Duo>;
  constexpr Reach kReach = M::kReach;
  constexpr int kUp = kReach.up, kDown = kReach.down, kLead = kUp + kDown;
  constexpr int kSlots = kRun + kReach.left + kReach.right;
  static_assert(kUp <= kDown && kDown <= 1);
  const int w = job.width[tile.field], h = job.height[tile.field];
  using Rows = Smoother<kSlots, kReach.left, kRadius, kEdge>;
  Rows smoothed(job, tile, chunk, kUp);

  unsigned mask[kRun];
  if constexpr (kEdge) {
    const int x0 = M::kReflect ? tile.whole.x0 : max(tile.whole.x0, kReach.left),
              x1 = M::kReflect ? tile.whole.x1 : min(tile.whole.x1, w - kReach.right);
#pragma unroll
    for (int i = 0; i < kRun; ++i)
      mask[i] = half_mask(is_within(chunk[0].x + i, x0, x1), is_within(chunk[1].x + i, x0, x1));
  }

  unsigned sum = 0;  // of samples, for `mean`
  int row = -kUp;    // of the sample next to be made, from the strip's first one on
  const auto features = [&](int at, auto use) {
    typename Rows::Samples g;
    smoothed.next(at, g);
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
        return slot >= 0 && slot < kSlots ? g[slot] : Duo{0};  // others are never asked for
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

/// One warp's strip of a histogram.
template <int kRadius, bool kEdge, class Copies>
__device__ __forceinline__ void count(const Job& job, const Tile& tile, int rows, const Run (&chunk)[2], Copies& bins) {
  constexpr int kShift = 4;  // of samples of 12 bits
  using Rows = Smoother<kRun, 0, kRadius, kEdge>;
  Rows smoothed(job, tile, chunk, 0);
  const unsigned copy = bins.copy(static_cast<int>(threadIdx.x) % 32);
  for (int y = 0; y < rows; y += kRing)
#pragma unroll
    for (int j = 0; j < kRing; ++j) {
      typename Rows::Samples g;
      smoothed.next(j, g);
#pragma unroll
      for (int i = 0; i < kRun; ++i)
#pragma unroll
        for (int c = 0; c < 2; ++c) {
          const Run& r = chunk[c];
          if (!kEdge || (is_within(r.x + i, tile.whole.x0, tile.whole.x1) && is_within(r.y0 + y + j, r.y0, r.y1)))
            bins.add(copy, g[i].bits >> (16 * c + kShift) & 255u);
        }
    }
}

/// A warp's strips in a tile: those of its chunks that lie below each other begin `rows` rows after one another.
template <class M, int kRadius>
struct Strips {
  static constexpr Reach kReach = kReachOf<M>;
  Run chunk[2];
  int first, high;  ///< row of the first; rows
  bool is_inner;    ///< no row or column lies outside the cell or the picture

  __device__ __forceinline__ Strips(const Job& job, const Tile& tile, const TiledGrid& grid) {
    const int across = grid.across, bands = kChunks / across, rows = grid.rows;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int w = job.width[tile.field], h = job.height[tile.field];
    first = tile.y0 + warp * bands * rows;
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
    const int left = loop_bound(min(rows, tile.y1 - first));
    // Of chunks that lie below each other all are high, or the last one of them all may be less so.
    high = bands == 1 ? left : rows;
    is_inner = kChunks % across == 0 && high % kRing == 0 && tile.left >= max(tile.x0, kBefore) &&
               tile.left + kChunk * across <= min(tile.x1, w - kBefore) && first >= kReach.up + kRadius &&
               first + bands * high <= tile.y1 && first + bands * high + kReach.down + kAfter<kRadius> <= h;
    if (!is_inner) high = left;
  }
};

template <class M, int kRadius>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) measure_prefiltered(const __grid_constant__ Job job) {
  if constexpr (!kHasProducts) return;
  begin_block(job);
  const TiledGrid grid = find_grid(job, static_cast<int>(blockIdx.x));
  const Tile tile = find_tile(grid, static_cast<int>(blockIdx.x), kChunk * grid.across,
                              kWarps * (kChunks / grid.across) * grid.rows, kBefore);
  if (!tile.empty()) {
    const Strips<M, kRadius> strips(job, tile, grid);
    const bool is_any = strips.first < tile.y1;
    if constexpr (M::kHistogram) {
      // A copy for each lane: each has a memory bank to itself, whatever the samples.
      __shared__ Bins<32> bins;
      bins.clear();
      if (is_any && strips.is_inner) count<kRadius, false>(job, tile, strips.high, strips.chunk, bins);
      if (is_any && !strips.is_inner) count<kRadius, true>(job, tile, strips.high, strips.chunk, bins);
      bins.add_to_cell(job, tile.cell);
    } else {
      long long mine[kWordsOf<M>] = {};
      if (is_any && !strips.is_inner) {
        job.mean ? march<M, kRadius, true, true>(job, tile, strips.high, strips.chunk, mine)
                 : march<M, kRadius, true, false>(job, tile, strips.high, strips.chunk, mine);
      } else if (is_any) {
        job.mean ? march<M, kRadius, false, true>(job, tile, strips.high, strips.chunk, mine)
                 : march<M, kRadius, false, false>(job, tile, strips.high, strips.chunk, mine);
      }
      add_to_cell<M, kThreads>(job, tile.cell, mine);
    }
  }
  finish_block(job);
}

}  // namespace

Kernel prefilter_kernel(int metric, int radius) {
  return with_totals_of(metric, [&](auto m) {
    using M = decltype(m);
    Kernel k;
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
    k.lead_rows = 2 * radius + (M::kHistogram ? 16 : 4);  // bins are cleared, and added up
    return k;
  });
}

}  // namespace framequality::cuda
