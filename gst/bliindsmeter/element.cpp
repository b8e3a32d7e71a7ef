// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter: predicts the perceived quality of each video frame, without a reference.
#include "engine/bliinds_model.h"
#include "gst/base/meter_stream.h"
#include "gst/bliindsmeter/input.h"
#include "gst/buffer/frame.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"
#include "gst/object/score_meta.h"
#include "gst/object/structure.h"

#include <stdexcept>
#include <string>
#include <utility>

/**
 * SECTION:element-bliindsmeter
 * @title: bliindsmeter
 * @short_description: predicts the perceived quality of each video frame without a reference
 *
 * Measures each frame with BLIINDS-II (Saad, Bovik, Charrier, IEEE TIP 2012), which was trained on people's ratings of
 * compressed, noisy and blurred photographs. It detects compression and noise, but hardly detects blur in noisy frames:
 * use sharpnessmeter for that. It neither changes nor copies pixels. It posts the score as an element message named
 * `bliindsmeter`, attaches it to the buffer as the custom metadata `GstBliindsMeta`, and keeps it in the property
 * `last-score`.
 * Message and metadata have the same fields: guint64 `timestamp`, `stream-time`, `running-time`, `duration` (ns),
 * `frame` (measured since start, from 0); double `score`, from 0 (best) to 99 (worst) in steps of 0.5; double
 * `raw-score`, the score before rounding and clamping; string `channel`, `device`; uint `width`, `height`; with
 * `features=true` an array of 24 doubles `features`.
 *
 * The published model was trained on the red channel of 8-bit images, and `channel=red` is the default. For YUV
 * formats, red is computed by the matrix and range in the caps; gray formats are measured as they are.
 *
 * Frames smaller than 4x4 pass without a score. Interlaced frames are measured as they are, so the comb of moving edges
 * counts as a distortion: put deinterlace upstream.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=3 ! video/x-raw,format=I420 ! bliindsmeter ! fakesink
 * ]| prints one message for each frame.
 * |[
 * gst-launch-1.0 -m filesrc location=clip.mp4 ! decodebin ! bliindsmeter features=true interval=1000000000 ! fakesink
 * ]| scores one frame per second, and prints the features too.
 */

GST_DEBUG_CATEGORY_STATIC(bliindsmeter_debug);
#define GST_CAT_DEFAULT bliindsmeter_debug

namespace framequality {

namespace {

using bliinds::Channel;

struct Settings {
  Channel channel = Channel::kRed;
  bool features = false;
  ModelPtr model;
};

struct ModelFile {
  std::string location;
  bool is_loaded = false;  ///< Settings::model is the file `location`: from READY on
};

enum Warning : unsigned { kTooSmall, kInterlaced };

const char* nick_of(Channel channel) { return channel == Channel::kRed ? "red" : "luma"; }

}  // namespace

struct BliindsState {
  Shared<Settings> settings;
  Shared<ModelFile> file;  ///< changes before the settings
};

}  // namespace framequality

using namespace framequality;

struct GstBliindsMeter {
  FqMeterBase parent;
  BliindsState* state;
};
struct GstBliindsMeterClass {
  FqMeterBaseClass parent_class;
};

GType gst_bliinds_meter_get_type();
G_DEFINE_TYPE(GstBliindsMeter, gst_bliinds_meter, FQ_TYPE_METER_BASE)
GST_ELEMENT_REGISTER_DEFINE(bliindsmeter, "bliindsmeter", GST_RANK_NONE, gst_bliinds_meter_get_type())

// --- Measuring ------------------------------------------------------------------------------------------------------

namespace {

class Bliinds {
 public:
  using Task = bliinds::Task;
  using Result = bliinds::Features;
  using Notes = Settings;
  struct Report {
    double score, raw;
    bliinds::Features features;
  };

  Bliinds(GstBliindsMeter* element, const StreamFormat& format)
      : element_(element), format_(format), input_(input_of(format.info, format.geometry)) {}

  /// Null for frames that are never submitted.
  std::unique_ptr<Worker<Task, Result>> make(const Place& place, int depth) const {
    if (!bliinds::measurable(format_.geometry)) return nullptr;
    return place.backend->bliinds(input_, {place.id, depth});
  }

  bool prepare(GstBuffer* buffer, Task& task, Settings& settings) {
    if (!bliinds::measurable(format_.geometry)) {
      const std::string least = std::to_string(bliinds::kLeastSide * format_.geometry.layout.cell());
      warn(kTooSmall, "Frames of " + std::to_string(GST_VIDEO_INFO_WIDTH(&format_.info)) + "x" +
                          std::to_string(GST_VIDEO_INFO_HEIGHT(&format_.info)) +
                          " are too small to score: they pass without a score. The least size is " + least + "x" +
                          least);
      return false;
    }
    settings = element_->state->settings.get();
    task.channel = settings.channel;
    task.interlaced = is_interlaced(format_.info, buffer);
    if (task.interlaced)
      warn(kInterlaced,
           "Interlaced frames are measured as they are, so their combed edges count as a distortion: put deinterlace "
           "upstream");
    return true;
  }

  const PlaneExtents& extents(const Task& task) const { return extents_[static_cast<int>(task.channel)]; }

  Report report(const Task&, const Settings& settings, const bliinds::Features& features) const {
    const auto [score, raw] = bliinds::score_of(*settings.model, features);
    return {score, raw, features};
  }

  void describe(const Task&, const Settings& settings, const Report& report, GstStructure* fields) const {
    gst_structure_set(fields, "score", G_TYPE_DOUBLE, report.score, "raw-score", G_TYPE_DOUBLE, report.raw, "channel",
                      G_TYPE_STRING, nick_of(settings.channel), nullptr);
    if (settings.features) set_array(fields, "features", G_TYPE_DOUBLE, g_value_set_double, report.features);
  }

  void annotate(const Task&, const Settings&, const Report&, GstBuffer*) const {}

 private:
  void warn(Warning which, const std::string& text) { warnings_.once(&element_->parent, which, text); }

  GstBliindsMeter* element_;
  StreamFormat format_;
  bliinds::Input input_;
  PlaneExtents extents_[2] = {extents_of(input_, Channel::kLuma), extents_of(input_, Channel::kRed)};
  Warnings warnings_;
};

std::unique_ptr<Stream> make_stream(FqMeterBase* self, const StreamFormat& format) {
  return std::make_unique<MeterStream<Bliinds>>(reinterpret_cast<GstBliindsMeter*>(self), format);
}

}  // namespace

// --- Model ----------------------------------------------------------------------------------------------------------

/// Text for display, from any bytes.
static std::string readable(const char* bytes) {
  const TextPtr valid(g_utf8_make_valid(bytes, -1));
  return valid.get();
}

/// As load_model(). Throws ElementError (RESOURCE/SETTINGS) with file, line and reason.
static ModelPtr model_in(const std::string& location) {
  try {
    return load_model(location);
  } catch (const std::invalid_argument& e) {
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       "model-location: " + readable(location.c_str()) + ": " + readable(e.what()));
  }
}

/// Stores a model read from `location`, if that is still the wanted one.
static bool take(BliindsState& s, const std::string& location, ModelPtr model) {
  return s.file.change([&](ModelFile& file) {
    file.is_loaded = location == file.location;
    if (file.is_loaded) s.settings.change([&](Settings& settings) { settings.model = std::move(model); });
    return file.is_loaded;
  });
}

/// Reads the model without holding a lock, again if the location changes meanwhile. True, or throws.
static bool load(BliindsState& s) {
  for (;;) {
    const ModelFile file = s.file.get();
    if (file.is_loaded || take(s, file.location, model_in(file.location))) return true;
  }
}

/// Loads the model when the element starts; a bad one keeps it from starting.
static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  BliindsState& s = *reinterpret_cast<GstBliindsMeter*>(element)->state;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    if (!guard(element, false, [&] { return load(s); })) return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_bliinds_meter_parent_class)->change_state(element, transition);
  const bool failed = transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE;
  if (failed || transition == GST_STATE_CHANGE_READY_TO_NULL)
    s.file.change([](ModelFile& file) { file.is_loaded = false; });
  return result;
}

/// Sets a name now, and its model at once or, in NULL, later. A started element keeps running with a bad one.
static void change_model(GstBliindsMeter* self, const std::string& location) {
  BliindsState& s = *self->state;
  const bool is_later = s.file.change([&](ModelFile& file) {
    if (!file.is_loaded) file.location = location;
    return !file.is_loaded;
  });
  if (is_later) return;
  ModelPtr model;  // read without holding a lock: frames continue meanwhile
  try {
    model = model_in(location);
  } catch (const ElementError& e) {
    post(GST_ELEMENT_CAST(self), GST_MESSAGE_WARNING,
         {e.domain, e.code, std::string(e.what()) + "; the current model stays in use"});
    return;
  }
  s.file.change([&](ModelFile& file) {
    file.location = location;
    s.settings.change([&](Settings& settings) { settings.model = std::move(model); });
  });
}

// --- Properties -----------------------------------------------------------------------------------------------------

static GType channel_get_type() {
  static const GType type =
      register_enum<Channel>("FqBliindsChannel", {{Channel::kLuma, "the Y plane, or BT.601 luma of RGB", "luma"},
                                                  {Channel::kRed,
                                                   "red, which the published model was trained on; computed from YUV "
                                                   "by its matrix and range; gray itself for gray formats",
                                                   "red"}});
  return type;
}

static void get_model_location(GstBliindsMeter* self, GValue* value) {
  PropertyType<std::string>::set(value, self->state->file.get().location);
}

static void set_model_location(GstBliindsMeter* self, const GValue* value) {
  guard(GST_ELEMENT_CAST(self), false, [&] {
    change_model(self, PropertyType<std::string>::get(value));
    return true;
  });
}

static void install_properties(GstBliindsMeterClass* klass) {
  using S = Settings;
  Properties<GstBliindsMeter, S>::install(
      klass, [](GstBliindsMeter * self) -> auto& { return self->state->settings; })
      .add(&S::channel, channel_get_type(), "channel", "Channel",
           "Measure this channel; the published model was trained on red")
      .add(g_param_spec_string("model-location", "Model location",
                               "Score by the model in this file, as written by examples/train_bliinds.py; unset = the "
                               "built-in published model. An invalid file is an error on the way to READY; later it is "
                               "a warning, and the current model stays in use",
                               nullptr, flags_of(Mutable::kPlaying)),
           get_model_location, set_model_location)
      .add(&S::features, "features", "Features",
           "Add the 24 features to message and metadata, as 'features', an array of doubles");
}

static void gst_bliinds_meter_init(GstBliindsMeter* self) { self->state = new BliindsState; }

static void gst_bliinds_meter_class_init(GstBliindsMeterClass* klass) {
  bliindsmeter_debug = debug_category("bliindsmeter", "perceived quality of video frames");
  register_score_meta(kBliindsMeta);
  delete_with_instance<&GstBliindsMeter::state>(klass);
  install_properties(klass);

  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  gst_element_class_set_static_metadata(
      element, "BLIINDS-II quality meter", "Filter/Analyzer/Video",
      "Predicts the perceived quality of each frame without a reference, from 0 (best) to 99 (worst); posts messages "
      "and attaches metadata, leaves pixels unchanged",
      "The framequality authors");

  auto* base = FQ_METER_BASE_CLASS(klass);
  base->parent_class.category = bliindsmeter_debug;
  base->parent_class.makes = [](const Backend& backend) { return backend.bliinds != nullptr; };
  base->message_name = "bliindsmeter";
  base->meta_name = kBliindsMeta;
  base->make_stream = make_stream;
}
