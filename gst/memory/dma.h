// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers whose caps say so, as of GStreamer 1.24. Those under plain caps are frames as any others: their
// memory's allocator maps and synchronises them.
#pragma once

#include "gst/object/owned.h"

#include <gst/video/video.h>

#define FQ_DMA_FEATURE "memory:DMABuf"

/// Caps to add to a template: such frames in linear layouts of formats that are in FQ_LUMA_FORMATS and in
/// FQ_PICTURE_FORMATS. What is tiled or compressed has a modifier behind the name and is none of them.
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

/// As gst_video_info_from_caps(), but frames in linear DMA buffers have the format that their pixels have.
bool read_info(GstVideoInfo& info, const GstCaps* caps);

/// The same frames, those in linear DMA buffers in system memory instead; those in others are left out.
CapsPtr out_of_dma_buffers(const GstCaps* caps);

/// The same frames, and then those in system memory in linear DMA buffers too.
CapsPtr also_in_dma_buffers(const GstCaps* caps);

/// The caps without DMA buffers, unless that leaves nothing. Takes and returns a reference.
GstCaps* prefer_system_memory(GstCaps* caps);

}  // namespace framequality
