// SPDX-License-Identifier: LGPL-2.1-or-later
// FQ_HD: marks a function for host and device. Always inlined, so that translation units built for different
// instruction sets never share one out-of-line copy.
#pragma once

#ifdef __CUDACC__
#define FQ_HD __host__ __device__ __forceinline__
#else
#define FQ_HD inline __attribute__((always_inline))
#endif
