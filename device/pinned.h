// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that a device reads by itself.
#pragma once

#include "device/backend.h"

#include <cstddef>
#include <memory>
#include <new>

namespace framequality {

/// Page-aligned host memory, which the place's device reads by itself if its backend supports and permits it. It stays
/// readable after the device's other contexts are gone. Throws std::bad_alloc. Any thread.
class PinnedBytes {
 public:
  PinnedBytes(std::size_t bytes, const Place& place)
      : allocated_(place.backend->allocate ? place.backend->allocate(whole(bytes), place.id) : nullptr),
        data_(allocated_ ? allocated_.get() : ::operator new(whole(bytes), kPage)),
        place_(place),
        pinned_(!allocated_ && place.backend->pin && place.backend->pin(data_, whole(bytes), place.id)) {}
  ~PinnedBytes() {
    if (pinned_) place_.backend->unpin(data_, place_.id);
    if (!allocated_) ::operator delete(data_, kPage);
  }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  void* data() const { return data_; }
  bool is_pinned() const { return pinned_ || allocated_; }

 private:
  static constexpr std::align_val_t kPage{4096};
  static constexpr std::size_t whole(std::size_t bytes) {
    constexpr auto kSize = static_cast<std::size_t>(kPage);
    return (bytes + (bytes == 0 ? 1 : 0) + kSize - 1) / kSize * kSize;
  }
  std::shared_ptr<void> allocated_;  ///< by the backend; null: by this class
  void* data_;
  Place place_;
  bool pinned_;
};

}  // namespace framequality
