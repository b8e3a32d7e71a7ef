// SPDX-License-Identifier: LGPL-2.1-or-later
// Interface of the CPU and CUDA meters of BLIINDS-II: frames in, 24 features out.
#pragma once

#include "algorithms/bliinds/red.h"
#include "algorithms/bliinds/scale.h"
#include "algorithms/layout.h"
#include "algorithms/worker.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::bliinds {

/// Block statistics that features pool. The tenth is that of the highest values, for kGamma of the lowest.
enum Statistic { kZeta, kGamma, kEnergy, kOrient, kStatistics };
inline constexpr int kFeatures = kScales * kStatistics * 2;

/// Features in the order of the release: for each scale, largest first, and each Statistic, the mean over all blocks,
/// then the mean over the tenth. The twins agree to 1e-12 relative: they add in different orders.
using Features = std::array<double, kFeatures>;

/// The channel of a frame that is measured.
enum class Channel : std::uint8_t {
  kLuma,  ///< as for sharpness
  kRed,   ///< the channel of the published model: R of RGB; for YUV as RedOfYuv says; for gray the gray itself
};

/// The input format shared by all frames of a stream.
struct Input {
  Geometry geometry;
  RedOfYuv red;  ///< for YUV layouts only
  Input(const Geometry& geometry, const RedOfYuv& red = {}) : geometry(geometry), red(red) {}

  FQ_HD bool makes_red(Channel channel) const { return channel == Channel::kRed && red.exists(); }
};

/// Whether frames of this geometry can be measured.
FQ_HD bool measurable(const Geometry& g) { return g.width >= kLeastSide && g.height >= kLeastSide; }

/// Whether R is a component of its own; in a mosaic it is the R of each cell.
FQ_HD bool has_red(const PixelLayout& layout) {
  return layout.kind == PixelLayout::Kind::kRgb || layout.kind == PixelLayout::Kind::kBayer;
}

/// Layout and frame that present a channel as luma; Y, if red must be computed from it.
inline PixelLayout channel_layout(PixelLayout layout, Channel channel) {
  if (channel == Channel::kLuma || !has_red(layout)) return layout;
  layout.kind = PixelLayout::Kind::kLuma;
  layout.plane[0] = 0;
  return layout;
}
inline Frame channel_frame(const PixelLayout& layout, Frame frame, Channel channel) {
  if (channel == Channel::kLuma || !has_red(layout)) return frame;
  frame.plane[0] = frame.plane[layout.plane[0]];
  frame.stride[0] = frame.stride[layout.plane[0]];
  return frame;
}

/// The part of a frame's plane p that is read; 0 bytes: none.
struct PlaneExtent {
  std::size_t row_bytes = 0;
  int rows = 0;
};
inline PlaneExtent channel_extent(const Input& input, Channel channel, int p) {
  const Geometry& g = input.geometry;
  const bool alone = channel == Channel::kRed && has_red(g.layout);  // it becomes plane 0
  PlaneExtent extent;
  if (alone ? p == g.layout.plane[0] : p < g.layout.planes())
    extent = {channel_layout(g.layout, channel).row_bytes(alone ? 0 : p, g.width), g.height};
  if (input.makes_red(channel) && p == input.red.v.plane[0]) {
    extent.row_bytes = std::max(extent.row_bytes, input.red.v.row_bytes(p, input.red.width(g.width)));
    extent.rows = std::max(extent.rows, input.red.height(g.height));
  }
  return extent;
}

/// Size of one step of pixel values in 8-bit grey levels, a power of two.
inline double code_unit(const PixelLayout& layout) { return 1.0 / (1 << (layout.depth - 8)); }

/// Values of all blocks of one scale, row by row; bit-identical on every twin.
struct BlockValues {
  std::vector<double> zeta, energy, orient;
  std::vector<std::uint16_t> shape;  ///< gamma in thousandths, kNoShape where the table has none
};

/// A frame of the worker's geometry, which must be measurable().
struct Task {
  Frame frame;
  Channel channel = Channel::kRed;
  bool interlaced = false;  ///< its chroma rows belong to separate fields
};

class Meter : public Worker<Task, Features> {
 public:
  /// Block values of a scale, 0...2, of the last frame collected: for tests. Waits, and allocates the result.
  virtual BlockValues blocks(int scale) = 0;
};

}  // namespace framequality::bliinds
