// SPDX-License-Identifier: LGPL-2.1-or-later
// nlmeans: takes noise off by averaging pixels whose surroundings look alike.
#include "gst/denoise/filter.h"
#include "gst/object/properties.h"

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
      "FqCenterWeight", {{CenterWeight::kOne, "1, the weight of an equal patch", "one"},
                         {CenterWeight::kMax, "the largest of the other weights, which takes off lone specks", "max"}});
  return type;
}

static void install_properties(GstNlmeansClass* klass) {
  using S = NlmeansSettings;
  Properties<GstNlmeans, S>::install(
      klass, [](GstNlmeans * self) -> auto& { return *self->settings; })
      .add(&S::strength, "strength", "Strength",
           "How much patches may differ, h in exp(-d/h^2), in 8-bit grey levels at every depth; about the "
           "standard deviation of the noise. 0 = only equal patches are averaged: nothing changes",
           0, 255)
      .add(&S::strength_chroma, "strength-chroma", "Strength of chroma",
           "The same for U and V, in 8-bit grey levels; -1 = as strength", -1, 255)
      .add(&S::patch_radius, "patch-radius", "Patch radius",
           "Patches that are compared are 2r+1 pixels wide and high: 3 = 7x7. Larger ones are surer in "
           "strong noise and leave more of it near edges",
           0, denoise::kMaxPatchRadius)
      .add(&S::search_radius, "search-radius", "Search radius",
           "Pixels to each side that are averaged over: 10 = 21x21. The time grows with the square", 0,
           denoise::kMaxSearchRadius)
      .add(&S::center, center_weight_get_type(), "center-weight", "Center weight", "Weight of the pixel itself")
      .add(&S::sigma, "sigma", "Sigma",
           "Standard deviation of the noise, whose share 2 sigma^2 is taken off patch distances, in "
           "8-bit grey levels; 0 = nothing is, -1 = estimated in each frame",
           -1, 255)
      .add(Mutable::kReady, &S::temporal_radius, "temporal-radius", "Temporal radius",
           "Frames before and after that are averaged over too; latency grows by as many frames. Each costs "
           "as much time again",
           0, denoise::kMaxTemporalRadius)
      .add(&S::chroma, denoise_chroma_get_type(), "chroma", "Chroma",
           "What happens to U and V; R, G and B are always filtered together");
}

static void gst_nlmeans_init(GstNlmeans* self) { self->settings = new Shared<NlmeansSettings>; }

static void finalize(GObject* object) {
  delete reinterpret_cast<GstNlmeans*>(object)->settings;
  G_OBJECT_CLASS(gst_nlmeans_parent_class)->finalize(object);
}

static void gst_nlmeans_class_init(GstNlmeansClass* klass) {
  GST_DEBUG_CATEGORY_INIT(nlmeans_debug, "nlmeans", 0, "non-local means");
  G_OBJECT_CLASS(klass)->finalize = finalize;
  install_properties(klass);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Non-local means", "Filter/Effect/Video",
      "Takes noise off and keeps edges and texture, on the GPU or the CPU: exact non-local means",
      "The framequality authors");
  auto* base = FQ_FILTER_BASE_CLASS(klass);
  base->parent_class.category = nlmeans_debug;
  base->make_stream = make_stream;
}
