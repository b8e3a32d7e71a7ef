// SPDX-License-Identifier: LGPL-2.1-or-later
// Floyd and Steinberg's error diffusion of an image, in bands of rows that follow each other on all threads.
#pragma once

#include "algorithms/halftone/filter.h"
#include "cpu/halftone/kernels.h"
#include "cpu/halftone/wavefront.h"
#include "cpu/workers.h"

#include <optional>
#include <vector>

namespace framequality::cpu {

/// One field of a frame, and the conversion of its samples to tones.
struct ToneSource {
  const PixelLayout* layout = nullptr;
  const std::uint8_t* plane[3] = {};
  std::ptrdiff_t stride[3] = {};
  int width = 0, height = 0;
  const std::int16_t* tones = nullptr;  ///< by pixel value
  std::optional<ToneFormula> formula;   ///< equal to the table

  void rows_at(int y, const std::uint8_t* (&rows)[3]) const {
    for (int p = 0; p < layout->planes(); ++p) rows[p] = plane[p] + stride[p] * y;
  }
};

/// Tones of row y. codes: scratch for a row of words.
void read_tones(const ToneSource& source, const HalftoneKernels& kernels, int y, std::uint8_t* codes,
                std::int16_t* tones);

/// The formula of a table of 256 tones, if it has one.
std::optional<ToneFormula> formula_of(const std::int16_t* tones, const halftone::ToneSettings& settings);

/// Diffuses with vectors of an instruction set that has some. Everything is allocated in the constructor.
class BandDiffusion {
 public:
  BandDiffusion(int width, const HalftoneKernels& kernels, int threads);

  /// Raster order, not serpentine. threads: how many of the workers take part.
  void run(const ToneSource& source, const halftone::Target& out, const halftone::Settings& settings, Workers& workers,
           int threads);

 private:
  /// Buffers of one thread.
  struct Scratch {
    std::vector<std::uint8_t> codes, rows, out;
  };
  struct Job {
    const ToneSource& source;
    const halftone::Target& out;
    const halftone::Settings& settings;
    int bands, steps, chunks;
  };
  void run_band(const Job& job, int band, Scratch& scratch);
  std::uint16_t* kept_row(int band);

  const HalftoneKernels& kernels_;
  Wavefront wavefront_;
  std::size_t kept_pitch_;
  std::vector<std::uint16_t> kept_;  ///< last rows of bands, by place
  std::vector<Scratch> scratch_;
};

}  // namespace framequality::cpu
