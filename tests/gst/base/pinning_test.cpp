// SPDX-License-Identifier: LGPL-2.1-or-later
// Pinning in place: which memory is pinned, on which visit, how often, and until when.
#include "tests/gst/pool.h"

namespace framequality::test {
namespace {

// Just as large as memory has to be.
const std::string kLarge = video_caps("GRAY8", 512, 512);
const std::string kSmall = video_caps("GRAY8", 512, 511);

/// A pool of one buffer, recycled for as long as this lives.
class OneBuffer {
 public:
  explicit OneBuffer(const std::string& caps, GstAllocator* allocator = nullptr) : pool_(gst_buffer_pool_new()) {
    GstStructure* config = gst_buffer_pool_get_config(pool_.get());
    const CapsPtr c(gst_caps_from_string(caps.c_str()));
    gst_buffer_pool_config_set_params(config, c.get(), static_cast<guint>(video_info(caps).size), 1, 1);
    if (allocator) gst_buffer_pool_config_set_allocator(config, allocator, nullptr);
    EXPECT_TRUE(gst_buffer_pool_set_config(pool_.get(), config));
    EXPECT_TRUE(gst_buffer_pool_set_active(pool_.get(), TRUE));
  }
  ~OneBuffer() { gst_buffer_pool_set_active(pool_.get(), FALSE); }
  OneBuffer(const OneBuffer&) = delete;
  OneBuffer& operator=(const OneBuffer&) = delete;

  BufferPtr get() {
    BufferPtr buffer = take(pool_.get());
    GST_BUFFER_PTS(buffer.get()) = 0;
    return buffer;
  }

 private:
  PoolPtr pool_;
};

class Pinning : public Scripted {
 protected:
  /// What has been asked for after each of `visits` of a buffer to the meter.
  static std::vector<int> visits(Rig& rig, OneBuffer& pool, int count) {
    std::vector<int> asked;
    for (int i = 0; i < count; ++i) {
      EXPECT_TRUE(rig.pass(pool.get()));
      asked.push_back(pins.asked());
    }
    return asked;
  }
  using Counts = std::vector<int>;
};

TEST_F(Pinning, RecycledMemoryIsPinnedAtItsThirdVisitUntilItDies) {
  Rig rig;
  rig.caps(kLarge);
  {
    OneBuffer pool(kLarge);
    EXPECT_EQ(visits(rig, pool, 6), (Counts{0, 0, 1, 1, 1, 1}));
    EXPECT_TRUE(is_pinned(pool.get().get()));
  }
  EXPECT_EQ(pins.now(), 0);
  // Each memory counts for itself, and new memory starts anew.
  OneBuffer first(kLarge), second(kLarge);
  EXPECT_EQ(visits(rig, first, 2), (Counts{1, 1}));
  EXPECT_EQ(visits(rig, second, 2), (Counts{1, 1}));
  EXPECT_EQ(visits(rig, second, 2), (Counts{2, 2}));
  EXPECT_EQ(visits(rig, first, 2), (Counts{3, 3}));
  EXPECT_EQ(pins.now(), 2);
}

TEST_F(Pinning, PinnedMemoryOutlivesTheElement) {
  OneBuffer pool(kLarge);
  {
    Rig rig;
    rig.caps(kLarge);
    visits(rig, pool, 3);
  }
  EXPECT_TRUE(is_pinned(pool.get().get()));
}

TEST_F(Pinning, FreshMemoryIsNot) {
  Rig rig;
  rig.caps(kLarge);
  for (std::uint64_t i = 0; i < 20; ++i) rig.pass(random_buffer(kLarge, i));
  EXPECT_EQ(pins.asked(), 0);
}

TEST_F(Pinning, SmallMemoryIsNot) {
  Rig rig;
  rig.caps(kSmall);
  OneBuffer pool(kSmall);
  EXPECT_EQ(visits(rig, pool, 5), (Counts{0, 0, 0, 0, 0}));
}

TEST_F(Pinning, MetersBehindATeeDoNotTakeEachOthersVisitsForReturns) {
  Rig a, b, c;
  for (Rig* rig : {&a, &b, &c}) rig->caps(kLarge);
  for (std::uint64_t i = 0; i < 6; ++i) {
    const BufferPtr fresh = random_buffer(kLarge, i);
    for (Rig* rig : {&a, &b, &c}) rig->pass(BufferPtr(gst_buffer_ref(fresh.get())));
  }
  EXPECT_EQ(pins.asked(), 0);
  // What does come back is pinned once, for all.
  OneBuffer pool(kLarge);
  for (int visit = 1; visit <= 5; ++visit) {
    const BufferPtr same = pool.get();
    for (Rig* rig : {&a, &b, &c}) rig->pass(BufferPtr(gst_buffer_ref(same.get())));
    EXPECT_EQ(pins.asked(), visit >= 3) << visit;
  }
}

TEST_F(Pinning, RefusedMemoryIsNotTriedAgain) {
  pins.refuse();
  Rig rig;
  rig.caps(kLarge);
  OneBuffer pool(kLarge);
  EXPECT_EQ(visits(rig, pool, 10), (Counts{0, 0, 1, 1, 1, 1, 1, 1, 1, 1}));
}

TEST_F(Pinning, PartsPinTheWhole) {
  Rig rig;
  rig.caps(kLarge);
  BufferPtr whole(gst_buffer_new_allocate(nullptr, 3 * 512 * 512, nullptr));
  gst_buffer_memset(whole.get(), 0, 7, 3 * 512 * 512);
  GstMemory* memory = gst_buffer_peek_memory(whole.get(), 0);
  for (gssize visit = 0; visit < 6; ++visit) {
    BufferPtr part(gst_buffer_new());
    gst_buffer_append_memory(part.get(), gst_memory_share(memory, visit % 3 * 512 * 512, 512 * 512));
    GST_BUFFER_PTS(part.get()) = 0;
    rig.pass(std::move(part));
    EXPECT_EQ(pins.asked(), visit >= 2) << visit;
  }
  EXPECT_TRUE(is_pinned(whole.get()));
  whole.reset();
  EXPECT_EQ(pins.now(), 0);
}

TEST_F(Pinning, MemoryThatBeginsLaterIsPinnedWhole) {
  Rig rig;
  rig.caps(kLarge);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.prefix = 100;
  params.padding = 50;
  const BufferPtr buffer(gst_buffer_new_allocate(nullptr, 512 * 512, &params));
  gst_buffer_memset(buffer.get(), 0, 7, 512 * 512);
  GST_BUFFER_PTS(buffer.get()) = 0;
  for (int i = 0; i < 3; ++i) rig.pass(BufferPtr(gst_buffer_ref(buffer.get())));
  GstMapInfo map;
  ASSERT_TRUE(gst_buffer_map(buffer.get(), &map, GST_MAP_READ));
  EXPECT_TRUE(pins.covers(map.data - 100, 512 * 512 + 150));
  gst_buffer_unmap(buffer.get(), &map);
}

TEST_F(Pinning, FrameOfSeveralPartsIsOneVisit) {
  const std::string caps = video_caps("I420", 512, 512);
  Rig rig;
  rig.caps(caps);
  const auto parts_of = [](GstMemory* memory) {
    BufferPtr buffer(gst_buffer_new());
    gst_buffer_append_memory(buffer.get(), gst_memory_share(memory, 0, 512 * 512));
    for (gssize i = 0; i < 2; ++i)
      gst_buffer_append_memory(buffer.get(), gst_memory_share(memory, 512 * 512 + i * 256 * 256, 256 * 256));
    GST_BUFFER_PTS(buffer.get()) = 0;
    return buffer;
  };
  const auto memory_of = [&] { return random_buffer(caps, 1); };
  for (int i = 0; i < 4; ++i) rig.pass(parts_of(gst_buffer_peek_memory(memory_of().get(), 0)));
  EXPECT_EQ(pins.asked(), 0) << "fresh memory";
  const BufferPtr same = memory_of();
  for (int visit = 1; visit <= 5; ++visit) {
    rig.pass(parts_of(gst_buffer_peek_memory(same.get(), 0)));
    EXPECT_EQ(pins.asked(), visit >= 3) << visit;
  }
}

struct OtherAllocator {
  GstAllocator parent;
};
struct OtherAllocatorClass {
  GstAllocatorClass parent_class;
};
struct OtherMemory {
  GstMemory parent;
  gpointer bytes;
};
G_DEFINE_TYPE(OtherAllocator, other_allocator, GST_TYPE_ALLOCATOR)
void other_allocator_init(OtherAllocator* self) {
  self->parent.mem_type = "OtherMemory";
  self->parent.mem_map = [](GstMemory* memory, gsize, GstMapFlags) {
    return reinterpret_cast<OtherMemory*>(memory)->bytes;
  };
  self->parent.mem_unmap = [](GstMemory*) {};
}
void other_allocator_class_init(OtherAllocatorClass* klass) {
  klass->parent_class.alloc = [](GstAllocator* allocator, gsize size, GstAllocationParams*) {
    auto* memory = g_new0(OtherMemory, 1);
    memory->bytes = g_malloc0(size);
    gst_memory_init(&memory->parent, static_cast<GstMemoryFlags>(0), allocator, nullptr, size, 0, 0, size);
    return &memory->parent;
  };
  klass->parent_class.free = [](GstAllocator*, GstMemory* memory) {
    g_free(reinterpret_cast<OtherMemory*>(memory)->bytes);
    g_free(memory);
  };
}

TEST_F(Pinning, MemoryOfOtherKindsIsLeftAlone) {
  // It may lie elsewhere each time it is mapped.
  Rig rig;
  rig.caps(kLarge);
  const AllocatorPtr allocator(static_cast<GstAllocator*>(g_object_new(other_allocator_get_type(), nullptr)));
  gst_object_ref_sink(allocator.get());
  OneBuffer pool(kLarge, allocator.get());
  EXPECT_EQ(visits(rig, pool, 5), (Counts{0, 0, 0, 0, 0}));
}

TEST_F(Pinning, NothingIsPinnedForTheCpu) {
  {
    Rig rig{{"device", "cpu"}};
    rig.caps(kLarge);
    OneBuffer pool(kLarge);
    EXPECT_EQ(visits(rig, pool, 5), (Counts{0, 0, 0, 0, 0}));
  }
  script.fail_submit_at = 1;
  Rig rig;
  rig.caps(kLarge);
  OneBuffer pool(kLarge);
  EXPECT_EQ(visits(rig, pool, 6), (Counts{0, 0, 0, 0, 0, 0})) << "after a fault in the second frame";
}

TEST_F(Pinning, ReadOnlyAndUnmeasuredFramesDoNoHarm) {
  Rig rig{{"interval", "1000"}};
  rig.caps(kLarge);
  std::vector<std::uint8_t> bytes(512 * 512);
  {
    const BufferPtr constant(gst_buffer_new_wrapped_full(GST_MEMORY_FLAG_READONLY, bytes.data(), bytes.size(), 0,
                                                         bytes.size(), nullptr, nullptr));
    for (std::uint64_t i = 0; i < 8; ++i) {
      BufferPtr buffer(gst_buffer_copy(constant.get()));
      GST_BUFFER_PTS(buffer.get()) = i * 500;  // every other one is measured: a visit
      rig.pass(std::move(buffer));
      EXPECT_EQ(pins.asked(), i >= 4) << i;
    }
  }
  EXPECT_EQ(pins.now(), 0);
}

}  // namespace
}  // namespace framequality::test
