// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of a frame of any layout as tones for colour halftoning.
#include "cpu/halftone/colour_source.h"

#include "algorithms/halftone/colour_codes.h"

namespace framequality::cpu {

using namespace halftone;

void ColourCodes::prepare(const ColourSettings& settings) {
  const Basis basis{settings.tone, settings.matrix};
  if (basis_ == basis) return;
  table_ = make_code_table(layout_, basis.tone, basis.matrix);
  for (int c = 0; c < layout_.components && !is_yuv(layout_); ++c) {
    channel_[c].clear();
    const Triple unit = layout_.components == 1 ? triple(1) : Triple{1} << (kFieldBits * c);
    for (const std::int32_t tone : table_) channel_[c].push_back(unit * static_cast<Triple>(tone));
  }
  basis_ = basis;
}

std::uint32_t ColourCodes::code(const std::uint8_t* row, int c, int x) const {
  const PictureLayout::Component& at = layout_.component[c];
  return colour_code(layout_, row + std::ptrdiff_t{x >> at.x_shift} * at.pixel_stride);
}

void ColourCodes::read_bytes(const std::uint8_t* const* rows, int width, Triple* tones) const {
  const std::uint8_t *r = rows[0], *g = rows[1], *b = rows[2];
  const Triple *red = channel_[0].data(), *green = channel_[1].data(), *blue = channel_[2].data();
  const std::ptrdiff_t step = layout_.component[0].pixel_stride;
  for (int x = 0; x < width; ++x, r += step, g += step, b += step) tones[x] = red[*r] + green[*g] + blue[*b];
}

void ColourCodes::read_yuv(const std::uint8_t* const* rows, int width, Triple* tones) const {
  const std::size_t codes = std::size_t{1} << code_depth(layout_);
  const std::int32_t *luma = table_.data(), *blue = luma + codes, *red = blue + 2 * codes, *light = red + 2 * codes;
  const auto tone = [light](std::int32_t sum) { return static_cast<Triple>(light[tone_of_parts(sum)]); };
  for (int x = 0; x < width; ++x) {
    const std::int32_t y = luma[code(rows[0], 0, x)];
    const std::int32_t *u = blue + 2 * std::size_t{code(rows[1], 1, x)},
                       *v = red + 2 * std::size_t{code(rows[2], 2, x)};
    tones[x] = tone(y + v[1]) | tone(y + u[0] + v[0]) << kFieldBits | tone(y + u[1]) << (2 * kFieldBits);
  }
}

void ColourCodes::read(const std::uint8_t* const* rows, int width, Triple* tones) const {
  if (is_yuv(layout_)) return read_yuv(rows, width, tones);
  if (layout_.components == 1) {
    for (int x = 0; x < width; ++x) tones[x] = channel_[0][code(rows[0], 0, x)];
    return;
  }
  const auto* at = layout_.component;
  if (layout_.word_bytes == 1 && layout_.shift == 0 && at[1].pixel_stride == at[0].pixel_stride &&
      at[2].pixel_stride == at[0].pixel_stride)
    return read_bytes(rows, width, tones);
  for (int x = 0; x < width; ++x)
    tones[x] = channel_[0][code(rows[0], 0, x)] + channel_[1][code(rows[1], 1, x)] + channel_[2][code(rows[2], 2, x)];
}

}  // namespace framequality::cpu
