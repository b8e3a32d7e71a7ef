// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffer pools of elements that hold buffers back.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// Makes the pools that an allocation query was answered with larger by `held` buffers, or upstream would wait for one
/// that is held here.
inline void reserve_held_buffers(GstQuery* query, guint held) {
  for (guint i = 0; held > 0 && i < gst_query_get_n_allocation_pools(query); ++i) {
    GstBufferPool* pool = nullptr;
    guint size, min, max;
    gst_query_parse_nth_allocation_pool(query, i, &pool, &size, &min, &max);
    gst_query_set_nth_allocation_pool(query, i, pool, size, min + held, max > 0 ? max + held : 0);
    if (pool) gst_object_unref(pool);
  }
}

}  // namespace framequality
