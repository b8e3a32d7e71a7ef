// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers' bare loop: NV12 frames in, the project's filter, frames out, and nothing around it.
#pragma once

#include "algorithms/denoise/filter.h"
#include "cuda/runtime.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace framequality::bench {

/// Where a loop's frames come from and go to.
enum class Lie {
  kDevice,    ///< GPU memory, and back to it
  kPinned,    ///< page-locked host memory, and back to it
  kPageable,  ///< ordinary host memory; to page-locked memory, which elements bring themselves
  kHost,      ///< ordinary host memory, and back to it: the CPU twin
};

/// What a loop filters: a picture as the frame source paints it, luma as given, chroma 128.
struct DenoiseWork {
  int width = 0, height = 0;
  std::shared_ptr<const std::vector<std::uint8_t>> luma;  ///< width x height bytes
  denoise::Settings settings;
  int frames = 8;  ///< in turn, each at a place of its own
};

/// Filters frames in turn, `depth` of them pending; when so many are, the host waits for the oldest.
class DenoiseLoop {
 public:
  /// id: CUDA device; not used with kHost, where depth is 1. Throws Error.
  DenoiseLoop(const DenoiseWork& work, Lie lie, int depth, int id);

  /// Frames filtered in one second, over so many seconds after a warm-up.
  double frames_per_second(double seconds);
  /// Frames that the kernels would do in one second, the copy of the chroma included, if nothing ever waited: kDevice.
  double kernels_per_second();
  /// What became of a frame once there was one: rows of Y, then of UV, without gaps.
  std::vector<std::uint8_t> result() const;

 private:
  std::size_t bytes() const;
  std::uint8_t* take(std::vector<std::uint8_t> contents, bool pinned);
  denoise::Source source(std::size_t turn) const;
  Canvas canvas(std::size_t turn) const;
  void submit();

  DenoiseWork work_;
  Lie lie_;
  int depth_, id_;
  PictureGeometry geometry_;
  std::ptrdiff_t stride_;
  std::vector<std::vector<std::uint8_t>> pageable_;
  std::vector<cuda::PinnedMemory<std::uint8_t>> pinned_;
  std::vector<cuda::DeviceMemory<std::uint8_t>> device_;
  std::vector<std::uint8_t*> in_, out_;
  std::unique_ptr<denoise::Filter> filter_;  ///< after what its frames lie in: it goes first, and waits for them
  std::size_t turn_ = 0;
};

}  // namespace framequality::bench
