// SPDX-License-Identifier: LGPL-2.1-or-later
// The statistics of a frame on the host: noise and exposure, a band of rows at a time, while the metric's pass has them
// in the cache.
#pragma once

#include "algorithms/sharpness/plan.h"
#include "cpu/sharpness/kernels.h"
#include "cpu/sharpness/statistics_kernels.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace framequality::cpu {

/// Measures frames one by one.
class StatisticsMeter {
 public:
  /// luma: kernels of the same instruction set that extract luma.
  StatisticsMeter(const StatisticsKernels& kernels, const SharpnessKernels& luma) : kernels_(kernels), luma_(luma) {}

  /// Starts a frame. plan and frame outlive the measurement. is_exposed: expose() is called for all of the roi.
  void begin(const sharpness::Plan& plan, const Frame& frame, bool is_exposed);
  /// Adds the exposure of luma x0...x1-1 of `count` rows: bytes or words that the metric has just read.
  void expose(const std::uint8_t* const* rows, int count, int x0, int x1) {
    kernels_.expose[static_cast<int>(code_)](rows, count, x0, x1 - x0, clip_, words_.data());
  }
  /// Measures the bands of a field that end at or before row `end`, whose rows are in the cache.
  void advance(int field, int end);
  /// Measures the rest. words: kStatisticsWords, which are written.
  void finish(std::span<std::int64_t> words);

 private:
  struct Pass {
    sharpness::StatisticsGrid grid;
    int bands = 0;                         ///< done
    int y = 0;                             ///< first row that is not exposed
    const std::uint8_t* origin = nullptr;  ///< luma (x0, 0) of the field, if luma is adjacent bytes or words
    std::ptrdiff_t stride = 0;             ///< from there to row 1
  };

  void measure_band(Pass& pass);
  void expose_rows(Pass& pass, int end);
  void sum_all(const Pass& pass);
  const std::uint8_t* row(const Pass& pass, int y) {
    return pass.origin ? pass.origin + pass.stride * y : make_row(pass.grid, y);
  }
  const std::uint8_t* make_row(const sharpness::StatisticsGrid& grid, int y);

  const StatisticsKernels& kernels_;
  const SharpnessKernels& luma_;
  const sharpness::Plan* plan_ = nullptr;
  const Frame* frame_ = nullptr;
  Code code_ = Code::kByte;
  sharpness::ClipCodes clip_{};
  std::array<Pass, 2> passes_;
  std::array<std::uint64_t, sharpness::kStatisticsWords> words_{};
  std::vector<std::uint32_t> sums_;               ///< of |r| over each block
  std::vector<std::uint8_t> codes_;               ///< rows of extracted luma
  std::array<std::ptrdiff_t, kBandRows> made_{};  ///< row of the frame in each slot
};

}  // namespace framequality::cpu
