// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory layout of a frame's luma values, and functions that read one of them.
#pragma once

#include "algorithms/host_device.h"
#include "device/memory.h"

#include <cstddef>
#include <cstdint>

namespace framequality {

/// How the bytes of one pixel encode its luma value. Value type; the same for every frame of one format.
struct PixelLayout {
  enum class Kind : std::uint8_t {
    kLuma,      ///< component 0 is the luma sample
    kRgb,       ///< components 0, 1, 2 are R, G, B; luma by BT.601 weights
    kGray10x3,  ///< GRAY10_LE32: three 10-bit samples in each little-endian 32-bit word, lowest bits first
    kBayer,     ///< a pixel is a cell of 2x2 samples of a mosaic, of which planes 0 and 1 are the rows by turns:
                ///< components 0, 1, 2 are R, the G beside it, B, and the G beside that is where R is in its row
  };
  Kind kind = Kind::kLuma;
  std::uint8_t depth = 8;              ///< bits of a sample, 8...16
  std::uint8_t word_bytes = 1;         ///< 1 or 2
  bool big_endian = false;             ///< of 2-byte words
  std::uint8_t shift = 0;              ///< unused low bits of a word; unused high bits are ignored too
  std::uint8_t pixel_stride = 1;       ///< bytes from one pixel to the next
  std::uint8_t plane[3] = {0, 0, 0};   ///< component -> index into Frame::plane
  std::uint8_t offset[3] = {0, 0, 0};  ///< component -> bytes into the pixel

  FQ_HD int components() const { return kind == Kind::kRgb || kind == Kind::kBayer ? 3 : 1; }
  /// Width and height of a pixel in sensor samples, the unit of regions.
  FQ_HD int cell() const { return kind == Kind::kBayer ? 2 : 1; }
  /// Planes of the frame that hold luma: 1, 3 for planar RGB, 2 for a mosaic.
  FQ_HD int planes() const {
    int n = 0;
    for (int c = 0; c < components(); ++c) n = plane[c] + 1 > n ? plane[c] + 1 : n;
    return n;
  }
  /// Bytes read from one row of `width` pixels in plane p.
  FQ_HD std::size_t row_bytes(int p, int width) const {
    if (width <= 0) return 0;
    if (kind == Kind::kGray10x3) return (static_cast<std::size_t>(width) + 2) / 3 * 4;
    if (kind == Kind::kBayer) return static_cast<std::size_t>(width) * pixel_stride;
    std::size_t end = 0;
    for (int c = 0; c < components(); ++c)
      if (plane[c] == p && offset[c] + std::size_t{word_bytes} > end) end = offset[c] + std::size_t{word_bytes};
    return static_cast<std::size_t>(width - 1) * pixel_stride + end;
  }
  /// True if the luma values are plain bytes, or native 16-bit words: no extraction is needed.
  FQ_HD bool is_plain() const {
    return kind == Kind::kLuma && shift == 0 && pixel_stride == word_bytes && offset[0] == 0 &&
           (word_bytes == 1 ? depth == 8 : depth == 16 && !big_endian);
  }
  bool operator==(const PixelLayout&) const = default;
};

/// One image's pixels, not owned. plane[i] points at row 0; strides are bytes and may be negative.
struct Frame {
  const std::uint8_t* plane[3] = {};
  std::ptrdiff_t stride[3] = {};
  Memory memory = Memory::kHost;  ///< where the planes lie
  /// Queue of the device whose work writes the pixels, a cudaStream_t; null: the legacy default stream. Unused in host
  /// memory.
  void* queue = nullptr;
  /// Backend::import()'s results, for Memory::kDma: plane[i] is the address import[i] plus the offset of row 0 in the
  /// plane's DMA buffer.
  const void* import[3] = {};
};

/// A frame of a stream, by its place there.
struct NumberedFrame {
  Frame frame;
  std::uint64_t serial = 0;
};

/// The luma format shared by all frames of a stream. Unit: pixels; of a mosaic, whole cells: odd rows are left out.
struct Geometry {
  int width = 0, height = 0;
  PixelLayout layout;
  bool operator==(const Geometry&) const = default;
};

/// ITU-R BT.601 weights 0.299/0.587/0.114 in 15-bit fixed point.
inline constexpr std::uint32_t kRedWeight = 9798, kGreenWeight = 19235, kBlueWeight = 3735;

// Functions of this namespace are templates of their numbers, std::uint32_t or those of algorithms/text.
namespace generic {

template <class U>
FQ_HD U luma_of(U r, U g, U b) {
  return (kRedWeight * r + kGreenWeight * g + kBlueWeight * b + 16384u) >> 15;
}

template <class U>
FQ_HD U luma_of_cell(U red_and_greens, U blue) {
  return (38u * red_and_greens + 14u * blue + 64u) >> 7;
}

}  // namespace generic

/// Luma of R, G, B values of up to 16 bits, same depth, rounded to nearest: bit-identical to OpenCV's COLOR_RGB2GRAY.
FQ_HD std::uint32_t luma_of(std::uint32_t r, std::uint32_t g, std::uint32_t b) { return generic::luma_of(r, g, b); }

/// Luma of a cell of a mosaic, R and both G summed, samples of up to 16 bits, same depth. BT.601 as 38/76/14 of 128,
/// rounded to nearest: of bytes everything fits 16 bits, and R and G weigh the same, which makes rows of cells cheap.
FQ_HD std::uint32_t luma_of_cell(std::uint32_t red_and_greens, std::uint32_t blue) {
  return generic::luma_of_cell(red_and_greens, blue);
}

namespace generic {

/// The word of `bytes` bytes at p. Row: any type with + and [].
template <class Row>
FQ_HD auto word_at(Row p, int bytes, bool big_endian) {
  const auto first = 0u + p[0];
  if (bytes == 1) return first;
  return big_endian ? (first << 8 | (0u + p[1])) : (first | (0u + p[1]) << 8);
}
FQ_HD std::uint32_t word_at(const std::uint8_t* p, int bytes, bool big_endian) {
  if (bytes == 1) return p[0];
#if !defined(__CUDA_ARCH__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  std::uint16_t word;  // the form that compilers turn into vectors
  __builtin_memcpy(&word, p, 2);
  return big_endian ? static_cast<std::uint16_t>(word << 8 | word >> 8) : word;
#else
  return big_endian ? std::uint32_t{p[0]} << 8 | p[1] : p[0] | std::uint32_t{p[1]} << 8;
#endif
}

template <class Row, class Index>
FQ_HD auto component_code(const PixelLayout& l, Row row, int c, Index x) {
  const Row p = row + int{l.offset[c]} + x * int{l.pixel_stride};
  return (word_at(p, l.word_bytes, l.big_endian) >> int{l.shift}) & ((1u << l.depth) - 1u);
}

template <class Row, class Index>
FQ_HD auto luma_code(const PixelLayout& l, Row row0, Row row1, Row row2, Index x) {
  if (l.kind == PixelLayout::Kind::kGray10x3) {
    const Row p = row0 + x / 3 * 4;
    const auto w = word_at(p, 2, false) | word_at(p + 2, 2, false) << 16;
    return w >> 10 * (x % 3) & 1023u;
  }
  if (l.kind == PixelLayout::Kind::kLuma) return component_code(l, row0, 0, x);
  const Row rows[3] = {row0, row1, row2};
  if (l.kind == PixelLayout::Kind::kBayer)
    return generic::luma_of_cell(component_code(l, rows[l.plane[0]], 0, x) + component_code(l, rows[l.plane[1]], 1, x) +
                                     component_code(l, rows[l.plane[2]], 0, x),
                                 component_code(l, rows[l.plane[2]], 2, x));
  return generic::luma_of(component_code(l, rows[l.plane[0]], 0, x), component_code(l, rows[l.plane[1]], 1, x),
                          component_code(l, rows[l.plane[2]], 2, x));
}

}  // namespace generic

/// Value of component c of pixel x in a row of its plane.
FQ_HD std::uint32_t component_code(const PixelLayout& l, const std::uint8_t* row, int c, int x) {
  return generic::component_code(l, row, c, static_cast<std::ptrdiff_t>(x));
}

/// Luma value of pixel x, given the row's start in each plane.
FQ_HD std::uint32_t luma_code(const PixelLayout& l, const std::uint8_t* row0, const std::uint8_t* row1,
                              const std::uint8_t* row2, int x) {
  return generic::luma_code(l, row0, row1, row2, static_cast<std::ptrdiff_t>(x));
}

}  // namespace framequality
