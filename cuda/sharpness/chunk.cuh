// SPDX-License-Identifier: LGPL-2.1-or-later
// 16 bytes of a row in one thread: how they are loaded, and their samples as numbers.
#pragma once

#include "cuda/sharpness/duo.cuh"

#include <cstdint>

namespace framequality::cuda {

constexpr int kLaneBytes = 16, kLaneWords = kLaneBytes / 4;

/// 16 bytes of a row and the adjacent words.
struct Chunk {
  unsigned left, word[kLaneWords], right;
};

/// 8-bit samples, processed in pairs: columns 0 and 2, 1 and 3, 4 and 6, ... of a chunk.
struct Bytes {
  static constexpr int kWordBytes = 1, kPixels = kLaneBytes, kUnits = kPixels / 2;
  using V = Pair;
  template <class M, bool>
  using Sums = PairSums<M>;

  __device__ explicit Bytes(const Job&) {}
  __device__ unsigned code(unsigned word, int i) const { return word >> (8 * i) & 255u; }
  /// so_far + the word's samples.
  __device__ unsigned sum(unsigned word, unsigned so_far) const { return __dp4a(word, 0x01010101u, so_far); }

  /// A chunk's pairs and their neighbours.
  struct Window {
    Pair even[kLaneWords + 1], odd[kLaneWords + 1];
    Pair before[kLaneWords + 1], behind[kLaneWords];  // one column left of even, one right of odd

    __device__ __forceinline__ Window(const Bytes&, const Chunk& c) {
#pragma unroll
      for (int k = 0; k <= kLaneWords; ++k) {
        const unsigned word = k < kLaneWords ? c.word[k] : c.right;
        even[k] = {word & 0x00ff00ffu};
        odd[k] = {__byte_perm(word, 0, 0x4341)};
      }
#pragma unroll
      for (int k = 0; k <= kLaneWords; ++k)
        before[k] = {k > 0 ? __byte_perm(odd[k - 1].bits, odd[k].bits, 0x5432)
                           : __byte_perm(c.left, odd[0].bits, 0x5473)};
#pragma unroll
      for (int k = 0; k < kLaneWords; ++k) behind[k] = {__byte_perm(even[k].bits, even[k + 1].bits, 0x5432)};
    }
    __device__ __forceinline__ Around<Pair> around(int unit) const {
      const int k = unit / 2;
      return unit % 2 == 0 ? Around<Pair>{before[k], even[k], odd[k], behind[k]}
                           : Around<Pair>{even[k], odd[k], behind[k], before[k + 1]};
    }
  };
  /// The pixels of a unit.
  __device__ static constexpr int first(int unit) { return unit / 2 * 4 + unit % 2; }
  __device__ static constexpr int second(int unit) { return first(unit) + 2; }
};

/// 16-bit words that hold samples of up to 16 bits.
struct Words {
  static constexpr int kWordBytes = 2, kPixels = kLaneBytes / 2, kUnits = kPixels;
  using V = int;
  template <class M, bool>
  using Sums = WordSums<M>;
  unsigned shift, bits;

  __device__ explicit Words(const Job& job)
      : shift(job.layout.shift), bits(((1u << job.layout.depth) - 1u) & 0xffffu >> shift) {}
  __device__ unsigned code(unsigned word, int i) const { return word >> (shift + 16 * i) & bits; }
  __device__ unsigned sum(unsigned word, unsigned so_far) const { return so_far + code(word, 0) + code(word, 1); }

  /// A chunk's samples and their neighbours.
  struct Window {
    int g[kPixels + 3];  // from one left of the chunk to two right of it

    __device__ __forceinline__ Window(const Words& w, const Chunk& c) {
      g[0] = static_cast<int>(w.code(c.left, 1));
#pragma unroll
      for (int i = 0; i < kPixels; ++i) g[i + 1] = static_cast<int>(w.code(c.word[i / 2], i % 2));
      g[kPixels + 1] = static_cast<int>(w.code(c.right, 0));
      g[kPixels + 2] = static_cast<int>(w.code(c.right, 1));
    }
    __device__ __forceinline__ Around<int> around(int unit) const {
      return {g[unit], g[unit + 1], g[unit + 2], g[unit + 3]};
    }
  };
  /// `yes` for pixel `at` of the chunk, if it is in the unit, `no` for others.
  __device__ static __forceinline__ int chosen(int unit, int at, int yes, int no) { return unit == at ? yes : no; }
};

/// 16-bit words with samples of up to kMostShortBits, processed in pairs of adjacent ones.
struct ShortWords : Words {
  static constexpr int kUnits = kPixels / 2;
  using V = Duo;
  template <class M, bool kMasked>
  using Sums = DuoSums<M, kMasked>;

  using Words::Words;

  /// A chunk's pairs, and those that begin one column left of them.
  struct Window {
    Duo pair[kUnits + 1], before[kUnits + 1];

    __device__ __forceinline__ Window(const ShortWords& w, const Chunk& c) {
      const auto codes = [&](unsigned word) { return word >> w.shift & w.bits * 0x10001u; };
      unsigned last = codes(c.left);
#pragma unroll
      for (int k = 0; k <= kUnits; ++k) {
        pair[k] = {codes(k < kUnits ? c.word[k] : c.right)};
        before[k] = {__byte_perm(last, pair[k].bits, 0x5432)};
        last = pair[k].bits;
      }
    }
    __device__ __forceinline__ Around<Duo> around(int unit) const {
      return {before[unit], pair[unit], before[unit + 1], pair[unit + 1]};
    }
  };
  /// The pixels of a unit.
  __device__ static constexpr int first(int unit) { return 2 * unit; }
  __device__ static constexpr int second(int unit) { return 2 * unit + 1; }
  __device__ static __forceinline__ Duo chosen(int unit, int at, Duo yes, Duo no) {
    const unsigned mask = (at == first(unit) ? 0x0000ffffu : 0u) | (at == second(unit) ? 0xffff0000u : 0u);
    return {(yes.bits & mask) | (no.bits & ~mask)};
  }
};

/// All bits of those pixels of a unit whose bit in `live` is set.
template <class S>
__device__ unsigned unit_mask(unsigned live, int unit) {
  return (live >> S::first(unit) & 1 ? 0x0000ffffu : 0u) | (live >> S::second(unit) & 1 ? 0xffff0000u : 0u);
}
/// True if a pixel of the unit needs samples outside the chunk.
template <class S>
__device__ constexpr bool is_beside(sharpness::Reach reach, int unit) {
  return S::first(unit) < reach.left || S::second(unit) >= S::kPixels - reach.right;
}

/// A thread's position and the pixels that it counts, the same in every row.
struct Lane {
  int at;           ///< byte of the row where its chunk begins
  bool whole;       ///< chunk and the word right of it may be read whole
  unsigned live;    ///< bit i: the metric is defined on pixel i, in this cell
  unsigned inside;  ///< bit i: pixel i is in this cell
};

/// Bits of pixels x0 <= x < x1, for the `count` pixels from x on.
__device__ inline unsigned pixel_bits(int x, int count, int x0, int x1) {
  const int a = min(max(x0 - x, 0), count), b = min(max(x1 - x, 0), count);
  return a < b ? (1u << b) - (1u << a) : 0u;
}

/// The boundaries that a strip's loads must handle.
enum class Edge {
  kNone,     ///< none: rows continue on both sides
  kAligned,  ///< row and cell may begin or end here, but not inside a chunk
  kAny,      ///< row or cell may begin or end inside a chunk
};

/// A chunk of a row; samples outside the row are undefined.
template <Edge kEdge>
__device__ __forceinline__ Chunk load(const std::uint8_t* row, const Lane& lane, int readable) {
  const std::uint8_t* p = row + lane.at;
  const unsigned* words = reinterpret_cast<const unsigned*>(p);
  Chunk c;
  // Adjacent words come from L1, where the neighbours' loads put them: cheaper than two shuffles with edge cases.
  c.left = kEdge == Edge::kNone || lane.at > 0 ? __ldg(words - 1) : 0u;
  if (kEdge != Edge::kAny || lane.whole) {
    const uint4 v = __ldg(reinterpret_cast<const uint4*>(p));
    c.word[0] = v.x, c.word[1] = v.y, c.word[2] = v.z, c.word[3] = v.w;
    c.right = kEdge != Edge::kAligned || lane.whole ? __ldg(words + kLaneWords) : 0u;
  } else {
    unsigned tail = 0;  // the row's last word, if it is incomplete
    const int end = readable & ~3;
#pragma unroll
    for (int b = 0; b < 3; ++b) tail |= static_cast<unsigned>(__ldg(row + min(end + b, readable - 1))) << (8 * b);
#pragma unroll
    for (int k = 0; k < kLaneWords; ++k) c.word[k] = lane.at + 4 * k < end ? __ldg(words + k) : tail;
    c.right = lane.at + kLaneBytes < end ? __ldg(words + kLaneWords) : tail;
  }
  return c;
}

/// Address of row y of the image, reflected if it lies outside.
template <bool kReflect>
__device__ __forceinline__ const std::uint8_t* row_at(const std::uint8_t* base, int stride, int y, int h) {
  if constexpr (kReflect) y = y < 0 ? -y : y >= h ? 2 * (h - 1) - y : y;
  return base + static_cast<std::int64_t>(y) * stride;
}

}  // namespace framequality::cuda
