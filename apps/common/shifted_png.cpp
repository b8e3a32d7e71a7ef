// SPDX-License-Identifier: LGPL-2.1-or-later
// PNG images of 16 bits without alpha, as GStreamer 1.22 decodes them.
#include "apps/common/shifted_png.h"

#include "apps/common/owned.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace framequality::apps {

namespace {

constexpr std::size_t kChannels = 4;
constexpr std::uint16_t kOpaque = 0xffff;

GstPadProbeReturn mend(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  const gchar* format = caps ? gst_structure_get_string(gst_caps_get_structure(caps.get(), 0), "format") : nullptr;
  if (!format || std::string_view(format) != "ARGB64") return GST_PAD_PROBE_OK;
  GstBuffer* const buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(info));
  GST_PAD_PROBE_INFO_DATA(info) = buffer;
  GstMapInfo map;
  if (!gst_buffer_map(buffer, &map, GST_MAP_READWRITE)) return GST_PAD_PROBE_OK;
  const std::span samples(reinterpret_cast<std::uint16_t*>(map.data), map.size / sizeof(std::uint16_t));
  if (is_shifted_argb64(samples)) shift_back(samples);
  gst_buffer_unmap(buffer, &map);
  return GST_PAD_PROBE_OK;
}

}  // namespace

bool is_shifted_argb64(std::span<const std::uint16_t> samples) {
  bool has_alpha = false;
  for (std::size_t i = 0; i + kChannels <= samples.size(); i += kChannels) {
    if (samples[i + 1] != kOpaque) return false;
    // The first place holds what was there before.
    has_alpha = has_alpha || (i > 0 && samples[i] != kOpaque);
  }
  return has_alpha;
}

void shift_back(std::span<std::uint16_t> samples) {
  std::copy(samples.begin() + 1, samples.end(), samples.begin());
  if (samples.size() > kChannels) samples.back() = samples[samples.size() - 1 - kChannels];
}

void mend_png(GstElement* pngdec) {
  const Owned<GstPad> source(gst_element_get_static_pad(pngdec, "src"));
  gst_pad_add_probe(source.get(), GST_PAD_PROBE_TYPE_BUFFER, mend, nullptr, nullptr);
}

}  // namespace framequality::apps
