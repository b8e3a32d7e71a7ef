// SPDX-License-Identifier: LGPL-2.1-or-later
// Rows of a frame of any layout as the tones that colour halftoning works on.
#include "cpu/halftone/colour_source.h"

#include <algorithm>
#include <cmath>

namespace framequality::cpu {

using namespace halftone;

namespace {

constexpr int kPart = 64;  ///< of a tone, in which Y, U and V are added

struct Weights {
  double red, blue;
};
Weights weights_of(Matrix matrix) {
  switch (matrix) {
    case Matrix::kBt601:
      return {0.299, 0.114};
    case Matrix::kBt2020:
      return {0.2627, 0.0593};
    case Matrix::kBt709:
      break;
  }
  return {0.2126, 0.0722};
}

std::int32_t rounded(double v) { return static_cast<std::int32_t>(std::floor(v + 0.5)); }

/// Tone of a code, rounded once.
int tone_of_code(int code, int depth, const ToneSettings& s) {
  const int unit = 1 << (depth - 8), black = s.limited ? 16 * unit : 0,
            range = s.limited ? 219 * unit : (1 << depth) - 1;
  const int d = std::clamp(code - black, 0, range);
  // In integers where that is exact: machines whose libraries differ must agree.
  const int tone = s.light == Light::kCode ? (2 * d * kFull + range) / (2 * range)
                                           : rounded(kFull * light_of(static_cast<double>(d) / range, s.light));
  return s.invert ? kFull - tone : tone;
}

}  // namespace

void ColourCodes::prepare(const ColourSettings& settings) {
  const Basis basis{settings.tone, settings.matrix};
  if (basis_ == basis) return;
  light_.resize(kFull + 1);
  for (int t = 0; t <= kFull; ++t) {
    const int light = rounded(kFull * light_of(static_cast<double>(t) / kFull, basis.tone.light));
    light_[static_cast<std::size_t>(t)] = static_cast<std::uint16_t>(basis.tone.invert ? kFull - light : light);
  }
  const int codes = 1 << depth();
  if (is_yuv()) {
    fill_yuv(basis);
  } else {
    for (int c = 0; c < layout_.components; ++c) {
      channel_[c].resize(static_cast<std::size_t>(codes));
      const Triple unit = layout_.components == 1 ? triple(1) : Triple{1} << (kFieldBits * c);
      for (int code = 0; code < codes; ++code)
        channel_[c][static_cast<std::size_t>(code)] =
            unit * static_cast<Triple>(tone_of_code(code, depth(), basis.tone));
    }
  }
  basis_ = basis;
}

void ColourCodes::fill_yuv(const Basis& basis) {
  const auto codes = static_cast<std::size_t>(1) << depth();
  const int unit = 1 << (depth() - 8), middle = 128 * unit;
  const bool limited = basis.tone.limited;
  const double luma = kFull * kPart / (limited ? 219.0 * unit : static_cast<double>(codes - 1)),
               chroma = kFull * kPart / (limited ? 224.0 * unit : static_cast<double>(codes - 1));
  const auto [red, blue] = weights_of(basis.matrix);
  const double green = 1 - red - blue;
  luma_.resize(codes);
  for (auto& table : chroma_) table.resize(codes);
  for (std::size_t i = 0; i < codes; ++i) {
    const int code = static_cast<int>(i);
    luma_[i] = rounded(luma * (code - (limited ? 16 * unit : 0))) + kPart / 2;
    const double c = chroma * (code - middle);
    chroma_[0][i] = {rounded(-2 * (1 - blue) * blue / green * c), rounded(2 * (1 - blue) * c)};
    chroma_[1][i] = {rounded(-2 * (1 - red) * red / green * c), rounded(2 * (1 - red) * c)};
  }
}

std::uint32_t ColourCodes::code(const std::uint8_t* row, int c, int x) const {
  const PictureLayout::Component& at = layout_.component[c];
  const std::uint32_t whole = read_sample(layout_, row + std::ptrdiff_t{x >> at.x_shift} * at.pixel_stride);
  return whole >> (layout_.depth - depth());
}

void ColourCodes::read_bytes(const std::uint8_t* const* rows, int width, Triple* tones) const {
  const std::uint8_t *r = rows[0], *g = rows[1], *b = rows[2];
  const Triple *red = channel_[0].data(), *green = channel_[1].data(), *blue = channel_[2].data();
  const std::ptrdiff_t step = layout_.component[0].pixel_stride;
  for (int x = 0; x < width; ++x, r += step, g += step, b += step) tones[x] = red[*r] + green[*g] + blue[*b];
}

void ColourCodes::read_yuv(const std::uint8_t* const* rows, int width, Triple* tones) const {
  const std::uint16_t* light = light_.data();
  const auto tone = [light](std::int32_t v) { return Triple{light[std::clamp(v / kPart, 0, kFull)]}; };
  for (int x = 0; x < width; ++x) {
    const std::int32_t y = luma_[code(rows[0], 0, x)];
    const Chroma &u = chroma_[0][code(rows[1], 1, x)], &v = chroma_[1][code(rows[2], 2, x)];
    tones[x] = tone(y + v.other) | tone(y + u.green + v.green) << kFieldBits | tone(y + u.other) << (2 * kFieldBits);
  }
}

void ColourCodes::read(const std::uint8_t* const* rows, int width, Triple* tones) const {
  if (is_yuv()) return read_yuv(rows, width, tones);
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
