// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of any PictureLayout for tests of filters: in every kind of memory, among sentinels that must stay.
#pragma once

#include "algorithms/picture.h"
#include "cuda/device.h"
#include "device/pinned.h"
#include "tests/support/device.h"
#include "tests/support/memory_kinds.h"
#include "tests/support/pictures.h"
#include "tests/support/random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace framequality::test {

struct NamedPicture {
  std::string name;
  PictureLayout layout;
};

/// Samples of `depth` bits; planes and components are the caller's.
inline PictureLayout samples(int depth, int shift = 0, bool big_endian = false) {
  PictureLayout l;
  l.depth = static_cast<std::uint8_t>(depth);
  l.word_bytes = depth > 8 ? 2 : 1;
  l.shift = static_cast<std::uint8_t>(shift);
  l.big_endian = big_endian;
  l.component[0].pixel_stride = l.word_bytes;
  return l;
}
/// Y, then U and V side by side in a second plane, halved both ways.
inline PictureLayout semi_planar(int depth, int shift = 0) {
  PictureLayout l = samples(depth, shift);
  const auto word = l.word_bytes, pair = static_cast<std::uint8_t>(2 * word);
  l.components = 3;
  l.planes = 2;
  l.component[1] = {1, 0, pair, 1, 1};
  l.component[2] = {1, word, pair, 1, 1};
  return l;
}
/// Three planes; those of U and V halved so often.
inline PictureLayout planar(int depth, int x_shift, int y_shift) {
  PictureLayout l = samples(depth);
  l.components = l.planes = 3;
  for (std::uint8_t c = 1; c < 3; ++c)
    l.component[c] = {c, 0, l.word_bytes, static_cast<std::uint8_t>(x_shift), static_cast<std::uint8_t>(y_shift)};
  return l;
}
/// Components in one plane, the first at byte `offset` of pixels of `stride` bytes.
inline PictureLayout packed(int depth, int stride, int offset, bool is_rgb, bool big_endian = false) {
  PictureLayout l = samples(depth, 0, big_endian);
  l.components = 3;
  l.is_rgb = is_rgb;
  for (int c = 0; c < 3; ++c)
    l.component[c] = {0, static_cast<std::uint8_t>(offset + c * l.word_bytes), static_cast<std::uint8_t>(stride), 0, 0};
  return l;
}
inline PictureLayout planar_rgb_picture(int depth) {
  PictureLayout l = planar(depth, 0, 0);
  l.is_rgb = true;
  l.component[0].plane = 2;
  l.component[1].plane = 0;
  l.component[2].plane = 1;
  return l;
}

inline const std::vector<NamedPicture>& picture_layouts() {
  static const std::vector<NamedPicture> all{{"GRAY8", samples(8)},
                                             {"depth10", samples(10)},
                                             {"depth12", samples(12)},
                                             {"depth14_BE", samples(14, 1, true)},
                                             {"GRAY16_LE", samples(16)},
                                             {"GRAY16_BE", samples(16, 0, true)},
                                             {"NV12", semi_planar(8)},
                                             {"P010_10LE", semi_planar(10, 6)},
                                             {"P016_LE", semi_planar(16)},
                                             {"I420", planar(8, 1, 1)},
                                             {"I420_10LE", planar(10, 1, 1)},
                                             {"Y42B", planar(8, 1, 0)},
                                             {"Y444", planar(8, 0, 0)},
                                             {"Y444_16LE", planar(16, 0, 0)},
                                             {"AYUV", packed(8, 4, 1, false)},
                                             {"RGB", packed(8, 3, 0, true)},
                                             {"RGBx", packed(8, 4, 0, true)},
                                             {"xRGB", packed(8, 4, 1, true)},
                                             {"ARGB64", packed(16, 8, 2, true)},
                                             {"RGBA64_BE", packed(16, 8, 0, true, true)},
                                             {"depth10_ARGB64", packed(10, 8, 2, true)},
                                             {"depth12_RGBA64_BE", packed(12, 8, 0, true, true)},
                                             {"GBR", planar_rgb_picture(8)},
                                             {"GBR_12LE", planar_rgb_picture(12)}};
  return all;
}

/// The bytes of a frame, and of what lies around it.
struct Blocks {
  PictureGeometry geometry;
  std::array<std::vector<std::uint8_t>, 3> bytes;
  std::array<std::ptrdiff_t, 3> origin{}, stride{};

  static constexpr std::uint8_t kSentinel = 0xa5;

  /// Sentinels only: a canvas.
  Blocks(const PictureGeometry& g, Placement placement, Random random) : geometry(g) {
    for (int p = 0; p < g.layout.planes; ++p) {
      const auto at = static_cast<std::size_t>(p);
      const std::size_t row = g.row_bytes(p), rows = static_cast<std::size_t>(g.rows(p));
      std::size_t step = row, before = 0;
      if (placement == Placement::kPadded || placement == Placement::kNegative) {
        step = (row + 63) / 64 * 64 + 64 * static_cast<std::size_t>(random.below(2));
        before = 64;
      } else if (placement == Placement::kOdd) {
        step = row + 1 + static_cast<std::size_t>(random.below(40));
        before = 1 + 2 * static_cast<std::size_t>(random.below(8));
      }
      const bool up = placement == Placement::kNegative;
      bytes[at].assign(before + rows * step + before, kSentinel);
      origin[at] = static_cast<std::ptrdiff_t>(before + (up ? (rows - 1) * step : 0));
      stride[at] = up ? -static_cast<std::ptrdiff_t>(step) : static_cast<std::ptrdiff_t>(step);
    }
  }
  /// A picture; alpha, filler and unused bits are anything.
  Blocks(const PictureGeometry& g, Placement placement, Fill fill, std::uint64_t seed)
      : Blocks(g, placement, Random(~seed)) {
    Random random(seed);
    for (int p = 0; p < g.layout.planes; ++p)
      for (int y = 0; y < g.rows(p); ++y)
        for (std::size_t i = 0; i < g.row_bytes(p); ++i) row(p, y)[i] = static_cast<std::uint8_t>(random.next() >> 16);
    for (int c = 0; c < g.layout.components; ++c)
      for (int y = 0; y < g.height_of(c); ++y)
        for (int x = 0; x < g.width_of(c); ++x) {
          const auto code = fill_code(fill, x, y, g.width_of(c), g.height_of(c),
                                      static_cast<std::uint32_t>(g.layout.largest()), random);
          const std::uint32_t mask = static_cast<std::uint32_t>(g.layout.largest()) << g.layout.shift;
          PictureLayout whole = g.layout;  // the word with its unused bits
          whole.depth = static_cast<std::uint8_t>(8 * whole.word_bytes);
          whole.shift = 0;
          std::uint8_t* const at = sample(c, x, y);
          write_sample(whole, at, (read_sample(whole, at) & ~mask) | code << g.layout.shift);
        }
  }

  std::uint8_t* row(int p, int y) {
    const auto at = static_cast<std::size_t>(p);
    return bytes[at].data() + origin[at] + y * stride[at];
  }
  std::uint8_t* sample(int c, int x, int y) {
    const auto& component = geometry.layout.component[c];
    return row(component.plane, y) + component.offset + x * component.pixel_stride;
  }
};

/// A copy of a frame or canvas in some kind of memory, strides and odd addresses as they are.
class BlocksIn {
 public:
  BlocksIn(const Blocks& blocks, MemoryKind where, int device) : blocks_(blocks), where_(where) {
    for (std::size_t p = 0; p < blocks_.geometry.layout.planes; ++p) {
      const auto& bytes = blocks_.bytes[p];
      std::uint8_t* data = blocks_.bytes[p].data();
      if (where == MemoryKind::kDevice) {
        device_.emplace_back(bytes, device);
        data = device_.back().data();
      } else if (where == MemoryKind::kPinned) {
        pinned_.push_back(std::make_unique<PinnedBytes>(bytes.size(), Place{&cuda::kBackend, device}));
        EXPECT_TRUE(pinned_.back()->is_pinned());
        data = static_cast<std::uint8_t*>(pinned_.back()->data());
        std::memcpy(data, bytes.data(), bytes.size());
      }
      canvas_.plane[p] = data + blocks_.origin[p];
      canvas_.stride[p] = blocks_.stride[p];
    }
    canvas_.memory = where == MemoryKind::kDevice ? Memory::kCuda : Memory::kHost;
  }
  BlocksIn(const BlocksIn&) = delete;
  BlocksIn& operator=(const BlocksIn&) = delete;

  Canvas canvas() const { return canvas_; }
  Frame frame() const {
    Frame frame;
    for (int p = 0; p < 3; ++p) {
      frame.plane[p] = canvas_.plane[p];
      frame.stride[p] = canvas_.stride[p];
    }
    frame.memory = canvas_.memory;
    return frame;
  }
  /// All bytes as they are now.
  Blocks& now() {
    for (std::size_t p = 0; p < blocks_.geometry.layout.planes; ++p) {
      if (where_ == MemoryKind::kDevice) device_[p].read(blocks_.bytes[p]);
      if (where_ == MemoryKind::kPinned)
        std::memcpy(blocks_.bytes[p].data(), pinned_[p]->data(), blocks_.bytes[p].size());
    }
    return blocks_;
  }

 private:
  Blocks blocks_;
  MemoryKind where_;
  Canvas canvas_;
  std::vector<cuda::DeviceBytes> device_;
  std::vector<std::unique_ptr<PinnedBytes>> pinned_;
};

}  // namespace framequality::test
