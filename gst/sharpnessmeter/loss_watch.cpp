// SPDX-License-Identifier: LGPL-2.1-or-later
// The watch on the encoded stream that frames are decoded from: which of them lack data.
#include "gst/sharpnessmeter/loss_watch.h"

#include "gst/object/owned.h"
#include "gst/object/score_meta.h"
#include "gst/sharpnessmeter/h264_losses.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(sharpnessmeter_debug);
#define GST_CAT_DEFAULT sharpnessmeter_debug

namespace framequality {

namespace {

constexpr char kFrameLossMeta[] = "GstFrameLossMeta";
constexpr int kMostHops = 64;  // elements between decoder and meter, so that no loop of links is followed for ever

/// The data that enters a decoder, seen in its streaming thread.
class Watched {
 public:
  explicit Watched(GstPad* pad) {
    const CapsPtr caps(gst_pad_get_current_caps(pad));
    if (caps) take_caps(caps.get());
  }

  void take_event(GstEvent* event) {
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_CAPS: {
        GstCaps* caps;
        gst_event_parse_caps(event, &caps);
        return take_caps(caps);
      }
      case GST_EVENT_STREAM_START:
      case GST_EVENT_SEGMENT:
      case GST_EVENT_FLUSH_STOP:
        begins_ = true;
        spoiled_ = false;
        if (h264_) h264_->jump();
        return;
      default:
        return;
    }
  }

  bool is_damaged(GstBuffer* unit) {
    const bool broken = GST_BUFFER_FLAG_IS_SET(unit, GST_BUFFER_FLAG_CORRUPTED);
    const bool lost = broken || (!begins_ && GST_BUFFER_IS_DISCONT(unit));
    begins_ = false;
    if (!h264_) {
      if (!GST_BUFFER_FLAG_IS_SET(unit, GST_BUFFER_FLAG_DELTA_UNIT)) spoiled_ = false;
      return spoiled_ |= broken || (lost && GST_BUFFER_FLAG_IS_SET(unit, GST_BUFFER_FLAG_DELTA_UNIT));
    }
    GstMapInfo map;
    if (!gst_buffer_map(unit, &map, GST_MAP_READ)) return false;
    const bool damaged = h264_->take({map.data, map.size}, lost);
    gst_buffer_unmap(unit, &map);
    return damaged;
  }

 private:
  void take_caps(GstCaps* caps) {
    spoiled_ = false;
    h264_.reset();
    const GstStructure* s = gst_caps_get_structure(caps, 0);
    if (!gst_structure_has_name(s, "video/x-h264")) return;
    const gchar* alignment = gst_structure_get_string(s, "alignment");
    if (alignment && std::strcmp(alignment, "au") != 0) return;  // slices come one by one
    gint width = 0;
    gst_structure_get_int(s, "width", &width);
    const GValue* value = gst_structure_get_value(s, "codec_data");
    GstBuffer* record = value ? gst_value_get_buffer(value) : nullptr;
    GstMapInfo map;
    if (record && gst_buffer_map(record, &map, GST_MAP_READ)) {
      h264_.emplace(std::span<const std::uint8_t>(map.data, map.size), width);
      gst_buffer_unmap(record, &map);
    } else {
      h264_.emplace(std::span<const std::uint8_t>(), width);
    }
  }

  std::optional<H264Losses> h264_;
  bool begins_ = true;  ///< a discontinuity is where the stream begins
  bool spoiled_ = false;
};

GstPadProbeReturn on_data(GstPad* pad, GstPadProbeInfo* info, gpointer watched) {
  auto* stream = static_cast<Watched*>(watched);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    GstBuffer* unit = GST_PAD_PROBE_INFO_BUFFER(info);
    if (!stream->is_damaged(unit)) return GST_PAD_PROBE_OK;
    GST_DEBUG_OBJECT(pad, "data of the frame %" GST_TIME_FORMAT " is missing", GST_TIME_ARGS(GST_BUFFER_PTS(unit)));
    unit = make_header_writable(unit);
    if (!gst_buffer_get_custom_meta(unit, kFrameLossMeta)) gst_buffer_add_custom_meta(unit, kFrameLossMeta);
    GST_PAD_PROBE_INFO_DATA(info) = unit;
  } else {
    stream->take_event(GST_PAD_PROBE_INFO_EVENT(info));
  }
  return GST_PAD_PROBE_OK;
}

bool is_decoder(GstElement* element) {
  const gchar* kind = gst_element_get_metadata(element, GST_ELEMENT_METADATA_KLASS);
  return kind && std::strstr(kind, "Decoder");
}

}  // namespace

void register_frame_loss_meta() { register_score_meta(kFrameLossMeta); }

bool is_damaged(GstBuffer* frame) {
  return GST_BUFFER_FLAG_IS_SET(frame, GST_BUFFER_FLAG_CORRUPTED) || gst_buffer_get_custom_meta(frame, kFrameLossMeta);
}

/// The source pad of the element that feeds a sink pad, through the walls of bins; null: not linked.
LossWatch::PadPtr LossWatch::source_of(GstPad* sink) {
  PadPtr source(gst_pad_get_peer(sink));
  for (int hops = 0; source && hops < kMostHops; ++hops) {
    if (GST_IS_GHOST_PAD(source.get())) {
      source.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(source.get())));  // into a bin
    } else if (GST_IS_PROXY_PAD(source.get())) {
      const PadPtr ghost(GST_PAD(gst_proxy_pad_get_internal(GST_PROXY_PAD(source.get()))));  // out of one
      source.reset(ghost ? gst_pad_get_peer(ghost.get()) : nullptr);
    } else {
      break;
    }
  }
  return source;
}

LossWatch::PadPtr LossWatch::decoder_input(GstPad* sink) {
  PadPtr pad(GST_PAD(gst_object_ref(sink)));
  for (int hops = 0; hops < kMostHops; ++hops) {
    const PadPtr source = source_of(pad.get());
    GstElement* element = source ? gst_pad_get_parent_element(source.get()) : nullptr;
    if (!element) return nullptr;
    GST_OBJECT_LOCK(element);
    pad.reset(element->numsinkpads == 1 ? GST_PAD(gst_object_ref(element->sinkpads->data)) : nullptr);
    GST_OBJECT_UNLOCK(element);
    const bool found = is_decoder(element);
    gst_object_unref(element);
    if (found || !pad) return pad;
  }
  return nullptr;
}

void LossWatch::begin() {
  const std::lock_guard lock(mutex_);
  PadPtr found = decoder_input(sink_);
  if (found == pad_) return;
  leave();
  pad_ = std::move(found);
  if (!pad_) return;
  GST_INFO_OBJECT(sink_, "looking for lost data on %" GST_PTR_FORMAT, static_cast<void*>(pad_.get()));
  constexpr auto kAll = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                     GST_PAD_PROBE_TYPE_EVENT_FLUSH);
  probe_ = gst_pad_add_probe(pad_.get(), kAll, on_data, new Watched(pad_.get()),
                             [](gpointer watched) { delete static_cast<Watched*>(watched); });
}

void LossWatch::end() {
  const std::lock_guard lock(mutex_);
  leave();
}

void LossWatch::leave() {
  if (pad_) gst_pad_remove_probe(pad_.get(), probe_);
  pad_.reset();
}

}  // namespace framequality
