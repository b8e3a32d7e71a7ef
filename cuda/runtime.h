// SPDX-License-Identifier: LGPL-2.1-or-later
// Owners of CUDA streams, events and memory.
#pragma once

#include "cuda/check.h"
#include "device/error.h"

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <source_location>
#include <type_traits>

namespace framequality::cuda {

struct Release {
  void operator()(cudaStream_t s) const noexcept { (void)cudaStreamDestroy(s); }
  void operator()(cudaEvent_t e) const noexcept { (void)cudaEventDestroy(e); }
};
using Stream = std::unique_ptr<std::remove_pointer_t<cudaStream_t>, Release>;
using Event = std::unique_ptr<std::remove_pointer_t<cudaEvent_t>, Release>;

/// A stream that does not wait for the legacy default stream.
inline Stream make_stream() {
  cudaStream_t s;
  check(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return Stream(s);
}

inline Event make_event(unsigned flags) {
  cudaEvent_t e;
  check(cudaEventCreateWithFlags(&e, flags), "cudaEventCreateWithFlags");
  return Event(e);
}

struct ReleaseDevice {
  void operator()(void* p) const noexcept { (void)cudaFree(p); }
  static void* take(std::size_t bytes) {
    void* p;
    check(cudaMalloc(&p, bytes), "cudaMalloc");
    return p;
  }
};
struct ReleasePinned {
  void operator()(void* p) const noexcept { (void)cudaFreeHost(p); }
  static void* take(std::size_t bytes) {
    void* p;
    check(cudaHostAlloc(&p, bytes, cudaHostAllocPortable | cudaHostAllocMapped), "cudaHostAlloc");
    return p;
  }
};

/// Memory that only grows: reserve() keeps a large enough block, and otherwise replaces it, contents lost.
template <class T, class Memory>
class Buffer {
 public:
  T* get() const { return static_cast<T*>(data_.get()); }
  /// Returns whether the memory is new.
  bool reserve(std::size_t count) {
    if (count <= count_) return false;
    data_.reset();
    count_ = 0;
    data_.reset(Memory::take(count * sizeof(T)));
    count_ = count;
    return true;
  }

 private:
  std::unique_ptr<void, Memory> data_;
  std::size_t count_ = 0;
};
template <class T>
using DeviceMemory = Buffer<T, ReleaseDevice>;
template <class T>
using PinnedMemory = Buffer<T, ReleasePinned>;

/// As reserve(); new memory is zero when the stream gets there. For memory that is read beyond what was written,
/// without affecting results: tools that detect uninitialised reads then report only the others.
template <class T>
void reserve_zeroed(DeviceMemory<T>& memory, std::size_t count, cudaStream_t stream,
                    std::source_location where = std::source_location::current()) {
  if (memory.reserve(count))
    check(cudaMemsetAsync(memory.get(), 0, count * sizeof(T), stream), "cudaMemsetAsync", where);
}

/// Queues a copy of the first `count` values. From pinned memory only: the device may read pageable memory
/// later. `from` must stay unchanged until the stream has got there.
template <class T>
void copy_async(const DeviceMemory<T>& to, const PinnedMemory<T>& from, std::size_t count, cudaStream_t stream,
                std::source_location where = std::source_location::current()) {
  if (count > 0)
    check(cudaMemcpyAsync(to.get(), from.get(), count * sizeof(T), cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync",
          where);
}

}  // namespace framequality::cuda
