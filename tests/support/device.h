// SPDX-License-Identifier: LGPL-2.1-or-later
// Device memory, stalls and faults for tests and benchmarks; no CUDA headers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

struct CUstream_st;

namespace framequality::cuda {

/// Bytes in device memory. Throws Error.
class DeviceBytes {
 public:
  /// A copy of `bytes` on device `id`. The address is a multiple of 256.
  DeviceBytes(std::span<const std::uint8_t> bytes, int id);
  const std::uint8_t* data() const { return static_cast<const std::uint8_t*>(data_.get()); }
  std::uint8_t* data() { return static_cast<std::uint8_t*>(data_.get()); }
  /// A copy on the host, into as many bytes as there are.
  void read(std::span<std::uint8_t> bytes) const;

 private:
  std::shared_ptr<void> data_;
};

/// Queues a kernel in a stream (a cudaStream_t) that does nothing for so long. Unit: seconds.
void stall(CUstream_st* stream, double seconds);

/// Queues a kernel in a stream that traps: the context is lost with it.
void trap(CUstream_st* stream);

/// Rate at which device `id` reads its memory: best of several passes of a plain sum over 4 GiB. Unit: bytes per
/// second.
double read_bandwidth(int id);

}  // namespace framequality::cuda
