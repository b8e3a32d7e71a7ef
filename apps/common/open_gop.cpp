// SPDX-License-Identifier: LGPL-2.1-or-later
// H.265 streams that begin in an open GOP, for libav's decoder.
//
// For a keyframe's missing references libav asks for buffers, which gstavviddec.c of GStreamer 1.26 takes for the
// keyframe's own. When they are freed, it forgets the keyframe. At the keyframe's output it then discards all frames
// that still lack a buffer because their threads have just begun. With slice threads, each frame has its buffer before
// the next one comes.
#include "apps/common/open_gop.h"

#include "apps/common/owned.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace framequality::apps {

namespace {

// nal_unit_type (H.265, table 7-1).
constexpr int kFirstBla = 16, kLastBla = 18, kCra = 21, kFirstKeyframe = 16, kLastKeyframe = 23, kFirstOther = 32;
constexpr guint kLastSound = 22;  ///< minor version of GStreamer

/// The NAL units of an access unit, one after the other.
class Units {
 public:
  Units(std::span<const std::uint8_t> all, int length_size)
      : rest_(all), length_size_(static_cast<std::size_t>(length_size)) {}

  /// The type of the next one, -1 at the end.
  int next() {
    if (length_size_ == 0) {
      constexpr std::array<std::uint8_t, 3> kStart = {0, 0, 1};
      const auto found = std::search(rest_.begin(), rest_.end(), kStart.begin(), kStart.end());
      rest_ = rest_.subspan(static_cast<std::size_t>(found - rest_.begin()));
      return type_after(kStart.size());
    }
    rest_ = rest_.subspan(std::min(length_, rest_.size()));
    length_ = 0;
    for (std::size_t i = 0; i < std::min(length_size_, rest_.size()); ++i) length_ = length_ << 8 | rest_[i];
    return type_after(length_size_);
  }

 private:
  int type_after(std::size_t prefix) {
    if (rest_.size() <= prefix) return -1;
    rest_ = rest_.subspan(prefix);
    return rest_[0] >> 1 & 63;
  }

  std::span<const std::uint8_t> rest_;
  const std::size_t length_size_;
  std::size_t length_ = 0;
};

/// A decoder's stream.
struct Stream {
  bool begins = true;  ///< the next keyframe is the first one, or the first one after a seek
  int length_size = 0;
};

/// ISO/IEC 14496-15, 8.3.3.1: lengthSizeMinusOne of the decoder's configuration.
int length_size_of(const GstStructure* type) {
  const gchar* const format = gst_structure_get_string(type, "stream-format");
  if (!format || std::string_view(format) == "byte-stream") return 0;
  constexpr gsize kAt = 21;
  std::uint8_t byte = 3;
  const GValue* const value = gst_structure_get_value(type, "codec_data");
  if (value && GST_VALUE_HOLDS_BUFFER(value)) gst_buffer_extract(gst_value_get_buffer(value), kAt, &byte, 1);
  return (byte & 3) + 1;
}

/// Opens the decoder again, which reads its property only then.
void use_slice_threads(GstPad* sink) {
  const Owned<GstElement> decoder(gst_pad_get_parent_element(sink));
  const Owned<GstCaps> caps(gst_pad_get_current_caps(sink));
  if (!decoder || !caps) return;
  guint threads = 0;
  constexpr guint kSlice = 2;
  g_object_get(decoder.get(), "thread-type", &threads, nullptr);
  if (threads == kSlice) return;
  g_object_set(decoder.get(), "thread-type", kSlice, nullptr);
  // It ignores caps that are the same.
  const Owned<GstCaps> others(gst_caps_copy(caps.get()));
  gst_caps_set_simple(others.get(), "framequality-threads", G_TYPE_STRING, "slice", nullptr);
  gst_pad_send_event(sink, gst_event_new_caps(others.get()));
}

GstPadProbeReturn on_data(GstPad* pad, GstPadProbeInfo* info, gpointer to) {
  auto& stream = *static_cast<Stream*>(to);
  if (!(GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER)) {
    GstEvent* const event = GST_PAD_PROBE_INFO_EVENT(info);
    GstCaps* caps = nullptr;
    if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
      gst_event_parse_caps(event, &caps);
      stream.length_size = length_size_of(gst_caps_get_structure(caps, 0));
    }
    if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT || GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
      stream.begins = true;
    return GST_PAD_PROBE_OK;
  }
  GstMapInfo map;
  if (!stream.begins || !gst_buffer_map(GST_PAD_PROBE_INFO_BUFFER(info), &map, GST_MAP_READ)) return GST_PAD_PROBE_OK;
  const int type = h265_frame_type({map.data, map.size}, stream.length_size);
  gst_buffer_unmap(GST_PAD_PROBE_INFO_BUFFER(info), &map);
  if (type < kFirstKeyframe || type > kLastKeyframe) return GST_PAD_PROBE_OK;
  stream.begins = false;
  if (is_open_keyframe(type)) use_slice_threads(pad);
  return GST_PAD_PROBE_OK;
}

}  // namespace

int h265_frame_type(std::span<const std::uint8_t> unit, int length_size) {
  Units units(unit, length_size);
  int type = units.next();
  while (type >= kFirstOther) type = units.next();
  return type;
}

bool is_open_keyframe(int frame_type) {
  return (frame_type >= kFirstBla && frame_type <= kLastBla) || frame_type == kCra;
}

bool loses_frames() {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  return major == 1 && minor > kLastSound;
}

void mend_h265(GstElement* avdec_h265, bool loses) {
  const Owned<GstPad> sink(gst_element_get_static_pad(avdec_h265, "sink"));
  if (!loses || !sink || !g_object_class_find_property(G_OBJECT_GET_CLASS(avdec_h265), "thread-type")) return;
  gst_pad_add_probe(sink.get(),
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                 GST_PAD_PROBE_TYPE_EVENT_FLUSH),
                    on_data, new Stream, [](gpointer of) { delete static_cast<Stream*>(of); });
}

}  // namespace framequality::apps
