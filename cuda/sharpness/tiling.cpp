// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda/sharpness/tiling.h"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace framequality::cuda {

using namespace sharpness;

namespace {

/// The width of the widest cell of a grid, from the start of its tiles.
int widest(const Grid& g, int x_align) {
  int width = 0;
  for (int i = 0; i < g.columns; ++i) width = std::max(width, g.column(i + 1) - g.column(i) / x_align * x_align);
  return width;
}

/// Adds a grid whose strips have this many rows.
void add(Tiling& tiling, const Kernel& kernel, const Grid& g, int strip_rows) {
  // If chunks need not be adjacent, a strip has as many across as the grid's cells need.
  const int width = widest(g, kernel.x_align), chunk = kernel.tile_width / kernel.chunks,
            across = std::clamp(ceil_div(width, chunk), 1, kernel.chunks), bands = kernel.chunks / across,
            tile_height = kernel.tile_height > 0 ? kernel.tile_height : strip_rows * kernel.strips * bands;
  int height = 0;
  for (int j = 0; j < g.rows; ++j) height = std::max(height, g.row(j + 1) - g.row(j));
  const TiledGrid cut{g,     ceil_div(width, chunk * across), ceil_div(height, tile_height), tiling.blocks, strip_rows,
                      across};
  tiling.grids.push_back(cut);
  tiling.blocks += g.columns * g.rows * cut.tiles_x * cut.tiles_y;
}

void cut(Tiling& tiling, const Plan& plan, const Kernel& kernel, int rows) {
  tiling.grids.clear();
  tiling.blocks = 0;
  for (const Grid& g : plan.grids) {
    const int left = g.x0 / kernel.x_align * kernel.x_align + kernel.tile_width,
              right = left + (g.x1 - kernel.x_align - left) / kernel.tile_width * kernel.tile_width;
    if (kernel.edge_percent == 0 || g.columns * g.rows > 1 || right <= left) {
      add(tiling, kernel, g, rows);
      continue;
    }
    // Strips at a cell's sides take longer, so they are lower and come first.
    const int low = std::max(rows * 100 / kernel.edge_percent / kernel.row_step, 1) * kernel.row_step;
    Grid part = g;
    part.x1 = left;
    add(tiling, kernel, part, low);
    part.x0 = right, part.x1 = g.x1;
    add(tiling, kernel, part, low);
    part.x0 = left, part.x1 = right;
    add(tiling, kernel, part, rows);
  }
}

}  // namespace

Tiling make_tiling(const Plan& plan, const Kernel& kernel, int capacity) {
  Tiling tiling;
  int best = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  if (kernel.tile_height == 0)
    for (int rows = kernel.row_step; rows <= kernel.max_rows; rows += kernel.row_step) {
      cut(tiling, plan, kernel, rows);
      const std::int64_t cost = std::int64_t{ceil_div(tiling.blocks, capacity)} * (rows + kernel.lead_rows);
      if (cost > least) continue;
      least = cost;
      best = rows;
    }
  cut(tiling, plan, kernel, best);
  return tiling;
}

}  // namespace framequality::cuda
