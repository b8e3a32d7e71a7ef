// SPDX-License-Identifier: LGPL-2.1-or-later
// nlmeans: denoises with exact non-local means, preserving edges and texture.
#include "gst/denoise/filter.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"

/**
 * SECTION:element-nlmeans
 * @title: nlmeans
 * @short_description: denoises with exact non-local means, preserving edges and texture
 *
 * Replaces every pixel by a mean of the pixels around it, each with the weight exp(-d / strength^2), where d is the
 * mean squared difference between the patches around the two (Buades, Coll, Morel, CVPR 2005). The filter is exact: all
 * pixels of the search window take part, distances are summed over whole patches. The strength follows the noise, which
 * is estimated in each frame; clean frames stay as they are. `strength` fixes it, in 8-bit grey levels at any depth;
 * 0.8 to 1 times the standard deviation of the noise is a good start, 0.7 times with `center-weight=max`.
 *
 * Luma and grey images are filtered on their own, chroma as `chroma` says; R, G and B always jointly. Beyond the
 * border the image is mirrored, edge pixels included. Interlaced frames are filtered field by field.
 *
 * With `temporal-radius` a frame is also computed from the frames before and after it, and is output when those have
 * arrived; the element reports the added latency to the pipeline if the caps have a frame rate. Missing frames (at the
 * start and the end, beyond a flush, gap, new caps or buffers marked DISCONT) are left out; a frame that an event
 * drains is computed from those that have arrived.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=160,height=120 ! nlmeans ! fakesink
 * ]| filters the luma of five small frames.
 * |[
 * gst-launch-1.0 filesrc location=clip.mp4 ! decodebin ! videoconvert ! video/x-raw,format=I420 !
 *     nlmeans chroma=joint ! x264enc ! mp4mux ! filesink location=denoised.mp4
 * ]| denoises a clip.
 */

GST_DEBUG_CATEGORY_STATIC(nlmeans_debug);
#define GST_CAT_DEFAULT nlmeans_debug

namespace framequality {

namespace {

struct NlmeansSettings {
  double strength = -1, strength_chroma = -1, sigma = 0;
  int patch_radius = 3, search_radius = 10, temporal_radius = 0;
  denoise::CenterWeight center = denoise::CenterWeight::kOne;
  denoise::Chroma chroma = denoise::Chroma::kNone;
};

denoise::Settings settings_of(const NlmeansSettings& s) {
  denoise::Settings all;
  all.patch_radius = s.patch_radius;
  all.search_radius = s.search_radius;
  denoise::set_nlmeans(all, s.strength, s.strength_chroma, s.sigma);
  all.center = s.center;
  all.chroma = s.chroma;
  return all;
}

}  // namespace

}  // namespace framequality

using namespace framequality;

struct GstNlmeans {
  FqFilterBase parent;
  Shared<NlmeansSettings>* settings;
};
struct GstNlmeansClass {
  FqFilterBaseClass parent_class;
};

GType gst_nlmeans_get_type();
G_DEFINE_TYPE(GstNlmeans, gst_nlmeans, FQ_TYPE_FILTER_BASE)
GST_ELEMENT_REGISTER_DEFINE(nlmeans, "nlmeans", GST_RANK_NONE, gst_nlmeans_get_type())

static std::unique_ptr<Stream> make_stream(FqFilterBase* base, const FilterFormat& format, int threads) {
  auto* self = reinterpret_cast<GstNlmeans*>(base);
  return std::make_unique<FilterStream<Denoising<GstNlmeans>>>(self, format, threads,
                                                               self->settings->get().temporal_radius);
}

// --- Properties -----------------------------------------------------------------------------------------------------

static GType center_weight_get_type() {
  using denoise::CenterWeight;
  static const GType type = register_enum<CenterWeight>(
      "FqCenterWeight", {{CenterWeight::kOne, "1, the weight of an identical patch", "one"},
                         {CenterWeight::kMax, "largest of the other weights; also removes isolated pixels", "max"}});
  return type;
}

static void install_properties(GstNlmeansClass* klass) {
  using S = NlmeansSettings;
  Properties<GstNlmeans, S>::install(
      klass, [](GstNlmeans * self) -> auto& { return *self->settings; })
      .add(&S::strength, "strength", "Strength",
           "Set the filter strength h in exp(-d/h^2), in 8-bit grey levels at any depth: about the standard deviation "
           "of the noise. 0 = no effect, -1 = follow the noise of each frame, or sigma if that is set",
           -1, 255)
      .add(&S::strength_chroma, "strength-chroma", "Chroma strength",
           "Set the filter strength for U and V, in 8-bit grey levels at any depth; -1 = same as strength", -1, 255)
      .add(&S::patch_radius, "patch-radius", "Patch radius",
           "Compare patches of 2r+1 pixels each way: 3 = 7x7. Larger patches are more robust to strong noise but leave "
           "more of it near edges",
           0, denoise::kMaxPatchRadius)
      .add(&S::search_radius, "search-radius", "Search radius",
           "Search a window of 2r+1 pixels each way: 10 = 21x21. Time grows with its square", 0,
           denoise::kMaxSearchRadius)
      .add(&S::center, center_weight_get_type(), "center-weight", "Center weight",
           "Choose the weight of the pixel itself")
      .add(&S::sigma, "sigma", "Sigma",
           "Set the standard deviation of the noise, in 8-bit grey levels: 2 sigma^2 is subtracted from patch "
           "distances. 0 = off, -1 = estimate it for each frame, as strength=-1 does unless sigma is set",
           -1, 255)
      .add(Mutable::kReady, &S::temporal_radius, "temporal-radius", "Temporal radius",
           "Search this many frames before and after each frame too; adds that many frames of latency. Each searched "
           "frame costs as much time as the frame itself",
           0, denoise::kMaxTemporalRadius)
      .add(&S::chroma, denoise_chroma_get_type(), "chroma", "Chroma",
           "Choose how U and V are filtered; R, G and B are always filtered jointly");
}

static void gst_nlmeans_init(GstNlmeans* self) { self->settings = new Shared<NlmeansSettings>; }

static void gst_nlmeans_class_init(GstNlmeansClass* klass) {
  nlmeans_debug = debug_category("nlmeans", "non-local means");
  delete_with_instance<&GstNlmeans::settings>(klass);
  install_properties(klass);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Non-local means", "Filter/Effect/Video",
      "Removes noise with exact non-local means, preserving edges and texture; on a GPU or the CPU",
      "The framequality authors");
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = nlmeans_debug;
  base->parent_class.makes = [](const Backend& backend) { return backend.denoise != nullptr; };
  base->make_stream = make_stream;
}
