// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cpu/sharpness/statistics.h"

#include <algorithm>
#include <cstring>

namespace framequality::cpu {

using namespace sharpness;

void StatisticsMeter::begin(const Plan& plan, const Frame& frame, bool is_exposed) {
  plan_ = &plan;
  frame_ = &frame;
  const PixelLayout& layout = plan.geometry.layout;
  code_ = layout.depth == 8 ? Code::kByte : layout.depth <= 12 ? Code::kShort : Code::kWord;
  clip_ = clip_codes(layout.depth, plan.request.limited);
  words_ = {};
  for (int i = 0; i < plan.statistics.grids; ++i) {
    const StatisticsGrid& grid = plan.statistics.grid[i];
    Pass& pass = passes_[static_cast<std::size_t>(i)] = {grid, 0, is_exposed ? grid.y1 : grid.y0};
    if (!layout.is_plain()) continue;
    pass.stride = frame.stride[0] * plan.fields;
    pass.origin = frame.plane[0] + frame.stride[0] * grid.field + std::ptrdiff_t{grid.x0} * layout.word_bytes;
  }
  sums_.assign(static_cast<std::size_t>(plan.statistics.sums), kNoBlock);
  made_.fill(-1);
}

/// Luma of row y of the grid's field from x0 on, as bytes or words, in a buffer.
const std::uint8_t* StatisticsMeter::make_row(const StatisticsGrid& grid, int y) {
  const PixelLayout& layout = plan_->geometry.layout;
  const std::ptrdiff_t line = std::ptrdiff_t{y} * plan_->fields + grid.field;
  const std::uint8_t* planes[3] = {};
  for (int p = 0; p < layout.planes(); ++p) planes[p] = frame_->plane[p] + frame_->stride[p] * line;
  const auto place = static_cast<std::size_t>(y % kBandRows);
  const auto n = static_cast<std::size_t>(grid.x1 - grid.x0);
  const std::size_t pitch = n * (code_ == Code::kByte ? 1 : 2) + kSlack;
  codes_.resize(std::max(codes_.size(), pitch * kBandRows));
  std::uint8_t* to = codes_.data() + place * pitch;
  if (made_[place] != line) luma_.luma(layout, planes, grid.x0, static_cast<int>(n), to);
  made_[place] = line;
  return to;
}

void StatisticsMeter::expose_rows(Pass& pass, int end) {
  for (; pass.y < end; ++pass.y) {
    const std::uint8_t* codes = row(pass, pass.y);
    expose(&codes, 1, 0, pass.grid.x1 - pass.grid.x0);
  }
}

void StatisticsMeter::measure_band(Pass& pass) {
  const StatisticsGrid& grid = pass.grid;
  const int first = grid.y0 + pass.bands * kNoiseBlock, in_row = grid.groups_in_row(), step = plan_->statistics.step;
  const std::uint8_t* rows[kBandRows];
  for (int i = 0; i < kBandRows; ++i) rows[i] = row(pass, first + i);
  // The groups of this row that count: those whose numbers are multiples of the step. They form one run.
  const int i = (pass.bands * in_row + step - 1) / step, column = (i * step - pass.bands * in_row) * kNoiseGroup;
  std::uint32_t* sums = sums_.data() + grid.first_sum + static_cast<std::ptrdiff_t>(i) * kNoiseGroup;
  kernels_.residuals[static_cast<int>(code_)](rows, column, step == 1 ? grid.columns : step * kNoiseGroup,
                                              step == 1 ? grid.columns : kNoiseGroup, grid.columns, sums,
                                              words_[kSquaredResidual]);
  ++pass.bands;
  expose_rows(pass, first + kNoiseBlock);
}

void StatisticsMeter::advance(int field, int end) {
  for (int i = 0; i < plan_->statistics.grids; ++i) {
    Pass& pass = passes_[static_cast<std::size_t>(i)];
    if (pass.grid.field != field) continue;
    while (pass.bands < pass.grid.rows && pass.grid.y0 + pass.bands * kNoiseBlock + kBandRows <= end)
      measure_band(pass);
  }
}

/// All residuals of images that are less than a block high or wide.
void StatisticsMeter::sum_all(const Pass& pass) {
  const StatisticsGrid& grid = pass.grid;
  const auto code = [&](const std::uint8_t* p, int x) -> int {
    if (code_ == Code::kByte) return p[x];
    std::uint16_t v;
    std::memcpy(&v, p + std::ptrdiff_t{2} * x, sizeof v);
    return v;
  };
  for (int y = 0; y < grid.height(); ++y) {
    const std::uint8_t* rows[3];
    for (int j = 0; j < 3; ++j) rows[j] = row(pass, grid.y0 + y + j);
    for (int x = 0; x < grid.width(); ++x) {
      int g[3][3];
      for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) g[j][i] = code(rows[j], x + i);
      const auto r = static_cast<std::uint64_t>(noise_residual(g[0], g[1], g[2]));
      words_[kResidual] += r;
      words_[kSquaredResidual] += r * r;
    }
  }
}

void StatisticsMeter::finish(std::span<std::int64_t> words) {
  const StatisticsPlan& plan = plan_->statistics;
  for (int i = 0; i < plan.grids; ++i) {
    Pass& pass = passes_[static_cast<std::size_t>(i)];
    advance(pass.grid.field, pass.grid.y1);
    expose_rows(pass, pass.grid.y1);
    if (plan.blocks == 0) sum_all(pass);
  }
  if (plan.blocks > 0) {
    const auto at = sums_.begin() + plan.rank();
    std::nth_element(sums_.begin(), at, sums_.end());
    words_[kResidual] = *at;
  }
  for (std::size_t i = 0; i < words_.size(); ++i) words[i] = static_cast<std::int64_t>(words_[i]);
}

}  // namespace framequality::cpu
