// SPDX-License-Identifier: LGPL-2.1-or-later
// The classical three-kernel GPU pipeline of theses and tutorials: the baseline that the fused kernel has to beat.
#pragma once

#include <array>
#include <cstdint>

namespace framequality::classical {

/// The first five reductions of M. Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA, 2007), in his order.
enum class Reduction { kDivergent, kStrided, kSequential, kFirstAdd, kUnrolled };
inline constexpr std::array<const char*, 5> kReductions{"divergent", "strided", "sequential", "first-add", "unrolled"};

/// The metrics that the pipeline knows, as algorithms/sharpness/metrics.h calls them.
inline constexpr std::array<const char*, 3> kMetrics{"tenengrad", "laplacian", "gray-difference-product"};

/// Where one call's time went. Unit: seconds.
struct Times {
  double allocate = 0, upload = 0, gray = 0, pixels = 0, reduce = 0, download = 0, add = 0, release = 0;
};

/// Total of metric kMetrics[metric] over width x height packed BGR bytes in pageable memory; the same integer as the
/// project's meters. Everything in each call: allocates on device `id`, copies the picture there, turns it to grey in
/// device memory (kernel 1), writes what each pixel adds to an array in device memory (kernel 2), sums that to one
/// number for each block (kernel 3), copies these back, adds them on the host, frees. times: if given, the device is
/// waited for after each step, which makes the whole slower. Blocks. Throws cuda::Error.
std::int64_t total(const std::uint8_t* bgr, int width, int height, int metric, Reduction reduction, int id,
                   Times* times = nullptr);

}  // namespace framequality::classical
