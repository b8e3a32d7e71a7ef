// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for tests of pixel filters: reference images from the CPU code, and a GPU that filters as told.
#pragma once

#include "cpu/denoise/filter.h"
#include "cuda/denoise/filter.h"
#include "gst/buffer/frame.h"
#include "tests/gst/scripted.h"

#include <algorithm>
#include <cmath>

namespace framequality::test {

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

/// What the host twin makes of a frame.
struct Filtered {
  PictureGeometry geometry;
  denoise::Settings settings;
  std::vector<std::uint8_t> rows;  ///< as rows_of() gives them
  std::vector<float> means[3];     ///< of component c before they are rounded, where it is filtered
};

/// What the host twin makes of window[center].
inline Filtered filtered(const std::string& caps, const std::vector<GstBuffer*>& window, std::size_t center,
                         const denoise::Settings& settings, int fields = 1) {
  const GstVideoInfo info = video_info(caps);
  const PictureGeometry g = geometry_of(info);
  Filtered result{g, settings, {}, {}};
  std::vector<std::unique_ptr<MappedPicture>> pictures;
  std::vector<denoise::Source> sources;
  for (GstBuffer* buffer : window) {
    pictures.push_back(std::make_unique<MappedPicture>(info, g, buffer));
    sources.push_back({pictures.back()->frame(), sources.size()});
  }
  const BufferPtr out(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  {
    const MappedCanvas mapped(info, g, out.get());
    Canvas canvas = mapped.canvas();
    for (int c = 0; c < g.layout.components; ++c) {
      result.means[c].resize(static_cast<std::size_t>(g.width_of(c)) * static_cast<std::size_t>(g.height_of(c)));
      canvas.unrounded[c] = result.means[c].data();
    }
    const auto filter = cpu::make_denoiser(g, 1);
    filter->submit({sources, center, canvas, settings, fields});
    filter->collect();
  }
  result.rows = rows_of(caps, out.get());
  return result;
}
inline Filtered filtered(const std::string& caps, GstBuffer* buffer, const denoise::Settings& settings,
                         int fields = 1) {
  return filtered(caps, {buffer}, 0, settings, fields);
}

/// Whether rows, as rows_of() gives them, are what the host twin makes: each code that of a mean within
/// denoise::kTolerance of the twin's, and all other bits the same.
inline testing::AssertionResult within_tolerance(const Filtered& want, std::vector<std::uint8_t> rows) {
  const PictureGeometry& g = want.geometry;
  if (rows.size() != want.rows.size()) return testing::AssertionFailure() << rows.size() << " bytes";
  std::size_t begin[3] = {};
  for (int p = 1; p < g.layout.planes; ++p)
    begin[p] = begin[p - 1] + g.row_bytes(p - 1) * static_cast<std::size_t>(g.rows(p - 1));
  const double tolerance = denoise::kTolerance * g.layout.largest() / 255;
  const denoise::Passes passes = passes_of(g.layout, want.settings);
  for (int i = 0; i < passes.count; ++i)
    for (int k = 0; k < passes.pass[i].count; ++k) {
      const int c = passes.pass[i].component[k];
      const auto& at = g.layout.component[c];
      for (int y = 0; y < g.height_of(c); ++y)
        for (int x = 0; x < g.width_of(c); ++x) {
          const std::size_t place = begin[at.plane] + static_cast<std::size_t>(y) * g.row_bytes(at.plane) +
                                    static_cast<std::size_t>(at.offset + x * at.pixel_stride);
          const double mean = want.means[c][static_cast<std::size_t>(y * g.width_of(c) + x)];
          const auto code = static_cast<int>(read_sample(g.layout, &rows[place]));
          if (code < std::lround(mean - tolerance) || code > std::lround(mean + tolerance))
            return testing::AssertionFailure() << "component " << c << " at " << x << ", " << y << ": " << code
                                               << " of a mean of " << mean << " +- " << tolerance;
          std::copy_n(&want.rows[place], g.layout.word_bytes, &rows[place]);  // the rest is compared as bytes
        }
    }
  const auto [a, b] = std::mismatch(want.rows.begin(), want.rows.end(), rows.begin());
  if (a == want.rows.end()) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "byte " << a - want.rows.begin() << " is " << int{*b} << ", not " << int{*a};
}

/// Whether an element made of a frame what the host twin makes: the same bytes, but on a real GPU, whose denoisers have
/// a tolerance.
inline testing::AssertionResult is_filtered(Rig& rig, const Filtered& want, std::vector<std::uint8_t> rows) {
  if (rig.string("active-device") == "cuda" && backends().front()->denoise == cuda::kBackend.denoise)
    return within_tolerance(want, std::move(rows));
  if (rows == want.rows) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "not the host twin's bytes";
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
    tables.gpu.denoise = [](const PictureGeometry& g, const Where& where) -> std::unique_ptr<denoise::Filter> {
      make_scripted(where);
      return std::make_unique<ScriptedWorker<denoise::Filter, PictureGeometry>>(g, where.depth,
                                                                                cpu::make_denoiser(g, 1));
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
