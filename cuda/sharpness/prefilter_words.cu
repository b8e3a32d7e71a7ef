// SPDX-License-Identifier: LGPL-2.1-or-later
// The kernel of samples of more than 8 bits after a prefilter: smoothing, metric and reduction in registers, each
// pixel read once.
//
// A thread measures 8 adjacent pixels of a row, from the 16 words around them. Along the row, products of two words
// with two taps (dp2a) smooth what memory holds, without unpacking it. Their sums start as the bits of the float 2^23,
// so each is a float without a conversion. Down the columns a binomial is that many sums of two rows, exact in floats
// because none exceeds 2^24, and at twice the rate of integers. A multiplication and addition that rounds down
// makes the sample of the last sum.
#include "algorithms/sharpness/metrics/all.h"
#include "cuda/sharpness/chunk.cuh"

#include <cstdint>

namespace framequality::cuda {

using namespace sharpness;

namespace {

constexpr int kWarps = 4, kThreads = 32 * kWarps;
// They leave a thread 128 or 168 registers: rows on their way, sums down the columns, and the metric's rows.
template <int kRadius>
constexpr int kBlocksPerSm = kRadius == 1 ? 4 : 3;
constexpr int kRun = 8;                    ///< pixels that a thread measures
constexpr int kBefore = 4;                 ///< of the pixels that it reads, before them
constexpr int kRead = kRun + 2 * kBefore;  ///< pixels that it reads: two to a word
constexpr int kLanes = 32;                 ///< of a warp
constexpr unsigned kZero = 0x4b000000;     ///< bits of kFloatZero; adding n < 2^23 makes those of kFloatZero + n
constexpr float kFloatZero = 8388608;
// Rows on their way. A multiple of the three roles that a row of features plays in turn, so that the unrolled loop
// moves nothing.
constexpr int kRing = 3;

/// A thread's part of a row, as memory holds it.
struct Part {
  unsigned word[kRead / 2];
};

/// A thread's part of a warp's strip.
struct Run {
  int x;             ///< of the first pixel that it measures
  int y0, y1;        ///< rows
  int live0, live1;  ///< of these, the rows on which the metric is defined
  unsigned inside;   ///< bit i: pixel i is in the cell
  unsigned live;     ///< bit i: the metric is defined on it
};

/// One thread's rows of samples, the first of them `up` rows above its strip. kSlots: samples that it needs, kLeft
/// of them before those that it measures. kEdge: rows or columns may lie outside the picture, whose edge is repeated.
template <int kSlots, int kLeft, int kRadius, bool kEdge>
class Smoother {
 public:
  using Samples = int[kSlots];

  __device__ __forceinline__ Smoother(const Job& job, int field, const Run& run, int up)
      : bits_((((1u << job.layout.depth) - 1u) << job.layout.shift & 0xffffu) * 0x10001u),
        width_(job.width[field]),
        last_row_(job.height[field] - 1),
        y_(run.y0 - up - kRadius),
        x_(run.x - kBefore) {
    const int plane = job.layout.plane[0], shift = job.samples.shift + job.layout.shift;
    // Halves are rounded up, here a fraction of it in each sum along a row.
    const float half = job.samples.shift ? static_cast<float>(1 << shift) / 2 : 0;
    zero_ = kFloatZero - half / (1 << (2 * kRadius));
    scale_ = 1.0f / static_cast<float>(1 << shift);
    stride_ = job.frame.stride[plane] * job.fields;
    from_ = field_row(job, plane, field) + (kEdge ? min(max(y_, 0), last_row_) : y_) * stride_;
    if constexpr (kEdge)
      is_whole_ = __all_sync(~0u, x_ >= 0 && x_ + kRead <= width_);
    else
      from_ += 2 * x_;
#pragma unroll
    for (Part& part : ring_) part = fetch();
#pragma unroll
    for (int i = 0; i < 2 * kRadius; ++i) {  // rows that no sample ends with
      Samples none;
      next(i - 2 * kRadius, none);
    }
  }

  /// The next row. at: how many were taken before, or a number that is as much modulo kRing.
  __device__ __forceinline__ void next(int at, Samples& g) {
    Part& part = ring_[(at + 2 * kRadius) % kRing];
#pragma unroll
    for (unsigned& word : part.word) word &= bits_;
#pragma unroll
    for (int i = 0; i < kSlots; ++i) {
      float sum = __uint_as_float(along(part, kBefore - kLeft + i)) - zero_;
#pragma unroll
      for (int k = 0; k < 2 * kRadius; ++k) {
        const float last = before_[i][k];
        before_[i][k] = sum;
        sum += last;
      }
      g[i] = static_cast<int>(__float_as_uint(__fmaf_rd(sum, scale_, kFloatZero)) & 0xffffu);
    }
    part = fetch();
  }

 private:
  /// kZero + the sum along the row around pixel `centre` of those read.
  __device__ static __forceinline__ unsigned along(const Part& part, int centre) {
    unsigned sum = kZero;
#pragma unroll
    for (int k = 0; k < kRead / 2; ++k) {
      unsigned taps = 0;
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int d = 2 * k + i - centre;
        if (d >= -kRadius && d <= kRadius) taps |= binomial_tap(kRadius, d) << (8 * i);
      }
      if (taps != 0) sum = __dp2a_lo(part.word[k], taps, sum);
    }
    return sum;
  }

  __device__ __forceinline__ Part fetch() {
    Part part;
    if (!kEdge || is_whole_) {
      const std::uint8_t* from = kEdge ? from_ + 2 * x_ : from_;
      const uint2 before = __ldg(reinterpret_cast<const uint2*>(from));
      const uint4 own = __ldg(reinterpret_cast<const uint4*>(from + 2 * kBefore));
      const uint2 behind = __ldg(reinterpret_cast<const uint2*>(from + 2 * (kBefore + kRun)));
      part = {before.x, before.y, own.x, own.y, own.z, own.w, behind.x, behind.y};
    } else {
      const unsigned last = (width_ - 1) % 2 == 0 ? 0x1010u : 0x3232u;  // the picture's last pixel, twice
#pragma unroll
      for (int k = 0; k < kRead / 2; ++k) {
        const int x = x_ + 2 * k;
        const unsigned word = __ldg(reinterpret_cast<const unsigned*>(from_) + min(max(x, 0), width_ - 1) / 2);
        part.word[k] = __byte_perm(word, 0, x < 0 ? 0x1010u : x + 1 < width_ ? 0x3210u : last);
      }
    }
    if (!kEdge || static_cast<unsigned>(y_) < static_cast<unsigned>(last_row_)) from_ += stride_;
    ++y_;
    return part;
  }

  const std::uint8_t* from_ = nullptr;
  std::int64_t stride_ = 0;
  unsigned bits_;  ///< of a word that are the pixels'
  float zero_ = 0, scale_ = 0;
  int width_, last_row_, y_, x_;
  bool is_whole_ = true;  ///< no thread of the warp reads pixels outside the picture
  Part ring_[kRing];
  float before_[kSlots][2 * kRadius] = {};
};

/// One warp's strip. kEdge: rows or columns may lie outside the cell or the image, and threads below each other.
/// kMean: samples are summed too.
template <class M, int kRadius, bool kEdge, bool kMean>
__device__ __forceinline__ void march(const Job& job, int field, int rows, const Run& run,
                                      long long (&mine)[kWordsOf<M>]) {
  using Row = typename M::template Row<int>;
  constexpr Reach kReach = M::kReach;
  constexpr int kUp = kReach.up, kDown = kReach.down, kLead = kUp + kDown;
  constexpr int kSlots = kRun + kReach.left + kReach.right;
  static_assert(kUp <= kDown && kDown <= 1);
  static_assert(kReach.left + kRadius <= kBefore && kReach.right + kRadius <= kBefore);
  static_assert(kRun * (kMaxStripRows + kRing) <= WordSums<M>::kPixels);
  const int w = job.width[field], h = job.height[field];
  Smoother<kSlots, kReach.left, kRadius, kEdge> smoothed(job, field, run, kUp);

  unsigned sum = 0;      // of samples, for `mean`
  int y = run.y0 - kUp;  // of the sample next to be made
  const auto features = [&](int at, auto use) {
    int g[kSlots];
    smoothed.next(at, g);
    if constexpr (kMean) {
      const unsigned inside = is_within(y, run.y0, run.y1) ? run.inside : 0;
#pragma unroll
      for (int i = 0; i < kRun; ++i)
        if (inside >> i & 1) sum += static_cast<unsigned>(g[i + kReach.left]);
    }
    ++y;
#pragma unroll
    for (int i = 0; i < kRun; ++i) {
      const auto sample = [&](int slot) { return slot >= 0 && slot < kSlots ? g[slot] : 0; };  // others are not used
      const int centre = i + kReach.left;
      Around<int> n{sample(centre - 1), g[centre], sample(centre + 1), sample(centre + 2)};
      if constexpr (kEdge && M::kReflect) {
        const int left = n.left;
        if (run.x + i == 0) n.left = n.right;
        if (run.x + i == w - 1) n.right = left;
      }
      use(i, M::template row<int>(n));
    }
  };

  WordSums<M> sums;
  Row up[kRun], mid[kRun];
  if constexpr (kUp > 0) features(0, [&](int i, const Row& f) { up[i] = f; });
  if constexpr (kDown > 0) features(kUp, [&](int i, const Row& f) { mid[i] = f; });
  for (int from = 0; from < rows; from += kRing) {
    // Unrolled, without a branch, so that rows change roles and places without a move.
#pragma unroll
    for (int j = 0; j < kRing; ++j) {
      const int at = run.y0 + from + j;  // of the row that counts
      const unsigned live = !kEdge || is_within(at, run.live0, run.live1) ? run.live : 0;
      features(kLead + j, [&](int i, const Row& down) {
        const Row& m = kDown > 0 ? mid[i] : down;
        if (!kEdge || live >> i & 1) {
          if constexpr (kEdge && M::kReflect) {
            Row above = up[i], below = down;
            if (at == 0) above.c = down.c;
            if (at == h - 1) below.c = up[i].c;
            M::pixel(above, m, below, sums);
          } else {
            M::pixel(kUp > 0 ? up[i] : m, m, down, sums);
          }
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
__global__ void __launch_bounds__(kThreads, kBlocksPerSm<kRadius>)
    measure_prefiltered_words(const __grid_constant__ Job job) {
  constexpr Reach kReach = M::kReach;
  begin_block(job);
  const TiledGrid grid = find_grid(job, static_cast<int>(blockIdx.x));
  // Narrow cells have several of a warp's threads one below the other.
  const int across = grid.across, bands = kLanes / across;
  const Tile tile = find_tile(grid, static_cast<int>(blockIdx.x), kRun * across, kWarps * bands * grid.rows, kRun);
  const int w = job.width[tile.field], h = job.height[tile.field];
  const int warp = static_cast<int>(threadIdx.x) / kLanes, lane = static_cast<int>(threadIdx.x) % kLanes;
  const int first = tile.y0 + warp * bands * grid.rows;
  long long mine[kWordsOf<M>] = {};
  if (!tile.empty() && first < tile.y1) {
    const int left = loop_bound(min(grid.rows, tile.y1 - first));
    int rows = bands == 1 ? left : grid.rows;
    const bool is_inner = kLanes % across == 0 && rows % kRing == 0 && tile.left >= max(tile.x0, kBefore) &&
                          tile.left + kRun * across <= min(tile.x1, w - kBefore) && first >= kReach.up + kRadius &&
                          first + bands * rows <= tile.y1 && first + bands * rows + kReach.down + kRadius + kRing <= h;
    if (!is_inner) rows = left;
    const int x = tile.left + lane % across * kRun, band = lane / across;
    Run run;
    // Threads right of the picture read its last pixels and count nothing.
    run.x = min(x, (w - 1) / kRun * kRun);
    run.inside = pixel_bits(x, kRun, tile.x0, tile.x1);
    run.live =
        M::kReflect ? run.inside : pixel_bits(x, kRun, max(tile.x0, kReach.left), min(tile.x1, w - kReach.right));
    run.y0 = band < bands ? first + band * grid.rows : tile.y1;
    run.y1 = min(run.y0 + grid.rows, tile.y1);
    run.live0 = M::kReflect ? run.y0 : max(run.y0, kReach.up);
    run.live1 = M::kReflect ? run.y1 : min(run.y1, h - kReach.down);
    if (is_inner)
      job.mean ? march<M, kRadius, false, true>(job, tile.field, rows, run, mine)
               : march<M, kRadius, false, false>(job, tile.field, rows, run, mine);
    else
      job.mean ? march<M, kRadius, true, true>(job, tile.field, rows, run, mine)
               : march<M, kRadius, true, false>(job, tile.field, rows, run, mine);
  }
  if (!tile.empty()) add_to_cell<M, kThreads>(job, tile.cell, mine);
  finish_block(job);
}

}  // namespace

Kernel prefilter_words_kernel(int metric, int radius) {
  return with_totals_of(metric, [&](auto m) {
    using M = decltype(m);
    Kernel k;
    if constexpr (!M::kHistogram)
      k.function = radius == 1 ? reinterpret_cast<const void*>(&measure_prefiltered_words<M, 1>)
                               : reinterpret_cast<const void*>(&measure_prefiltered_words<M, 2>);
    k.threads = kThreads;
    k.tile_width = kRun * kLanes;
    k.chunks = kLanes;
    k.strips = kWarps;
    k.x_align = kRun;
    k.row_step = kRing;
    k.edge_percent = 130;
    k.lead_rows = 2 * radius + 4;
    return k;
  });
}

}  // namespace framequality::cuda
