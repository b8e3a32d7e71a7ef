// SPDX-License-Identifier: LGPL-2.1-or-later
// GPU architectures that this build was compiled for.
#include "cuda/device.h"

#include <algorithm>

namespace framequality::cuda {

namespace {
__global__ void do_nothing() {}
}  // namespace

const void* smallest_kernel() { return reinterpret_cast<const void*>(&do_nothing); }

bool has_kernels_for(int capability) {
  int newest = 0;
  for (const int arch : {__CUDA_ARCH_LIST__}) {
    newest = std::max(newest, arch / 10);
    if (arch / 100 == capability / 10 && arch / 10 <= capability) return true;
  }
  return capability >= newest;  // from the newest one's PTX
}

int architecture_on(int capability) {
  int newest = 0;
  for (const int arch : {__CUDA_ARCH_LIST__})
    if (arch <= 10 * capability) newest = std::max(newest, arch);
  return newest;
}

}  // namespace framequality::cuda
