// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading of samples of any layout into rows with a border.
#include "cpu/denoise/plane.h"

namespace framequality::cpu {
namespace {

void decode(const PictureLayout& layout, const std::uint8_t* p, std::ptrdiff_t step, int n, std::uint16_t* codes) {
  if (layout.word_bytes == 1 && layout.depth == 8 && step == 1) {
    for (int x = 0; x < n; ++x) codes[x] = p[x];
  } else {
    for (int x = 0; x < n; ++x) codes[x] = static_cast<std::uint16_t>(read_sample(layout, p + x * step));
  }
}

/// Row y, which may lie in the border, with its border.
void read_row(const PictureLayout& layout, const SampleRows& source, const DenoisePlane::Shape& shape, int y,
              std::uint16_t* codes) {
  decode(layout, source.data + denoise::bordered(y, shape.height, shape.border) * source.stride, source.step,
         shape.width, codes + shape.reach());
  for (int i = 0; i < shape.reach(); ++i) {
    codes[i] = codes[shape.reach() + denoise::bordered(i - shape.reach(), shape.width, shape.border)];
    const int right = shape.width + i;
    codes[shape.reach() + right] = codes[shape.reach() + denoise::bordered(right, shape.width, shape.border)];
  }
}

}  // namespace

void DenoisePlane::reshape(const Shape& shape) {
  shape_ = shape;
  // Vectors begin inside the last row, so they may end past it.
  values_.resize(static_cast<std::size_t>(shape.rows()) * pitch(shape) + kDenoiseSlack);
}

void DenoisePlane::fill(const DenoiseKernels& kernels, const PictureLayout& layout, const SampleRows& source, int first,
                        int last, std::uint16_t* scratch) {
  const int reach = shape_.reach();
  for (int row = first; row < last; ++row) {
    read_row(layout, source, shape_, row - reach, scratch);
    kernels.widen(scratch, shape_.width + 2 * reach, 1 << (layout.depth - 1),
                  values_.data() + static_cast<std::size_t>(row) * pitch(shape_));
  }
}

}  // namespace framequality::cpu
