// SPDX-License-Identifier: LGPL-2.1-or-later
// System memory that a device reads without a copy on the host.
#include "gst/memory/pinned.h"

#include "device/pinned.h"
#include "gst/memory/dma.h"
#include "gst/memory/kinds.h"
#include "gst/object/guard.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <unistd.h>

namespace framequality {

namespace {

constexpr std::size_t kPage = 4096;
// Pinning costs as much as copying twice; memory that returned twice will probably return again.
constexpr int kReturns = 2;
// Smaller copies on the host take less than 20 us.
constexpr std::size_t kLeastBytes = std::size_t{1} << 18;
constexpr std::int64_t kMostMemories = 4096;

/// Bytes that may be pinned in place: an eighth of the machine's memory.
std::int64_t most_bytes() {
  static const std::int64_t bytes = std::int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE) / 8;
  return bytes;
}

std::atomic<std::int64_t> pinned_memories = 0, pinned_bytes = 0;

/// State of one GstMemory; freed with it.
struct PinRecord {
  explicit PinRecord(const void* owner) : owner(owner) {}
  PinRecord(const PinRecord&) = delete;
  PinRecord& operator=(const PinRecord&) = delete;
  const void* owner;  ///< the first element that saw it
  int returns = 0;    ///< number of times that element saw it again
  bool tried = false;
  void* data = nullptr;  ///< pinned here; null: not pinned
  std::size_t bytes = 0;
  Place place{};

  /// Call it under the mutex of pin_if_recurring().
  void pin(void* at, std::size_t size, const Place& where) {
    tried = true;
    const auto more = static_cast<std::int64_t>(size);
    if (pinned_memories >= kMostMemories || pinned_bytes + more > most_bytes() ||
        !where.backend->pin(at, size, where.id))
      return;
    data = at;
    bytes = size;
    place = where;
    ++pinned_memories;
    pinned_bytes += more;
  }
  ~PinRecord() {
    if (!data) return;
    place.backend->unpin(data, place.id);
    --pinned_memories;
    pinned_bytes -= static_cast<std::int64_t>(bytes);
  }
};

GQuark sightings_quark() {
  static const GQuark quark = g_quark_from_static_string("framequality-records");
  return quark;
}

/// The memory's record, a new one if there is none; nullptr if it is another element's. Under the mutex of
/// pin_if_recurring().
PinRecord* sightings_of(GstMemory* memory, const void* owner) {
  auto* object = GST_MINI_OBJECT_CAST(memory);
  if (auto* known = static_cast<PinRecord*>(gst_mini_object_get_qdata(object, sightings_quark())))
    return known->owner == owner ? known : nullptr;
  auto* records = new PinRecord(owner);
  gst_mini_object_set_qdata(object, sightings_quark(), records, [](gpointer p) { delete static_cast<PinRecord*>(p); });
  return records;
}

/// A pinned block as GstMemory. Throws std::bad_alloc.
GstMemory* allocate(gsize size, const GstAllocationParams* params, const Place& place) {
  const gsize maxsize = size + params->prefix + params->padding;
  auto* block = new PinnedBytes(maxsize, place);
  auto* data = static_cast<std::uint8_t*>(block->data());
  if (params->flags & GST_MEMORY_FLAG_ZERO_PREFIXED) std::memset(data, 0, params->prefix);
  if (params->flags & GST_MEMORY_FLAG_ZERO_PADDED) std::memset(data + params->prefix + size, 0, params->padding);
  // Wrapped memory is freed, shared and copied like any system memory.
  GstMemory* memory = gst_memory_new_wrapped(params->flags, data, maxsize, params->prefix, size, block,
                                             [](gpointer p) { delete static_cast<PinnedBytes*>(p); });
  sightings_of(memory, nullptr);  // no owner: it need not be pinned again
  return memory;
}

}  // namespace

}  // namespace framequality

struct FqPinnedAllocator {
  GstAllocator parent;
  framequality::Place place;
};
struct FqPinnedAllocatorClass {
  GstAllocatorClass parent_class;
};
GType fq_pinned_allocator_get_type();
G_DEFINE_TYPE(FqPinnedAllocator, fq_pinned_allocator, GST_TYPE_ALLOCATOR)

static GstMemory* pinned_alloc(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  using namespace framequality;
  if (params->align >= kPage) return gst_allocator_alloc(nullptr, size, params);
  return guard<GstMemory*>(
      nullptr, [&] { return allocate(size, params, reinterpret_cast<FqPinnedAllocator*>(allocator)->place); });
}

static void fq_pinned_allocator_init(FqPinnedAllocator* self) {
  GST_ALLOCATOR_CAST(self)->mem_type = GST_ALLOCATOR_SYSMEM;
}

static void fq_pinned_allocator_class_init(FqPinnedAllocatorClass* klass) {
  GST_ALLOCATOR_CLASS(klass)->alloc = pinned_alloc;
}

namespace framequality {

bool wants_pool(GstQuery* query) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  GstVideoInfo info;
  gst_query_parse_allocation(query, &caps, &need_pool);
  // Upstream elements with their own pool may use an allocator per frame: pinning each costs more than copying it.
  if (!need_pool || !caps || !gst_caps_is_fixed(caps) || !gst_video_info_from_caps(&info, caps)) return false;
  const GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  if (memory_of(features) != Memory::kHost || gst_caps_features_contains(features, FQ_DMA_FEATURE)) return false;
  // An allocator that downstream requests is kept, and would not be ours.
  return gst_query_get_n_allocation_pools(query) == 0 && gst_query_get_n_allocation_params(query) == 0;
}

void offer_pinned_pool(GstQuery* query, guint min, const Place& place, guint bytes) {
  if (!place.backend->pin || !wants_pool(query)) return;
  GstCaps* caps = nullptr;
  GstVideoInfo info;
  gst_query_parse_allocation(query, &caps, nullptr);
  gst_video_info_from_caps(&info, caps);
  auto* allocator = static_cast<GstAllocator*>(g_object_new(fq_pinned_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  reinterpret_cast<FqPinnedAllocator*>(allocator)->place = place;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_query_add_allocation_param(query, allocator, &params);
  const bool raw = GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_ENCODED;
  const guint size = raw ? static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)) : bytes;
  GstBufferPool* pool = raw ? gst_video_buffer_pool_new() : gst_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, 0);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  if (gst_buffer_pool_set_config(pool, config)) gst_query_add_allocation_pool(query, pool, size, min, 0);
  gst_object_unref(pool);
  gst_object_unref(allocator);
}

void pin_if_recurring(GstBuffer* buffer, const void* owner, const Place& place, bool may_move) {
  if (!place.backend->pin && !may_move) return;
  static std::mutex mutex;
  const guint count = gst_buffer_n_memory(buffer);
  const GstMemory* last = nullptr;
  for (guint i = 0; i < count; ++i) {
    GstMemory* memory = gst_buffer_peek_memory(buffer, i);
    if (memory->parent) memory = memory->parent;  // parts of a memory come and go, the whole returns
    if (memory == last) continue;                 // several planes in one memory count once
    last = memory;
    // Other kinds may be mapped elsewhere each time.
    if (memory->maxsize < kLeastBytes || !memory->allocator ||
        g_strcmp0(memory->allocator->mem_type, GST_ALLOCATOR_SYSMEM) != 0)
      continue;
    const std::lock_guard lock(mutex);
    PinRecord* records = sightings_of(memory, owner);
    if (!records || records->tried || ++records->returns <= kReturns || !place.backend->pin) continue;
    GstMapInfo map;
    if (!gst_memory_map(memory, &map, GST_MAP_READ)) continue;
    records->pin(map.data - memory->offset, memory->maxsize, place);
    gst_memory_unmap(memory, &map);
  }
}

}  // namespace framequality
