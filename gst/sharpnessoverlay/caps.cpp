// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of frames that overlays can be drawn on or attached to.
#include "gst/sharpnessoverlay/caps.h"

#include <utility>

namespace framequality::overlay {

namespace {

constexpr char kOverlayFeature[] = GST_CAPS_FEATURE_META_GST_VIDEO_OVERLAY_COMPOSITION;
GstStaticCaps blend_caps = GST_STATIC_CAPS(FQ_BLEND_CAPS);
// For sources that use the first format offered: not the widest, with which GStreamer's list begins.
GstStaticCaps first_caps = GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE("{ I420, NV12 }"));

}  // namespace

bool has_overlay(const GstCaps* caps) {
  return gst_caps_features_contains(gst_caps_get_features(caps, 0), kOverlayFeature);
}

bool can_blend(const GstCaps* caps) {
  const CapsPtr blendable(gst_static_caps_get(&blend_caps));
  return gst_caps_is_subset(caps, blendable.get());
}

CapsPtr with_overlay(GstCaps* caps, guint i, bool wanted) {
  CapsPtr one(gst_caps_copy_nth(caps, i));
  GstCapsFeatures* features = gst_caps_get_features(one.get(), 0);
  if (gst_caps_features_is_any(features)) return one;
  if (wanted != static_cast<bool>(gst_caps_features_contains(features, kOverlayFeature)))
    (wanted ? gst_caps_features_add : gst_caps_features_remove)(features, kOverlayFeature);
  return one;
}

namespace {

/// The caps of one pad that caps of the other allow. to_sink: possible input if downstream accepts `caps`; else
/// possible output if upstream sends them.
CapsPtr caps_across(GstCaps* caps, bool to_sink) {
  CapsPtr result(gst_caps_new_empty());
  const auto add = [&](CapsPtr more) { result.reset(gst_caps_merge(result.release(), more.release())); };
  const CapsPtr blendable(gst_static_caps_get(&blend_caps)), first(gst_static_caps_get(&first_caps));
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstCapsFeatures* features = gst_caps_get_features(caps, i);
    const bool any = gst_caps_features_is_any(features),
               overlay = gst_caps_features_contains(features, kOverlayFeature);
    if (any || overlay || !to_sink) add(with_overlay(caps, i, true));
    if (any || !overlay || to_sink) {
      CapsPtr plain = with_overlay(caps, i, false);
      // Only this element can draw.
      if (!any && !(to_sink && overlay)) plain.reset(gst_caps_intersect(plain.get(), blendable.get()));
      if (to_sink && !any) add(CapsPtr(gst_caps_intersect_full(first.get(), plain.get(), GST_CAPS_INTERSECT_FIRST)));
      add(std::move(plain));
    }
  }
  return result;
}

}  // namespace

void answer_caps(GstQuery* query, GstPad* pad, GstPad* across, bool to_sink) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  const CapsPtr filter_across = filter && !gst_caps_is_any(filter) ? caps_across(filter, !to_sink) : nullptr;
  const CapsPtr peer(gst_pad_peer_query_caps(across, filter_across.get()));
  const CapsPtr own(gst_pad_get_pad_template_caps(pad));
  CapsPtr caps(gst_caps_is_any(peer.get()) ? gst_caps_ref(own.get()) : caps_across(peer.get(), to_sink).release());
  caps.reset(gst_caps_intersect(caps.get(), own.get()));
  if (filter) caps.reset(gst_caps_intersect_full(filter, caps.get(), GST_CAPS_INTERSECT_FIRST));
  gst_query_set_caps_result(query, caps.get());
}

}  // namespace framequality::overlay
