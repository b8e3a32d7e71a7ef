// SPDX-License-Identifier: LGPL-2.1-or-later
// A caller's image as layouts and frames.
#include "c/internal.h"

#include <cstdlib>

namespace framequality::c {
namespace {

constexpr int kMostSide = 1 << 20;
constexpr std::int64_t kMostStride = std::int64_t{1} << 40;  // far from where offsets overflow

bool is_bayer(const fq_image& i) { return i.format >= FQ_BAYER_RGGB; }
bool is_bgr(const fq_image& i) { return i.format == FQ_BGR || i.format == FQ_BGRA; }
int samples_of(const fq_image& i) {
  switch (i.format) {
    case FQ_RGB:
    case FQ_BGR:
      return 3;
    case FQ_RGBA:
    case FQ_BGRA:
      return 4;
    default:
      return 1;
  }
}
bool is_planar(const fq_image& i) { return samples_of(i) > 1 && i.plane[1]; }
int planes_of(const fq_image& i) { return is_planar(i) ? 3 : 1; }

fq_image checked(const fq_image* given) {
  fq_image i = known(given, {}, "image");
  require_range("image->format", i.format, FQ_GRAY, FQ_BAYER_BGGR);
  require_range("image->width", i.width, 1, kMostSide);
  require_range("image->height", i.height, 1, kMostSide);
  require_range("image->word_bytes", i.word_bytes, 1, 2);
  if (i.bits == 0) i.bits = 8 * i.word_bytes;
  require_range("image->bits", i.bits, 8, std::int64_t{8} * i.word_bytes);
  require_range("image->flags", i.flags, 0, FQ_BIG_ENDIAN | FQ_ON_DEVICE);
  require_range("image->reserved", i.reserved, 0, 0);
  const int samples = is_planar(i) ? 1 : samples_of(i), pixel = samples * i.word_bytes;
  require(!is_planar(i) || samples_of(i) == 3, "image->plane[1] is set, but RGBA and BGRA are interleaved");
  if (i.pixel_stride == 0) i.pixel_stride = pixel;
  require_range("image->pixel_stride", i.pixel_stride, pixel, is_bayer(i) ? pixel : 255);
  if (is_bayer(i)) {
    require_range("image->width of a mosaic", i.width, 2, kMostSide);
    require_range("image->height of a mosaic", i.height, 2, kMostSide);
  }
  const std::int64_t row = std::int64_t{i.width - 1} * i.pixel_stride + pixel;
  for (int p = 0; p < planes_of(i); ++p) {
    const std::string name = "[" + std::to_string(p) + "]";
    if (!i.plane[p]) refuse("image->plane" + name + " is NULL");
    if (i.height == 1) i.stride[p] = static_cast<std::ptrdiff_t>(row);
    require_range(("image->stride" + name).c_str(), i.stride[p], -kMostStride, kMostStride);
    // Overlapping rows are unusual, but broadcast arrays have them.
    if (i.stride[p] != 0 && std::abs(i.stride[p]) < row)
      refuse("image->stride" + name + " is " + std::to_string(i.stride[p]) + ", but a row needs " +
             std::to_string(row) + " bytes");
  }
  return i;
}

Geometry geometry_of(const fq_image& i) {
  Geometry g{i.width, i.height, {}};
  PixelLayout& l = g.layout;
  const int w = i.word_bytes;
  l.depth = static_cast<std::uint8_t>(i.bits);
  l.word_bytes = static_cast<std::uint8_t>(w);
  l.big_endian = w == 2 && (i.flags & FQ_BIG_ENDIAN) != 0;
  l.pixel_stride = static_cast<std::uint8_t>(i.pixel_stride);
  if (is_bayer(i)) {
    const int at = i.format - FQ_BAYER_RGGB, row = at >> 1, red = (at & 1) * w;
    l.kind = PixelLayout::Kind::kBayer;
    g.width /= 2;
    g.height /= 2;
    l.pixel_stride = static_cast<std::uint8_t>(2 * w);
    l.plane[0] = l.plane[1] = static_cast<std::uint8_t>(row);
    l.plane[2] = static_cast<std::uint8_t>(1 - row);
    l.offset[0] = static_cast<std::uint8_t>(red);
    l.offset[1] = l.offset[2] = static_cast<std::uint8_t>(w - red);
  } else if (i.format != FQ_GRAY) {
    l.kind = PixelLayout::Kind::kRgb;
    for (int c = 0; c < 3; ++c) {
      const int at = is_bgr(i) ? 2 - c : c;
      if (is_planar(i))
        l.plane[c] = static_cast<std::uint8_t>(at);
      else
        l.offset[c] = static_cast<std::uint8_t>(at * w);
    }
  }
  return g;
}

Frame frame_of(const fq_image& i) {
  Frame f;
  if (i.flags & FQ_ON_DEVICE) {
    f.memory = Memory::kCuda;
    f.queue = i.stream;
  }
  // A mosaic's even and odd rows are two planes.
  const int planes = is_bayer(i) ? 2 : planes_of(i);
  for (int p = 0; p < planes; ++p) {
    const int from = is_bayer(i) ? 0 : p;
    f.plane[p] = static_cast<const std::uint8_t*>(i.plane[from]) + (is_bayer(i) ? p * i.stride[0] : 0);
    f.stride[p] = (is_bayer(i) ? 2 : 1) * i.stride[from];
  }
  return f;
}

}  // namespace

Image::Image(const fq_image* image)
    : image_(checked(image)), geometry_(geometry_of(image_)), frame_(frame_of(image_)) {}

PictureGeometry Image::picture_geometry() const {
  require(!is_bayer(image_), "a mosaic cannot be denoised: demosaic it first");
  const int pixel = (is_planar(image_) ? 1 : samples_of(image_)) * image_.word_bytes;
  require(image_.pixel_stride == pixel,
          "image->pixel_stride leaves gaps, which denoisers do not accept: copy the image");
  return colour_geometry();
}

PictureGeometry Image::colour_geometry() const {
  PictureGeometry g{image_.width, image_.height, {}};
  PictureLayout& l = g.layout;
  l.is_rgb = image_.format != FQ_GRAY;
  l.components = l.is_rgb ? 3 : 1;
  l.planes = static_cast<std::uint8_t>(planes_of(image_));
  l.depth = geometry_.layout.depth;
  l.word_bytes = geometry_.layout.word_bytes;
  l.big_endian = geometry_.layout.big_endian;
  for (int c = 0; c < l.components; ++c) {
    l.component[c].plane = geometry_.layout.plane[c];
    l.component[c].offset = geometry_.layout.offset[c];
    l.component[c].pixel_stride = geometry_.layout.pixel_stride;
  }
  return g;
}

fq_target known_target(const fq_target* target, int planes, std::size_t row_bytes, int height) {
  fq_target t = known(target, {}, "out");
  require(t.flags == 0 || t.flags == FQ_ON_DEVICE, "out->flags must be 0 or FQ_ON_DEVICE");
  require_range("out->reserved", t.reserved, 0, 0);
  for (int p = 0; p < planes; ++p) {
    const std::string name = "[" + std::to_string(p) + "]";
    if (!t.plane[p]) refuse("out->plane" + name + " is NULL");
    if (height == 1) t.stride[p] = static_cast<std::ptrdiff_t>(row_bytes);
    require_range(("out->stride" + name).c_str(), t.stride[p], -kMostStride, kMostStride);
    if (static_cast<std::size_t>(std::abs(t.stride[p])) < row_bytes)
      refuse("out->stride" + name + " is " + std::to_string(t.stride[p]) + ", but a row needs " +
             std::to_string(row_bytes) + " bytes");
  }
  return t;
}

}  // namespace framequality::c
