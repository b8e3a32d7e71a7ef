// SPDX-License-Identifier: LGPL-2.1-or-later
// Loops over pixels: copies of strided memory, and floats to 16-bit values and back. No Python.
#pragma once

#include <cstddef>
#include <cstdint>

namespace core {

enum class Sample { kUint8, kUint16, kHalf, kFloat, kDouble };

constexpr std::ptrdiff_t bytes_of(Sample sample) {
  switch (sample) {
    case Sample::kUint8:
      return 1;
    case Sample::kUint16:
    case Sample::kHalf:
      return 2;
    case Sample::kFloat:
      return 4;
    case Sample::kDouble:
      return 8;
  }
  return 0;
}
constexpr bool is_float(Sample sample) { return sample >= Sample::kHalf; }

/// An image in memory, of any strides. Strides are in bytes.
struct Pixels {
  const char* data = nullptr;
  std::ptrdiff_t rows = 0, columns = 0, channels = 1;
  std::ptrdiff_t row_stride = 0, column_stride = 0, channel_stride = 0;
  Sample sample = Sample::kUint8;
  bool big_endian = false;
};

/// Range of float pixels for 16-bit levels: lo 0, hi kWhite, linear, rounded to nearest. White is 255 * 256, so that
/// an image scores the same as bytes and as these bytes divided by 255.
struct Range {
  static constexpr double kWhite = 65280;
  double lo = 0, hi = 1;
};

/// A fault found while converting or checking.
struct Fault {
  enum class Kind { kNone, kNan, kRange, kBits } kind = Kind::kNone;
  double least = 0, most = 0;  ///< kRange: of all pixels other than NaN
  int value = 0;               ///< kBits: a value that has too many bits
};

/// Copies samples unchanged, byte order included, to memory with strides `to` of the same shape.
void copy_pixels(const Pixels& from, char* data, std::ptrdiff_t row_stride, std::ptrdiff_t column_stride,
                 std::ptrdiff_t channel_stride);

/// Converts floats to native 16-bit levels at `data`, with strides as in copy_pixels().
Fault floats_to_codes(const Pixels& from, Range range, char* data, std::ptrdiff_t row_stride,
                      std::ptrdiff_t column_stride, std::ptrdiff_t channel_stride);

/// The inverse, over contiguous samples: `count` levels to floats of a kind and byte order.
void codes_to_floats(const std::uint16_t* codes, std::ptrdiff_t count, Range range, Sample sample, bool big_endian,
                     char* data);

/// kBits if a 16-bit sample uses more than the low `bits`.
Fault check_bits(const Pixels& pixels, int bits);

}  // namespace core
