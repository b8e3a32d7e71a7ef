// SPDX-License-Identifier: LGPL-2.1-or-later
// Two-dimensional discrete Fourier transform of small real images, built on GStreamer's one-dimensional one.
#pragma once

#include <gst/fft/gstfftf32.h>

#include <complex>
#include <memory>
#include <vector>

namespace framequality {

/// An even length of at least `length` that is fast to transform.
int fast_length(int length);

/// Transforms of images of one size. Not thread-safe: it has buffers for rows and columns.
class ImageTransform {
 public:
  using Spectrum = std::vector<std::complex<float>>;  ///< height rows of width / 2 + 1 coefficients

  /// width, height: from fast_length().
  ImageTransform(int width, int height);

  /// image: width * height values, row by row.
  void forward(const std::vector<float>& image, Spectrum& spectrum);
  /// Overwrites the spectrum. The result is width * height times the original image.
  void inverse(Spectrum& spectrum, std::vector<float>& image);

 private:
  struct Free {
    void operator()(GstFFTF32* fft) const { gst_fft_f32_free(fft); }
  };
  using Fft = std::unique_ptr<GstFFTF32, Free>;
  void transform_columns(Spectrum& spectrum);

  int width_, height_, half_;
  Fft row_, row_back_, column_;
  std::vector<float> real_, imaginary_;  ///< a column
  std::vector<GstFFTF32Complex> of_real_, of_imaginary_, of_row_;
};

}  // namespace framequality
