// SPDX-License-Identifier: LGPL-2.1-or-later
// What the CPU and CUDA twins of BLIINDS-II measure: frames in, 24 features out.
#pragma once

#include "algorithms/bliinds/scale.h"
#include "algorithms/layout.h"
#include "algorithms/worker.h"

#include <array>
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
  kRed,   ///< of RGB layouts only: what the published model was trained on
};

/// Whether frames of this geometry can be measured.
FQ_HD bool measurable(const Geometry& g) { return g.width >= kLeastSide && g.height >= kLeastSide; }
FQ_HD bool has_channel(const PixelLayout& layout, Channel channel) {
  return channel == Channel::kLuma || layout.kind == PixelLayout::Kind::kRgb;
}

/// Layout and frame in which a channel stands as luma.
inline PixelLayout channel_layout(PixelLayout layout, Channel channel) {
  if (channel == Channel::kLuma) return layout;
  layout.kind = PixelLayout::Kind::kLuma;
  layout.plane[0] = 0;
  return layout;
}
inline Frame channel_frame(const PixelLayout& layout, Frame frame, Channel channel) {
  if (channel == Channel::kLuma) return frame;
  frame.plane[0] = frame.plane[layout.plane[0]];
  frame.stride[0] = frame.stride[layout.plane[0]];
  return frame;
}

/// Size of one code in the unit of 8-bit codes, a power of two.
inline double code_unit(const PixelLayout& layout) { return 1.0 / (1 << (layout.depth - 8)); }

/// Values of all blocks of one scale, row by row. Bit for bit the same on every twin.
struct BlockValues {
  std::vector<double> zeta, energy, orient;
  std::vector<std::uint16_t> shape;  ///< gamma in thousandths, kNoShape where the table has none
};

/// A frame of the worker's measurable() geometry, whose layout has the channel.
struct Task {
  Frame frame;
  Channel channel = Channel::kLuma;
};

class Meter : public Worker<Task, Features> {
 public:
  /// Block values of a scale, 0...2, of the frame last collected: for tests. Waits, and allocates what it returns.
  virtual BlockValues blocks(int scale) = 0;
};

}  // namespace framequality::bliinds
