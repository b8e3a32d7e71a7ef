// SPDX-License-Identifier: LGPL-2.1-or-later
// Tone-dependent error diffusion: swath after swath, the rows of one at a time in step.
#include "cuda/halftone_source.cuh"
#include "cuda/runtime.h"

#include <stdexcept>

namespace framequality::cuda {
namespace {

using namespace halftone;

// A block takes a field, since swaths run in alternating directions and so one after the other. Its first two warps
// diffuse: lane r of the first has row r of the swath, lane r of the second row 32 + r, and is kSkew columns behind the
// lane above. A skew of one more than the delay would do; at two the sums have a step to arrive in. The second warp
// follows so far behind that all it needs was handed over before the last barrier, since a swath's width is what its
// time is made of. The other warps bring all that a pixel's tone means and write the levels.
constexpr int kLanes = 32, kDiffusers = 2, kWriters = 6, kBlock = 32 * (kDiffusers + kWriters);
constexpr int kRowsEach = (kMaxSwathRows + kWriters - 1) / kWriters;
static_assert(kMaxSwathRows == kLanes * kDiffusers);
// Steps between two barriers: what 64 KiB of shared memory hold the pixels of, twice.
constexpr int kChunk = 24;
constexpr int kAhead = 5 * kChunk;  // columns
constexpr int kPitch = kChunk + 1;  // pixels of a row: 16-byte loads meet no bank twice
constexpr unsigned kAll = 0xffffffff;

/// What a pixel's tone means.
struct alignas(16) Pixel {
  int base;           ///< (tone << kWeightBits) + half, and in a first row all that comes from above
  int threshold;      ///< with 2 levels << kWeightBits
  unsigned straight;  ///< weights for (0, 1), low, and (1, 0), high; bit 15: the tone is a middle one
  unsigned aslant;    ///< weights for (1, -1), low, and (1, 1) of middle tones or (1, -delay), high
};
constexpr unsigned kMiddle = 1u << 15;

/// Row of the table, as a Pixel has it.
struct Weights {
  unsigned straight, aslant;
};

struct Shared {
  Weights weights[kTones];
  int threshold[kTones];
  std::uint32_t pattern[kPatternSide * kPatternSide / 32];
  unsigned levels[2][kChunk / 8][kMaxSwathRows];
};

/// The swath that a block is at.
struct Swath {
  int y0, rows;  ///< of the field
  bool leftward, is_first;
};

__device__ Weights weights_of(const ToneTable& table, int tone) {
  const std::int16_t* const w = table.row[tone].weight;
  const auto both = [](int low, int high) { return static_cast<unsigned>(low) | static_cast<unsigned>(high) << 16; };
  if (tone == 0) return {both(0, kWeightOne), 0};  // place_of()
  if (tone < kFirstMiddleTone) return {both(w[0], w[1]), both(w[2], w[3])};
  return {both(w[0], w[2]) | kMiddle, both(w[3], w[1])};
}

/// A diffusing lane's state. sums: of columns x + 1, x, x - 1, ..., x - delay of the row below.
template <int kDelay>
struct Lane {
  int carry = 0;  ///< what column x - 1 gives to x
  int sums[kDelay + 2] = {};
  int incoming[2] = {};  ///< for columns x and x + 1
};

/// Level and error of a pixel. sum: base and all that it received. kPlain: 2 levels, nothing weakened.
template <bool kPlain>
__device__ __forceinline__ int decide(int sum, int threshold, int levels, int strength, unsigned& level) {
  const int u = sum >> kWeightBits;
  if constexpr (kPlain) {
    level = sum >= threshold ? 1 : 0;
    return min(max(u - (level ? kWhite : 0), -kErrorLimit), kErrorLimit);
  } else {
    // As tone_dependent(): the level below a tone cancels out of it. Shifted to stay positive.
    constexpr int kShift = 512;
    const int between = levels - 1;
    const int above = (u * between - threshold + (kShift + 1) * kWhite) / kWhite - kShift;
    level = static_cast<unsigned>(min(max(above, 0), between));
    return weaken(min(max(u - static_cast<int>(level) * (kWhite / between), -kErrorLimit), kErrorLimit), strength);
  }
}

/// Hands out the error of column x.
template <int kDelay, bool kEdge>
__device__ __forceinline__ void hand_out(Lane<kDelay>& s, const Pixel& p, int error, int x, int width) {
  const bool is_middle = p.straight & kMiddle;
  const int on = static_cast<int>(p.straight & (kMiddle - 1)) * error;
  const int down = static_cast<int>(p.straight >> 16) * error;
  const int back = static_cast<int>(p.aslant & 0xffff) * error, far = static_cast<int>(p.aslant >> 16) * error;
  s.carry = on;
  s.sums[1] += down;
  if constexpr (kEdge) {
    const bool is_last = x == width - 1;
    const int over = is_middle ? far : 0, behind = is_middle ? 0 : far;
    const int back_at = min(1, x), behind_at = min(kDelay, x);
    s.carry = is_last ? 0 : on;
    s.sums[0] += is_last ? 0 : over;
    s.sums[1] += is_last ? on + over : 0;
#pragma unroll
    for (int i = 0; i <= kDelay; ++i) s.sums[1 + i] += (i == back_at ? back : 0) + (i == behind_at ? behind : 0);
  } else {
    s.sums[2] += back;
    s.sums[0] += is_middle ? far : 0;
    s.sums[kDelay + 1] += is_middle ? 0 : far;
  }
}

/// If `sends`, without a branch.
__device__ __forceinline__ void put_sum(bool sends, std::int32_t* to, int sum) {
  asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.global.u32 [%0], %1; }" ::"l"(to), "r"(sum),
               "r"(static_cast<unsigned>(sends))
               : "memory");
}

/// Steps t0...t0+kChunk-1 of a warp. below: sums that its last row hands down, by column of the picture; null but in
/// the lane of that row.
template <int kDelay, bool kPlain, bool kEdge>
__device__ __forceinline__ void diffuse(const HalftoneJob& job, const Swath& swath, int t0, const Pixel* pixels,
                                        unsigned* levels, std::int32_t* below, Lane<kDelay>& s) {
  constexpr int kSkew = kDelay + 2, kBits = kPlain ? 1 : 4;
  const int lane = static_cast<int>(threadIdx.x) % 32, width = job.width;
  const int forward = swath.leftward ? -1 : 1, first = t0 - kSkew * lane - kDelay;
  std::int32_t* to = below + (swath.leftward ? width - 1 - first : first);
  unsigned bits = 0;
#pragma unroll 1
  for (int g = 0; g < kChunk / 8; ++g) {
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const int x = t0 + 8 * g + j - kSkew * lane;
      const Pixel p = pixels[8 * g + j];
      unsigned level;
      int error = decide<kPlain>(s.carry + (p.base + s.incoming[0]), p.threshold, job.levels, job.strength, level);
      if constexpr (kEdge)
        if (static_cast<unsigned>(x) >= static_cast<unsigned>(width)) error = 0, level = 0;
      bits = bits << kBits | level;
      hand_out<kDelay, kEdge>(s, p, error, x, width);
      const int complete = s.sums[kDelay + 1];
      put_sum(below && (!kEdge || (x >= kDelay && x - kDelay < width)), to, complete);
      to += forward;
#pragma unroll
      for (int i = kDelay + 1; i > 0; --i) s.sums[i] = s.sums[i - 1];
      s.sums[0] = 0;
      s.incoming[0] = s.incoming[1];
      const int incoming = __shfl_up_sync(kAll, complete, 1);
      s.incoming[1] = lane > 0 ? incoming : 0;
    }
    if constexpr (!kPlain) levels[g * kMaxSwathRows] = bits;
  }
  if constexpr (kPlain) levels[0] = bits;
}

/// What a code at a column and row of its field means.
template <bool kPlain>
__device__ __forceinline__ Pixel pixel_of(const HalftoneJob& job, const Shared& shared, unsigned code, int column,
                                          int y) {
  const int tone = __ldg(job.tones + code);
  int grey = (tone + 8) >> 4;
  if constexpr (!kPlain) {
    const int between = job.levels - 1, step = kWhite / between, from = min(tone / step, between - 1);
    grey = ((tone - from * step) * between + 8) >> 4;
  }
  const int row = grey < kTones ? grey : 255 - grey;
  const Weights w = shared.weights[row];
  int threshold = shared.threshold[row];
  if (pattern_at(shared.pattern, column, y)) threshold = kWhite - threshold;
  return {(tone << kWeightBits) + kWeightOne / 2, kPlain ? threshold << kWeightBits : threshold, w.straight, w.aslant};
}

/// Chunks of which the second warp has to be behind the first: what is brought for it between two barriers has been
/// handed down by the first warp's last row before them.
template <int kDelay>
constexpr int kLag = (2 * kChunk + (kDelay + 2) * (kLanes - 1) + kDelay + kChunk - 1) / kChunk;

template <int kDelay, bool kPlain, bool kBytes>
__global__ void __launch_bounds__(kBlock, 1)
    tone_dependent_field(const __grid_constant__ HalftoneJob job, const __grid_constant__ Swaths swaths) {
  constexpr int kSkew = kDelay + 2, kBits = kPlain ? 1 : 4;
  extern __shared__ uint4 dynamic[];
  __shared__ Shared shared;
  Pixel* const pixels = reinterpret_cast<Pixel*>(dynamic);
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32, width = job.width;
  const int writer = warp - kDiffusers, field = static_cast<int>(blockIdx.x), height = job.field_height(field);
  const int swath_rows = swaths.table.swath_rows, buffer = min(swath_rows, kMaxSwathRows) * kPitch;
  const int lag = swath_rows > kLanes ? kLag<kDelay> : 0;
  // Sums that a swath's last row hands to the next swath, and a first warp's last row to the second warp.
  std::int32_t* const handed = swaths.sums + std::size_t{2} * static_cast<std::size_t>(field) * width;
  std::int32_t* const middle = handed + width;

  for (int i = static_cast<int>(threadIdx.x); i < kTones; i += kBlock) {
    shared.weights[i] = weights_of(swaths.table, i);
    shared.threshold[i] = swaths.table.row[i].threshold;
  }
  for (int i = static_cast<int>(threadIdx.x); i < kPatternSide * kPatternSide / 32; i += kBlock)
    shared.pattern[i] = swaths.pattern[i];
  __syncthreads();

  for (int y0 = 0; y0 < height; y0 += swath_rows) {
    const Swath swath{y0, min(swath_rows, height - y0), runs_leftward(y0, swath_rows), y0 == 0};
    const int reach = kSkew * (min(swath.rows, kLanes) - 1);
    const int chunks = (width + reach + kDelay + kChunk - 1) / kChunk;
    const int turns = chunks + (swath.rows > kLanes ? lag : 0);
    Lane<kDelay> s;
    for (int turn = -1; turn <= turns; ++turn) {
      if (writer < 0) {
        const int chunk = turn - warp * lag, row = warp * kLanes + lane;
        if (chunk >= 0 && chunk < chunks && turn < turns && swath.rows > warp * kLanes) {
          const int t0 = chunk * kChunk;
          std::int32_t* below = row == swath.rows - 1                   ? handed
                                : row == kLanes - 1 && row < swath.rows ? middle
                                                                        : nullptr;
          // Lanes without a row of their own do another's over.
          const Pixel* const own = pixels + (turn & 1) * buffer + min(row, swath.rows - 1) * kPitch;
          unsigned* const levels = &shared.levels[turn & 1][0][row];
          if (t0 >= reach + kDelay && t0 + kChunk < width)
            diffuse<kDelay, kPlain, false>(job, swath, t0, own, levels, below, s);
          else
            diffuse<kDelay, kPlain, true>(job, swath, t0, own, levels, below, s);
        }
      } else {
        // Column, counted along the swath, of row r in some turn.
        const auto along = [&](int r, int in_turn) {
          return (in_turn - r / kLanes * lag) * kChunk + lane - kSkew * (r % kLanes);
        };
        const auto column_of = [&](int x) { return swath.leftward ? width - 1 - x : x; };
        const auto frame_row = [&](int r) { return (y0 + r) * job.fields + field; };
        unsigned code[kRowsEach];
        const bool brings = turn + 1 < turns && lane < kChunk;
#pragma unroll
        for (int i = 0; i < kRowsEach; ++i) {
          const int r = writer + kWriters * i;
          code[i] = 0;
          if (!brings || r >= swath.rows) continue;
          const int x = along(r, turn + 1);
          if (x >= 0 && x < width) code[i] = code_at<kBytes>(job, frame_row(r), column_of(x));
          if (lane == 0 && x + kAhead >= 0 && x + kAhead < width)
            announce<kBytes>(job, frame_row(r), column_of(x + kAhead));
        }
        if (turn >= 1 && lane < kChunk) {
          for (int r = writer; r < swath.rows; r += kWriters) {
            const int x = along(r, turn - 1);
            if (x < 0 || x >= width) continue;
            const unsigned level = level_at<kBits, kChunk>(&shared.levels[(turn - 1) & 1][0][r], kMaxSwathRows, lane);
            job.out[frame_row(r) * job.out_stride + column_of(x)] =
                static_cast<std::uint8_t>(Levels{kPlain ? 2 : job.levels}.code(static_cast<int>(level)));
          }
        }
#pragma unroll
        for (int i = 0; i < kRowsEach; ++i) {
          const int r = writer + kWriters * i;
          if (!brings || r >= swath.rows) continue;
          const int x = along(r, turn + 1);
          Pixel p{};
          if (x >= 0 && x < width) {
            p = pixel_of<kPlain>(job, shared, code[i], column_of(x), y0 + r);
            if (r == 0 && !swath.is_first) p.base += handed[column_of(x)];
            if (r == kLanes) p.base += middle[column_of(x)];
          }
          pixels[((turn + 1) & 1) * buffer + r * kPitch + lane] = p;
        }
      }
      __syncthreads();
    }
  }
}

template <int kDelay, bool kPlain>
void launch_field(const HalftoneJob& job, const Swaths& swaths, cudaStream_t stream) {
  void (*kernel)(HalftoneJob, Swaths) = tone_dependent_field<kDelay, kPlain, false>;
  if (job.layout.is_plain() && job.layout.depth == 8) kernel = tone_dependent_field<kDelay, kPlain, true>;
  const std::size_t bytes = std::size_t{2} * static_cast<std::size_t>(swaths.table.swath_rows) * kPitch * sizeof(Pixel);
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
  kernel<<<static_cast<unsigned>(job.fields), kBlock, bytes, stream>>>(job, swaths);
  check(cudaGetLastError(), "tone_dependent_field");
}

template <int kDelay>
void launch_delay(const HalftoneJob& job, const Swaths& swaths, cudaStream_t stream) {
  if (job.levels == 2 && job.strength == kFullStrength)
    launch_field<kDelay, true>(job, swaths, stream);
  else
    launch_field<kDelay, false>(job, swaths, stream);
}

}  // namespace

void launch_tone_dependent(const HalftoneJob& job, const Swaths& swaths, cudaStream_t stream) {
  switch (swaths.table.delay) {
    case 1:
      return launch_delay<1>(job, swaths, stream);
    case 2:
      return launch_delay<2>(job, swaths, stream);
    case 3:
      return launch_delay<3>(job, swaths, stream);
    case kMaxDelay:
      return launch_delay<kMaxDelay>(job, swaths, stream);
    default:
      throw std::invalid_argument("cuda halftone: a table of a delay that has no kernel");
  }
}

}  // namespace framequality::cuda
