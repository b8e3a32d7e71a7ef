// SPDX-License-Identifier: LGPL-2.1-or-later
// The pool of pinned buffers that upstream is offered: when, what its buffers are, and that pipelines stay as they
// were.
#include "tests/gst/pool.h"

#include "tests/gst/sharpnessmeter/scores.h"

#include <cstring>

namespace framequality::test {
namespace {

/// Writes and reads all of it.
void use(GstBuffer* buffer) {
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READWRITE));
  std::memset(map.data, 0x5a, map.size);
  EXPECT_EQ(map.data[map.size - 1], 0x5a);
  gst_buffer_unmap(buffer, &map);
}

class Pool : public Scripted {};

TEST_F(Pool, BuffersArePinnedOrdinarySystemMemory) {
  PoolRig rig{{"in-flight", "3"}};
  rig.caps(kPoolCaps);
  const QueryPtr query = ask(rig);
  ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), 1u);
  guint size = 0, min = 0, max = 1;
  gst_query_parse_nth_allocation_pool(query.get(), 0, nullptr, &size, &min, &max);
  const GstVideoInfo info = video_info(kPoolCaps);
  EXPECT_EQ(size, info.size);
  EXPECT_EQ(min, 4u) << "those in flight and the one that comes";
  EXPECT_EQ(max, 0u);
  EXPECT_EQ(gst_query_get_n_allocation_metas(query.get()), 0u) << "strides would change under a filesink";
  const PoolPtr pool = pool_in(query.get());
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  EXPECT_EQ(pins.now(), 4);
  {
    const BufferPtr buffer = take(pool.get());
    EXPECT_EQ(gst_buffer_get_size(buffer.get()), info.size);
    EXPECT_FALSE(gst_buffer_get_video_meta(buffer.get()));
    ASSERT_EQ(gst_buffer_n_memory(buffer.get()), 1u);
    EXPECT_TRUE(gst_memory_is_type(gst_buffer_peek_memory(buffer.get(), 0), GST_ALLOCATOR_SYSMEM));
    EXPECT_TRUE(is_pinned(buffer.get()));
    use(buffer.get());
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
  EXPECT_EQ(pins.now(), 0);
}

TEST_F(Pool, MosaicsAreOfferedBuffersOfTheirSize) {
  const std::string caps = "video/x-bayer,format=rggb12le,width=321,height=242,framerate=30/1";
  PoolRig rig;
  rig.caps(caps);
  const QueryPtr query = ask(rig, caps);
  ASSERT_EQ(gst_query_get_n_allocation_pools(query.get()), 1u);
  const PoolPtr pool = pool_in(query.get());
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  {
    const BufferPtr buffer = take(pool.get());
    EXPECT_EQ(gst_buffer_get_size(buffer.get()), 324u * 2 * 242);
    EXPECT_TRUE(is_pinned(buffer.get()));
    use(buffer.get());
  }
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST_F(Pool, BuffersOutliveElementAndFault) {
  BufferPtr buffer;
  PoolPtr pool;
  {
    PoolRig rig;
    rig.caps(kPoolCaps);
    pool = pool_in(ask(rig).get());
    gst_buffer_pool_set_active(pool.get(), TRUE);
    buffer = take(pool.get());
    script.fail_submit_at = 0;
    EXPECT_EQ(rig.push(BufferPtr(gst_buffer_ref(buffer.get()))), GST_FLOW_OK);
  }
  use(buffer.get());
  gst_buffer_pool_set_active(pool.get(), FALSE);
  pool.reset();
  use(buffer.get());
  EXPECT_TRUE(is_pinned(buffer.get()));
  buffer.reset();
  EXPECT_EQ(pins.now(), 0);
}

TEST_F(Pool, FramesOfItAreScoredAndNotPinnedAgain) {
  PoolRig rig{{"in-flight", "2"}};
  const std::string caps = video_caps("GRAY8", 640, 480);
  rig.caps(caps);
  const PoolPtr pool = pool_in(ask(rig, caps).get());
  gst_buffer_pool_set_active(pool.get(), TRUE);
  for (std::uint64_t i = 0; i < 12; ++i) {
    BufferPtr buffer = take(pool.get());
    EXPECT_TRUE(is_pinned(buffer.get()));
    const BufferPtr picture = random_buffer(caps, i);
    GstMapInfo map;
    gst_buffer_map(picture.get(), &map, GST_MAP_READ);
    gst_buffer_fill(buffer.get(), 0, map.data, map.size);
    gst_buffer_unmap(picture.get(), &map);
    EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
    if (i < 2) continue;
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out);
    EXPECT_EQ(meta_score(out.get()), expected(caps, out.get()).score);
  }
  EXPECT_EQ(pins.asked(), 3) << "each buffer once, when it was made";
  while (rig.pull()) continue;
  gst_harness_push_event(rig.harness(), gst_event_new_eos());
  while (rig.pull()) continue;
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST_F(Pool, AllocatorHonoursParams) {
  PoolRig rig;
  rig.caps(kPoolCaps);
  const AllocatorPtr allocator = allocator_in(ask(rig).get());
  ASSERT_TRUE(allocator);
  for (const gsize align : {gsize{0}, gsize{63}, gsize{4095}, gsize{65535}}) {
    GstAllocationParams params;
    gst_allocation_params_init(&params);
    params.align = align;
    params.prefix = 48;
    params.padding = 33;
    params.flags = static_cast<GstMemoryFlags>(GST_MEMORY_FLAG_ZERO_PREFIXED | GST_MEMORY_FLAG_ZERO_PADDED);
    const MemoryPtr memory(gst_allocator_alloc(allocator.get(), 1001, &params));
    ASSERT_TRUE(memory);
    gsize offset = 0, maxsize = 0;
    EXPECT_EQ(gst_memory_get_sizes(memory.get(), &offset, &maxsize), 1001u);
    EXPECT_EQ(offset, 48u);
    EXPECT_GE(maxsize, 48u + 1001u + 33u);
    GstMapInfo map;
    ASSERT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_READWRITE));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(map.data - 48) & align, 0u) << align;
    for (int i = 1; i <= 48; ++i) ASSERT_EQ(map.data[-i], 0);
    for (int i = 0; i < 33; ++i) ASSERT_EQ(map.data[1001 + i], 0);
    std::memset(map.data, 1, map.size);
    EXPECT_EQ(pins.covers(map.data, map.size), align <= 4095);
    gst_memory_unmap(memory.get(), &map);
  }
  EXPECT_EQ(pins.now(), 0);
}

TEST_F(Pool, TakesPaddingOfDecoders) {
  PoolRig rig;
  rig.caps(kPoolCaps);
  const PoolPtr pool = pool_in(ask(rig).get());
  GstStructure* config = gst_buffer_pool_get_config(pool.get());
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_ALIGNMENT);
  GstVideoAlignment alignment;
  gst_video_alignment_reset(&alignment);
  alignment.padding_left = alignment.padding_right = alignment.padding_top = alignment.padding_bottom = 16;
  alignment.stride_align[0] = alignment.stride_align[1] = alignment.stride_align[2] = 31;
  gst_buffer_pool_config_set_video_alignment(config, &alignment);
  ASSERT_TRUE(gst_buffer_pool_set_config(pool.get(), config));
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  BufferPtr buffer = take(pool.get());
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer.get());
  ASSERT_TRUE(meta);
  EXPECT_GE(meta->stride[0], 322 + 32);
  EXPECT_TRUE(is_pinned(buffer.get()));
  use(buffer.get());
  GST_BUFFER_PTS(buffer.get()) = 0;
  const double want = expected(kPoolCaps, buffer.get()).score;
  EXPECT_EQ(rig.score(std::move(buffer)), want);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

TEST_F(Pool, PartsAndCopiesWorkAsUsual) {
  PoolRig rig;
  rig.caps(kPoolCaps);
  const AllocatorPtr allocator = allocator_in(ask(rig).get());
  MemoryPtr memory(gst_allocator_alloc(allocator.get(), 1000, nullptr));
  gst_memory_resize(memory.get(), 0, 1000);
  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(memory.get(), &map, GST_MAP_WRITE));
  for (gsize i = 0; i < map.size; ++i) map.data[i] = static_cast<std::uint8_t>(i * 7);
  gst_memory_unmap(memory.get(), &map);
  const MemoryPtr copy(gst_memory_copy(memory.get(), 10, 100));
  MemoryPtr part(gst_memory_share(memory.get(), 10, 100));
  ASSERT_TRUE(copy && part);
  memory.reset();
  EXPECT_EQ(pins.now(), 1) << "the part holds the whole";
  for (GstMemory* m : {copy.get(), part.get()}) {
    ASSERT_TRUE(gst_memory_map(m, &map, GST_MAP_READ));
    ASSERT_EQ(map.size, 100u);
    for (gsize i = 0; i < map.size; ++i) ASSERT_EQ(map.data[i], static_cast<std::uint8_t>((i + 10) * 7));
    EXPECT_EQ(pins.covers(map.data, map.size), m == part.get());
    gst_memory_unmap(m, &map);
  }
  part.reset();
  EXPECT_EQ(pins.now(), 0);
}

TEST_F(Pool, MemoryThatCannotBePinnedServesAsWell) {
  pins.refuse();
  PoolRig rig;
  rig.caps(kPoolCaps);
  const PoolPtr pool = pool_in(ask(rig).get());
  ASSERT_TRUE(gst_buffer_pool_set_active(pool.get(), TRUE));
  for (int visit = 0; visit < 6; ++visit) {
    BufferPtr buffer = take(pool.get());
    use(buffer.get());
    rig.pass(std::move(buffer));
  }
  EXPECT_LE(pins.asked(), 2) << "it is not tried again, frame by frame";
  EXPECT_EQ(pins.pinned(), 0);
  gst_buffer_pool_set_active(pool.get(), FALSE);
}

}  // namespace
}  // namespace framequality::test
