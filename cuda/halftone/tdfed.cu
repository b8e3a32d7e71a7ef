// SPDX-License-Identifier: LGPL-2.1-or-later
// Tone-dependent error diffusion: one swath at a time, its rows in step.
#include "cuda/check.h"
#include "cuda/halftone/tone_lookup.cuh"
#include "cuda/halftone/wavefront.cuh"

#include <algorithm>

namespace framequality::cuda {
namespace {

using namespace halftone;

// Swaths run in alternating directions and so one after the other: a field is a block with a warp for each strip of a
// swath, and only the duration of a step matters. A tone's parameters are looked up in shared memory, where
// everything that can be computed in advance has been.
// A lane lags the one above by some columns more than kDelay requires, to give the sums steps to arrive in.
constexpr int kChunk = Wavefront::kChunk, kGroup = Wavefront::kGroup, kGroups = kChunk / kGroup;
constexpr int kFar = 8;    // chunks by which terms are prefetched
constexpr int kReady = 1;  // steps by which entries are looked up ahead
constexpr int kMaxWarps = kMaxSwathRows / Wavefront::kMaxLanes;
// All lanes lag by this many more columns, so that a line's number of column t is passed on in step t.
constexpr int kSlack = 3, kLead = kSlack;
constexpr int kSkew = kDelay + kSlack;

// Lines are used round-robin. A strip's line is read by the next one and is free again before the one after that
// finishes its first row, wherever that begins. Tags identify a sum's strip within the field, modulo kTags * kRing;
// 0 belongs to none.
constexpr int kTags = (1 << kTagBits) - 1, kRing = 4;
__device__ __forceinline__ unsigned tag_of(int line) { return static_cast<unsigned>(line / kRing % kTags) + 1; }

/// A diffusing lane's state. sums: of columns x + 1, x, x - 1, ..., x - kDelay of the row below.
struct State {
  uint4 terms[kGroups];     ///< of this chunk
  uint4 given[kGroups][2];  ///< of this half of it, and of the next half
  ToneEntry entry[kReady];  ///< of the next steps
  Further further[kReady];
  int carry = 0;  ///< error passed from column x - 1 to x
  int sums[kDelay + 2] = {};
  int arriving[kSlack] = {};  ///< sums for columns x, x + 1, ...
};

__device__ __forceinline__ unsigned term_of(const uint4& v, int j) {
  const unsigned all[] = {v.x, v.y, v.z, v.w};
  return j % 2 ? all[j / 2] >> 16 : all[j / 2] & 0xffff;
}

/// Looks up the entry for the term of step j.
template <bool kPlain>
__device__ __forceinline__ void get_ready(const ToneLookup& shared, const uint4& terms, int j, int levels, State& s) {
  const unsigned term = term_of(terms, j);
  unsigned at = term & kEntryMask;
  if constexpr (!kPlain) {
    const int between = levels - 1, step = kWhite / between;
    const int tone = static_cast<int>(term & kToneMask) - 8, first = min(tone / step, between - 1);
    at = (term & 0x1000) | static_cast<unsigned>(((tone - first * step) * between + 8) & 0xff0);
  }
  const auto* const table = reinterpret_cast<const char*>(shared.entry);
  s.entry[j % kReady] = *reinterpret_cast<const ToneEntry*>(table + at);
  s.further[j % kReady] = *reinterpret_cast<const Further*>(table + sizeof shared.entry + at);
}

/// Level and error of a pixel. sum: of everything that it received and its tone. kPlain: 2 levels, full strength.
template <bool kPlain>
__device__ __forceinline__ int decide(int sum, int threshold, int levels, int strength, unsigned& level) {
  const int u = sum >> kSumBits;
  if constexpr (kPlain) {
    // Each can reach only one end of the limit. Both are ready before the level is.
    const int of_white = __viaddmin_s32(u, -kWhite, kErrorLimit), of_black = max(u, -kErrorLimit);
    const bool is_white = sum >= threshold;
    level = is_white ? 1 : 0;
    return is_white ? of_white : of_black;
  } else {
    // As tone_dependent(): the level below a tone cancels out. Shifted to stay positive.
    constexpr int kShift = 512;
    const int between = levels - 1;
    const int above = (u * between - threshold + (kShift + 1) * kWhite) / kWhite - kShift;
    level = static_cast<unsigned>(min(max(above, 0), between));
    return weaken(min(max(u - static_cast<int>(level) * (kWhite / between), -kErrorLimit), kErrorLimit), strength);
  }
}

/// Distributes the error of column x.
template <bool kEdge>
__device__ __forceinline__ void hand_out(State& s, const ToneEntry& m, const Further& f, int error, int x, int width) {
  const int on = m.on * error;
  s.carry = on;
  s.sums[1] += m.down * error;
  if constexpr (kEdge) {
    const bool is_last = x == width - 1;
    const int over = f.over * error, back = f.back * error, behind = f.behind * error;
    const int back_at = min(1, x), behind_at = min(kDelay, x);
    s.carry = is_last ? 0 : on;
    s.sums[0] += is_last ? 0 : over;
    s.sums[1] += is_last ? on + over : 0;
#pragma unroll
    for (int i = 0; i <= kDelay; ++i) s.sums[1 + i] += (i == back_at ? back : 0) + (i == behind_at ? behind : 0);
  } else {
    s.sums[0] += f.over * error;
    s.sums[2] += f.back * error;
    s.sums[kDelay + 1] += f.behind * error;
  }
}

/// Keeps a number in a register, so that the compiler does not recompute it.
__device__ __forceinline__ unsigned kept(unsigned v) {
  asm volatile("" : "+r"(v));
  return v;
}

/// a + b, with a computed first: operands that arrive last should not delay it.
__device__ __forceinline__ int add(int a, int b) {
  int c;
  asm("add.s32 %0, %1, %2;" : "=r"(c) : "r"(a), "r"(b));
  return c;
}

/// A lane's read and write positions in a strip, from a chunk on.
struct Ways {
  const uint4 *following, *above;  ///< following: terms of the next chunk
  unsigned* below;                 ///< the number of column 0, counted along this strip
  int below_step;                  ///< numbers to the next column's
  unsigned* words;
  unsigned tag_above, tag_below;
  int lane_above;  ///< of the first lane: the last one, which passes on received numbers
  bool is_last;
};

/// 0 if the numbers of four columns from x on have been written. kEdge: columns may be outside.
template <bool kEdge>
__device__ __forceinline__ unsigned wrong_tags(const uint4& v, unsigned tag, int x, int width) {
  constexpr unsigned kMask = (1u << kTagBits) - 1;
  const unsigned all[] = {v.x, v.y, v.z, v.w};
  unsigned wrong = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) wrong |= kEdge && x + i >= width ? 0 : all[i] ^ tag;
  return wrong & kMask;
}

/// Steps t...t+31, a chunk. kTo: ways.below_step, or 0 for any.
template <bool kPlain, bool kEdge, int kTo>
__device__ __forceinline__ void diffuse(const HalftoneJob& job, const Wavefront& wave, const ToneLookup& shared,
                                        const Ways& ways, int t, State& s) {
  const int lane = static_cast<int>(threadIdx.x) % 32, width = job.width;
  const int first = t - kLead - kSkew * (wave.lanes - 1) - kDelay;  // column below that is complete next
  const int to = kTo ? kTo : ways.below_step;
  unsigned* const below = ways.below + first * to;
  uint4 next[kGroups];
  unsigned bits = 0;
#pragma unroll
  for (int g = 0; g < kGroups; ++g) {
    const int t0 = t + g * kGroup;
    const uint4 term = s.terms[g];
    // Read all of a half at once, before more is requested: waiting for one register means waiting for all with its
    // counter.
    if (g % 2 == 0) {
      const auto is_half_there = [&] {
        unsigned wrong = 0;
#pragma unroll
        for (int i = 2 * g; i < 2 * g + 4; ++i)
          wrong |= wrong_tags<kEdge>(s.given[i / 2][i % 2], ways.tag_above, t + 4 * i, width);
        return __all_sync(kAllLanes, wrong == 0);
      };
      while (!is_half_there()) {
#pragma unroll
        for (int i = 2 * g; i < 2 * g + 4; ++i) s.given[i / 2][i % 2] = look(ways.above + i);
      }
    }
    const auto given_at = [&](int j) {
      const uint4& v = s.given[g][j / 4];
      const unsigned sums[] = {v.x, v.y, v.z, v.w};
      return static_cast<int>(sums[j % 4]);
    };
    // Requests made here arrive before the chunk ends: registers that wait for memory cannot be moved.
    if (g % 2 == 0) {
#pragma unroll
      for (int i = 4; i < 8; ++i) s.given[(g + i / 2) % kGroups][i % 2] = look(ways.above + 2 * g + i);
    }
    if (g == 2) {
#pragma unroll
      for (int i = 0; i < kGroups; ++i) next[i] = load_terms(ways.following + i * wave.lanes);
    }
#pragma unroll
    for (int j = 0; j < kGroup; ++j) {
      const int x = t0 + j - kLead - kSkew * lane;
      const ToneEntry m = s.entry[j % kReady];
      const Further f = s.further[j % kReady];
      get_ready<kPlain>(shared,
                        j + kReady < kGroup ? term
                        : g + 1 < kGroups   ? s.terms[(g + 1) % kGroups]
                                            : next[0],
                        (j + kReady) % kGroup, job.levels, s);
      const int base = static_cast<int>(term_of(term, j) << kSumBits) + m.offset;
      unsigned level;
      int error = decide<kPlain>(add(s.carry + base, s.arriving[0]), m.threshold, job.levels, job.strength, level);
      if constexpr (kEdge)
        if (static_cast<unsigned>(x) >= static_cast<unsigned>(width)) error = 0;
      if constexpr (kPlain)
        bits |= level ? 1u << (kChunk - 1 - g * kGroup - j) : 0;
      else
        bits = bits << 4 | level;
      hand_out<kEdge>(s, m, f, error, x, width);
      const int complete = s.sums[kDelay + 1];
      const int i = g * kGroup + j;
      hand(ways.is_last && (!kEdge || (first + i >= 0 && first + i < width)), below + i * to,
           static_cast<unsigned>(complete));
#pragma unroll
      for (int i = kDelay + 1; i > 0; --i) s.sums[i] = s.sums[i - 1];
      s.sums[0] = static_cast<int>(ways.tag_below);
#pragma unroll
      for (int i = 0; i + 1 < kSlack; ++i) s.arriving[i] = s.arriving[i + 1];
      s.arriving[kSlack - 1] = __shfl_sync(kAllLanes, ways.is_last ? given_at(j) : complete, ways.lane_above);
    }
    if constexpr (!kPlain)
      if (lane < wave.lanes) ways.words[g * wave.lanes] = bits;
  }
  if constexpr (kPlain)
    if (lane < wave.lanes) ways.words[0] = bits;
#pragma unroll
  for (int i = 0; i < kGroups; ++i) s.terms[i] = next[i];
}

template <bool kPlain>
__global__ void __launch_bounds__(32 * kMaxWarps)
    tone_dependent_field(const __grid_constant__ HalftoneJob job, const __grid_constant__ Wavefront wave,
                         const __grid_constant__ ToneTable table) {
  __shared__ ToneLookup shared;
  look_up(shared, table, kPlain);
  __syncthreads();
  const int warps = static_cast<int>(blockDim.x) / 32,
            warp = __shfl_sync(kAllLanes, static_cast<int>(threadIdx.x) / 32, 0);
  const int lane = static_cast<int>(threadIdx.x) % 32, row = min(lane, wave.lanes - 1), width = job.width;
  const int field = static_cast<int>(blockIdx.x), strips = wave.strips_of(job, field);
  constexpr int kWords = kPlain ? 1 : 4;
  for (int n = warp; n < strips; n += warps) {
    const int index = n + (field ? wave.strips_of(job, 0) : 0);
    const Strip strip = strip_at(job, wave, index);
    const auto chunks = static_cast<std::size_t>(index) * static_cast<std::size_t>(wave.chunks);
    Ways ways;
    const uint4* terms = wave.terms + chunks * kGroups * wave.lanes + row;
    ways.words = wave.words + chunks * kWords * wave.lanes + row;
    ways.above = wave.line(job, field, n);
    ways.below = reinterpret_cast<unsigned*>(wave.line(job, field, n + 1));
    // In the order of the strip that reads it.
    const bool turns = runs_leftward(strip.y0 + wave.lanes, wave.swath_rows) != strip.leftward;
    ways.below += turns ? width - 1 : 0;
    ways.below_step = turns ? -1 : 1;
    ways.tag_above = kept(tag_of(n));
    ways.tag_below = kept(tag_of(n + 1));
    ways.lane_above = lane == 0 ? wave.lanes - 1 : lane - 1;
    ways.is_last = lane == wave.lanes - 1;

    State s;
    for (int& sum : s.sums) sum = static_cast<int>(ways.tag_below);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) s.terms[g] = load_terms(terms + g * wave.lanes);
    for (;;) {
      for (int i = 0; i < 4; ++i) s.given[i / 2][i % 2] = look(ways.above + i);
      if (__all_sync(kAllLanes, wrong_tags<true>(s.given[0][0], ways.tag_above, 0, width) == 0)) break;
      nap();
    }
#pragma unroll
    for (int j = 0; j < kReady; ++j) get_ready<kPlain>(shared, s.terms[0], j, job.levels, s);
    for (int chunk = 0; chunk < wave.chunks; ++chunk) {
      const int t = chunk * kChunk;
      if (chunk + kFar < wave.chunks)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(terms + kFar * kGroups * wave.lanes + row * (kGroups - 1)));
      ways.following = chunk + 1 < wave.chunks ? terms + kGroups * wave.lanes : terms;
      if (t < kLead + kSkew * (wave.lanes - 1) + kDelay || t + kChunk >= width)
        diffuse<kPlain, true, 0>(job, wave, shared, ways, t, s);
      else if (turns)
        diffuse<kPlain, false, -1>(job, wave, shared, ways, t, s);
      else
        diffuse<kPlain, false, 1>(job, wave, shared, ways, t, s);
      terms = ways.following;
      ways.words += kWords * wave.lanes;
      ways.above += kChunk / 4;
    }
  }
}

}  // namespace

Wavefront tone_dependent_wavefront(const HalftoneJob& job, const ToneTable& table) {
  Wavefront wave;
  wave.lanes = std::min<int>(table.swath_rows, Wavefront::kMaxLanes);
  wave.swath_rows = table.swath_rows;
  wave.skew = kSkew;
  wave.lead = kLead;
  // Until the last row's last sum is complete.
  const int steps = kLead + job.width + kDelay + wave.skew * (wave.lanes - 1);
  wave.chunks = (steps + kChunk - 1) / kChunk;
  wave.ring = kRing;
  wave.column_bytes = sizeof(unsigned);
  wave.outside = 1;  // nothing, tag_of(0)
  wave.level_bits = job.levels == 2 && job.strength == kFullStrength ? 1 : 4;
  return wave;
}

void launch_tone_dependent(const HalftoneJob& job, const Wavefront& wave, const ToneTable& table, cudaStream_t stream) {
  const bool is_plain = job.levels == 2 && job.strength == kFullStrength;
  const auto block = static_cast<unsigned>(32 * ((wave.swath_rows + wave.lanes - 1) / wave.lanes));
  (is_plain ? tone_dependent_field<true>
            : tone_dependent_field<false>)<<<static_cast<unsigned>(job.fields), block, 0, stream>>>(job, wave, table);
  check(cudaGetLastError(), "tone_dependent_field");
}

}  // namespace framequality::cuda
