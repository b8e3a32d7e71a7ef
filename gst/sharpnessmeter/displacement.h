// SPDX-License-Identifier: LGPL-2.1-or-later
// Motion of the image, frame by frame: global translation between small copies of frames.
//
// Each frame is reduced to about 128 pixels along its longer side and compared with a reference by phase correlation
// (Kuglin and Hines 1975): the inverse transform of conj(A) B / |A B|, smoothed by a Gaussian of one pixel, peaks at
// the translation. Its highest peaks are candidates, interpolated by a parabola of their logarithm. The first at which
// most blocks of 8x8 pixels match is taken. If there is none, because the camera turned or large objects moved, motions
// that blocks share (block_motion.h) are candidates, too, and each block votes for those at which it matches best, so
// that the background outvotes an object of high contrast.
//
// The reference stays the same while the image overlaps it well, so that noise does not add up to movement: errors add
// up only with each new reference, after about an eighth of the diagonal.
#pragma once

#include "algorithms/layout.h"
#include "gst/sharpnessmeter/block_motion.h"
#include "gst/sharpnessmeter/spectrum.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace framequality {

/// Current position of the content of the shot's first frame: to the right and down, as shares of the frame's diagonal.
/// Errors: about 0.001, 0.003 if the image also turns by 5 degrees, for each new reference.
struct Displacement {
  double x = 0, y = 0;
  unsigned shot = 0;  ///< cuts so far
};

/// Follows the frames of one stream. One thread at a time.
class DisplacementMeter {
 public:
  /// Frames of at least 16 pixels each way.
  explicit DisplacementMeter(const Geometry& geometry);
  static bool takes(const Geometry& geometry) { return geometry.width >= 16 && geometry.height >= 16; }

  /// Displacement of the next frame, which lies in host memory. If it has too little content, the last one's.
  Displacement next(const Frame& frame);

 private:
  /// A reduced frame.
  struct View {
    std::vector<float> image;
    ImageTransform::Spectrum spectrum;
    double variance = 0;  ///< grey levels squared
    Displacement at;
  };
  struct Match {
    double x = 0, y = 0;   ///< pixels of the reduced image
    int blocks = 0;        ///< textured ones; 0: nothing to compare
    int alike = 0;         ///< matching ones among these
    double agreement = 0;  ///< their share
    double likeness = 0;   ///< correlation of the whole overlap
  };
  struct Peak {
    float height;
    int x, y;
  };

  void reduce(const Frame& frame, std::vector<float>& image);
  template <class To>
  void for_rows(const Frame& frame, To to) const;
  void transform(View& view);
  Match match(const View& from, const View& to);
  void correlate(const View& from, const View& to);
  void find_peaks();
  static double least_texture(const View& view);
  bool compare(const View& from, const View& to, const Motion& motion);
  Match best_match();
  double refined(int x, int y, int along_x, int along_y) const;
  float at(int x, int y) const;
  Displacement moved(const Displacement& from, const Match& match) const;

  Geometry geometry_;
  int width_, height_, samples_x_, samples_y_;
  double unit_x_, unit_y_;  ///< diagonals per pixel of the reduced image
  ImageTransform fft_;
  std::vector<int> column_;             ///< of each sample along a row of the frame
  std::vector<std::size_t> first_;      ///< column of the frame where each pixel of the reduced image begins
  std::vector<std::uint16_t> sums_;     ///< of a few rows of bytes
  std::vector<float> window_, smooth_;  ///< Hann's window; the Gaussian's transform
  std::vector<float> surface_, windowed_;
  ImageTransform::Spectrum cross_;
  std::vector<Peak> peaks_;
  std::vector<Match> matches_;       ///< of the frame's candidates
  std::vector<float> correlations_;  ///< of each match's blocks, row by row; 0: not compared
  std::vector<float> highest_;       ///< of these, for each block
  std::optional<View> reference_, last_;
  View now_;
};

}  // namespace framequality
