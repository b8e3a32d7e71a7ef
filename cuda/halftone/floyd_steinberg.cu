// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd-Steinberg as a wavefront of strips.
#include "algorithms/halftone/floyd_steinberg.h"
#include "cuda/check.h"
#include "cuda/halftone/wavefront.cuh"

namespace framequality::cuda {
namespace {

using namespace halftone;

// A lane needs, of the row above, the error one column right. With a skew of 2 the lane above computed it one step
// before, and each step waits for a shuffle; with 3 a shuffle has a step to arrive in, for half as many steps more.
// All lanes are one column further behind than that, so that the error above right of the first lane's column is that
// of column t, and vectors of passed-down errors, which are read, begin with a group.
// A strip waits for one that was started earlier, since strips are numbered in the order in which they start.
// Errors are kept in 12 bits: a word of two columns with all bits set has not been written yet.
constexpr int kLanes = Wavefront::kMaxLanes, kChunk = Wavefront::kChunk, kGroup = Wavefront::kGroup;
constexpr int kGroups = kChunk / kGroup;
constexpr int kSkew = 3, kLead = 1;
constexpr int kLean = kSkew * (kLanes - 1);
constexpr int kFar = 8;  // chunks by which terms are prefetched
static_assert(kGroups == 4 && kSkew >= 2);
constexpr int kBehind = kLead + kLean;  // columns by which the last lane lags
/// A passed-down vector is complete in the step in which the last lane has its eighth column: this many groups
/// after the one whose first step is its first column.
constexpr int kVectorsBehind = (kBehind + kGroup - 1) / kGroup;

/// A lane's state. Errors are kept ones.
struct State {
  uint4 terms[kGroups];  ///< of this chunk
  uint4 given[kGroups];  ///< errors of the strip above, of this half of the chunk and of the next half
  unsigned left, above, above_left;
  unsigned arriving[kSkew - 1];  ///< the row above's next columns, the one above right first
  unsigned handed[kGroup / 2];   ///< errors to pass down, two to a word
};

/// A lane's read and write positions in a strip, from a chunk on.
struct Ways {
  const uint4 *terms, *above;
  uint4* below;  ///< the vector that the first group completes
  unsigned* words;
  bool is_first, is_last;  ///< lane
};

/// a * b + c, with c computed first: operands that arrive last should not delay it.
__device__ __forceinline__ unsigned multiply_add(unsigned a, unsigned b, unsigned c) {
  unsigned d;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));
  return d;
}
__device__ __forceinline__ bool is_there(const uint4& v) {
  return v.x != ~0u && v.y != ~0u && v.z != ~0u && v.w != ~0u;
}

/// Steps t...t+31, a chunk. kFull: full strength. kEdge: some lanes may be outside the image.
template <int kLevels, bool kFull, bool kEdge>
__device__ __forceinline__ void diffuse(const HalftoneJob& job, const Ways& ways, int t, bool is_end, State& s) {
  constexpr Levels kOf{kLevels};
  constexpr unsigned kBias = kOf.bias(), kStep = kOf.step();
  const int lane = static_cast<int>(threadIdx.x);
  uint4 next[kGroups];
  unsigned bits = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int t0 = t + g * kGroup;
    const uint4 term = s.terms[g];
    // Read all of a half at once, before more is requested: waiting for one register means waiting for all with its
    // counter.
    if (g % 2 == 0 && (!kEdge || t0 <= job.width))
      while (!__all_sync(kAllLanes,
                         is_there(s.given[g]) && ((kEdge && t0 + kGroup > job.width) || is_there(s.given[g + 1])))) {
        s.given[g] = look(ways.above + g);
        s.given[g + 1] = look(ways.above + g + 1);
      }
    const uint4 given = s.given[g];
    // Requests made here arrive before the chunk ends: registers that wait for memory cannot be moved.
    if (g % 2 == 0) {
#pragma unroll
      for (int i = 2; i < 4; ++i) s.given[(g + i) % kGroups] = look(ways.above + g + i);
    }
    if (g == 2) {
      const uint4* const following = ways.terms + (is_end ? 0 : kGroups * kLanes);
#pragma unroll
      for (int i = 0; i < kGroups; ++i) next[i] = load_terms(following + i * kLanes);
    }
    const unsigned terms[] = {term.x, term.y, term.z, term.w}, errors[] = {given.x, given.y, given.z, given.w};
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      const unsigned own = j % 2 ? terms[j / 2] >> 16 : terms[j / 2] & 0xffff;
      const unsigned above_right = !ways.is_first ? s.arriving[0]
                                   : j % 2        ? errors[j / 2] >> 16
                                                  : errors[j / 2] & 0xffff;
      const unsigned early = own + s.above_left + 5 * s.above;
      const unsigned a = multiply_add(above_right, 3, multiply_add(s.left, 7, early)) >> 4;
      if constexpr (kLevels == 2) {
        const unsigned over = a - kStep;  // wraps around below the step
        s.left = __viaddmin_u32(a, ~kStep + 1, a);
        bits = __funnelshift_l(over, bits, 1);  // 1: black
      } else {
        const unsigned level = a / kStep;
        s.left = a - level * kStep;
        bits = bits << 4 | level;
      }
      if constexpr (!kFull)
        s.left = static_cast<unsigned>(weaken(static_cast<int>(s.left) - kOf.bias(), job.strength) + kOf.bias());
      const int x = t0 + j - kLead - kSkew * lane;
      if constexpr (kEdge)
        if (static_cast<unsigned>(x) >= static_cast<unsigned>(job.width)) s.left = kBias;
      s.above_left = s.above;
      s.above = above_right;
#pragma unroll
      for (int i = 0; i + 1 < kSkew - 1; ++i) s.arriving[i] = s.arriving[i + 1];
      s.arriving[kSkew - 2] = __shfl_up_sync(kAllLanes, s.left, 1);
      // The last row's result, whose index in a vector is known.
      constexpr auto kPlace = [](int step) { return ((step - kBehind) % kGroup + kGroup) % kGroup; };
      const int place = kPlace(j);
      if (place % 2 == 0)
        s.handed[place / 2] = s.left;
      else
        s.handed[place / 2] = __byte_perm(s.handed[place / 2], s.left, 0x5410);
      if (place == kGroup - 1) {
        const int column = t0 - kVectorsBehind * kGroup;
        hand(ways.is_last && (!kEdge || (column >= 0 && column <= job.width)), ways.below + g,
             make_uint4(s.handed[0], s.handed[1], s.handed[2], s.handed[3]));
      }
    }
    if constexpr (kLevels != 2) ways.words[g * kLanes] = bits;
  }
  if constexpr (kLevels == 2) ways.words[0] = ~bits;
#pragma unroll
  for (int i = 0; i < kGroups; ++i) s.terms[i] = next[i];
}

template <int kLevels, bool kFull>
__global__ void __launch_bounds__(kLanes)
    floyd_steinberg_strip(const __grid_constant__ HalftoneJob job, const __grid_constant__ Wavefront wave) {
  constexpr unsigned kBias = Levels{kLevels}.bias();
  constexpr int kWords = kLevels == 2 ? 1 : 4;
  const int lane = static_cast<int>(threadIdx.x);
  unsigned ticket = 0;
  if (lane == 0) ticket = atomicAdd(wave.ticket, 1u);
  const auto index = static_cast<int>(__shfl_sync(kAllLanes, ticket, 0));
  const Strip strip = strip_at(job, wave, index);
  const auto chunks = static_cast<std::size_t>(index) * static_cast<std::size_t>(wave.chunks);
  Ways ways;
  ways.terms = wave.terms + chunks * kGroups * kLanes + lane;
  ways.words = wave.words + chunks * kWords * kLanes + lane;
  ways.above = wave.line(job, strip.field, strip.n);
  ways.below = wave.line(job, strip.field, strip.n + 1) - kVectorsBehind;
  ways.is_first = lane == 0;
  ways.is_last = lane == kLanes - 1;

  State s;
  s.left = s.above = s.above_left = kBias;
  for (unsigned& e : s.arriving) e = kBias;
  for (unsigned& h : s.handed) h = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) s.terms[g] = load_terms(ways.terms + g * kLanes);
  for (;;) {
    for (int g = 0; g < 2; ++g) s.given[g] = look(ways.above + g);
    if (__all_sync(kAllLanes, is_there(s.given[0]))) break;
    nap();
  }

  for (int chunk = 0; chunk < wave.chunks; ++chunk) {
    const int t = chunk * kChunk;
    if (chunk + kFar < wave.chunks) {
      // The bytes of a chunk, 128 per lane; half of the lanes are redundant.
      const uint4* const far = ways.terms - lane + kFar * kGroups * kLanes + lane % 16 * 8;
      asm volatile("prefetch.global.L2 [%0];" ::"l"(far));
    }
    const bool is_end = chunk + 1 == wave.chunks;
    if (t >= kVectorsBehind * kGroup && t + kChunk <= job.width)
      diffuse<kLevels, kFull, false>(job, ways, t, is_end, s);
    else
      diffuse<kLevels, kFull, true>(job, ways, t, is_end, s);
    ways.terms += kGroups * kLanes;
    ways.words += kWords * kLanes;
    ways.above += kGroups;
    ways.below += kGroups;
  }
}

}  // namespace

Wavefront floyd_steinberg_wavefront(const HalftoneJob& job) {
  Wavefront wave;
  wave.skew = kSkew;
  wave.lead = kLead;
  // Until the last row's vector with the column beyond its end is complete.
  const int steps = job.width / kGroup * kGroup + kGroup + kBehind;
  wave.chunks = (steps + kChunk - 1) / kChunk;
  wave.outside = static_cast<unsigned>(Levels{job.levels}.bias()) * 0x10001u;
  wave.empty = ~0u;
  wave.level_bits = job.levels == 2 ? 1 : 4;
  return wave;
}

void launch_floyd_steinberg(const HalftoneJob& job, const Wavefront& wave, cudaStream_t stream) {
  void (*kernel)(HalftoneJob, Wavefront) = floyd_steinberg_strip<16, false>;
  if (job.levels == 2)
    kernel = job.strength == kFullStrength ? floyd_steinberg_strip<2, true> : floyd_steinberg_strip<2, false>;
  if (job.levels == 4) kernel = floyd_steinberg_strip<4, false>;
  kernel<<<static_cast<unsigned>(wave.strips(job)), kLanes, 0, stream>>>(job, wave);
  check(cudaGetLastError(), "floyd_steinberg_strip");
}

}  // namespace framequality::cuda
