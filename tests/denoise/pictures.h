// SPDX-License-Identifier: LGPL-2.1-or-later
// Images of many layouts for tests of the denoisers, with bytes around their rows that must stay as they are.
#pragma once

#include "algorithms/picture.h"
#include "tests/support/random.h"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <vector>

namespace framequality::test::denoise_pictures {

enum class Format { kGray8, kGray16Be, kGray10, kGray12, kI420, kY44412, kNv12, kP010, kRgb, kBgrx, kGbr12, kRgb64 };
inline constexpr int kFormats = 12;

inline const char* name_of(Format format) {
  constexpr const char* kNames[kFormats] = {"Gray8", "Gray16Be", "Gray10", "Gray12", "I420",  "Y44412",
                                            "Nv12",  "P010",     "Rgb",    "Bgrx",   "Gbr12", "Rgb64"};
  return kNames[static_cast<int>(format)];
}

inline PictureGeometry geometry_of(Format format, int width, int height) {
  PictureGeometry g{width, height, {}};
  PictureLayout& l = g.layout;
  const auto words = [&](int depth, int shift = 0, bool big_endian = false) {
    l.depth = static_cast<std::uint8_t>(depth);
    l.shift = static_cast<std::uint8_t>(shift);
    l.word_bytes = 2;
    l.big_endian = big_endian;
    for (auto& c : l.component) c.pixel_stride = 2;
  };
  const auto planar = [&] {
    l.components = l.planes = 3;
    for (std::uint8_t c = 0; c < 3; ++c) l.component[c].plane = c;
  };
  const auto halved = [&] {
    for (int c = 1; c < 3; ++c) l.component[c].x_shift = l.component[c].y_shift = 1;
  };
  const auto two_planes = [&](int bytes) {
    l.components = 3;
    l.planes = 2;
    for (int c = 1; c < 3; ++c) {
      l.component[c].plane = 1;
      l.component[c].offset = static_cast<std::uint8_t>((c - 1) * bytes);
      l.component[c].pixel_stride = static_cast<std::uint8_t>(2 * bytes);
    }
    halved();
  };
  const auto packed = [&](int r, int g_at, int b, int stride) {
    l.components = 3;
    l.is_rgb = true;
    const int offsets[3] = {r, g_at, b};
    for (int c = 0; c < 3; ++c) {
      l.component[c].offset = static_cast<std::uint8_t>(offsets[c]);
      l.component[c].pixel_stride = static_cast<std::uint8_t>(stride);
    }
  };
  switch (format) {
    case Format::kGray8:
      break;
    case Format::kGray16Be:
      words(16, 0, true);
      break;
    case Format::kGray10:
      words(10);
      break;
    case Format::kGray12:
      words(12);
      break;
    case Format::kI420:
      planar(), halved();
      break;
    case Format::kY44412:
      words(12), planar();
      break;
    case Format::kNv12:
      two_planes(1);
      break;
    case Format::kP010:
      words(10, 6), two_planes(2);
      break;
    case Format::kRgb:
      packed(0, 1, 2, 3);
      break;
    case Format::kBgrx:
      packed(2, 1, 0, 4);
      break;
    case Format::kGbr12:
      words(12), planar(), l.is_rgb = true;
      break;
    case Format::kRgb64:
      words(12), packed(2, 4, 6, 8);
      break;
  }
  return g;
}

enum class Texture { kPhoto, kNoise, kExtremes, kFlat };
inline constexpr int kTextures = 4;

/// Rows of all planes in memory of their own, bottom up in the last plane.
class PlaneBytes {
 public:
  static constexpr int kAround = 13;

  PlaneBytes(const PictureGeometry& g, std::uint8_t fill) : g_(g) {
    for (int p = 0; p < g.layout.planes; ++p)
      bytes_[p].assign((g.row_bytes(p) + kAround) * static_cast<std::size_t>(g.rows(p)) + kAround, fill);
  }
  const PictureGeometry& geometry() const { return g_; }
  std::ptrdiff_t stride(int p) const {
    const auto bytes = static_cast<std::ptrdiff_t>(g_.row_bytes(p)) + kAround;
    return p == g_.layout.planes - 1 ? -bytes : bytes;
  }
  /// Row 0.
  std::uint8_t* plane(int p) {
    return bytes_[p].data() + kAround + (stride(p) < 0 ? (g_.rows(p) - 1) * -stride(p) : 0);
  }
  const std::uint8_t* plane(int p) const { return const_cast<PlaneBytes*>(this)->plane(p); }
  std::uint8_t* sample(int c, int x, int y) {
    const auto& component = g_.layout.component[c];
    return plane(component.plane) + y * stride(component.plane) + component.offset +
           std::ptrdiff_t{x} * component.pixel_stride;
  }
  int code(int c, int x, int y) const {
    return static_cast<int>(read_sample(g_.layout, const_cast<PlaneBytes*>(this)->sample(c, x, y)));
  }
  const std::vector<std::uint8_t>& bytes(int p) const { return bytes_[p]; }

 protected:
  PictureGeometry g_;
  std::vector<std::uint8_t> bytes_[3];
};

/// A frame; unused bits, alpha and filler hold anything.
class Picture : public PlaneBytes {
 public:
  Picture(const PictureGeometry& g, Texture texture, std::uint64_t seed) : PlaneBytes(g, 0) {
    Random random(seed);
    for (auto& plane : bytes_)
      for (std::uint8_t& b : plane) b = static_cast<std::uint8_t>(random.below(256));
    const int largest = g.layout.largest();
    const int flat = random.below(largest + 1);
    for (int c = 0; c < g.layout.components; ++c)
      for (int y = 0; y < g.height_of(c); ++y)
        for (int x = 0; x < g.width_of(c); ++x) {
          int code = flat;
          if (texture == Texture::kPhoto) {
            const double shade =
                0.5 + 0.3 * std::sin(0.3 * x + c) * std::cos(0.2 * y) + ((x / 9 + y / 5) % 2 ? 0.1 : 0);
            code = static_cast<int>(largest * (shade + 0.0006 * (random.below(100) - 50)));
          } else if (texture == Texture::kNoise) {
            code = random.below(largest + 1);
          } else if (texture == Texture::kExtremes) {
            code = (x / 8 + y / 8) % 2 ? largest : 0;
          }
          put(c, x, y, code);
        }
  }

  Frame frame() const {
    Frame f;
    for (int p = 0; p < g_.layout.planes; ++p) {
      f.plane[p] = plane(p);
      f.stride[p] = stride(p);
    }
    return f;
  }

  /// The part from x0, y0 on; planes of full size only.
  Picture cut(const PictureGeometry& part, int x0, int y0) const {
    Picture out(part, Texture::kFlat, 1);
    for (int c = 0; c < part.layout.components; ++c)
      for (int y = 0; y < part.height; ++y)
        for (int x = 0; x < part.width; ++x) out.put(c, x, y, code(c, x + x0, y + y0));
    return out;
  }

 private:
  void put(int c, int x, int y, int code) {
    std::uint8_t* const p = sample(c, x, y);
    const std::uint8_t before[2] = {p[0], p[g_.layout.word_bytes - 1]};
    write_sample(g_.layout, p, static_cast<std::uint32_t>(code));
    // What a code leaves unused is not zero.
    const std::uint32_t mask = static_cast<std::uint32_t>(g_.layout.largest()) << g_.layout.shift;
    const int low = g_.layout.big_endian ? 1 : 0;
    p[0] |= static_cast<std::uint8_t>(before[0] & ~(mask >> (low ? 8 : 0)));
    if (g_.layout.word_bytes == 2) p[1] |= static_cast<std::uint8_t>(before[1] & ~(mask >> (low ? 0 : 8)));
  }
};

/// Where a filter writes to; the bytes around its rows are kAround times kSentinel.
class Output : public PlaneBytes {
 public:
  static constexpr std::uint8_t kSentinel = 0xa5;
  explicit Output(const PictureGeometry& g) : PlaneBytes(g, kSentinel) {
    for (int c = 0; c < g.layout.components; ++c)
      means_[c].assign(static_cast<std::size_t>(g.width_of(c)) * static_cast<std::size_t>(g.height_of(c)) + 1, kNone);
  }
  Canvas canvas() {
    Canvas out;
    for (int p = 0; p < g_.layout.planes; ++p) {
      out.plane[p] = plane(p);
      out.stride[p] = stride(p);
    }
    for (int c = 0; c < g_.layout.components; ++c) out.unrounded[c] = means_[c].data();
    return out;
  }
  float mean(int c, int x, int y) const {
    return means_[c]
                 [static_cast<std::size_t>(y) * static_cast<std::size_t>(g_.width_of(c)) + static_cast<std::size_t>(x)];
  }
  bool surroundings_untouched() const {
    for (int c = 0; c < g_.layout.components; ++c)
      if (means_[c].back() != kNone) return false;
    for (int p = 0; p < g_.layout.planes; ++p) {
      const std::size_t pitch = g_.row_bytes(p) + kAround;
      for (std::size_t i = 0; i < bytes_[p].size(); ++i)
        if (i % pitch < kAround && bytes_[p][i] != kSentinel) return false;
    }
    return true;
  }
  /// Alpha and filler: bytes of rows that are in no component.
  bool unnamed_bytes_are_those_of(const Picture& in) const {
    for (int p = 0; p < g_.layout.planes; ++p) {
      std::vector<bool> named(bytes_[p].size());
      for (int c = 0; c < g_.layout.components; ++c)
        for (int y = 0; y < g_.height_of(c) && g_.layout.component[c].plane == p; ++y)
          for (int x = 0; x < g_.width_of(c); ++x)
            for (int b = 0; b < g_.layout.word_bytes; ++b)
              named[static_cast<std::size_t>(const_cast<Output*>(this)->sample(c, x, y) - bytes_[p].data() + b)] = true;
      const std::size_t pitch = g_.row_bytes(p) + kAround;
      for (std::size_t i = 0; i < bytes_[p].size(); ++i)
        if (i % pitch >= kAround && !named[i] && bytes_[p][i] != in.bytes(p)[i]) return false;
    }
    return true;
  }
  const std::vector<float>& means(int c) const { return means_[c]; }

 private:
  static constexpr float kNone = -7777;
  std::vector<float> means_[3];
};

/// All bytes, those around included, and all means; else names the first that differs.
inline testing::AssertionResult same(const Output& expected, const Output& got) {
  const PictureGeometry& g = expected.geometry();
  for (int c = 0; c < g.layout.components; ++c)
    for (std::size_t i = 0; i < expected.means(c).size(); ++i)
      if (std::memcmp(&expected.means(c)[i], &got.means(c)[i], sizeof(float)) != 0) {
        const auto width = static_cast<std::size_t>(g.width_of(c));
        return testing::AssertionFailure() << "component " << c << " x " << i % width << " y " << i / width
                                           << ": expected " << expected.means(c)[i] << ", got " << got.means(c)[i];
      }
  for (int p = 0; p < g.layout.planes; ++p)
    for (std::size_t i = 0; i < expected.bytes(p).size(); ++i)
      if (expected.bytes(p)[i] != got.bytes(p)[i])
        return testing::AssertionFailure() << "plane " << p << " byte " << i << ": expected "
                                           << int{expected.bytes(p)[i]} << ", got " << int{got.bytes(p)[i]};
  return testing::AssertionSuccess();
}

}  // namespace framequality::test::denoise_pictures
