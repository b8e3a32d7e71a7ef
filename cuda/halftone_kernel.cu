// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd-Steinberg as a wavefront over strips of rows.
#include "algorithms/halftone/floyd_steinberg.h"
#include "cuda/halftone_source.cuh"
#include "cuda/runtime.h"

namespace framequality::cuda {
namespace {

using namespace halftone;

// A block takes one strip of 32 rows. Its first warp diffuses: lane r has row r and is at column t - 2 r at step t, so
// that the error above right, the last one that it needs, is what the lane above found one step before. All else is
// kept from that warp, whose chain of dependent instructions is what a picture's time is made of: the other warps bring
// it the tones of the next 32 steps and write the levels of the last 32.
// What a strip's last row hands down goes to device memory in words of four columns. Strips are taken by ticket: one
// that waits waits for a strip taken earlier, whose block runs.
constexpr int kRows = 32, kChunk = 32, kSkew = 2, kWriters = 3, kBlock = 32 * (1 + kWriters);
constexpr int kRowsEach = (kRows + kWriters - 1) / kWriters;
constexpr int kAhead = 4 * kChunk;  // columns
constexpr int kPitch = kChunk + 4;  // words of a row: 9 times 16 bytes, so that 16-byte loads meet no bank twice
constexpr int kWordColumns = 4;
constexpr unsigned kAll = 0xffffffff;

/// Errors are kept in 12 bits each (see floyd_steinberg.h), the tag above four of them.
constexpr int kKeptBits = 12, kTagShift = 48;

struct Shared {
  /// For each row and step: 16 * tone + 8; in row 0 with all that comes from the row above.
  alignas(16) unsigned terms[2][kRows * kPitch];
  unsigned levels[2][4][kRows];
  int strip;
};

/// What a strip is.
struct Strip {
  int field, y0, rows;              ///< y0: row of the field
  const unsigned long long* above;  ///< words of the row above; null: there is none
  unsigned long long* below;        ///< words that the strip below waits for; null: there is none
};

__host__ __device__ int strips_of(int rows) { return (rows + kRows - 1) / kRows; }
__host__ __device__ std::size_t line_words(int width) {
  return static_cast<std::size_t>((width + kWordColumns - 1) / kWordColumns);
}

__device__ Strip find_strip(const HalftoneJob& job, const Strips& strips, int index) {
  const int first = strips_of(job.field_height(0));
  Strip s;
  s.field = index >= first ? 1 : 0;
  const int height = job.field_height(s.field), i = index - s.field * first;
  s.y0 = i * kRows;
  s.rows = min(kRows, height - s.y0);
  unsigned long long* const own = strips.words + index * line_words(job.width);
  s.above = i > 0 ? own - line_words(job.width) : nullptr;
  s.below = s.y0 + kRows < height ? own : nullptr;
  return s;
}

/// The diffusing warp's state.
struct Lane {
  unsigned left, above, above_left;
  unsigned recent[kWordColumns];       ///< errors of the last steps, by step mod 4
  unsigned weight1, weight5, weight3;  ///< 0 in lane 0, whose terms hold all that
};

/// If `sends`, without a branch. The word's tag says whether it is this frame's. Relaxed: it carries all that is handed
/// over.
__device__ __forceinline__ void put_word(bool sends, unsigned long long* to, unsigned low, unsigned high) {
  const unsigned long long word = static_cast<unsigned long long>(high) << 32 | low;
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.relaxed.gpu.global.u64 [%0], %1; }" ::"l"(to), "l"(word),
               "r"(static_cast<unsigned>(sends))
               : "memory");
}
__device__ __forceinline__ unsigned long long await_word(const unsigned long long* from, unsigned tag) {
  unsigned long long word;
  do {
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(from) : "memory");
  } while (static_cast<unsigned>(word >> kTagShift) != tag);
  return word;
}

/// Steps t0...t0+31. kFull: nothing is weakened. kEdge: some lane may be outside the picture.
template <int kLevels, bool kFull, bool kEdge>
__device__ __forceinline__ void diffuse(const HalftoneJob& job, const Strip& strip, unsigned tag, int t0,
                                        const unsigned* terms, unsigned* levels, Lane& s) {
  constexpr Levels kOf{kLevels};
  constexpr unsigned kBias = kOf.bias(), kStep = kOf.step();
  const int lane = threadIdx.x, width = job.width;
  const uint4* const row = reinterpret_cast<const uint4*>(terms + lane * kPitch);
  uint4 now[2] = {row[0], row[1]};
  // The word whose last column the last row is at in step t0 + 1.
  constexpr int kWordsBehind = (kSkew * (kRows - 1) + kWordColumns - 2) / kWordColumns;
  static_assert((1 - kSkew * (kRows - 1) - (kWordColumns - 1)) == -kWordsBehind * kWordColumns);
  const bool sends = lane == kRows - 1 && strip.below;
  unsigned long long* word = strip.below + t0 / kWordColumns - kWordsBehind;
  unsigned bits = 0;
#pragma unroll 1
  for (int g = 0; g < kChunk / 8; ++g) {
    uint4 next[2];
    if (g + 1 < kChunk / 8) next[0] = row[2 * g + 2], next[1] = row[2 * g + 3];
    const unsigned term[8] = {now[0].x, now[0].y, now[0].z, now[0].w, now[1].x, now[1].y, now[1].z, now[1].w};
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int x = t0 + 8 * g + j - kSkew * lane;
      const unsigned above_right = __shfl_up_sync(kAll, s.left, 1);
      // The shuffle takes longest; what needs it comes last.
      const unsigned early = term[j] + s.above_left * s.weight1 + s.above * s.weight5 + 7 * s.left;
      const unsigned a = (early + above_right * s.weight3) >> 4;
      unsigned level;
      if constexpr (kLevels == 2) {
        level = a >= kStep ? 1 : 0;
        s.left = min(a, a - kStep);  // below the step the difference wraps round
      } else {
        level = a / kStep;
        s.left = a - level * kStep;
      }
      if constexpr (!kFull)
        s.left = static_cast<unsigned>(weaken(static_cast<int>(s.left) - kOf.bias(), job.strength) + kOf.bias());
      if constexpr (kEdge)
        if (static_cast<unsigned>(x) >= static_cast<unsigned>(width)) s.left = kBias, level = 0;
      s.above_left = s.above;
      s.above = above_right;
      bits = bits << level_bits(kLevels) | level;
      s.recent[j % kWordColumns] = s.left;
      if (j % kWordColumns == 1) {  // column x of the last row is the fourth of a word
        const unsigned c0 = s.recent[2], c1 = s.recent[3], c2 = s.recent[0], c3 = s.recent[1];
        const int first = x - (kWordColumns - 1);
        put_word(sends && (!kEdge || (first >= 0 && first < width)), word + j / kWordColumns,
                 c0 + (c1 << 12) + (c2 << 24), (c2 >> 8) + (c3 << 4) + (tag << 16));
      }
    }
    word += 8 / kWordColumns;
    now[0] = next[0], now[1] = next[1];
    if constexpr (kLevels != 2) levels[g * kRows + lane] = bits;
  }
  if constexpr (kLevels == 2) levels[lane] = bits;
}

/// The share of row 0's column t0 + lane that comes from the row above, times 16. Waits for it.
__device__ unsigned from_above(const HalftoneJob& job, const Strip& strip, unsigned tag, int t0, unsigned bias) {
  const int lane = threadIdx.x % 32;
  if (!strip.above) return 9 * bias;
  // Columns t0 - 4...t0 + 35 in lanes 0...9.
  const int first = t0 - kWordColumns + kWordColumns * lane;
  unsigned long long word = bias * 0x1001001001ull;
  if (lane < kChunk / kWordColumns + 2 && first >= 0 && first < job.width)
    word = await_word(strip.above + first / kWordColumns, tag);
  __syncwarp();
  unsigned kept[3];
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    const int n = lane + i + kWordColumns - 1;
    kept[i] = static_cast<unsigned>(__shfl_sync(kAll, word, n / kWordColumns) >> (n % kWordColumns * kKeptBits)) &
              ((1u << kKeptBits) - 1);
  }
  return kept[0] + 5 * kept[1] + 3 * kept[2];
}

template <int kLevels>
__device__ void write_levels(const HalftoneJob& job, const Strip& strip, int writer, int t0, const unsigned* levels) {
  const int lane = threadIdx.x % 32;
  for (int r = writer; r < strip.rows; r += kWriters) {
    const int x = t0 + lane - kSkew * r;
    if (x < 0 || x >= job.width) continue;
    const unsigned level = level_at<level_bits(kLevels), kChunk>(levels + r, kRows, lane);
    job.out[((strip.y0 + r) * job.fields + strip.field) * job.out_stride + x] =
        static_cast<std::uint8_t>(Levels{kLevels}.code(static_cast<int>(level)));
  }
}

template <int kLevels, bool kFull, bool kBytes>
__global__ void __launch_bounds__(kBlock)
    floyd_steinberg_strip(const __grid_constant__ HalftoneJob job, const __grid_constant__ Strips strips) {
  __shared__ Shared shared;
  constexpr Levels kOf{kLevels};
  constexpr unsigned kBias = kOf.bias();
  if (threadIdx.x == 0) shared.strip = static_cast<int>(atomicAdd(strips.ticket, 1u) - strips.first_ticket);
  __syncthreads();
  const Strip strip = find_strip(job, strips, shared.strip);
  const int lane = threadIdx.x % 32, writer = static_cast<int>(threadIdx.x) / 32 - 1, width = job.width;
  // The last row goes on until its last word is complete.
  const int chunks = (width + kSkew * (kRows - 1) + kWordColumns - 1 + kChunk - 1) / kChunk;

  Lane s;
  s.left = s.above = s.above_left = kBias;
  for (unsigned& e : s.recent) e = kBias;
  s.weight1 = lane > 0 ? 1 : 0;
  s.weight5 = lane > 0 ? 5 : 0;
  s.weight3 = lane > 0 ? 3 : 0;

  for (int chunk = -1; chunk <= chunks; ++chunk) {
    if (writer < 0) {
      if (chunk >= 0 && chunk < chunks) {
        const int t0 = chunk * kChunk;
        const unsigned* const terms = shared.terms[chunk & 1];
        unsigned* const levels = shared.levels[chunk & 1][0];
        if (t0 >= kSkew * (kRows - 1) && t0 + kChunk <= width)
          diffuse<kLevels, kFull, false>(job, strip, strips.tag, t0, terms, levels, s);
        else
          diffuse<kLevels, kFull, true>(job, strip, strips.tag, t0, terms, levels, s);
      }
    } else {
      const int t0 = (chunk + 1) * kChunk;
      const bool brings = chunk + 1 < chunks;
      unsigned code[kRowsEach];
      if (brings) {
#pragma unroll
        for (int i = 0; i < kRowsEach; ++i) {
          const int r = writer + kWriters * i, x = t0 + lane - kSkew * r;
          code[i] = 0;
          if (r >= strip.rows) continue;
          const int y = (strip.y0 + r) * job.fields + strip.field;
          if (x >= 0 && x < width) code[i] = code_at<kBytes>(job, y, x);
          if (lane == 0 && x + kAhead >= 0 && x + kAhead < width) announce<kBytes>(job, y, x + kAhead);
        }
      }
      if (chunk >= 1)
        write_levels<kLevels>(job, strip, writer, (chunk - 1) * kChunk, shared.levels[(chunk - 1) & 1][0]);
      if (brings) {
        unsigned* const terms = shared.terms[(chunk + 1) & 1];
        unsigned top = 0;
#pragma unroll
        for (int i = 0; i < kRowsEach; ++i) {
          const int r = writer + kWriters * i;
          const unsigned term = 16 * static_cast<unsigned>(__ldg(job.tones + code[i])) + 8;
          if (r == 0)
            top = term;
          else if (r < kRows)
            terms[r * kPitch + lane] = term;
        }
        if (writer == 0) terms[lane] = top + from_above(job, strip, strips.tag, t0, kBias);
      }
    }
    __syncthreads();
  }
}

template <int kLevels, bool kFull>
void launch_strips(const HalftoneJob& job, const Strips& strips, cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(floyd_steinberg_strips(job));
  if (job.layout.is_plain() && job.layout.depth == 8)
    floyd_steinberg_strip<kLevels, kFull, true><<<blocks, kBlock, 0, stream>>>(job, strips);
  else
    floyd_steinberg_strip<kLevels, kFull, false><<<blocks, kBlock, 0, stream>>>(job, strips);
  check(cudaGetLastError(), "floyd_steinberg_strip");
}

}  // namespace

int floyd_steinberg_strips(const HalftoneJob& job) {
  int strips = 0;
  for (int field = 0; field < job.fields; ++field) strips += strips_of(job.field_height(field));
  return strips;
}

std::size_t floyd_steinberg_words(const HalftoneJob& job) {
  return static_cast<std::size_t>(floyd_steinberg_strips(job)) * line_words(job.width);
}

void launch_floyd_steinberg(const HalftoneJob& job, const Strips& strips, cudaStream_t stream) {
  if (job.levels == 2 && job.strength == kFullStrength) return launch_strips<2, true>(job, strips, stream);
  if (job.levels == 2) return launch_strips<2, false>(job, strips, stream);
  if (job.levels == 4) return launch_strips<4, false>(job, strips, stream);
  launch_strips<16, false>(job, strips, stream);
}

}  // namespace framequality::cuda
