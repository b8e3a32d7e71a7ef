// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA as a backend; no CUDA headers.
#include "device/backend.h"

#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "cuda/pinned.h"
#include "cuda/sharpness/meter.h"

namespace framequality::cuda {

const Backend kBackend{
    .name = "cuda",
    .title = "CUDA",
    .number = 2,
    .memory = Memory::kCuda,
    .find = [](const Wanted& wanted) { return find_device(wanted.id); },
    .count = device_count,
    .pin = pin,
    .unpin = unpin,
    .context = context,
    .set_context = set_context,
    .sharpness = [](const Geometry& g, const Where& where) { return make_meter(g, where.id, where.depth); },
    .bliinds = [](const bliinds::Input& input,
                  const Where& where) { return make_bliinds_meter(input, where.id, where.depth); },
    .denoise = [](const PictureGeometry& g, const Where& where) { return make_denoiser(g, where.id, where.depth); },
    .halftone = [](const Geometry& g, const Where& where) { return make_halftone(g, where.id, where.depth); },
    .colour_halftone = [](const PictureGeometry& g,
                          const Where& where) { return make_colour_halftone(g, where.id, where.depth); },
    .diffuses_colours = false,
};

}  // namespace framequality::cuda
