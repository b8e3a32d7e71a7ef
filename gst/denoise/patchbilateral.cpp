// SPDX-License-Identifier: LGPL-2.1-or-later
// patchbilateral: a bilateral filter that compares patches instead of pixels.
#include "gst/base/filter_base.h"
#include "gst/denoise/filter.h"
#include "gst/object/enums.h"

#include <mutex>

/**
 * SECTION:element-patchbilateral
 * @title: patchbilateral
 * @short_description: a bilateral filter that compares patches: quick, keeps edges
 *
 * Replaces every pixel by a mean of the pixels in a small window around it. A pixel at distance t has the weight
 * exp(-|t|^2 / (2 sigma-spatial^2)) exp(-d / (2 sigma-range^2)), where d is the mean squared difference between the
 * patches around the two. With `patch-radius` 0 it is the common bilateral filter. It takes a fraction of the time of
 * nlmeans, which looks further.
 *
 * The publication gives sigma-spatial as 10, which can be read as 10 pixels, the default here, or as a variance of 10,
 * that is `sigma-spatial=3.16`. In a window of 7x7 the two differ little.
 *
 * The luma plane and grey pictures are filtered alone, chroma as `chroma` says; R, G and B always together. Beyond the
 * border the picture is mirrored, edge pixels included. Interlaced frames are filtered field by field.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=160,height=120 ! patchbilateral ! fakesink
 * ]| filters the luma of five small frames.
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! patchbilateral sigma-range=15 chroma=joint ! autovideosink
 * ]| shows a camera with less noise.
 */

GST_DEBUG_CATEGORY_STATIC(patchbilateral_debug);
#define GST_CAT_DEFAULT patchbilateral_debug

namespace framequality {

namespace {

struct BilateralSettings {
  double sigma_spatial = 10, sigma_range = 20;
  int patch_radius = 1, window_radius = 3;
  denoise::Chroma chroma = denoise::Chroma::kNone;
};

denoise::Settings settings_of(const BilateralSettings& s) {
  denoise::Settings all;
  all.patch_radius = s.patch_radius;
  all.search_radius = s.window_radius;
  all.range = all.range_chroma = 2 * range_of(s.sigma_range);
  all.spatial = 1 / (2 * s.sigma_spatial * s.sigma_spatial);
  all.chroma = s.chroma;
  return all;
}

}  // namespace

struct BilateralState {
  std::mutex mutex;
  BilateralSettings settings;
};

}  // namespace framequality

using namespace framequality;

struct GstPatchBilateral {
  FqFilterBase parent;
  BilateralState* state;
};
struct GstPatchBilateralClass {
  FqFilterBaseClass parent_class;
};

GType gst_patch_bilateral_get_type();
G_DEFINE_TYPE(GstPatchBilateral, gst_patch_bilateral, FQ_TYPE_FILTER_BASE)
GST_ELEMENT_REGISTER_DEFINE(patchbilateral, "patchbilateral", GST_RANK_NONE, gst_patch_bilateral_get_type())

static BilateralSettings current_settings(GstPatchBilateral* self) {
  const std::lock_guard lock(self->state->mutex);
  return self->state->settings;
}

static std::unique_ptr<PixelFilter> make_filter(FqFilterBase* base, const FilterFormat& format, const Place& place,
                                                int depth, int threads) {
  auto* self = reinterpret_cast<GstPatchBilateral*>(base);
  return make_denoiser(format, place, depth, threads, [self] { return settings_of(current_settings(self)); });
}

// --- Properties -----------------------------------------------------------------------------------------------------

enum { PROP_SIGMA_SPATIAL = 1, PROP_SIGMA_RANGE, PROP_PATCH_RADIUS, PROP_WINDOW_RADIUS, PROP_CHROMA };

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  auto* self = reinterpret_cast<GstPatchBilateral*>(object);
  const std::lock_guard lock(self->state->mutex);
  BilateralSettings& s = self->state->settings;
  switch (id) {
    case PROP_SIGMA_SPATIAL:
      s.sigma_spatial = g_value_get_double(value);
      break;
    case PROP_SIGMA_RANGE:
      s.sigma_range = g_value_get_double(value);
      break;
    case PROP_PATCH_RADIUS:
      s.patch_radius = g_value_get_int(value);
      break;
    case PROP_WINDOW_RADIUS:
      s.window_radius = g_value_get_int(value);
      break;
    case PROP_CHROMA:
      s.chroma = static_cast<denoise::Chroma>(g_value_get_enum(value));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  const BilateralSettings s = current_settings(reinterpret_cast<GstPatchBilateral*>(object));
  switch (id) {
    case PROP_SIGMA_SPATIAL:
      g_value_set_double(value, s.sigma_spatial);
      break;
    case PROP_SIGMA_RANGE:
      g_value_set_double(value, s.sigma_range);
      break;
    case PROP_PATCH_RADIUS:
      g_value_set_int(value, s.patch_radius);
      break;
    case PROP_WINDOW_RADIUS:
      g_value_set_int(value, s.window_radius);
      break;
    case PROP_CHROMA:
      g_value_set_enum(value, static_cast<int>(s.chroma));
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_patch_bilateral_init(GstPatchBilateral* self) { self->state = new BilateralState; }

static void finalize(GObject* object) {
  delete reinterpret_cast<GstPatchBilateral*>(object)->state;
  G_OBJECT_CLASS(gst_patch_bilateral_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  const BilateralSettings s;
  g_object_class_install_property(
      object, PROP_SIGMA_SPATIAL,
      g_param_spec_double("sigma-spatial", "Spatial sigma",
                          "How far away pixels count, a standard deviation in pixels. The publication's 10 can be read "
                          "as this, or as a variance: 3.16 then",
                          0.1, 1000, s.sigma_spatial, kFlags));
  g_object_class_install_property(
      object, PROP_SIGMA_RANGE,
      g_param_spec_double(
          "sigma-range", "Range sigma",
          "How much patches may differ, a standard deviation in 8-bit grey levels at every depth; about "
          "that of the noise. 0 = only equal patches are averaged: nothing changes",
          0, 255, s.sigma_range, kFlags));
  g_object_class_install_property(
      object, PROP_PATCH_RADIUS,
      g_param_spec_int("patch-radius", "Patch radius",
                       "Patches that are compared are 2r+1 pixels wide and high: 1 = 3x3, 0 = the pixels themselves", 0,
                       denoise::kMaxPatchRadius, s.patch_radius, kFlags));
  g_object_class_install_property(
      object, PROP_WINDOW_RADIUS,
      g_param_spec_int("window-radius", "Window radius",
                       "Pixels to each side that are averaged over: 3 = 7x7, 2 = 5x5. The time grows with the square",
                       0, denoise::kMaxSearchRadius, s.window_radius, kFlags));
  g_object_class_install_property(
      object, PROP_CHROMA,
      g_param_spec_enum("chroma", "Chroma", "What happens to U and V; R, G and B are always filtered together",
                        denoise_chroma_get_type(), static_cast<int>(s.chroma), kFlags));
}

static void gst_patch_bilateral_class_init(GstPatchBilateralClass* klass) {
  GST_DEBUG_CATEGORY_INIT(patchbilateral_debug, "patchbilateral", 0, "patch-based bilateral filter");
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Patch-based bilateral filter", "Filter/Effect/Video",
      "Takes noise off and keeps edges, on the GPU or the CPU: a bilateral filter that compares patches",
      "The framequality authors");
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = patchbilateral_debug;
  base->make_filter = make_filter;
  gst_type_mark_as_plugin_api(denoise_chroma_get_type(), static_cast<GstPluginAPIFlags>(0));
}
