// SPDX-License-Identifier: LGPL-2.1-or-later
// The CPU as a backend.
#include "device/backend.h"

#include "cpu/bliinds/meter.h"
#include "cpu/denoise/filter.h"
#include "cpu/halftone/colour.h"
#include "cpu/halftone/filter.h"
#include "cpu/sharpness/meter.h"

namespace framequality::cpu {

extern const Backend kBackend;
const Backend kBackend{
    .name = "cpu",
    .title = "the CPU",
    .number = 1,
    .memory = Memory::kHost,
    .find =
        [](const Wanted&) {
          return Device{0, "", ""};
        },
    .pin = nullptr,
    .unpin = nullptr,
    .sharpness = [](const Geometry& g, const Where&) { return make_meter(g); },
    .bliinds = [](const bliinds::Input& input, const Where&) { return make_bliinds_meter(input); },
    .denoise = [](const PictureGeometry& g, const Where& where) { return make_denoiser(g, where.threads); },
    .halftone = [](const Geometry& g, const Where& where) { return make_halftone(g, where.threads); },
    .colour_halftone = [](const PictureGeometry& g,
                          const Where& where) { return make_colour_halftone(g, where.threads); },
};

}  // namespace framequality::cpu
