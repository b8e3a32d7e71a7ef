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

/// What a feature pools from a scale's blocks. Tenths are the highest values, of kGamma the lowest.
enum Statistic { kZeta, kGamma, kEnergy, kOrient, kStatistics };
inline constexpr int kFeatures = kScales * kStatistics * 2;

/// Features in the order of the release: for each scale, largest first, and each Statistic, the mean over all blocks,
/// then the mean over the tenth. The twins agree to 1e-12 relative: they add in different orders.
using Features = std::array<double, kFeatures>;

/// Which codes of a frame are the picture.
enum class Channel : std::uint8_t {
  kLuma,  ///< as for sharpness
  kRed,   ///< what the published model was trained on: R as it is, of YUV as RedOfYuv says, of gray the gray itself
};

/// What all frames of a stream share.
struct Input {
  Geometry geometry;
  RedOfYuv red;  ///< of YUV layouts
  Input(const Geometry& geometry, const RedOfYuv& red = {}) : geometry(geometry), red(red) {}

  FQ_HD bool makes_red(Channel channel) const { return channel == Channel::kRed && red.exists(); }
};

/// Whether frames of this geometry can be measured.
FQ_HD bool measurable(const Geometry& g) { return g.width >= kLeastSide && g.height >= kLeastSide; }

/// Whether R is a component of its own; of a mosaic the one in each cell.
FQ_HD bool has_red(const PixelLayout& layout) {
  return layout.kind == PixelLayout::Kind::kRgb || layout.kind == PixelLayout::Kind::kBayer;
}

/// Layout and frame in which a channel stands as luma; Y, where red has to be made of it.
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

/// What is read of a frame's plane p; no bytes: nothing.
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

/// Size of one code in the unit of 8-bit grey levels, a power of two.
inline double code_unit(const PixelLayout& layout) { return 1.0 / (1 << (layout.depth - 8)); }

/// Values of all blocks of one scale, row by row. Bit for bit the same on every twin.
struct BlockValues {
  std::vector<double> zeta, energy, orient;
  std::vector<std::uint16_t> shape;  ///< gamma in thousandths, kNoShape where the table has none
};

/// A frame of the worker's measurable() geometry.
struct Task {
  Frame frame;
  Channel channel = Channel::kRed;
  bool interlaced = false;  ///< its chroma rows belong to fields
};

class Meter : public Worker<Task, Features> {
 public:
  /// Block values of a scale, 0...2, of the frame last collected: for tests. Waits, and allocates what it returns.
  virtual BlockValues blocks(int scale) = 0;
};

}  // namespace framequality::bliinds
