// SPDX-License-Identifier: LGPL-2.1-or-later
// Fields of sharpnessmeter's message and metadata that a frame's scores fill.
#include "gst/sharpnessmeter/fields.h"

#include "algorithms/sharpness/metrics.h"
#include "gst/object/structure.h"

namespace framequality {

using namespace sharpness;

namespace {

/// How a picture is blurred. Of one without signal nothing else is known.
void set_blur(GstStructure* fields, const Blur& blur) {
  gst_structure_set(fields, "blur", G_TYPE_STRING, name_of(blur.kind), nullptr);
  if (blur.kind == BlurKind::kFlat) return;
  gst_structure_set(fields, "anisotropy", G_TYPE_DOUBLE, blur.anisotropy, "blur-angle", G_TYPE_DOUBLE, blur.angle,
                    nullptr);
}

}  // namespace

void set_fields(GstStructure* fields, const Plan& plan, const Scores& scores, int sharpest_of) {
  const Request& request = plan.request;
  const char* metric = metric_info(request.metric).name;
  gst_structure_set(fields, "metric", G_TYPE_STRING, metric, "score", G_TYPE_DOUBLE, scores.score, nullptr);
  if (request.roi) set_array(fields, "roi", G_TYPE_INT, g_value_set_int, numbers(*request.roi));
  if (plan.zones() > 1) {
    gst_structure_set(fields, "zone-columns", G_TYPE_UINT, static_cast<guint>(request.zone_columns), "zone-rows",
                      G_TYPE_UINT, static_cast<guint>(request.zone_rows), nullptr);
    set_array(fields, "zones", G_TYPE_DOUBLE, g_value_set_double, scores.zones);
  }
  if (request.measures_statistics())
    gst_structure_set(fields, "noise", G_TYPE_DOUBLE, scores.statistics.noise, nullptr);
  if (request.statistics)
    gst_structure_set(fields, "mean", G_TYPE_DOUBLE, scores.statistics.mean, "clipped-black", G_TYPE_DOUBLE,
                      scores.statistics.clipped_black, "clipped-white", G_TYPE_DOUBLE, scores.statistics.clipped_white,
                      "normalize", G_TYPE_STRING, kNormalize[request.mean ? 1 : 0].nick, nullptr);
  if (scores.gradient_energy) {
    gst_structure_set(fields, "gradient-energy", G_TYPE_DOUBLE, *scores.gradient_energy, "gradient-noise",
                      G_TYPE_DOUBLE, scores.gradient_noise, nullptr);
    if (plan.zones() > 1)
      set_array(fields, "zone-gradient-energies", G_TYPE_DOUBLE, g_value_set_double, scores.zone_gradient_energies);
  }
  if (scores.blur) set_blur(fields, *scores.blur);
  if (scores.blur && plan.zones() > 1)
    gst_structure_set(fields, "sharpest-zones", G_TYPE_DOUBLE, sharpest_zones(scores.zones, sharpest_of), nullptr);
}

}  // namespace framequality
