// SPDX-License-Identifier: LGPL-2.1-or-later
// Tone-dependent error diffusion of an image: groups of a swath's rows run together and follow each other on all
// threads.
#pragma once

#include "algorithms/halftone/filter.h"
#include "algorithms/halftone/tone_dependent.h"
#include "cpu/halftone/bands.h"
#include "cpu/halftone/wavefront.h"
#include "cpu/workers.h"

#include <vector>

namespace framequality::cpu {

/// Everything is allocated in the constructor.
class SwathDiffusion {
 public:
  SwathDiffusion(int width, const HalftoneKernels& kernels, int threads);

  void run(const ToneSource& source, const halftone::Target& out, const halftone::Settings& settings, Workers& workers,
           int threads);

 private:
  /// Rows that run together, each kSkew columns behind the one above, to keep a core busy while it waits for one row's
  /// errors.
  static constexpr int kRows = 4, kSkew = halftone::kDelay + 1;

  /// The parameters of one 8-bit grey.
  struct Grey {
    std::int32_t weight[4];
    std::int32_t on[3];   ///< columns on, in the row below, for weights 1...3
    std::int32_t margin;  ///< t_u less the middle
  };
  /// Buffers of one thread.
  struct Scratch {
    std::vector<std::uint8_t> codes, out[kRows];
    std::vector<std::int16_t> tones[kRows];
    std::vector<std::int32_t> sums[kRows - 1];  ///< passed down by the group's own rows
  };
  struct Job {
    const ToneSource& source;
    const halftone::Target& out;
    const halftone::Settings& settings;
    const halftone::ToneTable& table;
    int swath_groups, groups;
    int steps, chunks;  ///< of a group
  };
  /// A group in progress.
  struct Group {
    int y, rows, direction;  ///< first row; 1 rightward, -1 leftward
    std::int32_t* sums[kRows + 1];
    std::uint8_t* out[kRows];
    const std::int16_t* tones[kRows];
    std::int32_t carry[kRows];  ///< errors from a pixel to the next one in the row
  };
  void run_group(const Job& job, int index, Scratch& scratch);
  template <int kLevels>
  void diffuse(const Job& job, Group& group, int t0, int t1) const;
  template <int kLevels>
  void pixel(const Job& job, Group& group, int r, int x) const;
  template <int kDirection>
  FQ_HD void inner_pixel(Group& group, int r, int x, int strength, const std::int8_t* signs) const;
  std::int32_t* handed_down(int index);

  const HalftoneKernels& kernels_;
  int width_;
  Wavefront wavefront_;
  std::vector<Grey> greys_;
  std::vector<std::int8_t> signs_;  ///< of the pattern: 1 where it is 0, -1 where it is 1
  std::vector<std::int32_t> handed_down_;
  std::vector<Scratch> scratch_;
};

}  // namespace framequality::cpu
