// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that the GPU's copy engine reads by itself; no CUDA headers.
#pragma once

#include <cstddef>
#include <new>

namespace framequality::cuda {

/// Page-locks host memory that is there already, through device `id`, for all devices and contexts of the process;
/// false if the driver refuses (memory of some devices, no GPU, limits). The memory must stay where it is until
/// unpin(). Takes about 0.1 ms for each MiB, so it only pays for memory that is copied from several times. Any thread.
bool pin(void* data, std::size_t bytes, int id) noexcept;

/// Ends what pin() began. No copy may be reading the memory.
void unpin(void* data, int id) noexcept;

/// Page-aligned host memory, pinned if the driver lets it: it is ordinary memory of the process, so it stays readable
/// when CUDA contexts are gone. pin, unpin: what does it, so that tests can put others there. Throws std::bad_alloc.
/// Any thread.
class PinnedBytes {
 public:
  PinnedBytes(std::size_t bytes, int id, decltype(&cuda::pin) pin = cuda::pin,
              decltype(&cuda::unpin) unpin = cuda::unpin)
      : data_(::operator new(bytes > 0 ? bytes : 1, kPage)), id_(id), pinned_(pin(data_, bytes, id)), unpin_(unpin) {}
  ~PinnedBytes() {
    if (pinned_) unpin_(data_, id_);
    ::operator delete(data_, kPage);
  }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  void* data() const { return data_; }
  bool is_pinned() const { return pinned_; }

 private:
  static constexpr std::align_val_t kPage{4096};
  void* data_;
  int id_;
  bool pinned_;
  decltype(&cuda::unpin) unpin_;
};

}  // namespace framequality::cuda
