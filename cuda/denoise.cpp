// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of the denoisers.
#include "cuda/denoise.h"

namespace framequality::cuda {

std::unique_ptr<denoise::Filter> make_denoiser(const PictureGeometry&, int, int) {
  throw Error(Fault::kNoDevice, "no kernels yet");
}

}  // namespace framequality::cuda
