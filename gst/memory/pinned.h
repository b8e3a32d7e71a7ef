// SPDX-License-Identifier: LGPL-2.1-or-later
// System memory that a device reads without a copy on the host: a pool to offer upstream, and others' memory in place.
#pragma once

#include "device/backend.h"

#include <gst/gst.h>

namespace framequality {

/// Adds a pool of pinned buffers for frames of the query's caps, and its allocator, to an ALLOCATION query that offers
/// no pool, if it asks for one; nothing if the caps are not for system memory, or the place's backend pins none.
/// Buffers are plain system memory to everybody else: default strides, mappable, usable after the device is gone.
/// min: buffers that the element itself holds. bytes: of a frame, where its caps do not tell.
void offer_pinned_pool(GstQuery* query, guint min, const Place& place, guint bytes = 0);

/// True if an ALLOCATION query is one that offer_pinned_pool() would answer at some place.
bool wants_pool(GstQuery* query);

/// Pins the buffer's memory in place once it has come back to `owner` (any address; it is only compared) often enough
/// to be worth it: what pools recycle. Unpinned when the memory is freed. System memory only; bounded in number and
/// bytes for the process. Never fails: what cannot be pinned is left as it is. may_move: where this place pins nothing,
/// memory that comes back is counted all the same, for one that will. Any thread.
void pin_if_recurring(GstBuffer* buffer, const void* owner, const Place& place, bool may_move = false);

}  // namespace framequality
