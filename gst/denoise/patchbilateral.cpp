// SPDX-License-Identifier: LGPL-2.1-or-later
// patchbilateral: denoises with a bilateral filter that compares patches instead of pixels.
#include "gst/denoise/filter.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

/**
 * SECTION:element-patchbilateral
 * @title: patchbilateral
 * @short_description: denoises with a patch-based bilateral filter, preserving edges
 *
 * Replaces every pixel by a mean of the pixels in a small window around it. A pixel at distance t has the weight
 * exp(-|t|^2 / (2 sigma-spatial^2)) exp(-d / (2 sigma-range^2)), where d is the mean squared difference between the
 * patches around the two. With `patch-radius=0` it is the ordinary bilateral filter. It needs a fraction of the time of
 * nlmeans, which searches a larger window.
 *
 * `sigma-range` follows the noise, which is estimated in each frame and whose share is then subtracted from d; clean
 * frames stay as they are. Set, it is in 8-bit grey levels at any depth.
 *
 * The paper gives sigma-spatial as 10, which may mean 10 pixels, the default here, or a variance of 10, that is
 * `sigma-spatial=3.16`. In a window of 7x7 the two differ little.
 *
 * Luma and grey images are filtered on their own, chroma as `chroma` says; R, G and B always jointly. Beyond the
 * border the image is mirrored, edge pixels included. Interlaced frames are filtered field by field.
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
  double sigma_spatial = 10, sigma_range = -1;
  int patch_radius = 1, window_radius = 3;
  denoise::Chroma chroma = denoise::Chroma::kNone;
};

denoise::Settings settings_of(const BilateralSettings& s) {
  denoise::Settings all;
  all.patch_radius = s.patch_radius;
  all.search_radius = s.window_radius;
  denoise::set_bilateral(all, s.sigma_range, s.sigma_spatial);
  all.chroma = s.chroma;
  return all;
}

}  // namespace

}  // namespace framequality

using namespace framequality;

struct GstPatchBilateral {
  FqFilterBase parent;
  Shared<BilateralSettings>* settings;
};
struct GstPatchBilateralClass {
  FqFilterBaseClass parent_class;
};

GType gst_patch_bilateral_get_type();
G_DEFINE_TYPE(GstPatchBilateral, gst_patch_bilateral, FQ_TYPE_FILTER_BASE)
GST_ELEMENT_REGISTER_DEFINE(patchbilateral, "patchbilateral", GST_RANK_NONE, gst_patch_bilateral_get_type())

static std::unique_ptr<Stream> make_stream(FqFilterBase* self, const FilterFormat& format, int threads) {
  return std::make_unique<FilterStream<Denoising<GstPatchBilateral>>>(reinterpret_cast<GstPatchBilateral*>(self),
                                                                      format, threads, 0);
}

// --- Properties -----------------------------------------------------------------------------------------------------

static void install_properties(GstPatchBilateralClass* klass) {
  using S = BilateralSettings;
  Properties<GstPatchBilateral, S>::install(
      klass, [](GstPatchBilateral * self) -> auto& { return *self->settings; })
      .add(&S::sigma_spatial, "sigma-spatial", "Spatial sigma",
           "Set the standard deviation of the spatial weight, in pixels. The paper's 10 may be a variance, which is "
           "3.16 here",
           0.1, 1000)
      .add(&S::sigma_range, "sigma-range", "Range sigma",
           "Set the standard deviation of the range weight, in 8-bit grey levels at any depth: about that of the "
           "noise. 0 = no effect, -1 = follow the noise of each frame",
           -1, 255)
      .add(&S::patch_radius, "patch-radius", "Patch radius",
           "Compare patches of 2r+1 pixels each way: 1 = 3x3, 0 = single pixels", 0, denoise::kMaxPatchRadius)
      .add(&S::window_radius, "window-radius", "Window radius",
           "Search a window of 2r+1 pixels each way: 3 = 7x7, 2 = 5x5. Time grows with its square", 0,
           denoise::kMaxSearchRadius)
      .add(&S::chroma, denoise_chroma_get_type(), "chroma", "Chroma",
           "Choose how U and V are filtered; R, G and B are always filtered jointly");
}

static void gst_patch_bilateral_init(GstPatchBilateral* self) { self->settings = new Shared<BilateralSettings>; }

static void gst_patch_bilateral_class_init(GstPatchBilateralClass* klass) {
  patchbilateral_debug = debug_category("patchbilateral", "patch-based bilateral filter");
  delete_with_instance<&GstPatchBilateral::settings>(klass);
  install_properties(klass);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Patch-based bilateral filter", "Filter/Effect/Video",
      "Removes noise with a patch-based bilateral filter, preserving edges; on a GPU or the CPU",
      "The framequality authors");
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = patchbilateral_debug;
  base->parent_class.makes = [](const Backend& backend) { return backend.denoise != nullptr; };
  base->make_stream = make_stream;
}
