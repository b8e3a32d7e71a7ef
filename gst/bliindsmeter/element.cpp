// SPDX-License-Identifier: LGPL-2.1-or-later
// bliindsmeter: the perceptual quality of every video frame, with no reference to compare it with.
#include "gst/base/backends.h"
#include "gst/base/flight.h"
#include "gst/base/meter_base.h"
#include "gst/bliindsmeter/model.h"
#include "gst/buffer/frame.h"
#include "gst/object/enums.h"
#include "gst/object/guard.h"
#include "gst/object/score_meta.h"
#include "gst/object/structure.h"

#include <mutex>
#include <string>
#include <utility>

/**
 * SECTION:element-bliindsmeter
 * @title: bliindsmeter
 * @short_description: scores the quality of every video frame without a reference
 *
 * Measures each frame by BLIINDS-II (Saad, Bovik, Charrier, IEEE TIP 2012), which was trained on what people say of
 * blurred, noisy and compressed photographs, and lets it pass untouched and uncopied. The score goes out as an element
 * message named `bliindsmeter`, as a custom metadata `GstBliindsMeta` on the buffer and in the property `last-score`.
 * Message and metadata carry the same fields: guint64 `timestamp`, `stream-time`, `running-time`, `duration` (ns),
 * `frame` (measured since start, from 0); double `score`, 0 best ... 99 worst in steps of 0.5; double `raw-score`, the
 * same before rounding and clamping; string `channel`, `device`; uint `width`, `height`; with `features=true` an array
 * of 24 doubles `features`.
 *
 * The published model was trained on the red channel of 8-bit pictures: `channel=red` on RGB gives its scores.
 *
 * Frames smaller than 4x4 pass without a score. Interlaced frames are measured as they are, woven, and the comb of
 * moving edges counts as a distortion: put deinterlace in front.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=3 ! video/x-raw,format=I420 ! bliindsmeter ! fakesink
 * ]| prints one message for each frame.
 * |[
 * gst-launch-1.0 -m filesrc location=clip.mp4 ! decodebin ! videoconvert ! video/x-raw,format=RGB !
 *     bliindsmeter channel=red features=true interval=1000000000 ! fakesink
 * ]| scores one frame a second as the published model knows it, and prints what the score is made of.
 */

GST_DEBUG_CATEGORY_STATIC(bliindsmeter_debug);
#define GST_CAT_DEFAULT bliindsmeter_debug

namespace framequality {

namespace {

using bliinds::Channel;

struct Settings {
  Channel channel = Channel::kLuma;
  bool features = false;
  ModelPtr model;
};

enum Warning : unsigned { kTooSmall, kInterlaced };

const char* nick_of(Channel channel) { return channel == Channel::kRed ? "red" : "luma"; }

}  // namespace

struct BliindsState {
  std::mutex mutex;
  Settings settings;
  std::string model_location;
  bool is_loaded = false;  ///< settings.model is what model_location names: from READY on
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

class BliindsMeasurer final : public Measurer {
 public:
  BliindsMeasurer(GstBliindsMeter* element, const StreamFormat& format, const Place& place, int depth)
      : element_(element), format_(format), flight_(make_meter(format.geometry, place, depth), place.cuda, depth) {}

  bool submit(const Frame& frame, GstBuffer* buffer) override {
    if (!bliinds::measurable(format_.geometry)) {
      warn(kTooSmall, "A frame of " + std::to_string(format_.geometry.width) + "x" +
                          std::to_string(format_.geometry.height) +
                          " is too small for a score: the least is 4x4. Such frames pass without one");
      return false;
    }
    if (is_interlaced(format_.info, buffer))
      warn(kInterlaced,
           "Interlaced frames are measured as they are, and combed edges count as a distortion: put deinterlace in "
           "front");
    Pending& next = flight_.next();
    {
      const std::lock_guard lock(element_->state->mutex);
      next.settings = element_->state->settings;
    }
    if (!bliinds::has_channel(format_.geometry.layout, next.settings.channel))
      throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                         std::string("channel=red needs frames in RGB, but these are ") +
                             GST_VIDEO_INFO_NAME(&format_.info) +
                             ": put videoconvert ! video/x-raw,format=RGB in front, or use channel=luma");
    next.frame = frame;
    flight_.submit();
    return true;
  }

  double collect(GstStructure* result) override {
    const bliinds::Features features = flight_.collect();
    const Settings& settings = flight_.oldest().settings;
    const auto [score, raw] = bliinds::score_of(*settings.model, features);
    gst_structure_set(result, "score", G_TYPE_DOUBLE, score, "raw-score", G_TYPE_DOUBLE, raw, "channel", G_TYPE_STRING,
                      nick_of(settings.channel), nullptr);
    if (settings.features) set_array(result, "features", G_TYPE_DOUBLE, g_value_set_double, features);
    flight_.forget_oldest();
    return score;
  }

  void move_to_cpu() override { flight_.move_to(make_meter(format_.geometry, Place{}, 1)); }

  void drop() override { flight_.drop(); }

 private:
  /// A frame submitted and not collected.
  struct Pending {
    Frame frame;
    Settings settings;
    void submit_to(bliinds::Meter& meter) const { meter.submit(frame, settings.channel); }
  };

  /// Null for frames that are never submitted.
  static std::unique_ptr<bliinds::Meter> make_meter(const Geometry& geometry, const Place& place, int depth) {
    if (!bliinds::measurable(geometry)) return nullptr;
    return place.cuda ? backends().make_cuda_bliinds_meter(geometry, place.id, depth)
                      : backends().make_cpu_bliinds_meter(geometry);
  }

  void warn(Warning which, const std::string& text) { fq_meter_base_warn_once(&element_->parent, which, text.c_str()); }

  GstBliindsMeter* element_;
  StreamFormat format_;
  Flight<bliinds::Meter, Pending> flight_;
};

std::unique_ptr<Measurer> make_measurer(FqMeterBase* self, const StreamFormat& format, const Place& place, int depth) {
  return std::make_unique<BliindsMeasurer>(reinterpret_cast<GstBliindsMeter*>(self), format, place, depth);
}

}  // namespace

// --- Model ----------------------------------------------------------------------------------------------------------

/// Reads the model with no lock held, however often another one is asked for meanwhile. True, or throws.
static bool take_model(BliindsState& s) {
  std::unique_lock lock(s.mutex);
  while (!s.is_loaded) {
    const std::string location = s.model_location;
    lock.unlock();
    ModelPtr model = load_model(location);
    lock.lock();
    s.is_loaded = location == s.model_location;
    if (s.is_loaded) s.settings.model = std::move(model);
  }
  return true;
}

/// Takes the model when the element starts; a bad one keeps it from starting.
static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  BliindsState& s = *reinterpret_cast<GstBliindsMeter*>(element)->state;
  const auto forget = [&] {
    const std::lock_guard lock(s.mutex);
    s.is_loaded = false;
  };
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    if (!guard(element, false, [&] { return take_model(s); })) return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_bliinds_meter_parent_class)->change_state(element, transition);
  const bool failed = transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE;
  if (failed || transition == GST_STATE_CHANGE_READY_TO_NULL) forget();
  return result;
}

/// Takes a name now and its model at once or, in NULL, later. A started element does not stop for a bad one.
static void set_model_location(GstBliindsMeter* self, std::string location) {
  BliindsState& s = *self->state;
  {
    const std::lock_guard lock(s.mutex);
    if (!s.is_loaded) {
      s.model_location = std::move(location);
      return;
    }
  }
  ModelPtr model;  // read with no lock held: frames go on meanwhile
  try {
    model = load_model(location);
  } catch (const ElementError& e) {
    post(GST_ELEMENT_CAST(self), GST_MESSAGE_WARNING,
         {e.domain, e.code, std::string(e.what()) + ". The model in use is kept"});
    return;
  }
  const std::lock_guard lock(s.mutex);
  s.settings.model = std::move(model);
  s.model_location = std::move(location);
}

// --- Properties -----------------------------------------------------------------------------------------------------

enum { PROP_CHANNEL = 1, PROP_MODEL_LOCATION, PROP_FEATURES };

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  auto* self = reinterpret_cast<GstBliindsMeter*>(object);
  if (id == PROP_MODEL_LOCATION) {
    const char* location = g_value_get_string(value);
    guard(GST_ELEMENT_CAST(self), false, [&] {
      set_model_location(self, location ? location : "");
      return true;
    });
    return;
  }
  const std::lock_guard lock(self->state->mutex);
  Settings& s = self->state->settings;
  switch (id) {
    case PROP_CHANNEL:
      s.channel = static_cast<Channel>(g_value_get_enum(value));
      break;
    case PROP_FEATURES:
      s.features = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  auto* self = reinterpret_cast<GstBliindsMeter*>(object);
  const std::lock_guard lock(self->state->mutex);
  const Settings& s = self->state->settings;
  switch (id) {
    case PROP_CHANNEL:
      g_value_set_enum(value, static_cast<int>(s.channel));
      break;
    case PROP_MODEL_LOCATION:
      if (!self->state->model_location.empty()) g_value_set_string(value, self->state->model_location.c_str());
      break;
    case PROP_FEATURES:
      g_value_set_boolean(value, s.features);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_bliinds_meter_init(GstBliindsMeter* self) { self->state = new BliindsState; }

static void finalize(GObject* object) {
  delete reinterpret_cast<GstBliindsMeter*>(object)->state;
  G_OBJECT_CLASS(gst_bliinds_meter_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property(
      object, PROP_CHANNEL,
      g_param_spec_enum("channel", "Channel",
                        "What of a frame is measured. Red is what the published model was trained on; frames that are "
                        "not in RGB are an error then",
                        bliinds_channel_get_type(), static_cast<int>(Channel::kLuma), kFlags));
  g_object_class_install_property(
      object, PROP_MODEL_LOCATION,
      g_param_spec_string("model-location", "Model location",
                          "Text file with the model that makes the score of the features, as framequality-bliinds "
                          "train writes it; unset = the published one. A bad file keeps the element from starting; "
                          "set from READY on, it is a warning, and the model in use is kept",
                          nullptr, kFlags));
  g_object_class_install_property(
      object, PROP_FEATURES,
      g_param_spec_boolean("features", "Features",
                           "Add the 24 features to message and metadata, as an array of double 'features'", FALSE,
                           kFlags));
}

static void gst_bliinds_meter_class_init(GstBliindsMeterClass* klass) {
  GST_DEBUG_CATEGORY_INIT(bliindsmeter_debug, "bliindsmeter", 0, "quality of every video frame");
  register_score_meta(kBliindsMeta);
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);

  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  gst_element_class_set_static_metadata(element, "BLIINDS-II quality meter", "Filter/Analyzer/Video",
                                        "Scores the quality of every frame without a reference, 0 best ... 99 worst; "
                                        "message and metadata, pixels untouched",
                                        "The framequality authors");

  auto* base = FQ_METER_BASE_CLASS(klass);
  base->parent_class.category = bliindsmeter_debug;
  base->message_name = "bliindsmeter";
  base->meta_name = kBliindsMeta;
  base->make_measurer = make_measurer;
  gst_type_mark_as_plugin_api(bliinds_channel_get_type(), static_cast<GstPluginAPIFlags>(0));
}
