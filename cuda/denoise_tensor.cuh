// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernel: distances of 8-bit patches by products of integer matrices.
//
// |a - b|^2 = |a|^2 + |b|^2 - 2 ab, all in integers, so exact; a product is begun with -|a|^2 / 2, and |b|^2 comes with
// the candidate's value. What is left for each pair of pixels is five instructions: sum, exponent, exponential, two
// sums. A lane holds its share of 4x4 pixels' windows in registers; no array of patches is ever made, as what the lanes
// want for a product lies in shared memory eight bytes at a time and serves the next step too.
#pragma once

#include "algorithms/denoise/noise.h"
#include "cuda/denoise_job.h"
#include "cuda/denoise_lanes.h"
#include "cuda/runtime.h"

#include <bit>

namespace framequality::cuda::tile {

/// What a kernel can do besides weights from distances alone.
inline constexpr unsigned kFloor = 1, kSpatial = 2, kMaxCenter = 4;

/// A thread block: kAcross x kDown warps, each of which filters kStack blocks of 4x4 pixels, one below the other. At
/// least kResident of them on a multiprocessor.
template <int kAcross_, int kDown_, int kStack_, int kResident_>
struct Cut {
  static constexpr int kAcross = kAcross_, kDown = kDown_, kStack = kStack_, kResident = kResident_;
  static constexpr int kThreads = kWarp * kAcross * kDown, kHalves = 2 * kStack;
  static constexpr int kWidth = kBlock * kAcross, kHeight = kBlock * kStack * kDown;
  static constexpr int kLeastRadius = kHalves;
};

/// One frame's field as the kernel reads it.
struct Picture {
  const std::uint8_t* data;
  std::ptrdiff_t stride;
  int step, width, height;
  denoise::Border border;
};

struct Shared {
  uint2* pairs;
  int2* values;
  std::uint8_t* raw;
};

__device__ __forceinline__ int multiply_word(std::uint32_t word, std::uint32_t mask, int sum) {
  return __dp4a(static_cast<int>(word & mask), static_cast<int>(word), sum);
}

/// Fills shared memory with what lies around the thread block's pixels. All threads; ends with a barrier.
template <int kThreads>
__device__ __forceinline__ void fill(const Layout& l, const Shared& s, const Picture& p, int left, int top, int patch) {
  const int thread = static_cast<int>(threadIdx.x);
  left -= patch;
  top -= patch;
  const auto read = [&](auto code_at) {
#pragma unroll 4
    for (int i = thread; i < l.raw_rows * l.raw_columns; i += kThreads) {
      const int r = i / l.raw_columns, c = i - r * l.raw_columns;
      s.raw[r * l.raw_pitch + c] = code_at(left + c, top + r) ^ 0x80;
    }
  };
  if (left >= 0 && top >= 0 && left + l.raw_columns <= p.width && top + l.raw_rows <= p.height) {
    read([&](int x, int y) { return p.data[y * p.stride + static_cast<std::ptrdiff_t>(x) * p.step]; });
  } else {
    read([&](int x, int y) {
      x = denoise::bordered(x, p.width, p.border);
      y = denoise::bordered(y, p.height, p.border);
      return p.data[y * p.stride + static_cast<std::ptrdiff_t>(x) * p.step];
    });
  }
  __syncthreads();
  const int quads = l.columns / 4 + 1;
  for (int i = thread; i < l.pair_rows * quads; i += kThreads) {
    const int r = i / quads, q = i - r * quads;
    const auto* const upper = reinterpret_cast<const std::uint32_t*>(s.raw + r * l.raw_pitch) + q;
    const auto* const lower = reinterpret_cast<const std::uint32_t*>(s.raw + (r + 4) * l.raw_pitch) + q;
    const std::uint32_t u = upper[0], u2 = upper[1], w = lower[0], w2 = lower[1];
    auto* const to = reinterpret_cast<uint4*>(s.pairs + r * l.pair_pitch + 4 * q);
    to[0] = make_uint4(u, w, __funnelshift_r(u, u2, 8), __funnelshift_r(w, w2, 8));
    to[1] = make_uint4(__funnelshift_r(u, u2, 16), __funnelshift_r(w, w2, 16), __funnelshift_r(u, u2, 24),
                       __funnelshift_r(w, w2, 24));
  }
  __syncthreads();
  const std::uint32_t first = row_mask(patch, 0), second = row_mask(patch, 4);
  for (int i = thread; i < l.rows / 4 * l.columns; i += kThreads) {
    const int strip = i / l.columns, c = i - strip * l.columns;
    int row[10];  // sums of squares of rows of patches, from the strip's first on
#pragma unroll
    for (int r = 0; r < 6; ++r) {
      const uint2 a = s.pairs[(4 * strip + r) * l.pair_pitch + c], b = s.pairs[(4 * strip + r) * l.pair_pitch + c + 4];
      if (r < 4) row[r] = multiply_word(a.x, first, multiply_word(b.x, second, 0));
      row[r + 4] = multiply_word(a.y, first, multiply_word(b.y, second, 0));
    }
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      int sum = row[r];
      if (patch > 0) sum += row[r + 1] + row[r + 2];
      if (patch > 1) sum += row[r + 3] + row[r + 4];
      if (patch > 2) sum += row[r + 5] + row[r + 6];
      const int y = 4 * strip + r;
      const auto code = static_cast<std::int8_t>(s.raw[(y + patch) * l.raw_pitch + c + patch]);
      s.values[y * l.value_pitch + c] = make_int2(kBias - sum, __float_as_int(static_cast<float>(code)));
    }
  }
  __syncthreads();
}

/// d = a b + c, 16x32 times 32x8 signed bytes.
__device__ __forceinline__ void multiply(int (&d)[4], const std::uint32_t (&a)[4], uint2 b, const int (&c)[4]) {
  asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"
      : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y), "r"(c[0]), "r"(c[1]), "r"(c[2]), "r"(c[3]));
}

/// 2^x, 0 for less than 2^-126.
__device__ __forceinline__ float exp2_of(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// The same, x <= 0, without the special function unit; relative error below 3e-6, and never 0.
__device__ __forceinline__ float exp2_by_sums(float x) {
  constexpr float kRound = 12582912;
  x = fmaxf(x, -126.0f);
  const float t = __fadd_rn(x, kRound), f = __fadd_rn(x, -__fadd_rn(t, -kRound));
  float p = __fmaf_rn(9.5828529e-3f, f, 5.5906426e-2f);
  p = __fmaf_rn(p, f, 0.24024099f);
  p = __fmaf_rn(p, f, 0.69312418f);
  p = __fmaf_rn(p, f, 1.0f);
  return __int_as_float(__float_as_int(p) + (__float_as_int(t) << 23));
}

/// What a lane has of its halves' pixels: its quarter of the candidates.
template <int kHalves>
struct Sums {
  float weights[kHalves] = {}, values[kHalves] = {}, largest[kHalves] = {};
};

/// A warp's pixels, in registers: each lane's share of all patches.
template <int kStack>
struct Patches {
  std::uint32_t a[kStack][2][4];
  int begin[kStack][4];
  std::uint32_t odd[2 * kStack];  // bit 31: |a|^2 is odd
  float own[2 * kStack];          // code less 128

  /// x, y: candidate that is the lane's pixel of the first half.
  __device__ __forceinline__ void load(const Layout& l, const Shared& s, int x, int y, int lane, int patch) {
    const std::uint32_t mask = row_mask(patch, word_x(lane));
#pragma unroll
    for (int half = 0; half < 2 * kStack; ++half) {
      const int m = half / 2, h = half % 2, v = y + half * kRowsPerHalf;
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        const int row = word_y(lane) + 2 * k;
        const uint2 pair = s.pairs[(v + row) * l.pair_pitch + x + word_x(lane)];
        a[m][k][h] = row <= 2 * patch ? pair.x & mask : 0;
        a[m][k][h + 2] = row + 4 <= 2 * patch ? pair.y & mask : 0;
      }
      // Twice from memory: the compiler must not know that both are equal, or it copies them for every product.
      const volatile int2* const value = s.values + v * l.value_pitch + x;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int squares = kBias - value->x;
        begin[m][2 * h + e] = -((squares + 1) >> 1);
        odd[half] = static_cast<std::uint32_t>(squares) << 31;
      }
      own[half] = __int_as_float(value->y);
    }
  }
};

/// One frame's candidates of one warp. kRadius: of the search; 0: known at run time only. kPolynomials: how many
/// exponentials of a middle step, 2 * kHalves, are made by exp2_by_sums().
template <int kStack, int kRadius, unsigned kFeatures, int kPolynomials>
struct Search {
  static constexpr int kHalves = 2 * kStack;
  const Patches<kStack>& patches;
  Sums<kHalves>& sums;
  float scale, floor, spatial;
  bool own_frame;
  int lane, radius;
  // Of the matrix that is being looked at:
  float addend[2] = {}, column[2] = {};
  float upper[kHalves] = {};  // rows' share of the spatial exponent, the step's first
  int center[2] = {-1, -1};   // step, from a half's first, in which the candidate is the pixel itself

  __device__ __forceinline__ void begin_column(int x) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      const int tx = x + candidate_x(lane) + e - radius - pixel_x(lane), ty = radius + pixel_y(lane) - candidate_y(lane);
      addend[e] = tx < -radius || tx > radius ? -__int_as_float(0x7f800000) : -kBiasValue * scale;
      if constexpr (kFeatures & kSpatial) column[e] = -spatial * static_cast<float>(tx * tx);
      if constexpr (kFeatures & kMaxCenter) center[e] = own_frame && tx == 0 && ty % 2 == 0 ? ty / 2 : -1;
    }
  }

  /// offset: the step from the half's first one on.
  template <bool kPolynomial>
  __device__ __forceinline__ void add(int half, int e, int product, int2 value, float constant, float row, int offset) {
    // The distance's negative over kBiasValue: exact, as is the constant's product, so all of 2^x of equal pixels are 1.
    const int sum = static_cast<int>(__funnelshift_l(patches.odd[half], static_cast<std::uint32_t>(product), 1)) + value.x;
    float x = __fmaf_rn(__int_as_float(sum), scale, constant);
    if constexpr (kFeatures & kFloor) x = fminf(__fadd_rn(x, floor), 0.0f);
    if constexpr (kFeatures & kSpatial) x = __fadd_rn(x, __fadd_rn(row, column[e]));
    float w = kPolynomial ? exp2_by_sums(x) : exp2_of(x);
    if constexpr (kFeatures & kMaxCenter) {
      w = offset == center[e] ? 0.0f : w;
      sums.largest[half] = fmaxf(sums.largest[half], w);
    }
    sums.weights[half] = __fadd_rn(sums.weights[half], w);
    sums.values[half] = __fmaf_rn(w, __int_as_float(value.y), sums.values[half]);
  }

  __device__ __forceinline__ float row_share(int offset) const {
    const float ty = static_cast<float>(2 * offset + candidate_y(lane) - radius - pixel_y(lane));
    return -spatial * ty * ty;
  }

  /// The products of a step's patches, and its candidates.
  struct Products {
    int d[kStack][4];
    int4 value;
  };
  /// here, below: pairs of the step's rows and of the next ones. step: of the phase.
  __device__ __forceinline__ void multiply_step(Products& to, Phase phase, int step, uint2 here, uint2 below) const {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
#pragma unroll
      for (int m = 0; m < kStack; ++m) {
        if (rows_of(phase, step, 2 * m) == Rows::kNone && rows_of(phase, step, 2 * m + 1) == Rows::kNone) continue;
        if (k == 0)
          multiply(to.d[m], patches.a[m][0], here, patches.begin[m]);
        else
          multiply(to.d[m], patches.a[m][1], below, to.d[m]);
      }
    }
  }

  /// step: of the phase; done: steps before it.
  __device__ __forceinline__ void add_step(const Products& from, Phase phase, int step, int done) {
    const bool first = candidate_y(lane) >= pixel_y(lane), last = candidate_y(lane) <= pixel_y(lane);
    constexpr float kNever = -__builtin_huge_valf();
    if constexpr (kFeatures & kSpatial) {
#pragma unroll
      for (int half = kHalves - 1; half > 0; --half) upper[half] = upper[half - 1];
      upper[0] = row_share(done + step);
    }
#pragma unroll
    for (int half = 0; half < kHalves; ++half) {
      const Rows rows = rows_of(phase, step, half);
      if (rows == Rows::kNone) continue;
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const bool use = rows == Rows::kInner || (rows == Rows::kFirst ? first : last);
        const int2 v = e ? make_int2(from.value.z, from.value.w) : make_int2(from.value.x, from.value.y);
        const int product = from.d[half / 2][2 * (half % 2) + e], offset = done + step - half;
        const float constant = use ? addend[e] : kNever;
        if (phase == Phase::kMiddle && 2 * half + e < kPolynomials)
          add<true>(half, e, product, v, constant, upper[half], offset);
        else
          add<false>(half, e, product, v, constant, upper[half], offset);
      }
    }
  }

  /// pair, value: the lane's of candidate (0, 0) of the warp's first window.
  __device__ __forceinline__ void run(const Layout& l, const uint2* pair, const int2* value) {
    const int r = kRadius ? kRadius : radius;
#pragma unroll 1
    for (int x = 0; x < Layout::tiles(r); ++x, pair += kBlock, value += kBlock) {
      begin_column(kBlock * x);
      const uint2* p = pair;
      const int2* v = value;
      uint2 here = *p;
      const auto multiply_next = [&](Products& to, Phase phase, int step) {
        p += kRowsPerHalf * l.pair_pitch;
        const uint2 below = *p;
        to.value = *reinterpret_cast<const int4*>(v);
        multiply_step(to, phase, step, here, below);
        v += kRowsPerHalf * l.value_pitch;
        here = below;
      };
      // One step's products are on their way while those of the step before become weights.
      Products now, then;
      multiply_next(now, Phase::kHead, 0);
      const auto go = [&](Phase phase, int step, int done, Phase next_phase, int next_step) {
        multiply_next(then, next_phase, next_step);
        add_step(now, phase, step, done);
        now = then;
      };
#pragma unroll
      for (int s = 0; s < kHalves - 1; ++s) go(Phase::kHead, s, 0, Phase::kHead, s + 1);
      go(Phase::kHead, kHalves - 1, 0, Phase::kMiddle, 0);
      if constexpr (kRadius != 0) {
#pragma unroll
        for (int s = kHalves; s < kRadius; ++s) go(Phase::kMiddle, 0, s, s + 1 < kRadius ? Phase::kMiddle : Phase::kTail, 0);
      } else {
#pragma unroll 2
        for (int s = kHalves; s < r; ++s) go(Phase::kMiddle, 0, s, Phase::kMiddle, 0);
      }
#pragma unroll
      for (int s = 0; s < kHalves - 1; ++s) go(Phase::kTail, s, r, Phase::kTail, s + 1);
      add_step(now, Phase::kTail, kHalves - 1, r);
    }
  }
};

/// The sum of a quad's lanes, in all of them.
__device__ __forceinline__ float quad_sum(float v) {
  v = __fadd_rn(v, __shfl_xor_sync(~0u, v, 1));
  return __fadd_rn(v, __shfl_xor_sync(~0u, v, 2));
}
__device__ __forceinline__ float quad_largest(float v) {
  v = fmaxf(v, __shfl_xor_sync(~0u, v, 1));
  return fmaxf(v, __shfl_xor_sync(~0u, v, 2));
}

__device__ __forceinline__ float floor_of(const DenoiseJob& job, int field, int height) {
  if (!job.noise) return job.weights.floor;
  const double sigma = denoise::noise_sigma(job.noise[field], job.width, height, 8);
  return static_cast<float>(job.weights.floor * sigma * sigma);
}

/// Grid: thread blocks across, down, fields. job.weights.scale: as launch() makes it.
template <class Cut, int kRadius, unsigned kFeatures, int kPolynomials = 0>
__global__ void __launch_bounds__(Cut::kThreads, Cut::kResident) filter(const __grid_constant__ DenoiseJob job) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  extern __shared__ uint4 shared[];
  constexpr int kHalves = Cut::kHalves;
  const int field = static_cast<int>(blockIdx.z), fields = job.fields;
  const int height = (job.height - field + fields - 1) / fields;
  const int left = static_cast<int>(blockIdx.x) * Cut::kWidth, top = static_cast<int>(blockIdx.y) * Cut::kHeight;
  if (top >= height) return;
  const int radius = kRadius ? kRadius : job.search_radius, patch = job.patch_radius;
  const Layout l(Cut::kWidth, Cut::kHeight, radius);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(shared);
  const Shared s{reinterpret_cast<uint2*>(bytes), reinterpret_cast<int2*>(bytes + l.pair_bytes()),
                 bytes + l.pair_bytes() + l.value_bytes()};
  const int lane = static_cast<int>(threadIdx.x) % kWarp, warp = static_cast<int>(threadIdx.x) / kWarp;
  // The lane's pixel of the first half, from the thread block's first one on.
  const int warp_x = warp % Cut::kAcross * kBlock, warp_y = warp / Cut::kAcross * kBlock * Cut::kStack;
  const int x = warp_x + pixel_x(lane), y = warp_y + pixel_y(lane);

  Patches<Cut::kStack> patches;
  Sums<kHalves> sums;
  const float floor = kFeatures & kFloor ? floor_of(job, field, height) : 0;
  for (int i = 0; i < job.frames; ++i) {
    const int frame = i == 0 ? job.center : i <= job.center ? i - 1 : i;
    if (i > 0) __syncthreads();
    const DenoiseJob::Plane& plane = job.source[frame][0];
    fill<Cut::kThreads>(l, s,
                        {plane.data + field * plane.stride, fields * plane.stride, job.pixel_stride[0], job.width,
                         height, job.border},
                        left - radius, top - radius, patch);
    if (left + warp_x >= job.width || top + warp_y >= height) continue;
    if (i == 0) patches.load(l, s, x + radius, y + radius, lane, patch);
    Search<Cut::kStack, kRadius, kFeatures, kPolynomials> search{patches, sums,   job.weights.scale, floor,
                                                                 job.weights.spatial, i == 0, lane,  radius};
    search.run(l, s.pairs + (y + word_y(lane)) * l.pair_pitch + x + word_x(lane),
               s.values + (warp_y + candidate_y(lane)) * l.value_pitch + warp_x + candidate_x(lane));
  }
  if (left + warp_x >= job.width || top + warp_y >= height) return;

#pragma unroll
  for (int half = 0; half < kHalves; ++half) {
    float weights = quad_sum(sums.weights[half]), values = quad_sum(sums.values[half]);
    if constexpr (kFeatures & kMaxCenter) {
      const float own = fmaxf(quad_largest(sums.largest[half]), denoise::kLeastCenter);
      weights = __fadd_rn(weights, own);
      values = __fmaf_rn(own, patches.own[half], values);
    }
    const int column = left + x, row = top + y + half * kRowsPerHalf;
    if (lane % 4 != half % 4 || column >= job.width || row >= height) continue;
    const float mean = denoise::mean_of(values, weights, 8);
    const std::ptrdiff_t line = static_cast<std::ptrdiff_t>(row) * fields + field;
    if (job.unrounded[0]) job.unrounded[0][line * job.width + column] = mean;
    job.out[0].data[line * job.out[0].stride + static_cast<std::ptrdiff_t>(column) * job.pixel_stride[0]] =
        static_cast<std::uint8_t>(min(max(__float2int_rn(mean), 0), 255));
  }
#endif
}

using Kernel = void (*)(DenoiseJob);

/// Starts a filter<Cut>. Throws Error.
template <class Cut>
void launch(Kernel kernel, DenoiseJob job, cudaStream_t stream) {
  // 22 bits: its product with kBiasValue is a float. Unlike the sums' own rounding this is one error for all weights.
  job.weights.scale = std::bit_cast<float>((std::bit_cast<std::uint32_t>(job.weights.scale) + 2u) & ~3u);
  const auto bytes = static_cast<std::size_t>(Layout(Cut::kWidth, Cut::kHeight, job.search_radius).bytes());
  if (bytes > 48 * 1024)
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)),
          "cudaFuncSetAttribute");
  const auto count = [](int n, int each) { return static_cast<unsigned>((n + each - 1) / each); };
  const dim3 grid(count(job.width, Cut::kWidth), count(count(job.height, job.fields), Cut::kHeight),
                  static_cast<unsigned>(job.fields));
  void* arguments[] = {&job};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, dim3(Cut::kThreads), arguments, bytes, stream),
        "cudaLaunchKernel");
}

}  // namespace framequality::cuda::tile
