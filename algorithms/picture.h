// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory layout of all components of a frame, for filters, which read and write every one.
#pragma once

#include "algorithms/host_device.h"
#include "algorithms/layout.h"

#include <cstddef>
#include <cstdint>

namespace framequality {

/// How the bytes of a frame hold the samples of each component. Value type; the same for every frame of one format.
struct PictureLayout {
  /// Sample x of a row begins at byte offset + x * pixel_stride of the row of its plane.
  struct Component {
    std::uint8_t plane = 0, offset = 0, pixel_stride = 1;
    std::uint8_t x_shift = 0, y_shift = 0;  ///< log2 of the subsampling: 1, 1 for 4:2:0 chroma
    bool operator==(const Component&) const = default;
  };
  std::uint8_t components = 1;  ///< 1: gray; 3: Y, U, V or R, G, B. Alpha and filler do not count: they are copied
  std::uint8_t planes = 1;      ///< of the frame, 1...3
  bool is_rgb = false;
  std::uint8_t depth = 8;       ///< bits of a sample, 8...16
  std::uint8_t word_bytes = 1;  ///< 1 or 2
  bool big_endian = false;      ///< of 2-byte words
  std::uint8_t shift = 0;       ///< unused low bits of a word; read as anything, written as 0, as unused high bits are
  Component component[3];

  FQ_HD int largest() const { return (1 << depth) - 1; }
  bool operator==(const PictureLayout&) const = default;
};

/// The format of all components, shared by all frames of a stream. Unit: pixels.
struct PictureGeometry {
  int width = 0, height = 0;
  PictureLayout layout;

  /// Width and height of component c, in samples.
  FQ_HD int width_of(int c) const {
    return (width + (1 << layout.component[c].x_shift) - 1) >> layout.component[c].x_shift;
  }
  FQ_HD int height_of(int c) const {
    return (height + (1 << layout.component[c].y_shift) - 1) >> layout.component[c].y_shift;
  }
  /// The first component in plane p, which determines its size; -1 if there is none.
  FQ_HD int component_in(int p) const {
    for (int c = 0; c < layout.components; ++c)
      if (layout.component[c].plane == p) return c;
    return -1;
  }
  FQ_HD int rows(int p) const { return component_in(p) < 0 ? 0 : height_of(component_in(p)); }
  /// Bytes of a row of plane p, whole pixels with their alpha and filler; whole pairs of pixels where 4:2:2 is packed.
  FQ_HD std::size_t row_bytes(int p) const {
    std::size_t bytes = 0;
    for (int c = 0; c < layout.components; ++c) {
      const std::size_t of_c = static_cast<std::size_t>(width_of(c)) * layout.component[c].pixel_stride;
      if (layout.component[c].plane == p && of_c > bytes) bytes = of_c;
    }
    return bytes;
  }
  bool operator==(const PictureGeometry&) const = default;
};

/// A frame to be written, not owned: as Frame.
struct Canvas {
  std::uint8_t* plane[3] = {};
  std::ptrdiff_t stride[3] = {};
  Memory memory = Memory::kHost;
  /// For tests: receives component c's values before rounding, rows without gaps, memory that the device
  /// writes; null: none.
  float* unrounded[3] = {};
};

// Templates of their numbers, as in layout.h, for those of algorithms/text. Compilers make different loops of them than
// of read_sample() and write_sample(), whose speed was measured.
namespace generic {

template <class Row>
FQ_HD auto read_sample(const PictureLayout& l, Row p) {
  return (word_at(p, l.word_bytes, l.big_endian) >> int{l.shift}) & ((1u << l.depth) - 1u);
}

/// Byte i, in memory order, of the sample of a value; its higher bits are left in.
template <class U>
FQ_HD U sample_byte(const PictureLayout& l, U code, int i) {
  const U word = code << int{l.shift};
  return i == (l.big_endian ? l.word_bytes - 1 : 0) ? word : word >> 8;
}

}  // namespace generic

/// Value of the sample that begins at p.
FQ_HD std::uint32_t read_sample(const PictureLayout& l, const std::uint8_t* p) {
  std::uint32_t w = p[0];
  if (l.word_bytes == 2) w = l.big_endian ? w << 8 | p[1] : w | std::uint32_t{p[1]} << 8;
  return (w >> l.shift) & ((1u << l.depth) - 1u);
}

FQ_HD void write_sample(const PictureLayout& l, std::uint8_t* p, std::uint32_t code) {
  const std::uint32_t w = code << l.shift;
  if (l.word_bytes == 1) {
    p[0] = static_cast<std::uint8_t>(w);
  } else {
    p[l.big_endian ? 1 : 0] = static_cast<std::uint8_t>(w);
    p[l.big_endian ? 0 : 1] = static_cast<std::uint8_t>(w >> 8);
  }
}

}  // namespace framequality
