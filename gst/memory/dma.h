// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers: their DMA caps, as of GStreamer 1.24, and devices that read them without a copy. With plain
// caps they need nothing else: their memory's allocator maps and synchronises them.
#pragma once

#include "device/backend.h"
#include "gst/object/owned.h"

#include <gst/video/video.h>

#include <memory>
#include <utility>

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

/// The first memory of a buffer, which a device reads by itself while this lives; empty: it does not.
class DmaImport {
 public:
  DmaImport() = default;
  /// Empty if it is no DMA buffer, if the place's device cannot read it, and while another of these reads it there.
  /// What was imported stays so until the memory is freed. The buffer must outlive this. Any thread.
  DmaImport(GstBuffer* buffer, const Place& place);
  DmaImport(DmaImport&& other) noexcept
      : memory_(std::exchange(other.memory_, nullptr)), import_(std::move(other.import_)) {}
  DmaImport(const DmaImport&) = delete;
  DmaImport& operator=(const DmaImport&) = delete;
  DmaImport& operator=(DmaImport&&) = delete;
  ~DmaImport();

  explicit operator bool() const { return memory_ != nullptr; }
  const void* get() const { return import_.get(); }
  /// The memory's bytes, by the addresses that stand for them in a Frame.
  std::uint8_t* data() const { return static_cast<std::uint8_t*>(import_.get()) + memory_->offset; }
  gsize size() const { return memory_->size; }

 private:
  GstMemory* memory_ = nullptr;
  std::shared_ptr<void> import_;
};

/// The caps without DMA buffers, unless that leaves nothing. Takes and returns a reference.
GstCaps* prefer_system_memory(GstCaps* caps);

}  // namespace framequality
