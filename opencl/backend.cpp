// SPDX-License-Identifier: LGPL-2.1-or-later
// OpenCL as a backend; no OpenCL headers.
#include "device/backend.h"

#include "opencl/denoise/filter.h"
#include "opencl/device.h"
#include "opencl/halftone/filter.h"
#include "opencl/import.h"
#include "opencl/pinned.h"
#include "opencl/sharpness/meter.h"

namespace framequality::opencl {

const Backend kBackend{
    .name = "opencl",
    .title = "OpenCL",
    .number = 3,
    .memory = Memory::kHost,
    .has_names = true,
    .find = find_device,
    .count = device_count,
    .pin = pin,
    .unpin = unpin,
    .allocate = allocate,
    .import = import_dma_buffer,
    .sharpness = [](const Geometry& g, const Where& where) { return make_meter(g, where.id, where.depth); },
    .bliinds = nullptr,  // its numbers are doubles, which few of these devices support
    .denoise = [](const PictureGeometry& g, const Where& where) { return make_denoiser(g, where.id, where.depth); },
    .halftone = [](const Geometry& g, const Where& where) { return make_halftone(g, where.id, where.depth); },
    .colour_halftone = [](const PictureGeometry& g,
                          const Where& where) { return make_colour_halftone(g, where.id, where.depth); },
    .diffuses_by_tone = false,
    .diffuses_colours = false,
};

}  // namespace framequality::opencl
