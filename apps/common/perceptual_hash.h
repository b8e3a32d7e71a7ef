// SPDX-License-Identifier: LGPL-2.1-or-later
// Perceptual hash of an image, 64 bits: those of near-duplicates differ in few.
#pragma once

#include "apps/common/raster.h"

#include <bit>
#include <cstdint>

namespace framequality::apps {

/// One bit for each of the 64 lowest frequencies, without those constant along a side: whether it lies above their
/// median. It does not change with size, brightness and contrast, and little with noise, blur and compression. The
/// image is averaged to 32x32 first. Source: DCT-based hash of C. Zauner, Implementation and Benchmarking of Perceptual
/// Image Hash Functions, thesis, Upper Austria University of Applied Sciences, Hagenberg 2010, section 3.2.1.
std::uint64_t perceptual_hash(const Raster& raster);

/// The same for a frame in memory of any kind, turned upright. Throws std::runtime_error if it cannot be read.
std::uint64_t perceptual_hash(GstSample* sample, GstVideoOrientationMethod orientation);

/// Number of bits that differ, 0...64.
inline int hash_distance(std::uint64_t a, std::uint64_t b) { return std::popcount(a ^ b); }

}  // namespace framequality::apps
