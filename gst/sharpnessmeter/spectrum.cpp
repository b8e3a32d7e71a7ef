// SPDX-License-Identifier: LGPL-2.1-or-later
#include "gst/sharpnessmeter/spectrum.h"

#include <cstddef>

namespace framequality {

int fast_length(int length) { return static_cast<int>(gst_fft_next_fast_length(length)); }

ImageTransform::ImageTransform(int width, int height)
    : width_(width),
      height_(height),
      half_(width / 2 + 1),
      row_(gst_fft_f32_new(width, FALSE)),
      row_back_(gst_fft_f32_new(width, TRUE)),
      column_(gst_fft_f32_new(height, FALSE)),
      real_(static_cast<std::size_t>(height)),
      imaginary_(real_.size()),
      of_real_(static_cast<std::size_t>(height / 2 + 1)),
      of_imaginary_(of_real_.size()),
      of_row_(static_cast<std::size_t>(half_)) {}

void ImageTransform::forward(const std::vector<float>& image, Spectrum& spectrum) {
  const auto half = static_cast<std::size_t>(half_);
  spectrum.resize(half * static_cast<std::size_t>(height_));
  for (int y = 0; y < height_; ++y) {
    gst_fft_f32_fft(row_.get(), image.data() + static_cast<std::ptrdiff_t>(y) * width_, of_row_.data());
    for (std::size_t k = 0; k < half; ++k)
      spectrum[static_cast<std::size_t>(y) * half + k] = {of_row_[k].r, of_row_[k].i};
  }
  transform_columns(spectrum);
}

void ImageTransform::inverse(Spectrum& spectrum, std::vector<float>& image) {
  image.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
  // The inverse is the conjugate of the transform of the conjugate.
  for (auto& value : spectrum) value = std::conj(value);
  transform_columns(spectrum);
  const auto half = static_cast<std::size_t>(half_);
  for (int y = 0; y < height_; ++y) {
    for (std::size_t k = 0; k < half; ++k) {
      const std::complex<float> value = std::conj(spectrum[static_cast<std::size_t>(y) * half + k]);
      of_row_[k] = {value.real(), value.imag()};
    }
    gst_fft_f32_inverse_fft(row_back_.get(), of_row_.data(), image.data() + static_cast<std::ptrdiff_t>(y) * width_);
  }
}

/// Transforms complex columns by transforms of their real and imaginary parts.
void ImageTransform::transform_columns(Spectrum& spectrum) {
  const auto half = static_cast<std::size_t>(half_), height = static_cast<std::size_t>(height_);
  for (std::size_t k = 0; k < half; ++k) {
    for (std::size_t y = 0; y < height; ++y) {
      real_[y] = spectrum[y * half + k].real();
      imaginary_[y] = spectrum[y * half + k].imag();
    }
    gst_fft_f32_fft(column_.get(), real_.data(), of_real_.data());
    gst_fft_f32_fft(column_.get(), imaginary_.data(), of_imaginary_.data());
    for (std::size_t j = 0; j <= height / 2; ++j) {
      const GstFFTF32Complex a = of_real_[j], b = of_imaginary_[j];
      spectrum[j * half + k] = {a.r - b.i, a.i + b.r};
      if (j > 0 && j < height - j) spectrum[(height - j) * half + k] = {a.r + b.i, b.r - a.i};
    }
  }
}

}  // namespace framequality
