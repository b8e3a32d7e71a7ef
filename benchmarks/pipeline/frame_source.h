// SPDX-License-Identifier: LGPL-2.1-or-later
// A video source that costs next to nothing: each buffer is painted when it is first seen, then goes round and round.
#pragma once

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace framequality::bench {

/// Where a source's frames lie.
enum class SourceMemory {
  kOffered,   ///< buffers of the pool that downstream offers; without an offer the stream ends in an error
  kWilling,   ///< the same, and an ordinary pool as long as there is no offer
  kRecycled,  ///< an ordinary pool of its own, system memory
  kFresh,     ///< new pages for each frame, painted each time, which takes longer than most measuring
  kCuda,      ///< GstCudaBufferPool, if built with it
};

struct SourceOptions {
  std::string format = "NV12";  ///< GRAY8, NV12, P010_10LE or BGRx
  int width = 0, height = 0;
  SourceMemory memory = SourceMemory::kRecycled;
  int buffers = 8;    ///< least number in a pool
  bool live = false;  ///< each frame is pushed at its time, 60 a second; else as fast as they go
  std::shared_ptr<const std::vector<std::uint8_t>> luma;  ///< width x height bytes
  int cuda_device = 0;
};

inline constexpr int kSourceRate = 60;  ///< frames a second by caps and timestamps

/// What a source has done so far, and how it goes on; any thread, at any time.
struct SourceState {
  std::atomic<std::uint64_t> frames{0};
  std::atomic<bool> took_pool{false};  ///< the one that was offered
  std::atomic<bool> paced{false};      ///< may be set: frames come kSourceRate a second, else as fast as they go
  std::atomic<bool> is_held{false};    ///< may be set: no frame comes; notify when it is reset
  std::atomic<bool> is_idle{false};    ///< the streaming thread waits, because it is held
  std::atomic<int> core{-1};           ///< may be set: the streaming thread runs on this core alone; -1: on all
};

/// True if this build can make frames of kCuda.
bool has_cuda_memory();

/// A new element; floating, as those of factories are.
GstElement* make_frame_source(const SourceOptions& options, std::shared_ptr<SourceState> state);

}  // namespace framequality::bench
