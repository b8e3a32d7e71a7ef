// SPDX-License-Identifier: LGPL-2.1-or-later
// A camerawatch fed with frames whose scores and statistics the test makes up.
#pragma once

#include "algorithms/split_mix.h"
#include "tests/gst/rig.h"

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

namespace framequality::test {

/// What the meter says of a frame.
struct Figures {
  double score = 1.2, noise = 2, mean = 120, white = 0;
  const char* metric = "mean-square-frequency";
  unsigned width = 64;
  std::uint64_t view = 1;  ///< of the zones
  bool zones = true, statistics = true, energies = true;
};

class CameraRig : public Rig {
 public:
  CameraRig(std::initializer_list<std::pair<const char*, const char*>> properties = {},
            const char* caps = "video/x-raw,format=GRAY8,width=8,height=8,framerate=5/1")
      : Rig(properties, "camerawatch") {
    this->caps(caps);
  }

  /// So many seconds of it, at five frames/s; "state previous @seconds" of each message, in whole seconds of
  /// running time.
  std::string see(double seconds, const Figures& figures = {}) {
    for (int i = 0; i < static_cast<int>(seconds * 5); ++i) {
      BufferPtr buffer = frame(figures);
      GstBuffer* const before = buffer.get();
      const BufferPtr after = pass(std::move(buffer));
      EXPECT_EQ(before, after.get());
    }
    return said();
  }
  std::string see_unscored(int frames) {
    for (int i = 0; i < frames; ++i, at_ += GST_SECOND / 5) {
      BufferPtr buffer(gst_buffer_new_allocate(nullptr, 64, nullptr));
      GST_BUFFER_PTS(buffer.get()) = at_;
      pass(std::move(buffer));
    }
    return said();
  }

  std::string said() {
    std::ostringstream all;
    Heard heard = this->heard();
    for (const StructurePtr& s : heard.results) {
      gboolean repeated = FALSE;
      gst_structure_get_boolean(s.get(), "repeated", &repeated);
      all << (all.tellp() > 0 ? ", " : "") << text(s.get(), "state") << (repeated ? "+ " : " ")
          << text(s.get(), "previous") << " @"
          << std::lround(static_cast<double>(count(s.get(), "running-time")) / 1e9);
    }
    for (auto& s : heard.results) last = std::move(s);
    for (const auto& warning : heard.warnings) warnings.push_back(warning.text);
    EXPECT_TRUE(heard.errors.empty());
    return all.str();
  }
  std::string state() {
    gint value = -1;
    g_object_get(element(), "state", &value, nullptr);
    GEnumClass* klass = static_cast<GEnumClass*>(
        g_type_class_ref(g_object_class_find_property(G_OBJECT_GET_CLASS(element()), "state")->value_type));
    const std::string nick = g_enum_get_value(klass, value)->value_nick;
    g_type_class_unref(klass);
    return nick;
  }

  StructurePtr last;  ///< message
  std::vector<std::string> warnings;

 private:
  BufferPtr frame(const Figures& f) {
    BufferPtr buffer(gst_buffer_new_allocate(nullptr, 64, nullptr));
    GST_BUFFER_PTS(buffer.get()) = at_;
    at_ += GST_SECOND / 5;
    GstStructure* s = gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer.get(), "GstSharpnessMeta"));
    const auto vary = [&] { return 1 + 0.01 * (random_.uniform() - 0.5); };
    gst_structure_set(s, "score", G_TYPE_DOUBLE, f.score * vary(), "metric", G_TYPE_STRING, f.metric, "width",
                      G_TYPE_UINT, f.width, "height", G_TYPE_UINT, 48U, nullptr);
    if (f.statistics)
      gst_structure_set(s, "noise", G_TYPE_DOUBLE, f.noise * vary(), "mean", G_TYPE_DOUBLE, f.mean * vary(),
                        "clipped-black", G_TYPE_DOUBLE, 0.0, "clipped-white", G_TYPE_DOUBLE, f.white, "normalize",
                        G_TYPE_STRING, "none", "gradient-energy", G_TYPE_DOUBLE, 300 * vary(), "gradient-noise",
                        G_TYPE_DOUBLE, 0.4, nullptr);
    if (f.zones) {
      gst_structure_set(s, "zone-columns", G_TYPE_UINT, 8U, "zone-rows", G_TYPE_UINT, 6U, nullptr);
      GValue array = G_VALUE_INIT, item = G_VALUE_INIT;
      g_value_init(&array, GST_TYPE_ARRAY);
      g_value_init(&item, G_TYPE_DOUBLE);
      SplitMix place(f.view);
      for (int i = 0; i < 48; ++i) {
        g_value_set_double(&item, 300 * std::exp2(8 * place.uniform() - 4) * vary());
        gst_value_array_append_value(&array, &item);
      }
      gst_structure_take_value(s, f.energies ? "zone-gradient-energies" : "zones", &array);
    }
    return buffer;
  }

  SplitMix random_{5};
  GstClockTime at_ = 0;
};

/// A folder for one test, gone afterwards.
class Folder {
 public:
  Folder() {
    gchar* path = g_dir_make_tmp("camerawatch-XXXXXX", nullptr);
    path_ = path;
    g_free(path);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }

 private:
  std::string path_;
};

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline void write(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace framequality::test
