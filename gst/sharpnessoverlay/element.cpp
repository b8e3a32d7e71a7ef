// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessoverlay: draws sharpnessmeter's scores on the image.
#include "gst/buffer/frame.h"
#include "gst/memory/dma.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"
#include "gst/sharpnessoverlay/blend.h"
#include "gst/sharpnessoverlay/caps.h"
#include "gst/sharpnessoverlay/curve.h"
#include "gst/sharpnessoverlay/painter.h"

#include <limits>

/**
 * SECTION:element-sharpnessoverlay
 * @title: sharpnessoverlay
 * @short_description: draws sharpnessmeter's scores on the image
 *
 * Draws, from the `GstSharpnessMeta` on each buffer: the score and its metric, a graph of the scores of the last
 * seconds, and the zones as a heat map; from the image itself, focus peaking: it highlights strong edges, which are in
 * focus. With `curve=true` it also draws the result of the last search of a `focuscontroller` upstream: the scores by
 * lens position, and their peak with its standard error, from the sticky event that focuscontroller sends downstream.
 *
 * The element attaches the overlay to the buffer as a `GstVideoOverlayCompositionMeta` if the caps and the ALLOCATION
 * query say that downstream draws such overlays: pixels then stay unchanged, and frames may be in any memory.
 * Otherwise it blends the overlay into the image, which must be in system memory. Overlays of other elements are kept.
 *
 * The heat map's colours (viridis: dark blue to yellow) span the lowest to the highest zone score within the graph's
 * time. A buffer without a score, as between two measurements with an `interval`, shows the last one, in grey if no
 * score has come for more than four times their usual distance.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 v4l2src ! videoconvert ! sharpnessmeter zone-columns=8 zone-rows=6 ! sharpnessoverlay peaking=true !
 *     videoconvert ! autovideosink
 * ]| shows a camera's image with everything drawn.
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! video/x-raw,format=I420 ! sharpnessmeter prefilter=binomial5 !
 *     sharpnessoverlay text=false history=30000000000 ! glimagesink
 * ]| shows a graph of the last half minute, drawn by the sink.
 * |[
 * gst-launch-1.0 virtuallenssrc name=lens is-live=true best-position=62 noise=3 !
 *     sharpnessmeter normalize=mean prefilter=binomial5 !
 *     focuscontroller actuator=lens.position min=0 max=100 ! sharpnessoverlay curve=true ! videoconvert ! autovideosink
 * ]| focuses a simulated lens, then shows the curve that the search saw.
 */

GST_DEBUG_CATEGORY_STATIC(sharpnessoverlay_debug);
#define GST_CAT_DEFAULT sharpnessoverlay_debug

using namespace framequality;

namespace framequality {

struct OverlayState {
  explicit OverlayState(GstElement* element) : painter(element) {}

  Shared<overlay::Settings> settings;

  // Used by state changes and the streaming thread, never concurrently.
  overlay::Painter painter;
  overlay::Blender blender;
  GstVideoInfo info{};
  bool attach = false;  ///< downstream draws; else the image is changed
  GstSegment segment{};
  std::uint64_t last_time = 0;  ///< running time of the last frame, ns
  bool warned_no_score = false, warned_no_peaking = false;
};

}  // namespace framequality

struct GstSharpnessOverlay {
  GstElement parent;
  GstPad *sinkpad, *srcpad;
  OverlayState* state;
};
struct GstSharpnessOverlayClass {
  GstElementClass parent_class;
};

GType gst_sharpness_overlay_get_type();
G_DEFINE_TYPE(GstSharpnessOverlay, gst_sharpness_overlay, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE(sharpnessoverlay, "sharpnessoverlay", GST_RANK_NONE, gst_sharpness_overlay_get_type())

static GstSharpnessOverlay* overlay_of(GstObject* parent) { return reinterpret_cast<GstSharpnessOverlay*>(parent); }

// --- Negotiation ----------------------------------------------------------------------------------------------------

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_OVERLAY_CAPS));
static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(FQ_OVERLAY_CAPS));

static gboolean answer_caps(GstSharpnessOverlay* self, GstPad* pad, GstQuery* query) {
  const bool to_sink = pad == self->sinkpad;
  overlay::answer_caps(query, pad, to_sink ? self->srcpad : self->sinkpad, to_sink);
  return TRUE;
}

static bool downstream_draws(GstSharpnessOverlay* self, GstCaps* caps) {
  GstQuery* query = gst_query_new_allocation(caps, FALSE);
  const bool draws = gst_pad_peer_query(self->srcpad, query) &&
                     gst_query_find_allocation_meta(query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, nullptr);
  gst_query_unref(query);
  return draws;
}

/// Chooses between attaching and blending, like GStreamer's own overlays, and sends the caps.
static bool negotiate(GstSharpnessOverlay* self, GstCaps* caps) {
  OverlayState& state = *self->state;
  gst_pad_check_reconfigure(self->srcpad);
  const bool blends = overlay::can_blend(caps);
  bool sent = false;
  state.attach = overlay::has_overlay(caps);
  if (!state.attach) {
    const CapsPtr with = overlay::with_overlay(caps, 0, true);
    const CapsPtr taken(gst_pad_peer_query_caps(self->srcpad, with.get()));
    // Some elements answer the ALLOCATION query for current caps only. Without an answer, blending is safe if
    // frames can be changed.
    if (!gst_caps_is_empty(taken.get()) && gst_pad_set_caps(self->srcpad, with.get()))
      sent = state.attach = downstream_draws(self, with.get()) || !blends;
  }
  const bool done = sent || ((state.attach || blends) && gst_pad_set_caps(self->srcpad, caps));
  if (!done) gst_pad_mark_reconfigure(self->srcpad);
  GST_INFO_OBJECT(self, "%s",
                  !done          ? "nothing can draw on these frames"
                  : state.attach ? "overlays are attached as metadata"
                                 : "overlays are blended");
  return done;
}

// --- Frames ---------------------------------------------------------------------------------------------------------

/// Running time of a frame; about one frame after the last if there is no timestamp.
static std::uint64_t time_of(OverlayState& state, GstBuffer* buffer) {
  GstClockTime time = running_time_of(state.segment, GST_BUFFER_PTS(buffer));
  if (!GST_CLOCK_TIME_IS_VALID(time)) {
    const int n = GST_VIDEO_INFO_FPS_N(&state.info), d = GST_VIDEO_INFO_FPS_D(&state.info);
    time = state.last_time + (n > 0 ? gst_util_uint64_scale_int(GST_SECOND, d, n) : 40 * GST_MSECOND);
  }
  return state.last_time = time;
}

static void warn(GstSharpnessOverlay* self, bool& warned, GQuark domain, int code, const char* text) {
  if (std::exchange(warned, true)) return;
  post(GST_ELEMENT_CAST(self), GST_MESSAGE_WARNING, {domain, code, text});
}

/// Adds the overlay to the buffer's existing ones; its pixels are not touched. Takes and returns the buffer.
static GstBuffer* attach(GstBuffer* buffer, GstVideoOverlayComposition* composition) {
  buffer = make_header_writable(buffer);
  GstVideoOverlayCompositionMeta* meta = gst_buffer_get_video_overlay_composition_meta(buffer);
  if (!meta) {
    gst_buffer_add_video_overlay_composition_meta(buffer, composition);
    return buffer;
  }
  // Not a copy, which would also copy the rectangles and so their identity for sinks.
  GstVideoOverlayComposition* both = nullptr;
  for (GstVideoOverlayComposition* part : {meta->overlay, composition})
    for (guint i = 0; i < gst_video_overlay_composition_n_rectangles(part); ++i) {
      GstVideoOverlayRectangle* rectangle = gst_video_overlay_composition_get_rectangle(part, i);
      if (both)
        gst_video_overlay_composition_add_rectangle(both, rectangle);
      else
        both = gst_video_overlay_composition_new(rectangle);
    }
  gst_video_overlay_composition_unref(meta->overlay);
  meta->overlay = both;
  return buffer;
}

/// Draws the overlay into the image, or a copy of it if it is shared, which then replaces the buffer.
static void blend(OverlayState& state, GstBuffer** buffer, GstVideoOverlayComposition* composition) {
  const GstVideoInfo& info = state.info;
  *buffer = gst_buffer_make_writable(*buffer);
  MappedVideoFrame frame(info, *buffer);
  if (!state.blender.blend(composition, frame.get()))
    throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                       std::string("Cannot blend overlays into ") + GST_VIDEO_INFO_NAME(&info) +
                           ": put videoconvert upstream of sharpnessoverlay");
}

static void draw(GstSharpnessOverlay* self, GstBuffer** buffer) {
  OverlayState& state = *self->state;
  const overlay::Settings settings = state.settings.get();
  const bool blended = !state.attach && !gst_buffer_get_video_overlay_composition_meta(*buffer);
  GstVideoOverlayComposition* composition = state.painter.paint(settings, *buffer, time_of(state, *buffer), blended);
  if (!state.painter.has_score() && (settings.text || settings.graph || settings.zones))
    warn(self, state.warned_no_score, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
         "Frames have no score: put sharpnessmeter, with attach-meta=true, upstream of sharpnessoverlay");
  if (state.painter.cannot_read())
    warn(self, state.warned_no_peaking, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_READ,
         "No focus peaking: the pixels of these frames cannot be read, or are fewer than the caps say. Put "
         "videoconvert, or an element that downloads the frames, upstream of sharpnessoverlay");
  if (!composition) return;
  if (blended)
    blend(state, buffer, composition);
  else
    *buffer = attach(*buffer, composition);
}

static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer) {
  GstSharpnessOverlay* self = overlay_of(parent);
  if (gst_pad_check_reconfigure(self->srcpad)) {
    const CapsPtr caps(gst_pad_get_current_caps(pad));
    if (!caps || !negotiate(self, caps.get())) {
      gst_pad_mark_reconfigure(self->srcpad);
      gst_buffer_unref(buffer);
      return GST_PAD_IS_FLUSHING(self->srcpad) ? GST_FLOW_FLUSHING : GST_FLOW_NOT_NEGOTIATED;
    }
  }
  const bool drawn = guard(GST_ELEMENT_CAST(self), false, [&] {
    draw(self, &buffer);
    return true;
  });
  if (drawn) return gst_pad_push(self->srcpad, buffer);
  gst_buffer_unref(buffer);
  return GST_FLOW_ERROR;
}

// --- Events, queries, states ----------------------------------------------------------------------------------------

static bool is_mosaic(GstCaps* caps) {
  return gst_caps_is_fixed(caps) && gst_structure_has_name(gst_caps_get_structure(caps, 0), "video/x-bayer");
}

static bool set_caps(GstSharpnessOverlay* self, GstCaps* caps) {
  return guard(GST_ELEMENT_CAST(self), false, [&] {
    if (is_mosaic(caps))
      throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_WRONG_TYPE,
                         "Cannot draw on a Bayer mosaic (video/x-bayer): put bayer2rgb between sharpnessmeter and "
                         "sharpnessoverlay. Scores stay with the frames");
    if (!read_info(self->state->info, caps)) return false;
    self->state->painter.set_format(self->state->info);
    self->state->warned_no_peaking = false;
    return negotiate(self, caps);
  });
}

static void take_curve(GstSharpnessOverlay* self, GstEvent* event) {
  guard(GST_ELEMENT_CAST(self), false, [&] {
    if (auto curve = overlay::curve_in(event)) self->state->painter.set_curve(std::move(*curve));
    return true;
  });
}

static gboolean sink_event(GstPad* pad, GstObject* parent, GstEvent* event) {
  GstSharpnessOverlay* self = overlay_of(parent);
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      gst_event_parse_caps(event, &caps);
      const bool taken = set_caps(self, caps);
      gst_event_unref(event);
      return taken;
    }
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
      take_curve(self, event);
      break;
    case GST_EVENT_SEGMENT:
      gst_event_copy_segment(event, &self->state->segment);
      break;
    case GST_EVENT_FLUSH_STOP:
      // The search's result is kept, because its sticky event stays on the pad and is not sent again.
      gst_segment_init(&self->state->segment, GST_FORMAT_UNDEFINED);
      self->state->painter.reset();
      self->state->last_time = 0;
      break;
    default:
      break;
  }
  return gst_pad_event_default(pad, parent, event);
}

static gboolean answer_query(GstPad* pad, GstObject* parent, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) return answer_caps(overlay_of(parent), pad, query);
  if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
    GstCaps* caps = nullptr;
    gst_query_parse_accept_caps(query, &caps);
    if (is_mosaic(caps)) {  // so that set_caps() can report why not
      gst_query_set_accept_caps_result(query, TRUE);
      return TRUE;
    }
  }
  return gst_pad_query_default(pad, parent, query);
}

static GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) {
  const auto result = GST_ELEMENT_CLASS(gst_sharpness_overlay_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    OverlayState& state = *reinterpret_cast<GstSharpnessOverlay*>(element)->state;
    state.painter.reset();
    state.painter.set_curve({});
    gst_segment_init(&state.segment, GST_FORMAT_UNDEFINED);
    state.last_time = 0;
    state.warned_no_score = state.warned_no_peaking = false;
  }
  return result;
}

// --- Properties -----------------------------------------------------------------------------------------------------

static void install_properties(GstSharpnessOverlayClass* klass) {
  using S = overlay::Settings;
  Properties<GstSharpnessOverlay, S>::install(
      klass, [](GstSharpnessOverlay * self) -> auto& { return self->state->settings; })
      .add(&S::text, "text", "Text", "Draw the score and its metric")
      .add(&S::graph, "graph", "Graph", "Draw a graph of the scores within 'history', with minimum and maximum")
      .add(&S::zones, "zones", "Zones",
           "Draw the meter's zones (zone-columns, zone-rows) as a heat map; without zones, the outline of its roi")
      .add(&S::curve, "curve", "Curve",
           "Draw the scores by lens position that a focuscontroller upstream saw in its last search, and the position "
           "that it found; nothing before the first search")
      .add(&S::peaking, "peaking", "Focus peaking", "Highlight strong edges, which are in focus")
      .add(&S::history, "history", "History", "Set the time span of the graph and of the heat map's scale, in ns",
           GST_MSECOND, 86400 * GST_SECOND)
      .add(&S::peaking_colour, "peaking-color", "Peaking colour",
           "Set the colour of focus peaking, as big-endian ARGB. In GRAY formats, peaking is drawn as black and white "
           "stripes of its opacity",
           0, G_MAXUINT32)
      .add(&S::peaking_threshold, "peaking-threshold", "Peaking threshold",
           "Highlight gradients from this height of a step between two pixels on, in 8-bit grey levels (a quarter of "
           "the 3x3 Sobel magnitude)",
           1, 255)
      .add(&S::significant_bits, "significant-bits", "Significant bits", kSignificantBitsText, 0, kMostSignificantBits)
      .accept_if([](GstSharpnessOverlay* self, const S& wanted) {
        return accepts_significant_bits(self, wanted.significant_bits);
      });
}

static void gst_sharpness_overlay_init(GstSharpnessOverlay* self) {
  self->state = new OverlayState(GST_ELEMENT_CAST(self));
  gst_segment_init(&self->state->segment, GST_FORMAT_UNDEFINED);
  self->sinkpad = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(self->sinkpad, chain);
  gst_pad_set_event_function(self->sinkpad, sink_event);
  gst_pad_set_query_function(self->sinkpad, answer_query);
  // Upstream can also use downstream's pool and metas.
  GST_PAD_SET_PROXY_ALLOCATION(self->sinkpad);
  gst_element_add_pad(GST_ELEMENT_CAST(self), self->sinkpad);
  self->srcpad = gst_pad_new_from_static_template(&src_template, "src");
  gst_pad_set_query_function(self->srcpad, answer_query);
  gst_element_add_pad(GST_ELEMENT_CAST(self), self->srcpad);
}

static void gst_sharpness_overlay_class_init(GstSharpnessOverlayClass* klass) {
  sharpnessoverlay_debug = debug_category("sharpnessoverlay", "scores drawn on the image");
  register_score_meta(kSharpnessMeta);
  delete_with_instance<&GstSharpnessOverlay::state>(klass);
  install_properties(klass);

  auto* element = GST_ELEMENT_CLASS(klass);
  element->change_state = change_state;
  gst_element_class_add_static_pad_template(element, &sink_template);
  gst_element_class_add_static_pad_template(element, &src_template);
  gst_element_class_set_static_metadata(
      element, "Sharpness overlay", "Filter/Effect/Video",
      "Draws sharpnessmeter's scores on the image: text, graph, heat map of zones, focus peaking",
      "The framequality authors");
}
