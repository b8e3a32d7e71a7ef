// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of frames that overlays can be drawn on or attached to.
#pragma once

#include "gst/memory/dma.h"
#include "gst/object/owned.h"

#include <gst/video/video-overlay-composition.h>
#include <gst/video/video.h>

#define FQ_BLEND_CAPS GST_VIDEO_CAPS_MAKE(GST_VIDEO_OVERLAY_COMPOSITION_BLEND_FORMATS) FQ_DMA_CAPS
/// Both pads' template: formats that can be blended into, then everything that may carry overlays.
#define FQ_OVERLAY_CAPS                                                                                            \
  FQ_BLEND_CAPS                                                                                                    \
  ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES("ANY", GST_VIDEO_FORMATS_ALL) ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES("ANY", \
                                                                                                            "DMA_DRM")

namespace framequality::overlay {

/// Whether fixed caps declare that overlays are attached as metadata.
bool has_overlay(const GstCaps* caps);

/// Whether overlays can be blended into frames of these caps.
bool can_blend(const GstCaps* caps);

/// Structure i of the caps with the overlay feature (wanted) or without it; unchanged with ANY features.
CapsPtr with_overlay(GstCaps* caps, guint i, bool wanted);

/// Answers a pad's CAPS query from the caps of the pad across. to_sink: `pad` is the sink pad.
void answer_caps(GstQuery* query, GstPad* pad, GstPad* across, bool to_sink);

}  // namespace framequality::overlay
