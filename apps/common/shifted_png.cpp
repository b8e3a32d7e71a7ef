// SPDX-License-Identifier: LGPL-2.1-or-later
// PNG images of 16 bits without alpha, as GStreamer 1.22 decodes them.
#include "apps/common/shifted_png.h"

#include "apps/common/owned.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace framequality::apps {

namespace {

constexpr std::size_t kChannels = 4;
constexpr std::uint16_t kOpaque = 0xffff;
// The signature, and the header up to the color type (PNG, 5.2 and 11.2.1).
constexpr std::array<std::uint8_t, 8> kSignature{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::size_t kDepth = 24, kColorType = 25;

/// Of the file that a decoder reads.
struct File {
  bool is_deep_rgb = false;
};

GstPadProbeReturn look(GstPad*, GstPadProbeInfo* info, gpointer file) {
  std::array<std::uint8_t, kColorType + 1> begin{};
  const gsize size = gst_buffer_extract(GST_PAD_PROBE_INFO_BUFFER(info), 0, begin.data(), begin.size());
  // Other blocks continue a file.
  if (size == begin.size() && std::equal(kSignature.begin(), kSignature.end(), begin.begin()))
    static_cast<File*>(file)->is_deep_rgb = is_deep_rgb(begin);
  return GST_PAD_PROBE_OK;
}

GstPadProbeReturn mend(GstPad* pad, GstPadProbeInfo* info, gpointer file) {
  if (!static_cast<File*>(file)->is_deep_rgb) return GST_PAD_PROBE_OK;
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

bool is_deep_rgb(std::span<const std::uint8_t> begin) {
  constexpr std::uint8_t kDeep = 16, kRgb = 2;
  return begin[kDepth] == kDeep && begin[kColorType] == kRgb;
}

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
  const Owned<GstPad> sink(gst_element_get_static_pad(pngdec, "sink")),
      source(gst_element_get_static_pad(pngdec, "src"));
  auto* const file = new File;
  gst_pad_add_probe(sink.get(), GST_PAD_PROBE_TYPE_BUFFER, look, file, nullptr);
  gst_pad_add_probe(source.get(), GST_PAD_PROBE_TYPE_BUFFER, mend, file, nullptr);
  g_object_weak_ref(
      G_OBJECT(pngdec), [](gpointer its, GObject*) { delete static_cast<File*>(its); }, file);
}

}  // namespace framequality::apps
