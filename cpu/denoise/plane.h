// SPDX-License-Identifier: LGPL-2.1-or-later
// One component of a field with its border, as floats.
#pragma once

#include "algorithms/denoise/weight.h"
#include "cpu/denoise/kernels.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::cpu {

/// Samples in an image's memory: row y begins at data + y * stride, sample x of it step * x bytes later.
struct SampleRows {
  const std::uint8_t* data;
  std::ptrdiff_t stride, step;
};

/// Rows and columns outside 0...width-1, 0...height-1 are the border, as wide as patches and searches reach.
class DenoisePlane {
 public:
  struct Shape {
    int width = 0, height = 0, search = 0, patch = 0;
    denoise::Border border = denoise::Border::kSymmetric;
    int reach() const { return search + patch; }
    /// Rows including the border.
    int rows() const { return height + 2 * reach(); }
    bool operator==(const Shape&) const = default;
  };

  /// Makes room; allocates only to grow.
  void reshape(const Shape& shape);
  const Shape& shape() const { return shape_; }
  /// Discards all contents until it gets a shape again.
  void forget() { shape_ = {}; }

  /// Fills rows first...last-1 of rows(). scratch: scratch_size() of the caller's own.
  void fill(const DenoiseKernels& kernels, const PictureLayout& layout, const SampleRows& source, int first, int last,
            std::uint16_t* scratch);
  static std::size_t scratch_size(const Shape& shape) { return pitch(shape); }

  /// Values, samples less 2^(depth - 1), from pixel x of row y on.
  const float* values(int x, int y) const { return values_.data() + at(x, y); }

 private:
  static std::size_t pitch(const Shape& shape) {
    return static_cast<std::size_t>(shape.width + 2 * shape.reach() + kDenoiseSlack);
  }
  std::size_t at(int x, int y) const {
    return static_cast<std::size_t>(y + shape_.reach()) * pitch(shape_) + static_cast<std::size_t>(x + shape_.reach());
  }

  Shape shape_;
  std::vector<float> values_;
};

}  // namespace framequality::cpu
