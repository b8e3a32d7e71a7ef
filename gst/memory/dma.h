// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers with DMA caps, as of GStreamer 1.24. Those with plain caps need no special handling: their
// memory's allocator maps and synchronises them.
#pragma once

#include "gst/object/owned.h"

#include <gst/video/video.h>

#define FQ_DMA_FEATURE "memory:DMABuf"

/// Caps to add to a template: these frames in linear layouts of formats that are in FQ_LUMA_FORMATS and in
/// FQ_PICTURE_FORMATS. Tiled or compressed ones have a modifier after the name and are excluded.
#if GST_CHECK_VERSION(1, 26, 0)
#define FQ_DMA_FORMATS_1_26 ", \"R8  \", \"R16 \""
#else
#define FQ_DMA_FORMATS_1_26
#endif
#if GST_CHECK_VERSION(1, 24, 0)
#define FQ_DMA_CAPS                                                                                                \
  ";" GST_VIDEO_DMA_DRM_CAPS_MAKE                                                                                  \
  ", drm-format = (string) { NV12, YUYV, YU12, NV21, NV16, NV61, NV24, UYVY, YVYU, VYUY, AYUV, YUV9, YVU9, YU11, " \
  "YV12, YU16, YU24, P010, P012, BG24, RG24, AB24, XB24, AR24, XR24, BA24, BX24, RA24, RX24" FQ_DMA_FORMATS_1_26 " }"
#else
#define FQ_DMA_CAPS ""
#endif

namespace framequality {

/// As gst_video_info_from_caps(), but frames in linear DMA buffers get the format of their pixels.
bool read_info(GstVideoInfo& info, const GstCaps* caps);

/// The same frames, with linear DMA buffers replaced by system memory; other DMA buffers are left out.
CapsPtr out_of_dma_buffers(const GstCaps* caps);

/// The same frames, followed by those in system memory as linear DMA buffers.
CapsPtr also_in_dma_buffers(const GstCaps* caps);

/// The caps without DMA buffers, unless that leaves nothing. Takes and returns a reference.
GstCaps* prefer_system_memory(GstCaps* caps);

}  // namespace framequality
