// SPDX-License-Identifier: LGPL-2.1-or-later
// System memory that a device reads without a copy on the host: a pool to offer upstream, and others' memory in place.
#pragma once

#include "device/backend.h"

#include <gst/gst.h>

namespace framequality {

/// Adds a pool of pinned buffers for frames of the query's caps, and its allocator, to an ALLOCATION query without
/// a pool, if it wants one; does nothing if the caps are not for system memory, or the place's backend pins none.
/// Buffers are plain system memory for everybody else: default strides, mappable, usable after the device is gone.
/// min: buffers that the element itself holds. bytes: of a frame, if its caps do not determine it.
void offer_pinned_pool(GstQuery* query, guint min, const Place& place, guint bytes = 0);

/// True if offer_pinned_pool() would answer an ALLOCATION query at some place.
bool wants_pool(GstQuery* query);

/// Pins the buffer's memory in place once it has returned to `owner` (any address; it is only compared) often enough
/// to be worth it, as recycled memory of pools does. Unpinned when the memory is freed. System memory only; bounded in
/// number and bytes per process. Never fails: what cannot be pinned stays as it is. may_move: if this place pins none,
/// count returning memory all the same, for one that will. Any thread.
void pin_if_recurring(GstBuffer* buffer, const void* owner, const Place& place, bool may_move = false);

}  // namespace framequality
