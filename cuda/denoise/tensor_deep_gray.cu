// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensor cores' denoising kernels for single planes of up to 10 bits.
#include "cuda/denoise/tensor.cuh"

template framequality::cuda::tile::Choice framequality::cuda::tile::DeepGray::choose(int, unsigned);
