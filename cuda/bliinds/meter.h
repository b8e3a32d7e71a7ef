// SPDX-License-Identifier: LGPL-2.1-or-later
// The device twin of BLIINDS-II: block values are bit-identical to the host twin's.
#pragma once

#include "algorithms/bliinds/meter.h"
#include "device/error.h"

#include <memory>

namespace framequality::cuda {

/// A meter for frames of `input` on device `id`; up to `depth` frames may be pending at a time. Everything else as
/// make_meter() of cuda/sharpness/meter.h: memory of frames, contexts, waiting. The same frame gives the same bits
/// every time. Device memory per pending frame: about 20 bytes a pixel, or 40 MB at 1920x1080. blocks() may be called
/// until the slot is used again, that is before the next submit() if `depth` frames were pending. Throws Error;
/// std::invalid_argument if the geometry is not measurable().
std::unique_ptr<bliinds::Meter> make_bliinds_meter(const bliinds::Input& input, int id, int depth = 1);

}  // namespace framequality::cuda
