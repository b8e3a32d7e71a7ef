// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffer pools in answers to allocation queries.
#pragma once

#include <gst/gst.h>

namespace framequality {

/// Enlarges the pools in the answer to an allocation query by `held` buffers, or upstream would wait for one
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

/// Replaces the first pool, if there is one.
inline void set_first_pool(GstQuery* query, GstBufferPool* pool, guint size, guint min, guint max) {
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_set_nth_allocation_pool(query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool(query, pool, size, min, max);
}

}  // namespace framequality
