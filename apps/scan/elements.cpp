// SPDX-License-Identifier: LGPL-2.1-or-later
// Handling of elements that join a scan's pipeline: which are let in, and what they reveal.
#include "apps/scan/gpus.h"
#include "apps/scan/scanner.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace framequality::apps::scan {

namespace {

// Demuxers that know keyframes and give every frame its time.
constexpr std::string_view kIndexed[] = {"qtdemux", "matroskademux"};
constexpr char kCudaId[] = "cuda-device-id";
// Frames between decoder and meter in a GPU's memory. With each more that a file needs, the driver keeps the decoders
// of others waiting when it begins and ends.
constexpr guint kDecodedAheadOnGpu = 2;

bool is_demuxer(GstElement* element) {
  const gchar* klass = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
  return klass && std::string_view(klass).find("Demux") != std::string_view::npos;
}

void raise_to(std::atomic<std::uint64_t>& highest, std::uint64_t value) {
  for (std::uint64_t old = highest; old < value && !highest.compare_exchange_weak(old, value);) {
  }
}

}  // namespace

gint FileScan::on_select(GstElement*, GstPad*, GstCaps* caps, GstElementFactory* factory, gpointer self) {
  // GstAutoplugSelectResult, which is in no header.
  constexpr gint kTry = 0, kSkip = 2;
  const auto* scan = static_cast<FileScan*>(self);
  const int gpu = gpu_of(factory);
  if (gpu < 0) return kTry;
  if (scan->image_ || scan->gpu_ < 0) return can_processor_decode(caps) ? kSkip : kTry;
  return gpu == scan->gpu_ ? kTry : kSkip;
}

void FileScan::on_element(GstBin*, GstBin*, GstElement* element, gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  GstElementFactory* factory = gst_element_get_factory(element);
  if (int gpu = factory ? gpu_of(factory) : -1; gpu >= 0) {
    // Once loaded, it knows its GPU better than its name tells.
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), kCudaId)) {
      GValue id = G_VALUE_INIT;
      g_value_init(&id, G_TYPE_INT);
      g_object_get_property(G_OBJECT(element), kCudaId, &id);
      gpu = g_value_get_int(&id);
    }
    scan->decoder_gpu_ = gpu;
  }
  if (g_signal_lookup("have-type", G_OBJECT_TYPE(element)) != 0)
    g_signal_connect(element, "have-type", G_CALLBACK(on_type), self);
  if (!is_demuxer(element)) return;
  const std::string_view name = factory ? GST_OBJECT_NAME(factory) : "";
  if (std::find(std::begin(kIndexed), std::end(kIndexed), name) != std::end(kIndexed)) scan->has_index_ = true;
  // Nobody links streams other than video, but their data still pass here.
  const auto watch_pad = +[](GstElement*, GstPad* pad, gpointer to) {
    const auto see = +[](GstPad*, GstPadProbeInfo* info, gpointer into) {
      const GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
      ++static_cast<FileScan*>(into)->progress_;
      if (GST_BUFFER_PTS_IS_VALID(buffer)) raise_to(static_cast<FileScan*>(into)->data_end_, GST_BUFFER_PTS(buffer));
      return GST_PAD_PROBE_OK;
    };
    if (!GST_PAD_IS_SRC(pad)) return;
    ++static_cast<FileScan*>(to)->streams_;
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, see, to, nullptr);
  };
  const auto watch_read = +[](GstPad*, GstPadProbeInfo* info, gpointer to) {
    ++static_cast<FileScan*>(to)->progress_;
    if (const GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info))
      raise_to(static_cast<FileScan*>(to)->read_end_,
               info->offset + gst_buffer_get_size(const_cast<GstBuffer*>(buffer)));
    return GST_PAD_PROBE_OK;
  };
  if (const Owned<GstPad> sink(gst_element_get_static_pad(element, "sink")); sink)
    gst_pad_add_probe(sink.get(), static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_PULL | GST_PAD_PROBE_TYPE_BUFFER),
                      watch_read, self, nullptr);
  g_signal_connect(element, "pad-added", G_CALLBACK(watch_pad), self);
}

/// A decoder that did not start was removed.
void FileScan::on_element_removed(GstBin*, GstBin*, GstElement* element, gpointer self) {
  GstElementFactory* factory = gst_element_get_factory(element);
  if (factory && gpu_of(factory) >= 0) static_cast<FileScan*>(self)->decoder_gpu_ = -1;
}

void FileScan::on_type(GstElement*, guint, GstCaps* caps, gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  // The first type is the file's, others belong to its contents.
  if (!scan->typed_.exchange(true))
    scan->image_ = g_str_has_prefix(gst_structure_get_name(gst_caps_get_structure(caps, 0)), "image/");
}

void FileScan::on_pad(GstElement*, GstPad* pad, gpointer self) {
  auto* scan = static_cast<FileScan*>(self);
  const Owned<GstPad> sink(gst_element_get_static_pad(scan->convert_, "sink"));
  // A second video stream stays unlinked, and so undecoded.
  if (gst_pad_is_linked(sink.get())) return;
  scan->start_meter();
  if (gst_pad_link(pad, sink.get()) == GST_PAD_LINK_OK) scan->linked_ = true;
}

void FileScan::start_meter() {
  if (image_ && options_.device == "auto")
    gst_util_set_object_arg(G_OBJECT(meter_), "device", "cpu");
  else if (decoder_gpu_ >= 0)
    g_object_set(meter_, kCudaId, decoder_gpu_.load(), nullptr);
  if (decoder_gpu_ >= 0 && (options_.device == "auto" || options_.device == "cuda"))
    g_object_set(queue_, "max-size-buffers", kDecodedAheadOnGpu, nullptr);
  gst_element_set_locked_state(meter_, FALSE);
  // The bus has the reason for a failure.
  gst_element_sync_state_with_parent(meter_);
}

void FileScan::on_no_more_pads(GstElement* source, gpointer self) {
  if (static_cast<FileScan*>(self)->linked_) return;
  GST_ELEMENT_ERROR(source, STREAM, WRONG_TYPE, ("it has no video"), (nullptr));
}

}  // namespace framequality::apps::scan
