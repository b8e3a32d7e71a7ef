// SPDX-License-Identifier: LGPL-2.1-or-later
// The fast kernel for samples stored side by side: streams rows through registers, each read once from memory.
#include "algorithms/quadratic.h"
#include "cuda/sums.cuh"

#include <type_traits>

namespace framequality::cuda {
namespace {

// One warp's strip is 512 bytes wide: each thread owns 16 adjacent bytes, the widest load there is, and walks down
// Job::tile_rows rows. The 4 warps of a block take strips one below the other, so that their halo rows meet in L1.
constexpr int kLaneBytes = 16, kLaneWords = kLaneBytes / 4, kWarps = 4, kThreads = 32 * kWarps;
// Rows in flight ahead of the one computed. 16 warps on an SM then have 24 KiB on the way: what H200's 4.2 TB/s ask of
// each of 132 SMs at a latency of 0.75 us. Loops are unrolled by it, and 3 is also the number of roles a row plays.
constexpr int kAhead = 3;
// 4 blocks on an SM leave a thread 128 registers, which three rows of features and the rows in flight need.
constexpr int kBlocksPerSm = 4;

/// 16 bytes of a row and the words left and right of them.
struct Chunk {
  unsigned left, word[kLaneWords], right;
};

/// 8-bit samples, computed with in floats.
struct Bytes {
  static constexpr int kWordBytes = 1, kPixels = kLaneBytes;
  using V = Float;
  template <class M>
  using Sums = ByteSums<M>;

  __device__ explicit Bytes(const Job&) {}
  __device__ unsigned code(unsigned word, int i) const { return word >> (8 * i) & 255u; }
  /// Sample i of a word. The byte becomes bits 8...15 of the mantissa of 2^15, one instruction for 2^15 + sample; the
  /// 2^15 stays where the metric does not see it, and there is room for sums of up to 2^24.
  template <class M>
  __device__ V sample(unsigned word, int i) const {
    const float f = __uint_as_float(__byte_perm(word, 0x47000000u, 0x7404u | static_cast<unsigned>(i) << 4));
    return {M::kDifferencesOnly ? f : f - 32768.0f};
  }
  /// so_far + the word's samples.
  __device__ unsigned sum(unsigned word, unsigned so_far) const { return __dp4a(word, 0x01010101u, so_far); }
};

/// 16-bit words that hold samples of up to 16 bits.
struct Words {
  static constexpr int kWordBytes = 2, kPixels = kLaneBytes / 2;
  using V = int;
  template <class M>
  using Sums = WordSums<M>;
  unsigned shift, mask;

  __device__ explicit Words(const Job& job)
      : shift(job.layout.shift), mask(((1u << job.layout.depth) - 1u) & 0xffffu >> shift) {}
  __device__ unsigned code(unsigned word, int i) const { return word >> (shift + 16 * i) & mask; }
  template <class M>
  __device__ V sample(unsigned word, int i) const {
    return static_cast<int>(code(word, i));
  }
  __device__ unsigned sum(unsigned word, unsigned so_far) const { return so_far + code(word, 0) + code(word, 1); }
};

/// Where a thread reads and what it counts, the same in every row.
struct Lane {
  int at;           ///< byte of the row where its chunk begins
  bool whole;       ///< chunk and the word right of it may be read as they are
  unsigned live;    ///< bit i: the metric is defined on pixel i, in this cell
  unsigned inside;  ///< bit i: pixel i is in this cell
};

/// Bits of pixels x0 <= x < x1, for the `count` pixels from x on.
__device__ unsigned pixel_bits(int x, int count, int x0, int x1) {
  const int a = min(max(x0 - x, 0), count), b = min(max(x1 - x, 0), count);
  return a < b ? (1u << b) - (1u << a) : 0u;
}

/// What a strip's loads must beware of.
enum class Edge {
  kNone,     ///< nothing: rows go on to both sides
  kAligned,  ///< row and cell may begin or end here, but not inside a chunk
  kAny,      ///< row or cell may begin or end inside a chunk
};

/// A chunk of a row; what lies outside the row is arbitrary.
template <Edge kEdge>
__device__ __forceinline__ Chunk load(const std::uint8_t* row, const Lane& lane, int readable) {
  const std::uint8_t* p = row + lane.at;
  const unsigned* words = reinterpret_cast<const unsigned*>(p);
  Chunk c;
  // The words beside come from L1, where the neighbours' loads put them: cheaper than two shuffles with edge cases.
  c.left = kEdge == Edge::kNone || lane.at > 0 ? __ldg(words - 1) : 0u;
  if (kEdge != Edge::kAny || lane.whole) {
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(p));
    c.word[0] = v.x, c.word[1] = v.y, c.word[2] = v.z, c.word[3] = v.w;
    c.right = kEdge != Edge::kAligned || lane.whole ? __ldg(words + kLaneWords) : 0u;
  } else {
    unsigned tail = 0;  // the row's last word, if it is not a whole one
    const int end = readable & ~3;
#pragma unroll
    for (int b = 0; b < 3; ++b) tail |= static_cast<unsigned>(__ldg(row + min(end + b, readable - 1))) << (8 * b);
#pragma unroll
    for (int k = 0; k < kLaneWords; ++k) c.word[k] = lane.at + 4 * k < end ? __ldg(words + k) : tail;
    c.right = lane.at + kLaneBytes < end ? __ldg(words + kLaneWords) : tail;
  }
  return c;
}

/// Row y of the picture, reflected if it lies outside, as address.
template <bool kReflect>
__device__ __forceinline__ const std::uint8_t* row_at(const std::uint8_t* base, int stride, int y, int h) {
  if constexpr (kReflect) y = y < 0 ? -y : y >= h ? 2 * (h - 1) - y : y;
  return base + static_cast<std::int64_t>(y) * stride;
}

/// One warp's strip, rows y0...y1-1 of the tile. Edge::kNone: every pixel counts, and they come in kAhead rows at a
/// time. Edge::kAligned: a lane counts whole, but for pixels whose reach leaves the picture, or not at all.
template <class M, class S, Edge kEdge>
__device__ __forceinline__ void march(const Job& job, int field, const Lane& lane, int x, int y0, int y1,
                                      long long (&mine)[kTotalWords]) {
  // Rows past the strip's end are summed like others and dropped: a branch would keep loads from running ahead.
  constexpr bool kDiscards = kEdge == Edge::kAligned && S::template Sums<M>::kDiscards;
  using V = typename S::V;
  using Row = typename M::template Row<V>;
  constexpr int kUp = M::kReach.up, kDown = M::kReach.down;
  constexpr int kPixels = S::kPixels, kPerWord = kPixels / kLaneWords;
  static_assert(kUp <= kDown && kDown <= 1);
  const S samples(job);
  const int w = job.width[field], h = job.height[field];
  const int plane = job.layout.plane[0];
  const std::uint8_t* base = field_row(job, plane, field);
  const int stride = static_cast<int>(job.frame.stride[plane]) * job.fields;

  const int first = opaque(M::kReflect ? y0 : max(y0, kUp)), end = opaque(M::kReflect ? y1 : min(y1, h - kDown));
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
    V g[kPixels + 3];  // from one left of the chunk to two right of it
    g[0] = samples.template sample<M>(chunk.left, kPerWord - 1);
#pragma unroll
    for (int i = 0; i < kPixels; ++i) g[i + 1] = samples.template sample<M>(chunk.word[i / kPerWord], i % kPerWord);
    g[kPixels + 1] = samples.template sample<M>(chunk.right, 0);
    g[kPixels + 2] = samples.template sample<M>(chunk.right, 1);
    chunk = fetch();
#pragma unroll
    for (int i = 0; i < kPixels; ++i) {
      Around<V> n{g[i], g[i + 1], g[i + 2], g[i + 3]};
      if constexpr (kEdge != Edge::kNone && M::kReflect) {
        if (i == 0 && x == 0) n.left = n.right;
        if (x + i == w - 1) n.right = n.left;
      }
      use(i, M::template row<V>(n));
    }
  };

  typename S::template Sums<M> sums;
  static_assert(kPixels * kMaxStripRows <= S::template Sums<M>::kPixels);
  Row up[kPixels], mid[kPixels];
  constexpr int kLead = kUp + kDown;
  if constexpr (kUp > 0) features(ring[0], [&](int p, const Row& f) { up[p] = f; });
  if constexpr (kDown > 0) features(ring[kUp], [&](int p, const Row& f) { mid[p] = f; });
  for (int y = first; y < end; y += kAhead) {
    // Unrolled, without a branch, so that rows change roles and chunks their place without a move.
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const bool counts = kEdge == Edge::kNone || y + i < end;
      const unsigned live = kDiscards || counts ? lane.live : 0u;
      features(ring[(kLead + i) % kAhead], [&](int p, const Row& down) {
        const Row& m = kDown > 0 ? mid[p] : down;
        const bool beside = p < M::kReach.left || p >= kPixels - M::kReach.right;
        if (kEdge == Edge::kNone || (kDiscards && !beside) || live >> p & 1)
          M::pixel(kUp > 0 ? up[p] : m, m, down, sums);
        if ((p + 1) % S::template Sums<M>::kFlush == 0 || p + 1 == kPixels) sums.flush(!kDiscards || counts);
        up[p] = mid[p];
        mid[p] = down;
      });
    }
  }
  if (lane.inside == 0) return;
#pragma unroll
  for (int i = 0; i < kTotalsOf<M>; ++i) mine[i] = sums.total(i);
}

/// Sum of the samples of one warp's strip: what `normalize` needs, in a second pass over rows that the first left in
/// the caches. Others do not pay for it.
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
__device__ void count(const Job& job, int field, const Lane& lane, int y0, int y1, Bins<kCopies>& bins, int copy) {
  constexpr int kPerWord = S::kPixels / kLaneWords;
  const S samples(job);
  const int plane = job.layout.plane[0], shift = job.samples.bits() - 8;
  const int stride = static_cast<int>(job.frame.stride[plane]) * job.fields;
  const std::uint8_t* base = field_row(job, plane, field);
#pragma unroll 2
  for (int y = y0; y < y1; ++y) {
    const Chunk chunk = load<Edge::kAny>(row_at<false>(base, stride, y, 0), lane, job.readable);
#pragma unroll
    for (int i = 0; i < S::kPixels; ++i)
      if (lane.inside >> i & 1) bins.add(copy, samples.code(chunk.word[i / kPerWord], i % kPerWord) >> shift);
  }
}

template <class M, class S>
__global__ void __launch_bounds__(kThreads, kBlocksPerSm) stream_rows(const __grid_constant__ Job job) {
  constexpr Reach kReach = kReachOf<M>;
  constexpr int kWidth = 32 * S::kPixels;
  const Tile tile = find_tile(job, static_cast<int>(blockIdx.x), kWidth, kWarps * job.tile_rows, S::kPixels);
  if (!tile.empty()) {
    const int w = job.width[tile.field], left = tile.left;
    const int warp = static_cast<int>(threadIdx.x) / 32, index = static_cast<int>(threadIdx.x) % 32;
    const int x = left + index * S::kPixels;
    const int y0 = opaque(min(tile.y0 + warp * job.tile_rows, tile.y1));
    const int y1 = opaque(min(y0 + job.tile_rows, tile.y1));
    // Chunks that begin past the row's end read the last one and count nothing.
    Lane lane;
    lane.at = min(x, (w - 1) / S::kPixels * S::kPixels) * S::kWordBytes;
    lane.whole = lane.at + kLaneBytes + 4 <= job.readable;
    lane.inside = pixel_bits(x, S::kPixels, tile.x0, tile.x1);
    lane.live = M::kReflect ? lane.inside
                            : pixel_bits(x, S::kPixels, max(tile.x0, kReach.left), min(tile.x1, w - kReach.right));
    if constexpr (M::kHistogram) {
      // 8 copies: two for each warp.
      __shared__ Bins<2 * kWarps> bins;
      bins.clear();
      count<S>(job, tile.field, lane, y0, y1, bins, 2 * warp + index % 2);
      bins.add_to_cell(job, tile.cell);
    } else {
      long long mine[kTotalWords] = {};
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
        if (job.mean) mine[kMeanTotal] = sum_samples<S>(job, tile.field, lane, y0, y1);
      }
      add_to_cell<M, kThreads>(job, tile.cell, mine);
    }
  }
  finish_block(job);
}

}  // namespace

Kernel stream_kernel(int metric, int word_bytes) {
  return with_metric(metric, [&](auto m) {
    using M = decltype(m);
    Kernel k;
    if (word_bytes == 2) {
      k.function = reinterpret_cast<const void*>(&stream_rows<M, Words>);
    } else if constexpr (kLagForm<M>.is_quadratic) {
      return quadratic_kernel(metric);
    } else {
      k.function = reinterpret_cast<const void*>(&stream_rows<M, Bytes>);
    }
    k.threads = kThreads;
    k.x_align = kLaneBytes / word_bytes;
    k.tile_width = 32 * k.x_align;
    k.strips = kWarps;
    k.row_step = kAhead;
    return k;
  });
}

}  // namespace framequality::cuda
