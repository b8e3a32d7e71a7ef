// SPDX-License-Identifier: LGPL-2.1-or-later
// Ways into the device twins past their interfaces, for tests and benchmarks; no CUDA headers.
#pragma once

#include "algorithms/denoise/filter.h"
#include "algorithms/sharpness/meter.h"

#include <memory>
#include <span>

struct CUstream_st;

namespace framequality::cuda {

/// Mean time of the kernel alone, back to back over `frames` (in device memory; of more bytes together than its L2
/// cache holds, if memory is to be measured), `repeats` times through all of them after once to warm up. A meter made
/// for several frames in flight has as many kernels in flight. Unit: seconds per frame. The meter is one of
/// make_meter() with no frame pending. Blocks.
double kernel_seconds(sharpness::Meter& meter, std::span<const Frame> frames,
                      std::shared_ptr<const sharpness::Plan> plan, int repeats);

/// The stream (a cudaStream_t) that a meter of make_meter() measures the next frame in, so that a loop can queue its
/// own copy ahead of the kernel.
CUstream_st* stream_of(sharpness::Meter& meter);

/// submit() for a frame in device memory that work queued in stream_of(meter) writes: waits for no other stream, if the
/// meter can do without.
void submit_queued(sharpness::Meter& meter, const Frame& frame, std::shared_ptr<const sharpness::Plan> plan);

/// make_denoiser(), but never with the tensor cores' kernel.
std::unique_ptr<denoise::Filter> make_general_denoiser(const PictureGeometry& geometry, int id, int depth = 1);

}  // namespace framequality::cuda
