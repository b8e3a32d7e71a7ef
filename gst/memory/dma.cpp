// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers: their DMA caps, and devices that read them without a copy.
#include "gst/memory/dma.h"

#include <gst/allocators/gstdmabuf.h>

#include <mutex>
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

}  // namespace

DmaImport::DmaImport(GstBuffer* buffer, const Place& place) {
  GstMemory* memory = gst_buffer_n_memory(buffer) > 0 ? gst_buffer_peek_memory(buffer, 0) : nullptr;
  if (!memory || !place.backend->import || !gst_is_dmabuf_memory(memory)) return;
  GstMemory* whole = memory->parent ? memory->parent : memory;  // parts of a memory come and go, the whole returns
  std::unique_lock lock(import_mutex);
  Imported& entry = imported(whole, place);
  if (entry.is_busy || entry.import.use_count() > 1) return;
  entry.is_busy = true;
  lock.unlock();
  std::shared_ptr<void> import =
      place.backend->import(gst_dmabuf_memory_get_fd(whole), whole->maxsize, entry.import, place.id);
  lock.lock();
  entry.is_busy = false;
  if (import != entry.import) entry.import = import;
  if (!import || !gst_mini_object_lock(GST_MINI_OBJECT_CAST(memory), GST_LOCK_FLAG_READ)) return;
  memory_ = memory;
  import_ = std::move(import);
}

DmaImport::~DmaImport() {
  if (!memory_) return;
  gst_mini_object_unlock(GST_MINI_OBJECT_CAST(memory_), GST_LOCK_FLAG_READ);
  const std::lock_guard lock(import_mutex);  // for its use count
  import_.reset();
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
