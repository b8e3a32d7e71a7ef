// SPDX-License-Identifier: LGPL-2.1-or-later
// Host memory that a device reads by itself.
#pragma once

#include "device/backend.h"

#include <cstddef>
#include <new>

namespace framequality {

/// Page-aligned host memory, pinned if the place's backend does that and lets it: it is ordinary memory of the process,
/// so it stays readable when the device's contexts are gone. Throws std::bad_alloc. Any thread.
class PinnedBytes {
 public:
  PinnedBytes(std::size_t bytes, const Place& place)
      : data_(::operator new(bytes > 0 ? bytes : 1, kPage)),
        place_(place),
        pinned_(place.backend->pin && place.backend->pin(data_, bytes, place.id)) {}
  ~PinnedBytes() {
    if (pinned_) place_.backend->unpin(data_, place_.id);
    ::operator delete(data_, kPage);
  }
  PinnedBytes(const PinnedBytes&) = delete;
  PinnedBytes& operator=(const PinnedBytes&) = delete;
  void* data() const { return data_; }
  bool is_pinned() const { return pinned_; }

 private:
  static constexpr std::align_val_t kPage{4096};
  void* data_;
  Place place_;
  bool pinned_;
};

}  // namespace framequality
