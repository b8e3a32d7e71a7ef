// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for the overlay's tests: frames that carry scores, and what is drawn on them.
#pragma once

#include "gst/object/score_meta.h"
#include "gst/sharpnessoverlay/drawing.h"
#include "tests/gst/rig.h"

#include <array>
#include <functional>

namespace framequality::test {

class OverlayRig : public Rig {
 public:
  OverlayRig(std::initializer_list<std::pair<const char*, const char*>> properties = {})
      : Rig(properties, "sharpnessoverlay") {}
};

/// What a meter would say of a frame.
struct Said {
  double score = 0;
  std::string metric = "tenengrad";
  guint width = 0, height = 0;  ///< 0: not said
  std::vector<int> roi;
  guint columns = 0, rows = 0;
  std::vector<double> zones;
};

inline void say(GstBuffer* buffer, const Said& said) {
  GstStructure* fields = start_score_meta(buffer, kSharpnessMeta);
  gst_structure_set(fields, "score", G_TYPE_DOUBLE, said.score, "metric", G_TYPE_STRING, said.metric.c_str(), nullptr);
  if (said.width > 0)
    gst_structure_set(fields, "width", G_TYPE_UINT, said.width, "height", G_TYPE_UINT, said.height, nullptr);
  const auto take = [&](const char* name, GType type, std::size_t count,
                        const std::function<void(GValue*, std::size_t)>& set) {
    GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
    g_value_init(&array, GST_TYPE_ARRAY);
    g_value_init(&item, type);
    for (std::size_t i = 0; i < count; ++i) {
      set(&item, i);
      gst_value_array_append_value(&array, &item);
    }
    gst_structure_take_value(fields, name, &array);
  };
  if (!said.roi.empty())
    take("roi", G_TYPE_INT, said.roi.size(), [&](GValue* v, std::size_t i) { g_value_set_int(v, said.roi[i]); });
  if (said.columns > 0) {
    gst_structure_set(fields, "zone-columns", G_TYPE_UINT, said.columns, "zone-rows", G_TYPE_UINT, said.rows, nullptr);
    take("zones", G_TYPE_DOUBLE, said.zones.size(),
         [&](GValue* v, std::size_t i) { g_value_set_double(v, said.zones[i]); });
  }
}

inline BufferPtr with(BufferPtr buffer, const Said& said) {
  say(buffer.get(), said);
  return buffer;
}

/// A frame whose pixels are paint(x, y), 8-bit luma or grey; chroma is neutral.
inline BufferPtr painted(const std::string& caps, const std::function<int(int, int)>& paint, GstClockTime pts = 0) {
  const CapsPtr c(gst_caps_from_string(caps.c_str()));
  GstVideoInfo info;
  GstVideoFrame frame;
  EXPECT_TRUE(gst_video_info_from_caps(&info, c.get())) << caps;
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, info.size);
  EXPECT_TRUE(gst_video_frame_map(&frame, &info, buffer.get(), GST_MAP_READWRITE));
  const GstVideoFormatInfo* f = info.finfo;
  const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
  std::vector<std::uint16_t> line(static_cast<std::size_t>(info.width) * 4 + 64);
  auto* bytes = reinterpret_cast<std::uint8_t*>(line.data());
  for (int y = 0; y < info.height; ++y) {
    for (int x = 0; x < info.width; ++x) {
      const int code = paint(x, y);
      const std::array<int, 4> parts{255, code, GST_VIDEO_INFO_IS_RGB(&info) ? code : 128,
                                     GST_VIDEO_INFO_IS_RGB(&info) ? code : 128};
      for (std::size_t k = 0; k < 4; ++k) {
        const std::size_t at = 4 * static_cast<std::size_t>(x) + k;
        if (wide)
          line[at] = static_cast<std::uint16_t>(k == 0 ? 0xffff : parts[k] << 8);
        else
          bytes[at] = static_cast<std::uint8_t>(parts[k]);
      }
    }
    f->pack_func(f, GST_VIDEO_PACK_FLAG_NONE, line.data(), 0, frame.data, info.stride, GST_VIDEO_CHROMA_SITE_UNKNOWN, y,
                 info.width);
  }
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 30;
  return buffer;
}
inline BufferPtr flat(const std::string& caps, int code = 100, GstClockTime pts = 0) {
  const auto everywhere = [=](int, int) { return code; };
  return painted(caps, everywhere, pts);
}

/// All components of a frame's pixels, as GStreamer unpacks them.
class Picture {
 public:
  using Pixel = std::array<std::uint16_t, 4>;
  Picture(const std::string& caps, GstBuffer* buffer) {
    const CapsPtr c(gst_caps_from_string(caps.c_str()));
    GstVideoInfo info;
    GstVideoFrame frame;
    if (!gst_video_info_from_caps(&info, c.get()) || !gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) {
      ADD_FAILURE() << caps;
      return;
    }
    width = info.width;
    height = info.height;
    const GstVideoFormatInfo* f = info.finfo;
    const bool wide = GST_VIDEO_FORMAT_INFO_DEPTH(gst_video_format_get_info(f->unpack_format), 0) == 16;
    std::vector<std::uint16_t> line(static_cast<std::size_t>(width) * 4 + 64);
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(line.data());
    for (int y = 0; y < height; ++y) {
      f->unpack_func(f, GST_VIDEO_PACK_FLAG_NONE, line.data(), frame.data, info.stride, 0, y, width);
      for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x) {
        Pixel pixel;
        // Some formats' unpackers hand out the padding bits too.
        const unsigned padding = wide ? 16 - std::min(f->depth[0], 16u) : 0;
        for (std::size_t k = 0; k < 4; ++k)
          pixel[k] = static_cast<std::uint16_t>((wide ? line[4 * x + k] : bytes[4 * x + k]) >> padding << padding);
        pixels_.push_back(pixel);
      }
    }
    gst_video_frame_unmap(&frame);
  }
  const Pixel& at(int x, int y) const {
    return pixels_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
  }
  /// Luma, or the first colour of RGB.
  int code(int x, int y) const { return at(x, y)[1]; }

  int width = 0, height = 0;

 private:
  std::vector<Pixel> pixels_;
};

/// The smallest box that holds all pixels that differ.
inline overlay::Box changed(const Picture& a, const Picture& b) {
  int left = a.width, top = a.height, right = -1, bottom = -1;
  for (int y = 0; y < a.height; ++y)
    for (int x = 0; x < a.width; ++x)
      if (a.at(x, y) != b.at(x, y)) {
        left = std::min(left, x);
        right = std::max(right, x);
        top = std::min(top, y);
        bottom = std::max(bottom, y);
      }
  return right < 0 ? overlay::Box{} : overlay::Box{left, top, right - left + 1, bottom - top + 1};
}
inline bool within(const overlay::Box& inner, const overlay::Box& outer) {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
         inner.y + inner.height <= outer.y + outer.height;
}

inline bool same_pixels(const std::string& caps, GstBuffer* a, GstBuffer* b) {
  return changed(Picture(caps, a), Picture(caps, b)).empty();
}

/// Between test pads of which the second draws overlays itself.
class DrawnDownstream : public OverlayRig {
 public:
  DrawnDownstream(std::initializer_list<std::pair<const char*, const char*>> properties = {}) : OverlayRig(properties) {
    gst_harness_add_propose_allocation_meta(harness(), GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
  }
};

inline GstVideoOverlayComposition* composition_in(const BufferPtr& buffer) {
  GstVideoOverlayCompositionMeta* meta = gst_buffer_get_video_overlay_composition_meta(buffer.get());
  return meta ? meta->overlay : nullptr;
}
inline guint rectangles_in(const BufferPtr& buffer) {
  GstVideoOverlayComposition* composition = composition_in(buffer);
  return composition ? gst_video_overlay_composition_n_rectangles(composition) : 0;
}

}  // namespace framequality::test
