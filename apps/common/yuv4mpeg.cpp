// SPDX-License-Identifier: LGPL-2.1-or-later
// YUV4MPEG2 files as FFmpeg writes them, for GStreamer's decoder.
#include "apps/common/yuv4mpeg.h"

#include "apps/common/owned.h"

#include <algorithm>
#include <array>
#include <utility>

namespace framequality::apps {

namespace {

constexpr gsize kLongestHeader = 4096;

/// The next field of a header, which is left without it.
std::string_view next_field(std::string_view& header) {
  const std::size_t end = std::min(header.find(' '), header.size());
  const std::string_view field = header.substr(0, end);
  header.remove_prefix(std::min(end + 1, header.size()));
  return field;
}

/// A stream on its way into y4mdec. It is shorter than the one that comes by `removed` bytes of its header, so after a
/// seek, for which y4mdec computes the place in bytes, as many bytes are left out.
struct Stream {
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { gst_clear_buffer(&begin); }

  GstBuffer* begin = nullptr;  ///< until it holds the whole header
  bool has_header = false;
  bool checks_chroma = false, decodes_gray = false;
  gsize removed = 0, skip = 0;
};

void fail(GstPad* pad, const std::string& chroma) {
  const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
  if (!decoder) return;
  GST_ELEMENT_ERROR(
      decoder.get(), STREAM, FORMAT,
      ("this GStreamer decodes YUV4MPEG2 with 8-bit color only (420, 422, 444), and it has %s: make it Matroska, as by "
       "ffmpeg -i INPUT -c:v ffv1 -f matroska -",
       chroma.c_str()),
      (nullptr));
}

/// Replaces the header at the beginning of the data. Returns false if they cannot be decoded.
bool replace_header(Stream& stream, GstPad* pad) {
  std::array<char, kLongestHeader> bytes{};
  const gsize size = gst_buffer_extract(stream.begin, 0, bytes.data(), bytes.size());
  const std::string_view all(bytes.data(), size), header = all.substr(0, all.find('\n'));
  stream.has_header = true;
  if (header.size() == all.size()) return true;  // no header: the decoder says so
  const std::string chroma = stream.checks_chroma ? misread_yuv4mpeg_chroma(header, stream.decodes_gray) : "";
  if (!chroma.empty()) {
    fail(pad, chroma);
    return false;
  }
  const std::string shorter = shorter_yuv4mpeg_header(header);
  stream.removed = header.size() - shorter.size();
  if (stream.removed == 0) return true;
  GstBuffer* const rest = gst_buffer_copy_region(stream.begin, GST_BUFFER_COPY_ALL, header.size(), -1);
  gst_buffer_unref(stream.begin);
  stream.begin = gst_buffer_append(gst_buffer_new_memdup(shorter.data(), shorter.size()), rest);
  return true;
}

GstPadProbeReturn on_data(GstPad* pad, GstPadProbeInfo* info, gpointer to) {
  auto& stream = *static_cast<Stream*>(to);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM) {
    const GstSegment* segment = nullptr;
    GstEvent* const event = GST_PAD_PROBE_INFO_EVENT(info);
    if (GST_EVENT_TYPE(event) != GST_EVENT_SEGMENT) return GST_PAD_PROBE_OK;
    gst_event_parse_segment(event, &segment);
    stream.skip = segment->format == GST_FORMAT_BYTES && segment->start > 0 ? stream.removed : 0;
    if (segment->start == 0) stream.has_header = false;  // it comes again
    return GST_PAD_PROBE_OK;
  }
  auto* const data = static_cast<GstBuffer*>(std::exchange(GST_PAD_PROBE_INFO_DATA(info), nullptr));
  if (stream.has_header) {
    const gsize size = gst_buffer_get_size(data), skipped = std::min(stream.skip, size);
    stream.skip -= skipped;
    GST_PAD_PROBE_INFO_DATA(info) =
        skipped > 0 ? gst_buffer_copy_region(data, GST_BUFFER_COPY_ALL, skipped, -1) : gst_buffer_ref(data);
    gst_buffer_unref(data);
    return GST_PAD_PROBE_OK;
  }
  stream.begin = stream.begin ? gst_buffer_append(stream.begin, data) : data;
  std::array<char, kLongestHeader> bytes{};
  const gsize size = gst_buffer_extract(stream.begin, 0, bytes.data(), bytes.size());
  if (size < bytes.size() && std::find(bytes.begin(), bytes.begin() + size, '\n') == bytes.begin() + size)
    return GST_PAD_PROBE_HANDLED;
  if (!replace_header(stream, pad)) {
    gst_clear_buffer(&stream.begin);
    stream.has_header = false;
    GST_PAD_PROBE_INFO_FLOW_RETURN(info) = GST_FLOW_ERROR;
    return GST_PAD_PROBE_HANDLED;
  }
  GST_PAD_PROBE_INFO_DATA(info) = std::exchange(stream.begin, nullptr);
  return GST_PAD_PROBE_OK;
}

/// Denies that the decoder's peer can be read, so that typefind pushes into it. Since GStreamer 1.28 it reads by
/// itself, and decodebin starts it before it blocks the pad that gives the video. If the first frame is faster, nothing
/// is linked yet, and the file seems to have no video or never ends.
GstPadProbeReturn on_query(GstPad*, GstPadProbeInfo* info, gpointer) {
  return GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_SCHEDULING ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

bool decodes_gray(GstElement* decoder) {
  const Owned<GstPad> source(gst_element_get_static_pad(decoder, "src"));
  if (!source) return false;
  const Owned<GstCaps> there(gst_pad_get_pad_template_caps(source.get())),
      wanted(gst_caps_from_string("video/x-raw, format=GRAY8"));
  return gst_caps_can_intersect(there.get(), wanted.get());
}

}  // namespace

std::string shorter_yuv4mpeg_header(std::string_view header) {
  // Its newline has to be among them.
  if (header.size() < kMostYuv4mpegHeader) return std::string(header);
  std::string shorter;
  while (!header.empty()) {
    const std::string_view field = next_field(header);
    if (!field.starts_with('X')) shorter.append(shorter.empty() ? "" : " ").append(field);
  }
  return shorter;
}

std::string misread_yuv4mpeg_chroma(std::string_view header, bool decodes_gray) {
  while (!header.empty()) {
    const std::string_view field = next_field(header);
    if (!field.starts_with('C')) continue;
    const std::string_view chroma = field.substr(1);
    for (const std::string_view read : {"420", "420jpeg", "420mpeg2", "420paldv", "422", "444"})
      if (chroma == read) return "";
    if (decodes_gray && (chroma == "mono" || chroma == "411")) return "";
    return std::string(chroma);
  }
  return "";
}

void mend_yuv4mpeg(GstElement* y4mdec) {
  const Owned<GstPad> sink(gst_element_get_static_pad(y4mdec, "sink"));
  if (!sink) return;
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  auto* const stream = new Stream;
  stream->checks_chroma = minor < 28;
  stream->decodes_gray = decodes_gray(y4mdec);
  gst_pad_add_probe(sink.get(),
                    static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                    on_data, stream, [](gpointer of) { delete static_cast<Stream*>(of); });
  gst_pad_add_probe(sink.get(), GST_PAD_PROBE_TYPE_QUERY_UPSTREAM, on_query, nullptr, nullptr);
}

}  // namespace framequality::apps
