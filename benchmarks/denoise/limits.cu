// SPDX-License-Identifier: LGPL-2.1-or-later
// What instructions of the tensor cores' denoising kernel cost, alone and together.
#include "benchmarks/denoise/limits.h"
#include "cuda/denoise/search.cuh"
#include "cuda/runtime.h"

namespace framequality::variants {
namespace {

using namespace cuda::tile;
using cuda::check;

constexpr int kRounds = 2000;

/// A thread's operands; from memory, so that nothing is known of them.
struct State {
  float x[8], y[8], z[8], a, b;
  int i[8], j[8];
  std::uint32_t m[2][4];
  uint2 n;
  int d[4][4];
  float f[4][4];
};

#define MIX(name, text, ...)                                                        \
  struct name {                                                                     \
    static constexpr const char* kName = text;                                      \
    static __device__ __forceinline__ void round(State& s, float k) { __VA_ARGS__ } \
  };
#define EACH(n, ...) \
  _Pragma("unroll") for (int i = 0; i < n; ++i) { __VA_ARGS__ }

__device__ __forceinline__ void halves(float (&d)[4], const std::uint32_t (&a)[4], uint2 b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}
__device__ __forceinline__ void small(int (&d)[4], const std::uint32_t (&a)[4], uint2 b) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b.x));
}
__device__ __forceinline__ void whole(State& s, int i) { multiply(s.d[i], s.m[i % 2], s.n, s.d[i]); }

MIX(Empty, "loop alone", s.a = k;)
MIX(Mul3, "8 FFMA, 3 registers each", EACH(8, s.x[i] = __fmaf_rn(s.y[i], s.z[i], s.x[i]);))
MIX(Mul2, "8 FFMA, 2 registers and a constant", EACH(8, s.x[i] = __fmaf_rn(s.x[i], k, s.y[i]);))
MIX(Mul1, "8 FFMA, 1 register and constants", EACH(8, s.x[i] = __fmaf_rn(s.x[i], k, 1.5f);))
MIX(Add2, "8 FADD, 2 registers", EACH(8, s.x[i] = __fadd_rn(s.x[i], s.y[i]);))
MIX(Shift, "8 LEA.HI, 3 registers (shift and add)",
    EACH(8, s.i[i] = static_cast<int>(__funnelshift_l(__float_as_uint(s.y[i]), static_cast<unsigned>(s.i[i]), 1)) +
                     s.j[i];))
MIX(Max2, "8 FMNMX, 2 registers", EACH(8, s.x[i] = fmaxf(s.x[i], s.y[i]);))
MIX(Exp, "8 MUFU", EACH(8, s.x[i] = exp2_of(s.x[i]);))
MIX(ExpAdd, "8 MUFU, 16 FADD",
    EACH(8, s.x[i] = exp2_of(s.x[i]); s.y[i] = __fadd_rn(s.y[i], s.a); s.z[i] = __fadd_rn(s.z[i], s.b);))
MIX(ExpMul3, "8 MUFU, 16 FFMA of 3 registers",
    EACH(8, s.x[i] = exp2_of(s.x[i]); s.y[i] = __fmaf_rn(s.a, s.z[7 - i], s.y[i]);
         s.z[i] = __fmaf_rn(s.b, s.y[7 - i], s.z[i]);))
MIX(Imma, "4 IMMA 16x8x32 s8", EACH(4, whole(s, i);))
MIX(Imma16, "4 IMMA 16x8x16 s8", EACH(4, small(s.d[i], s.m[i % 2], s.n);))
MIX(Hmma, "4 HMMA 16x8x16 f16", EACH(4, halves(s.f[i], s.m[i % 2], s.n);))
MIX(ImmaExp, "4 IMMA, 8 MUFU", EACH(8, if (i % 2 == 0) whole(s, i / 2); s.x[i] = exp2_of(s.x[i]);))
MIX(ImmaMul3, "4 IMMA, 24 FFMA of 3 registers",
    EACH(8, if (i % 2 == 0) whole(s, i / 2); s.x[i] = __fmaf_rn(s.y[i], s.z[i], s.x[i]);
         s.y[i] = __fmaf_rn(s.a, s.z[i], s.y[i]); s.z[i] = __fmaf_rn(s.b, s.y[i], s.z[i]);))
MIX(ImmaMul1, "4 IMMA, 24 FFMA of 1 register",
    EACH(8, if (i % 2 == 0) whole(s, i / 2); s.x[i] = __fmaf_rn(s.x[i], k, 1.5f); s.y[i] = __fmaf_rn(s.y[i], k, 1.5f);
         s.z[i] = __fmaf_rn(s.z[i], k, 1.5f);))
// As in the kernel, without loads: what is summed up is what was made a round before.
MIX(Old, "4 IMMA, 8 (LEA FFMA MUFU FADD FFMA): a step as it was",
    EACH(8, if (i % 2 == 0) whole(s, i / 2); const float w = exp2_of(s.x[i]); s.y[i] = __fadd_rn(s.y[i], w);
         s.z[i] = __fmaf_rn(w, s.b, s.z[i]);
         s.x[i] = __fmaf_rn(__int_as_float(static_cast<int>(__funnelshift_l(static_cast<unsigned>(s.j[i]),
                                                                            static_cast<unsigned>(s.d[i / 2][i % 2]),
                                                                            1)) +
                                           s.i[i]),
                            s.a, s.b);))
MIX(New, "4 IMMA, 8 (FFMA MUFU FFMA FFMA): a step as it is",
    EACH(8, if (i % 2 == 0) whole(s, i / 2); const float w = exp2_of(s.x[i]); s.y[i] = __fmaf_rn(w, s.a, s.y[i]);
         s.z[i] = __fmaf_rn(w, s.b, s.z[i]);
         s.x[i] = __fmaf_rn(__int_as_float(s.d[i / 2][i % 2]), k, s.f[i / 4][i % 4]);))

template <class Mix>
__global__ void __launch_bounds__(512) rounds(const State* from, State* to, long long* cycles, float k) {
  State s = from[threadIdx.x % 32];
  __syncthreads();
  const long long start = clock64();
#pragma unroll 1
  for (int r = 0; r < kRounds; ++r) Mix::round(s, k);
  __syncthreads();
  const long long end = clock64();
  if (threadIdx.x == 0) *cycles = end - start;
  if (k == 2) to[threadIdx.x] = s;  // never
}

__global__ void tick(long long* cycles, long long* nanoseconds) {
  const auto now = [] {
    long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
  };
  const long long c = clock64(), n = now();
  while (now() - n < 200000) {
  }
  *cycles = clock64() - c;
  *nanoseconds = now() - n;
}

struct Bench {
  cuda::DeviceMemory<State> state, end;
  cuda::DeviceMemory<long long> cycles;
  Bench() {
    state.reserve(32);
    end.reserve(512);
    cycles.reserve(2);
    check(cudaMemset(state.get(), 0, 32 * sizeof(State)), "cudaMemset");
  }
  template <class Mix>
  double run(int warps) const {
    for (int i = 0; i < 2; ++i) rounds<Mix><<<132, 128 * warps>>>(state.get(), end.get(), cycles.get(), 1);
    check(cudaGetLastError(), "a kernel's launch");
    long long c;
    check(cudaMemcpy(&c, cycles.get(), sizeof c, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return static_cast<double>(c) / kRounds / warps;
  }
  template <class... Mixes>
  std::vector<Limit> all() const {
    return {{Mixes::kName, run<Mixes>(2), run<Mixes>(4)}...};
  }
};

}  // namespace

std::vector<Limit> instruction_limits() {
  return Bench()
      .all<Empty, Mul3, Mul2, Mul1, Add2, Shift, Max2, Exp, ExpAdd, ExpMul3, Imma, Imma16, Hmma, ImmaExp, ImmaMul3,
           ImmaMul1, Old, New>();
}

double clock_rate() {
  const Bench bench;
  tick<<<1, 1>>>(bench.cycles.get(), bench.cycles.get() + 1);
  check(cudaGetLastError(), "a kernel's launch");
  long long both[2];
  check(cudaMemcpy(both, bench.cycles.get(), sizeof both, cudaMemcpyDeviceToHost), "cudaMemcpy");
  return static_cast<double>(both[0]) / static_cast<double>(both[1]);
}

}  // namespace framequality::variants
