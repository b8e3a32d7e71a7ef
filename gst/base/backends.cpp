// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/base/backends.h"

#include "cpu/bliinds/meter.h"
#include "cpu/denoise/filter.h"
#include "cpu/halftone/filter.h"
#include "cpu/sharpness/meter.h"
#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/halftone/filter.h"
#include "cuda/sharpness/meter.h"

namespace framequality {

Backends::Backends()
    : find_device(cuda::find_device),
      sharpness{[](const Geometry& g, int) { return cpu::make_meter(g); }, cuda::make_meter},
      bliinds{[](const bliinds::Input& i, int) { return cpu::make_bliinds_meter(i); }, cuda::make_bliinds_meter},
      denoise{[](const PictureGeometry& g, int threads) { return cpu::make_denoiser(g, threads); },
              cuda::make_denoiser},
      halftone{[](const Geometry& g, int threads) { return cpu::make_halftone(g, threads); }, cuda::make_halftone} {}

Backends& backends() {
  static Backends table;
  return table;
}

}  // namespace framequality
