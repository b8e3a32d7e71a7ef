// SPDX-License-Identifier: LGPL-2.1-or-later
// System memory that the GPU reads without a copy on the host: a pool to offer upstream, and others' memory in place.
#pragma once

#include "cuda/pinned.h"

#include <gst/gst.h>

#include <cstddef>

namespace framequality {

/// What pins memory, as a table, so that tests can put their own in its place. As cuda::pin() and cuda::unpin().
struct Pinning {
  bool (*pin)(void* data, std::size_t bytes, int id) noexcept = cuda::pin;
  void (*unpin)(void* data, int id) noexcept = cuda::unpin;
};

/// The table in use. Write it only while no element exists.
inline Pinning& pinning() {
  static Pinning table;
  return table;
}

/// Adds a pool of pinned buffers for frames of the query's caps, and its allocator, to an ALLOCATION query that offers
/// no pool, if it asks for one; nothing if the caps are not for system memory.
/// Buffers are plain system memory to everybody else: default strides, mappable, usable after CUDA is gone.
/// min: buffers that the element itself holds. id: CUDA device. bytes: of a frame, where its caps do not tell.
void offer_pinned_pool(GstQuery* query, guint min, int id, guint bytes = 0);

/// Pins the buffer's memory in place once it has come back to `owner` (any address; it is only compared) often enough
/// to be worth it: what pools recycle. Unpinned when the memory is freed. System memory only; bounded in number and
/// bytes for the process. Never fails: what cannot be pinned is left as it is. Any thread.
void pin_if_recurring(GstBuffer* buffer, const void* owner, int id);

}  // namespace framequality
