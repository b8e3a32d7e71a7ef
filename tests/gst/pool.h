// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for tests of allocation: queries as upstream asks them, before a downstream that answers as told.
#pragma once

#include "tests/gst/scripted.h"

#include <functional>

namespace framequality::test {

using QueryPtr = std::unique_ptr<GstQuery, Free<gst_query_unref>>;
using PoolPtr = std::unique_ptr<GstBufferPool, Free<gst_object_unref>>;
using AllocatorPtr = std::unique_ptr<GstAllocator, Free<gst_object_unref>>;
using MemoryPtr = std::unique_ptr<GstMemory, Free<gst_memory_unref>>;

// 322: rows of I420 are padded to 324 bytes.
inline const std::string kPoolCaps = video_caps("I420", 322, 242);

/// A rig before an element that leaves ALLOCATION queries unanswered, or answers them with `answer`. (The harness would
/// always name an allocator.)
template <class AnyRig>
class PoolRigOf : public AnyRig {
 public:
  PoolRigOf(std::initializer_list<std::pair<const char*, const char*>> properties = {},
            std::function<void(GstQuery*)> answer = nullptr)
      : AnyRig(properties), answer_(std::move(answer)), pad_(gst_element_get_static_pad(this->element(), "src")) {
    probe_ = gst_pad_add_probe(
        pad_, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM,
        [](GstPad*, GstPadProbeInfo* info, gpointer self) {
          GstQuery* query = gst_pad_probe_info_get_query(info);
          if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
          const auto& answer = static_cast<PoolRigOf*>(self)->answer_;
          if (!answer) return GST_PAD_PROBE_DROP;
          answer(query);
          return GST_PAD_PROBE_HANDLED;
        },
        this, nullptr);
  }
  ~PoolRigOf() {
    gst_pad_remove_probe(pad_, probe_);
    gst_object_unref(pad_);
  }

 private:
  std::function<void(GstQuery*)> answer_;
  GstPad* pad_;
  gulong probe_;
};
/// A meter there.
using PoolRig = PoolRigOf<Rig>;

/// An ALLOCATION query of upstream, answered.
inline QueryPtr ask(Rig& rig, const std::string& caps = kPoolCaps, bool need_pool = true) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  QueryPtr query(gst_query_new_allocation(c.get(), need_pool));
  gst_pad_peer_query(rig.harness()->srcpad, query.get());
  return query;
}
inline PoolPtr pool_in(GstQuery* query) {
  GstBufferPool* pool = nullptr;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &pool, nullptr, nullptr, nullptr);
  return PoolPtr(pool);
}
inline AllocatorPtr allocator_in(GstQuery* query) {
  GstAllocator* allocator = nullptr;
  if (gst_query_get_n_allocation_params(query) > 0) gst_query_parse_nth_allocation_param(query, 0, &allocator, nullptr);
  return AllocatorPtr(allocator);
}
inline BufferPtr take(GstBufferPool* pool) {
  GstBuffer* buffer = nullptr;
  EXPECT_EQ(gst_buffer_pool_acquire_buffer(pool, &buffer, nullptr), GST_FLOW_OK);
  return BufferPtr(buffer);
}
/// True if all the buffer's bytes are pinned, in one piece.
inline bool is_pinned(GstBuffer* buffer) {
  GstMapInfo map;
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  const bool pinned = gst_buffer_n_memory(buffer) == 1 && pins.covers(map.data, map.size);
  gst_buffer_unmap(buffer, &map);
  return pinned;
}

}  // namespace framequality::test
