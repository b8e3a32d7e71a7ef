// SPDX-License-Identifier: LGPL-2.1-or-later
// FQ_HD: marks a function for host and device. Always inlined, so that translation units built for different
// instruction sets never share one out-of-line copy.
#pragma once

#ifdef __CUDACC__
#define FQ_HD __host__ __device__ __forceinline__
#else
#define FQ_HD inline __attribute__((always_inline))
#endif

namespace framequality {

/// Replaces ?: in functions that are templates of their numbers; computes both values. algorithms/text overloads it for
/// numbers that record the operations on them.
template <class T>
FQ_HD constexpr T choose(bool condition, T a, T b) {
  return condition ? a : b;
}
/// A constant of the other number's type.
template <class T>
FQ_HD constexpr T constant(T, T value) {
  return value;
}

}  // namespace framequality
