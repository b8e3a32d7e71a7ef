// SPDX-License-Identifier: LGPL-2.1-or-later
// What the tests of pixel filters share: reference pictures from the host twin, and a GPU that filters as told.
#pragma once

#include "cpu/denoise/filter.h"
#include "gst/buffer/frame.h"
#include "tests/gst/scripted.h"

GST_ELEMENT_REGISTER_DECLARE(nlmeans)
GST_ELEMENT_REGISTER_DECLARE(patchbilateral)

namespace framequality::test {

class OwnFilters : public ::testing::Environment {
 public:
  void SetUp() override {
    ASSERT_TRUE(GST_ELEMENT_REGISTER(nlmeans, nullptr));
    ASSERT_TRUE(GST_ELEMENT_REGISTER(patchbilateral, nullptr));
  }
};
inline ::testing::Environment* const own_filters = ::testing::AddGlobalTestEnvironment(new OwnFilters);

inline PictureGeometry geometry_of(const GstVideoInfo& info) {
  return {info.width, info.height, picture_layout_of(*info.finfo).value()};
}

/// The bytes of a buffer's rows, plane by plane, without what lies between them; by its GstVideoMeta if it has one.
inline std::vector<std::uint8_t> rows_of(const std::string& caps, GstBuffer* buffer) {
  const GstVideoInfo info = video_info(caps);
  const PictureGeometry g = geometry_of(info);
  const MappedPicture picture(info, g, buffer);
  std::vector<std::uint8_t> rows;
  for (int p = 0; p < g.layout.planes; ++p)
    for (int y = 0; y < g.rows(p); ++y) {
      const std::uint8_t* row = picture.frame().plane[p] + y * picture.frame().stride[p];
      rows.insert(rows.end(), row, row + g.row_bytes(p));
    }
  return rows;
}

/// What the host twin makes of window[center].
inline std::vector<std::uint8_t> filtered(const std::string& caps, const std::vector<GstBuffer*>& window,
                                          std::size_t center, const denoise::Settings& settings, int fields = 1) {
  const GstVideoInfo info = video_info(caps);
  const PictureGeometry g = geometry_of(info);
  std::vector<std::unique_ptr<MappedPicture>> pictures;
  std::vector<denoise::Source> sources;
  for (GstBuffer* buffer : window) {
    pictures.push_back(std::make_unique<MappedPicture>(info, g, buffer));
    sources.push_back({pictures.back()->frame(), sources.size()});
  }
  const BufferPtr out(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  {
    const MappedCanvas canvas(info, g, out.get());
    const auto filter = cpu::make_denoiser(g, 1);
    filter->submit({sources, center, canvas.canvas(), settings, fields});
    filter->collect();
  }
  return rows_of(caps, out.get());
}
inline std::vector<std::uint8_t> filtered(const std::string& caps, GstBuffer* buffer, const denoise::Settings& settings,
                                          int fields = 1) {
  return filtered(caps, {buffer}, 0, settings, fields);
}

/// Settings that take little time, as properties of nlmeans and as the twins know them.
inline constexpr std::initializer_list<std::pair<const char*, const char*>> kQuick{
    {"strength", "60"}, {"patch-radius", "1"}, {"search-radius", "1"}};
inline denoise::Settings quick() {
  denoise::Settings s;
  s.patch_radius = s.search_radius = 1;
  s.range = s.range_chroma = 3600;
  return s;
}

/// nlmeans with quick settings and others.
class FilterRig : public Rig {
 public:
  explicit FilterRig(std::initializer_list<std::pair<const char*, const char*>> properties = {},
                     const char* factory = "nlmeans")
      : Rig(properties, factory) {
    if (factory == std::string("nlmeans"))
      for (const auto& [name, value] : kQuick) set(name, value);
  }
  bool send(GstEvent* event) { return gst_harness_push_event(harness(), event); }
};

/// The scripted GPU filters too.
class ScriptedFilters : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    backends().denoise.cuda = [](const PictureGeometry& g, int id, int depth) -> std::unique_ptr<denoise::Filter> {
      make_scripted(id, depth);
      return std::make_unique<ScriptedWorker<denoise::Filter, PictureGeometry>>(g, depth, cpu::make_denoiser(g, 1));
    };
  }
};

/// Downstream of an element: notes in one list what arrives.
class Listener {
 public:
  explicit Listener(Rig& rig) : pad_(gst_element_get_static_pad(rig.element(), "src")) {
    constexpr auto kTypes = static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                                                         GST_PAD_PROBE_TYPE_EVENT_FLUSH | GST_PAD_PROBE_TYPE_BUFFER);
    probe_ = gst_pad_add_probe(
        pad_, kTypes,
        [](GstPad*, GstPadProbeInfo* info, gpointer to) {
          static_cast<Listener*>(to)->note(info);
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
  }
  ~Listener() {
    gst_pad_remove_probe(pad_, probe_);
    gst_object_unref(pad_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  std::string list;  ///< frames by number (with a ! if DISCONT), events by name
  /// The list since the last call.
  std::string taken() { return std::exchange(list, ""); }

 private:
  void note(GstPadProbeInfo* info) {
    if (info->type & GST_PAD_PROBE_TYPE_BUFFER) {
      GstBuffer* buffer = gst_pad_probe_info_get_buffer(info);
      list += std::to_string(gst_util_uint64_scale_round(GST_BUFFER_PTS(buffer), 30, GST_SECOND));
      list += GST_BUFFER_IS_DISCONT(buffer) ? "! " : " ";
    } else {
      list += std::string(GST_EVENT_TYPE_NAME(gst_pad_probe_info_get_event(info))) + " ";
    }
  }
  GstPad* pad_;
  gulong probe_;
};

}  // namespace framequality::test
