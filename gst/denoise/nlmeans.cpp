// SPDX-License-Identifier: LGPL-2.1-or-later
// nlmeans: takes noise off by averaging pixels whose surroundings look alike.
#include "gst/base/filter_base.h"
#include "gst/denoise/filter.h"
#include "gst/object/enums.h"

#include <mutex>

/**
 * SECTION:element-nlmeans
 * @title: nlmeans
 * @short_description: non-local means: takes noise off, keeps edges and texture
 *
 * Replaces every pixel by a mean of the pixels around it, each with the weight exp(-d / strength^2), where d is the
 * mean squared difference between the patches around the two (Buades, Coll, Morel, CVPR 2005). The filter is exact: all
 * pixels of the search window take part, distances are summed over whole patches. `strength` is in grey levels of 8-bit
 * codes at every depth; 0.8 to 1 times the standard deviation of the noise is a good start, 0.7 times with
 * `center-weight=max`.
 *
 * The luma plane and grey pictures are filtered alone, chroma as `chroma` says; R, G and B always together. Beyond the
 * border the picture is mirrored, edge pixels included. Interlaced frames are filtered field by field.
 *
 * With `temporal-radius` a frame is also made of the frames before and after it. It then leaves when those have come:
 * the pipeline is told of so many frames' latency, if caps have a frame rate. Frames that are not there (at the start
 * and the end, beyond a flush, gap, new caps or buffers marked DISCONT) are left out; a frame that an event drives out
 * is made of those that have come.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=160,height=120 ! nlmeans ! fakesink
 * ]| filters the luma of five small frames.
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! nlmeans strength=12 chroma=joint ! x264enc ! mp4mux !
 *     filesink location=quiet.mp4
 * ]| makes a clip without its noise.
 */

GST_DEBUG_CATEGORY_STATIC(nlmeans_debug);
#define GST_CAT_DEFAULT nlmeans_debug

namespace framequality {

namespace {

struct NlmeansSettings {
  double strength = 10, strength_chroma = -1, sigma = 0;
  int patch_radius = 3, search_radius = 10, temporal_radius = 0;
  denoise::CenterWeight center = denoise::CenterWeight::kOne;
  denoise::Chroma chroma = denoise::Chroma::kNone;
};

denoise::Settings settings_of(const NlmeansSettings& s) {
  denoise::Settings all;
  all.patch_radius = s.patch_radius;
  all.search_radius = s.search_radius;
  all.range = range_of(s.strength);
  all.range_chroma = range_of(s.strength_chroma < 0 ? s.strength : s.strength_chroma);
  all.sigma = s.sigma < 0 ? 0 : s.sigma;
  all.estimate_sigma = s.sigma < 0;
  all.center = s.center;
  all.chroma = s.chroma;
  return all;
}

}  // namespace

struct NlmeansState {
  std::mutex mutex;
  NlmeansSettings settings;
};

}  // namespace framequality

using namespace framequality;

struct GstNlmeans {
  FqFilterBase parent;
  NlmeansState* state;
};
struct GstNlmeansClass {
  FqFilterBaseClass parent_class;
};

GType gst_nlmeans_get_type();
G_DEFINE_TYPE(GstNlmeans, gst_nlmeans, FQ_TYPE_FILTER_BASE)
GST_ELEMENT_REGISTER_DEFINE(nlmeans, "nlmeans", GST_RANK_NONE, gst_nlmeans_get_type())

static NlmeansSettings current_settings(GstNlmeans* self) {
  const std::lock_guard lock(self->state->mutex);
  return self->state->settings;
}

static int temporal_radius(FqFilterBase* base) {
  return current_settings(reinterpret_cast<GstNlmeans*>(base)).temporal_radius;
}

static std::unique_ptr<PixelFilter> make_filter(FqFilterBase* base, const FilterFormat& format, const Place& place,
                                                int depth, int threads) {
  auto* self = reinterpret_cast<GstNlmeans*>(base);
  return make_denoiser(format, place, depth, threads, [self] { return settings_of(current_settings(self)); });
}

// --- Properties -----------------------------------------------------------------------------------------------------

enum {
  PROP_STRENGTH = 1,
  PROP_STRENGTH_CHROMA,
  PROP_PATCH_RADIUS,
  PROP_SEARCH_RADIUS,
  PROP_CENTER_WEIGHT,
  PROP_SIGMA,
  PROP_TEMPORAL_RADIUS,
  PROP_CHROMA
};

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  auto* self = reinterpret_cast<GstNlmeans*>(object);
  if (id == PROP_TEMPORAL_RADIUS && is_too_late(object, pspec)) return;
  const std::lock_guard lock(self->state->mutex);
  NlmeansSettings& s = self->state->settings;
  switch (id) {
    case PROP_STRENGTH:
      s.strength = g_value_get_double(value);
      break;
    case PROP_STRENGTH_CHROMA:
      s.strength_chroma = g_value_get_double(value);
      break;
    case PROP_PATCH_RADIUS:
      s.patch_radius = g_value_get_int(value);
      break;
    case PROP_SEARCH_RADIUS:
      s.search_radius = g_value_get_int(value);
      break;
    case PROP_CENTER_WEIGHT:
      s.center = static_cast<denoise::CenterWeight>(g_value_get_enum(value));
      break;
    case PROP_SIGMA:
      s.sigma = g_value_get_double(value);
      break;
    case PROP_TEMPORAL_RADIUS:
      s.temporal_radius = g_value_get_int(value);
      break;
    case PROP_CHROMA:
      s.chroma = static_cast<denoise::Chroma>(g_value_get_enum(value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  const NlmeansSettings s = current_settings(reinterpret_cast<GstNlmeans*>(object));
  switch (id) {
    case PROP_STRENGTH:
      g_value_set_double(value, s.strength);
      break;
    case PROP_STRENGTH_CHROMA:
      g_value_set_double(value, s.strength_chroma);
      break;
    case PROP_PATCH_RADIUS:
      g_value_set_int(value, s.patch_radius);
      break;
    case PROP_SEARCH_RADIUS:
      g_value_set_int(value, s.search_radius);
      break;
    case PROP_CENTER_WEIGHT:
      g_value_set_enum(value, static_cast<int>(s.center));
      break;
    case PROP_SIGMA:
      g_value_set_double(value, s.sigma);
      break;
    case PROP_TEMPORAL_RADIUS:
      g_value_set_int(value, s.temporal_radius);
      break;
    case PROP_CHROMA:
      g_value_set_enum(value, static_cast<int>(s.chroma));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_nlmeans_init(GstNlmeans* self) { self->state = new NlmeansState; }

static void finalize(GObject* object) {
  delete reinterpret_cast<GstNlmeans*>(object)->state;
  G_OBJECT_CLASS(gst_nlmeans_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  constexpr auto kReady =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY);
  const NlmeansSettings s;
  g_object_class_install_property(
      object, PROP_STRENGTH,
      g_param_spec_double(
          "strength", "Strength",
          "How much patches may differ, h in exp(-d/h^2), in 8-bit grey levels at every depth; about the "
          "standard deviation of the noise. 0 = only equal patches are averaged: nothing changes",
          0, 255, s.strength, kFlags));
  g_object_class_install_property(object, PROP_STRENGTH_CHROMA,
                                  g_param_spec_double("strength-chroma", "Strength of chroma",
                                                      "The same for U and V, in 8-bit grey levels; -1 = as strength",
                                                      -1, 255, s.strength_chroma, kFlags));
  g_object_class_install_property(
      object, PROP_PATCH_RADIUS,
      g_param_spec_int("patch-radius", "Patch radius",
                       "Patches that are compared are 2r+1 pixels wide and high: 3 = 7x7. Larger ones are surer in "
                       "strong noise and leave more of it near edges",
                       0, denoise::kMaxPatchRadius, s.patch_radius, kFlags));
  g_object_class_install_property(
      object, PROP_SEARCH_RADIUS,
      g_param_spec_int("search-radius", "Search radius",
                       "Pixels to each side that are averaged over: 10 = 21x21. The time grows with the square", 0,
                       denoise::kMaxSearchRadius, s.search_radius, kFlags));
  g_object_class_install_property(object, PROP_CENTER_WEIGHT,
                                  g_param_spec_enum("center-weight", "Center weight", "Weight of the pixel itself",
                                                    center_weight_get_type(), static_cast<int>(s.center), kFlags));
  g_object_class_install_property(
      object, PROP_SIGMA,
      g_param_spec_double("sigma", "Sigma",
                          "Standard deviation of the noise, whose share 2 sigma^2 is taken off patch distances, in "
                          "8-bit grey levels; 0 = nothing is, -1 = estimated in each frame",
                          -1, 255, s.sigma, kFlags));
  g_object_class_install_property(
      object, PROP_TEMPORAL_RADIUS,
      g_param_spec_int(
          "temporal-radius", "Temporal radius",
          "Frames before and after that are averaged over too; latency grows by as many frames. Each costs "
          "as much time again",
          0, denoise::kMaxTemporalRadius, s.temporal_radius, kReady));
  g_object_class_install_property(
      object, PROP_CHROMA,
      g_param_spec_enum("chroma", "Chroma", "What happens to U and V; R, G and B are always filtered together",
                        denoise_chroma_get_type(), static_cast<int>(s.chroma), kFlags));
}

static void gst_nlmeans_class_init(GstNlmeansClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nlmeans_debug, "nlmeans", 0, "non-local means");
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Non-local means", "Filter/Effect/Video",
      "Takes noise off and keeps edges and texture, on the GPU or the CPU: exact non-local means",
      "The framequality authors");
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = nlmeans_debug;
  base->temporal_radius = temporal_radius;
  base->make_filter = make_filter;
  gst_type_mark_as_plugin_api(denoise_chroma_get_type(), static_cast<GstPluginAPIFlags>(0));
  gst_type_mark_as_plugin_api(center_weight_get_type(), static_cast<GstPluginAPIFlags>(0));
}
