// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernels for two planes of 8 bits.
#include "cuda/denoise/tensor.cuh"

template framequality::cuda::tile::Choice framequality::cuda::tile::Chroma::choose(int, unsigned);
