// SPDX-License-Identifier: LGPL-2.1-or-later
// Every metric as its formula reads, one pixel at a time: what the CPU twin is measured against.
#pragma once

#include <cstddef>
#include <cstdint>

namespace framequality::textbook {

/// Score of a packed width x height picture of bytes. name: a metric of algorithms/sharpness/metrics.h; NaN if unknown.
/// Compiled so that each pixel is an iteration of the loop.
namespace plain {
double score(const char* name, const std::uint8_t* pixels, int width, int height);
}
/// The same source, compiled so that the compiler may turn loops into vectors.
namespace vectorised {
double score(const char* name, const std::uint8_t* pixels, int width, int height);
/// Sum of all 64-bit words: reads the picture and does nothing else.
std::uint64_t read(const std::uint8_t* pixels, std::size_t bytes);
}  // namespace vectorised

}  // namespace framequality::textbook
