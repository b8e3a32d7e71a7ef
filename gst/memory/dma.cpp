// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers: their DMA caps, and devices that read them without a copy.
#include "gst/memory/dma.h"

#include <gst/allocators/gstdmabuf.h>

#include <algorithm>
#include <mutex>
#include <unistd.h>
#include <utility>
#include <vector>

namespace framequality {

namespace {

/// A memory in one device. Under `import_mutex`.
struct Imported {
  Place place;
  std::shared_ptr<void> import;
  bool is_busy = false;  ///< being imported
};
std::mutex import_mutex;

/// The memory's entry for this place, freed with the memory. Under `import_mutex`.
Imported& imported(GstMemory* memory, const Place& place) {
  using Entries = std::vector<std::unique_ptr<Imported>>;
  static const GQuark quark = g_quark_from_static_string("framequality-imports");
  auto* object = GST_MINI_OBJECT_CAST(memory);
  auto* entries = static_cast<Entries*>(gst_mini_object_get_qdata(object, quark));
  if (!entries) {
    entries = new Entries;
    gst_mini_object_set_qdata(object, quark, entries, [](gpointer p) { delete static_cast<Entries*>(p); });
  }
  for (const auto& entry : *entries)
    if (entry->place.backend == place.backend && entry->place.id == place.id) return *entry;
  return *entries->emplace_back(std::make_unique<Imported>(Imported{place, nullptr, false}));
}

/// The memory whose bytes this one shares: parts of a memory come and go, the whole returns.
GstMemory* whole_of(GstMemory* memory) { return memory->parent ? memory->parent : memory; }

/// Memories of a buffer in one DMA buffer: libcamera has one for each plane.
struct Together {
  GstMemory* first = nullptr;  ///< has the import of all
  gsize bytes = 0;             ///< up to the end of the last page that they use
};
Together together_with(GstMemory* memory, GstBuffer* buffer) {
  Together result;
  for (guint i = 0; i < gst_buffer_n_memory(buffer); ++i) {
    GstMemory* const whole = whole_of(gst_buffer_peek_memory(buffer, i));
    if (!gst_is_dmabuf_memory(whole) || gst_dmabuf_memory_get_fd(whole) != gst_dmabuf_memory_get_fd(memory)) continue;
    if (!result.first) result.first = whole;
    result.bytes = std::max(result.bytes, whole->maxsize);
  }
  // Kernels that read whole words past a frame's last row can then read it in place.
  constexpr gsize kPage = 4096;
  const auto all = static_cast<gsize>(std::max<off_t>(lseek(gst_dmabuf_memory_get_fd(memory), 0, SEEK_END), 0));
  result.bytes = std::max(result.bytes, std::min(all, (result.bytes + kPage - 1) / kPage * kPage));
  return result;
}

/// Whether a memory's bytes are ready where its descriptor maps them. Allocators with a function of their own for
/// mapping, as VA-API's, wait in it for their device, and refuse tiled layouts.
bool is_ready(GstMemory* memory) {
  static const auto usual = [] {
    GstAllocator* plain = gst_dmabuf_allocator_new();
    const std::pair functions(plain->mem_map, plain->mem_map_full);
    gst_object_unref(plain);
    return functions;
  }();
  if (std::pair(memory->allocator->mem_map, memory->allocator->mem_map_full) == usual) return true;
  GstMapInfo map;
  if (!gst_memory_map(memory, &map, GST_MAP_READ)) return false;
  gst_memory_unmap(memory, &map);
  return true;
}

/// The import of a buffer's DMA buffer, or null.
std::shared_ptr<void> import_once(const Together& together, const Place& place) {
  std::unique_lock lock(import_mutex);
  Imported& entry = imported(together.first, place);
  if (entry.is_busy || entry.import.use_count() > 1) return nullptr;
  entry.is_busy = true;
  lock.unlock();
  std::shared_ptr<void> import =
      place.backend->import(gst_dmabuf_memory_get_fd(together.first), together.bytes, entry.import, place.id);
  lock.lock();
  entry.is_busy = false;
  if (import != entry.import) entry.import = import;
  return import;
}

}  // namespace

DmaImport::DmaImport(GstBuffer* buffer, unsigned memories, const Place& place) {
  bool is_complete = place.backend->import != nullptr;
  for (guint i = 0; is_complete && memories >> i != 0; ++i)
    is_complete = (memories >> i & 1) == 0 || add(buffer, gst_buffer_peek_memory(buffer, i), place);
  if (!is_complete) release();
}

bool DmaImport::add(GstBuffer* buffer, GstMemory* memory, const Place& place) {
  if (count_ == parts_.size() || !gst_is_dmabuf_memory(memory) || !is_ready(memory)) return false;
  const int fd = gst_dmabuf_memory_get_fd(memory);
  const auto end = parts_.begin() + static_cast<std::ptrdiff_t>(count_);
  const auto same =
      std::find_if(parts_.begin(), end, [&](const Part& part) { return gst_dmabuf_memory_get_fd(part.memory) == fd; });
  Part& part = parts_[count_];
  part.import = same != end ? same->import : import_once(together_with(memory, buffer), place);
  if (!part.import || !gst_mini_object_lock(GST_MINI_OBJECT_CAST(memory), GST_LOCK_FLAG_READ)) return false;
  part.memory = memory;
  ++count_;
  return true;
}

void DmaImport::release() noexcept {
  if (!parts_.front().import) return;
  for (const Part& part : parts_)
    if (part.memory) gst_mini_object_unlock(GST_MINI_OBJECT_CAST(part.memory), GST_LOCK_FLAG_READ);
  const std::lock_guard lock(import_mutex);  // for use counts
  parts_ = {};
  count_ = 0;
}

const DmaImport::Part* DmaImport::find(const GstMemory* memory) const {
  const auto found = std::ranges::find(parts_, memory, &Part::memory);
  return memory && found != parts_.end() ? &*found : nullptr;
}

GstCaps* prefer_system_memory(GstCaps* caps) {
  GstCaps* others = gst_caps_copy(caps);
  gst_caps_filter_and_map_in_place(
      others,
      [](GstCapsFeatures* features, GstStructure*, gpointer) -> gboolean {
        return !gst_caps_features_contains(features, FQ_DMA_FEATURE);
      },
      nullptr);
  const bool any = !gst_caps_is_empty(others);
  gst_caps_unref(any ? caps : others);
  return any ? others : caps;
}

#if GST_CHECK_VERSION(1, 24, 0)

namespace {

constexpr guint64 kLinear = 0;

/// Sets field `to` of a structure to `name` of each string in field `from`, except those for which it returns
/// null. Returns false if none is left.
template <class F>
bool translate(GstStructure* s, const char* from, const char* to, F&& name) {
  const GValue* given = gst_structure_get_value(s, from);
  if (!given) return false;
  GValue names = G_VALUE_INIT;
  g_value_init(&names, GST_TYPE_LIST);
  const auto add = [&](const GValue* value) {
    TextPtr made(G_VALUE_HOLDS_STRING(value) ? name(g_value_get_string(value)) : nullptr);
    if (!made) return;
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_take_string(&item, made.release());
    gst_value_list_append_and_take_value(&names, &item);
  };
  if (GST_VALUE_HOLDS_LIST(given))
    for (guint i = 0; i < gst_value_list_get_size(given); ++i) add(gst_value_list_get_value(given, i));
  else
    add(given);
  const guint count = gst_value_list_get_size(&names);
  if (count == 1)
    gst_structure_set_value(s, to, gst_value_list_get_value(&names, 0));
  else if (count > 1)
    gst_structure_set_value(s, to, &names);
  g_value_unset(&names);
  return count > 0;
}

gchar* format_of(const gchar* drm) {
  guint64 modifier = 0;
  const guint32 fourcc = gst_video_dma_drm_fourcc_from_string(drm, &modifier);
  const GstVideoFormat format =
      fourcc != 0 && modifier == kLinear ? gst_video_dma_drm_fourcc_to_format(fourcc) : GST_VIDEO_FORMAT_UNKNOWN;
  return format == GST_VIDEO_FORMAT_UNKNOWN ? nullptr : g_strdup(gst_video_format_to_string(format));
}

gchar* drm_of(const gchar* format) {
  const guint32 fourcc = gst_video_dma_drm_fourcc_from_format(gst_video_format_from_string(format));
  return fourcc == 0 ? nullptr : gst_video_dma_drm_fourcc_to_string(fourcc, kLinear);
}

}  // namespace

bool read_info(GstVideoInfo& info, const GstCaps* caps) {
  GstVideoInfoDmaDrm drm;
  gst_video_info_dma_drm_init(&drm);
  if (!gst_video_is_dma_drm_caps(caps)) return gst_video_info_from_caps(&info, caps);
  if (!gst_video_info_dma_drm_from_caps(&drm, caps)) return false;
  info = drm.vinfo;
  return true;
}

CapsPtr out_of_dma_buffers(const GstCaps* caps) {
  CapsPtr result(gst_caps_copy(caps));
  gst_caps_filter_and_map_in_place(
      result.get(),
      [](GstCapsFeatures* features, GstStructure* s, gpointer) -> gboolean {
        if (!gst_caps_features_contains(features, FQ_DMA_FEATURE)) return TRUE;
        gst_caps_features_remove(features, FQ_DMA_FEATURE);
        const bool readable = translate(s, "drm-format", "format", format_of);
        gst_structure_remove_field(s, "drm-format");
        return readable;
      },
      nullptr);
  return result;
}

CapsPtr also_in_dma_buffers(const GstCaps* caps) {
  CapsPtr in_dma(gst_caps_copy(caps));
  gst_caps_filter_and_map_in_place(
      in_dma.get(),
      [](GstCapsFeatures* features, GstStructure* s, gpointer) -> gboolean {
        if (!gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY) ||
            !translate(s, "format", "drm-format", drm_of))
          return FALSE;
        gst_structure_set(s, "format", G_TYPE_STRING, "DMA_DRM", nullptr);
        gst_caps_features_remove(features, GST_CAPS_FEATURE_MEMORY_SYSTEM_MEMORY);
        gst_caps_features_add(features, FQ_DMA_FEATURE);
        return TRUE;
      },
      nullptr);
  return CapsPtr(gst_caps_merge(gst_caps_copy(caps), in_dma.release()));
}

#else

bool read_info(GstVideoInfo& info, const GstCaps* caps) { return gst_video_info_from_caps(&info, caps); }
CapsPtr out_of_dma_buffers(const GstCaps* caps) { return CapsPtr(gst_caps_copy(caps)); }
CapsPtr also_in_dma_buffers(const GstCaps* caps) { return CapsPtr(gst_caps_copy(caps)); }

#endif

}  // namespace framequality
