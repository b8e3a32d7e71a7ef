// SPDX-License-Identifier: LGPL-2.1-or-later
// Test frames: known luma values laid out in memory as a format has them, among bytes that must not matter.
#pragma once

#include "algorithms/layout.h"
#include "tests/support/random.h"
#include "tests/support/sanitizers.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#if FQ_ASAN
#include <sanitizer/asan_interface.h>
#endif

namespace framequality::test {

/// What a picture shows. All are functions of place and seed.
enum class Fill {
  kRandom,
  kZero,
  kMax,
  kChecker,     ///< one pixel black, one white: the largest Laplacian
  kNearLimits,  ///< one in eight pixels near 0, one in eight near the maximum, the others random
  kRamp,
  kImpulse,
  kColumns,   ///< two columns black, two white: the largest Brenner and Sobel Gx everywhere
  kRows,      ///< two rows black, two white
  kDiagonal,  ///< two diagonals black, two white: both Sobel components large
};
inline constexpr std::array kFills{Fill::kRandom, Fill::kZero,    Fill::kMax,     Fill::kChecker, Fill::kNearLimits,
                                   Fill::kRamp,   Fill::kImpulse, Fill::kColumns, Fill::kRows,    Fill::kDiagonal};
inline constexpr std::array kFillNames{"random", "zero",    "max",     "checker", "near-limits",
                                       "ramp",   "impulse", "columns", "rows",    "diagonal"};

/// Where the rows lie. Whatever is not a row's own byte is a sentinel, and poisoned under AddressSanitizer.
enum class Placement {
  kTight,     ///< rows touch, the allocation ends with the last
  kPadded,    ///< stride a multiple of 64 bytes, guards before and after
  kNegative,  ///< bottom row first in memory
  kOdd,       ///< odd stride and odd first address, the allocation ends with the last row
};
inline constexpr std::array kPlacements{Placement::kTight, Placement::kPadded, Placement::kNegative, Placement::kOdd};
inline constexpr std::array kPlacementNames{"tight", "padded", "negative", "odd"};

/// Code at (x, y) of a w x h picture.
inline std::uint32_t fill_code(Fill fill, int x, int y, int w, int h, std::uint32_t max, Random& random) {
  switch (fill) {
    case Fill::kRandom:
      return static_cast<std::uint32_t>(random.next()) & max;
    case Fill::kZero:
      return 0;
    case Fill::kMax:
      return max;
    case Fill::kChecker:
      return (x + y) % 2 ? max : 0;
    case Fill::kNearLimits: {
      const auto r = static_cast<std::uint32_t>(random.next());
      const std::uint32_t near = r >> 8 & 3, which = r & 7;
      return which == 0 ? near : which == 1 ? max - near : r >> 16 & max;
    }
    case Fill::kRamp:
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(max) * (x + 2 * y) / (w + 2 * h));
    case Fill::kImpulse:
      return x == w / 2 && y == h / 2 ? max : 0;
    case Fill::kColumns:
      return x % 4 < 2 ? 0 : max;
    case Fill::kRows:
      return y % 4 < 2 ? 0 : max;
    case Fill::kDiagonal:
      return (x + y) % 4 < 2 ? 0 : max;
  }
  throw std::invalid_argument("fill");
}

/// A frame in host memory and the luma codes it holds. Owns its memory.
class Picture {
 public:
  Picture(const Geometry& geometry, Fill fill, Placement placement, std::uint64_t seed) : geometry_(geometry) {
    place(placement, seed);
    Random random(seed);
    const std::uint32_t max = (1u << geometry.layout.depth) - 1;
    const bool colours = samples(geometry.layout) > 1;
    const bool noise = fill == Fill::kRandom || fill == Fill::kNearLimits;
    for (int y = 0; y < geometry.height; ++y)
      for (int x = 0; x < geometry.width; ++x) {
        std::uint32_t code[4] = {};
        code[0] = fill_code(fill, x, y, geometry.width, geometry.height, max, random);
        for (int c = 1; c < samples(geometry.layout); ++c)
          code[c] = noise && colours ? fill_code(fill, x, y, geometry.width, geometry.height, max, random) : code[0];
        put(x, y, code);
      }
    seal();
  }

  /// Shows these codes, row by row; layouts of colours get R = G = B.
  Picture(const Geometry& geometry, std::span<const std::uint16_t> codes, Placement placement = Placement::kTight)
      : geometry_(geometry) {
    place(placement, 1);
    for (int y = 0; y < geometry.height; ++y)
      for (int x = 0; x < geometry.width; ++x) {
        const std::uint32_t v =
            codes[static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry.width) + static_cast<std::size_t>(x)];
        const std::uint32_t code[4] = {v, v, v, v};
        put(x, y, code);
      }
    seal();
  }

  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;
  ~Picture() { open(); }

  const Geometry& geometry() const { return geometry_; }
  const std::vector<std::uint16_t>& codes() const { return codes_; }
  Frame frame() const { return frame_; }
  int planes() const { return planes_; }

  /// Everything allocated for plane p, and where in it row 0 starts: for a copy elsewhere.
  std::span<const std::uint8_t> block(int p) const { return {block_[p].get(), size_[p]}; }
  std::ptrdiff_t origin(int p) const { return frame_.plane[p] - block_[p].get(); }

  /// True if every byte, sentinels too, is as it was made.
  bool untouched() {
    open();
    bool same = true;
    for (int p = 0; p < planes_; ++p) same = same && std::memcmp(block_[p].get(), copy_[p].data(), size_[p]) == 0;
    close();
    return same;
  }

  /// Overwrites rows first...last-1 of every plane with other bytes.
  void spoil_rows(int first, int last) {
    for (int p = 0; p < planes_; ++p)
      for (int y = first; y < last; ++y) {
        std::uint8_t* row = block_[p].get() + origin(p) + y * frame_.stride[p];
        for (std::size_t i = 0; i < row_bytes_[p]; ++i) row[i] = static_cast<std::uint8_t>(~row[i]);
      }
  }

 private:
  static constexpr std::uint8_t kSentinel = 0xa5;

  /// That a pixel has: a cell of a mosaic R, two G and B.
  static int samples(const PixelLayout& l) {
    return l.kind == PixelLayout::Kind::kRgb ? 3 : l.kind == PixelLayout::Kind::kBayer ? 4 : 1;
  }

  void place(Placement placement, std::uint64_t seed) {
    const PixelLayout& l = geometry_.layout;
    const auto w = static_cast<std::size_t>(geometry_.width), h = static_cast<std::size_t>(geometry_.height);
    const int components = std::min(3, samples(l));
    Random random(~seed);
    for (int c = 0; c < components; ++c) planes_ = std::max(planes_, l.plane[c] + 1);
    for (int p = 0; p < planes_; ++p) {
      std::size_t end = 0;  // bytes of a row up to the last that holds a component
      for (int c = 0; c < components; ++c)
        if (l.plane[c] == p) end = std::max(end, std::size_t{l.offset[c]} + l.word_bytes);
      if (samples(l) == 4) end = std::size_t{2} * l.word_bytes;
      const std::size_t row = l.kind == PixelLayout::Kind::kGray10x3 ? (w + 2) / 3 * 4 : (w - 1) * l.pixel_stride + end;
      std::size_t stride = row, before = 0, after = 0;
      if (placement == Placement::kPadded || placement == Placement::kNegative) {
        stride = (row + 63) / 64 * 64 + 64 * static_cast<std::size_t>(random.below(2));
        before = after = 64;
      } else if (placement == Placement::kOdd) {
        stride = row + 1 + static_cast<std::size_t>(random.below(40));
        stride += stride % 2 == 0;
        before = 1 + 2 * static_cast<std::size_t>(random.below(8));
      }
      row_bytes_[p] = row;
      size_[p] = before + (h - 1) * stride + row + after;
      block_[p] = std::make_unique<std::uint8_t[]>(size_[p]);
      std::memset(block_[p].get(), kSentinel, size_[p]);
      const bool up = placement == Placement::kNegative;
      frame_.plane[p] = block_[p].get() + before + (up ? (h - 1) * stride : 0);
      frame_.stride[p] = up ? -static_cast<std::ptrdiff_t>(stride) : static_cast<std::ptrdiff_t>(stride);
      for (std::size_t y = 0; y < h; ++y) {
        std::uint8_t* bytes = block_[p].get() + before + y * stride;
        for (std::size_t i = 0; i < row; i += 8) {
          const std::uint64_t r = random.next();  // chroma, alpha and unused bits: anything
          std::memcpy(bytes + i, &r, std::min<std::size_t>(8, row - i));
        }
      }
    }
    codes_.resize(w * h);
  }

  std::uint8_t* row(int p, int y) { return block_[p].get() + origin(p) + y * frame_.stride[p]; }

  void put(int x, int y, const std::uint32_t (&code)[4]) {
    const PixelLayout& l = geometry_.layout;
    std::uint32_t luma = code[0];
    if (l.kind == PixelLayout::Kind::kGray10x3) {
      std::uint8_t* at = row(0, y) + x / 3 * 4;
      std::uint32_t word = at[0] | std::uint32_t{at[1]} << 8 | std::uint32_t{at[2]} << 16 | std::uint32_t{at[3]} << 24;
      const int bit = x % 3 * 10;
      word = (word & ~(0x3ffu << bit)) | code[0] << bit;
      for (int i = 0; i < 4; ++i) at[i] = static_cast<std::uint8_t>(word >> (8 * i));
    } else if (l.kind == PixelLayout::Kind::kRgb) {
      for (int c = 0; c < 3; ++c) put_word(row(l.plane[c], y) + x * l.pixel_stride + l.offset[c], code[c]);
      luma = static_cast<std::uint32_t>(
          (std::uint64_t{9798} * code[0] + std::uint64_t{19235} * code[1] + std::uint64_t{3735} * code[2] + 16384) >>
          15);
    } else if (l.kind == PixelLayout::Kind::kBayer) {
      // R, the G beside it, B, the G beside that.
      const int plane[4] = {l.plane[0], l.plane[0], 1 - l.plane[0], 1 - l.plane[0]};
      const int offset[4] = {l.offset[0], l.word_bytes - l.offset[0], l.word_bytes - l.offset[0], l.offset[0]};
      for (int i = 0; i < 4; ++i) put_word(row(plane[i], y) + x * l.pixel_stride + offset[i], code[i]);
      luma = (38 * code[0] + 38 * code[1] + 38 * code[3] + 14 * code[2] + 64) / 128;
    } else {
      put_word(row(l.plane[0], y) + x * l.pixel_stride + l.offset[0], code[0]);
    }
    codes_[static_cast<std::size_t>(y) * static_cast<std::size_t>(geometry_.width) + static_cast<std::size_t>(x)] =
        static_cast<std::uint16_t>(luma);
  }

  /// Stores a code, keeping the bits of the word that do not belong to it.
  void put_word(std::uint8_t* at, std::uint32_t code) const {
    const PixelLayout& l = geometry_.layout;
    const int low = l.big_endian ? l.word_bytes - 1 : 0, high = l.big_endian ? 0 : l.word_bytes - 1;
    std::uint32_t word = at[low];
    if (l.word_bytes == 2) word |= std::uint32_t{at[high]} << 8;
    const std::uint32_t mask = (1u << l.depth) - 1;
    word = (word & ~(mask << l.shift)) | code << l.shift;
    at[low] = static_cast<std::uint8_t>(word);
    if (l.word_bytes == 2) at[high] = static_cast<std::uint8_t>(word >> 8);
  }

  void seal() {
    for (int p = 0; p < planes_; ++p) copy_[p].assign(block_[p].get(), block_[p].get() + size_[p]);
    close();
  }

#if FQ_ASAN
  void open() {
    for (int p = 0; p < planes_; ++p) ASAN_UNPOISON_MEMORY_REGION(block_[p].get(), size_[p]);
  }
  void close() {
    for (int p = 0; p < planes_; ++p) {
      ASAN_POISON_MEMORY_REGION(block_[p].get(), size_[p]);
      for (int y = 0; y < geometry_.height; ++y) ASAN_UNPOISON_MEMORY_REGION(row(p, y), row_bytes_[p]);
    }
  }
#else
  void open() {}
  void close() {}
#endif

  Geometry geometry_;
  Frame frame_;
  int planes_ = 0;
  std::unique_ptr<std::uint8_t[]> block_[3];
  std::size_t size_[3] = {}, row_bytes_[3] = {};
  std::vector<std::uint8_t> copy_[3];
  std::vector<std::uint16_t> codes_;
};

}  // namespace framequality::test
