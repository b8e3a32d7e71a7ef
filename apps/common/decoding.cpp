// SPDX-License-Identifier: LGPL-2.1-or-later
// Inside of pipelines that decode any file: reasons for failures, and workarounds for images that should not fail.
#include "apps/common/decoding.h"

#include "apps/common/open_gop.h"
#include "apps/common/packages.h"
#include "apps/common/shifted_png.h"
#include "apps/common/yuv4mpeg.h"

#include <gst/pbutils/pbutils.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

namespace framequality::apps {

namespace {

std::string factory_of(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory ? GST_OBJECT_NAME(factory) : "";
}

bool is_a(GstElement* element, const char* kind) {
  const gchar* klass = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
  return klass && std::string_view(klass).find(kind) != std::string_view::npos && !GST_IS_BIN(element);
}

/// The compression of a TIFF file's first image (TIFF 6.0, section 8, tag 259); 0 if none is found.
int tiff_compression(GstBuffer* file) {
  constexpr std::size_t kHeader = 8, kEntry = 12;
  constexpr std::uint32_t kCompression = 259;
  std::array<std::uint8_t, kEntry> bytes{};
  if (gst_buffer_extract(file, 0, bytes.data(), kHeader) != kHeader) return 0;
  const bool big = bytes[0] == 'M';
  const auto number = [&](std::size_t at, std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + (big ? i : size - 1 - i)];
    return value;
  };
  const std::size_t directory = number(4, 4);
  if (gst_buffer_extract(file, directory, bytes.data(), 2) != 2) return 0;
  for (std::uint32_t i = 0, entries = number(0, 2); i < entries; ++i) {
    if (gst_buffer_extract(file, directory + 2 + i * kEntry, bytes.data(), kEntry) != kEntry) return 0;
    if (number(0, 2) == kCompression) return static_cast<int>(number(8, 2));
  }
  return 0;
}

/// libav decodes these without an error, to uniform gray.
bool is_jpeg_in_tiff(GstElement* decoder, GstBuffer* file) {
  constexpr int kOldJpeg = 6, kJpeg = 7;
  if (factory_of(decoder) != "avdec_tiff") return false;
  const int compression = tiff_compression(file);
  return compression == kOldJpeg || compression == kJpeg;
}

/// An image that arrives in blocks, until it is whole.
struct Blocks {
  Blocks() = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() { gst_clear_buffer(&data); }
  GstBuffer* data = nullptr;
  bool whole = false;
};

GstPadProbeReturn gather(GstPad* pad, GstPadProbeInfo* info, gpointer to) {
  auto* blocks = static_cast<Blocks*>(to);
  if (blocks->whole) return GST_PAD_PROBE_OK;
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer* block = GST_PAD_PROBE_INFO_BUFFER(info);
    GST_PAD_PROBE_INFO_DATA(info) = nullptr;
    blocks->data = blocks->data ? gst_buffer_append(blocks->data, block) : block;
    return GST_PAD_PROBE_HANDLED;
  }
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS && blocks->data) {
    blocks->whole = true;
    const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
    if (decoder && is_jpeg_in_tiff(decoder.get(), blocks->data)) {
      GST_ELEMENT_ERROR(decoder.get(), STREAM, NOT_IMPLEMENTED,
                        ("GStreamer cannot decode TIFF images with JPEG compression: convert it first"), (nullptr));
      gst_clear_buffer(&blocks->data);
      return GST_PAD_PROBE_OK;
    }
    // Errors are on the bus.
    (void)gst_pad_chain(pad, std::exchange(blocks->data, nullptr));
  }
  return GST_PAD_PROBE_OK;
}

/// libav's decoders take each buffer as a whole image, but files come in blocks, and there is no parser for these.
void put_together(GstElement* decoder) {
  const Owned<GstPad> sink(gst_element_get_static_pad(decoder, "sink"));
  gst_pad_add_probe(sink.get(),
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                    gather, new Blocks, [](gpointer blocks) { delete static_cast<Blocks*>(blocks); });
}

void rank(const char* factory, guint from, guint to) {
  const Owned<GstPluginFeature> feature(gst_registry_lookup_feature(gst_registry_get(), factory));
  if (feature && gst_plugin_feature_get_rank(feature.get()) == from) gst_plugin_feature_set_rank(feature.get(), to);
}

void choose_decoders() {
  // decodebin does not use it by itself. After all others, of equal rank but earlier names, it is better than nothing:
  // it reduces 16 bits to 8.
  rank("gdkpixbufdec", GST_RANK_NONE, GST_RANK_MARGINAL);
  // It never ends: libav keeps reading at the end of the file. Better an error than a scan that hangs.
  rank("avdemux_gif", GST_RANK_MARGINAL, GST_RANK_NONE);
}

}  // namespace

void Decoding::watch(GstElement* pipeline) {
  choose_decoders();
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_added), this);
  g_signal_connect(pipeline, "deep-element-removed", G_CALLBACK(on_removed), this);
}

void Decoding::on_added(GstBin*, GstBin*, GstElement* element, gpointer self) {
  const std::string factory = factory_of(element);
  if (factory == "typefind") g_signal_connect(element, "have-type", G_CALLBACK(on_type), self);
  if (is_a(element, "Demux")) {
    auto* decoding = static_cast<Decoding*>(self);
    const std::lock_guard lock(decoding->mutex_);
    if (!decoding->demuxer_) decoding->demuxer_.reset(GST_ELEMENT(gst_object_ref(element)));
  }
  if (factory == "avdec_bmp" || factory == "avdec_tiff") put_together(element);
  if (factory == "avdec_h265") mend_h265(element);
  if (factory == "pngdec") mend_png(element);
  if (factory == "y4mdec") mend_yuv4mpeg(element);
}

void Decoding::on_type(GstElement*, guint, GstCaps* caps, gpointer self) {
  const GstStructure* type = gst_caps_get_structure(caps, 0);
  const std::string_view name = gst_structure_get_name(type);
  const gchar* variant = gst_structure_get_string(type, "variant");
  if (name == "image/heif" || name == "image/heic" || name == "image/avif" ||
      (variant && std::string_view(variant) == "heif"))
    static_cast<Decoding*>(self)->is_heif_ = true;
}

void Decoding::on_removed(GstBin*, GstBin*, GstElement* element, gpointer self) {
  if (!is_a(element, "Decoder")) return;
  auto* decoding = static_cast<Decoding*>(self);
  std::string factory = factory_of(element);
  const std::lock_guard lock(decoding->mutex_);
  std::vector<std::string>& all = decoding->dropped_;
  if (std::find(all.begin(), all.end(), factory) == all.end()) all.push_back(std::move(factory));
}

void Decoding::hear(GstMessage* message) {
  if (!gst_is_missing_plugin_message(message)) return;
  // "gstreamer|1.0|program|H.264 decoder|decoder-video/x-h264, profile=(string)high".
  gchar* all = gst_missing_plugin_message_get_installer_detail(message);
  std::string_view detail = all ? all : "";
  detail.remove_prefix(std::min(detail.rfind('|') + 1, detail.size()));
  const std::string name(detail.substr(0, detail.find(',')));
  g_free(all);
  // Streams other than video are not missed.
  for (const char* other : {"decoder-audio/", "decoder-text/", "decoder-subpicture/", "decoder-application/x-subtitle"})
    if (name.starts_with(other)) return;
  gchar* what = gst_missing_plugin_message_get_description(message);
  const std::lock_guard lock(mutex_);
  missing_.emplace_back(what);
  g_free(what);
  details_.push_back(name);
}

bool Decoding::has_given_up() const {
  const std::lock_guard lock(mutex_);
  if (!demuxer_) return false;
  const Owned<GstPad> sink(gst_element_get_static_pad(demuxer_.get(), "sink"));
  GST_OBJECT_LOCK(demuxer_.get());
  const bool is_empty = demuxer_->numsrcpads == 0;
  GST_OBJECT_UNLOCK(demuxer_.get());
  return is_empty && sink && gst_pad_get_task_state(sink.get()) == GST_TASK_PAUSED;
}

std::string Decoding::emptiness() const {
  if (is_heif_)
    return "GStreamer cannot decode HEIC and AVIF images: convert it first with heif-convert IMAGE IMAGE.png (on "
           "Debian and Ubuntu: sudo apt install libheif-examples)";
  const std::lock_guard lock(mutex_);
  if (missing_.empty()) return "it has no video";
  std::string text;
  for (const std::string& what : missing_) text += (text.empty() ? "GStreamer has no " : ", and no ") + what;
  return text + install_hint(details_);
}

std::string Decoding::cause(const Complaint& complaint) const {
  if (is_heif_ && (complaint.domain == GST_CORE_ERROR || complaint.domain == GST_STREAM_ERROR)) return emptiness();
  if (!complaint.is(GST_CORE_ERROR, GST_CORE_ERROR_MISSING_PLUGIN) &&
      !complaint.is(GST_STREAM_ERROR, GST_STREAM_ERROR_CODEC_NOT_FOUND))
    return "";
  std::unique_lock lock(mutex_);
  if (!dropped_.empty()) {
    std::string text = dropped_.size() == 1 ? "its decoder failed to start:" : "its decoders failed to start:";
    bool on_gpu = false;
    for (const std::string& factory : dropped_) {
      text += ' ' + factory;
      on_gpu = on_gpu || factory.starts_with("nv");
    }
    // Their own texts are among the details; decodebin's add nothing.
    const std::string& why = complaint.details;
    if (!why.empty() && why.find("uitable plugin") == why.npos && !why.starts_with("Missing decoder") &&
        !why.starts_with("Couldn't set "))
      text += " (" + why + ')';
    return on_gpu ? text + "; GPU memory may be full: try fewer files at once" : text;
  }
  lock.unlock();
  return emptiness();
}

std::string Decoding::reason(GstMessage* message) const {
  const Complaint complaint = complaint_of(message);
  if (std::string text = cause(complaint); !text.empty()) return text;
  if (complaint.is(GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED) && !complaint.details.empty())
    return complaint.text + " (" + complaint.details + ')';
  return complaint.text;
}

}  // namespace framequality::apps
