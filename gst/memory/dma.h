// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers: their DMA caps, as of GStreamer 1.24, and devices that read them without a copy. With plain
// caps they need nothing else: their memory's allocator maps and synchronises them.
#pragma once

#include "device/backend.h"
#include "gst/object/owned.h"

#include <gst/video/video.h>

#include <array>
#include <cstddef>
#include <cstdint>
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

/// Memories of a buffer that a device reads by itself while this lives; empty: it does not.
class DmaImport {
 public:
  DmaImport() = default;
  /// memories: their numbers in the buffer, a bit each. Empty if one of them is no DMA buffer, if the place's device
  /// cannot read it, and while another of these reads it there. What was imported stays so until the memory is freed.
  /// The buffer must outlive this. Any thread.
  DmaImport(GstBuffer* buffer, unsigned memories, const Place& place);
  DmaImport(DmaImport&& other) noexcept
      : parts_(std::exchange(other.parts_, {})), count_(std::exchange(other.count_, 0)) {}
  DmaImport(const DmaImport&) = delete;
  DmaImport& operator=(const DmaImport&) = delete;
  DmaImport& operator=(DmaImport&&) = delete;
  ~DmaImport() { release(); }

  explicit operator bool() const { return count_ > 0; }
  /// One of the memories.
  struct Part {
    GstMemory* memory = nullptr;
    std::shared_ptr<void> import;
    /// The memory's bytes, by the addresses that stand for them in a Frame.
    std::uint8_t* data() const { return static_cast<std::uint8_t*>(import.get()) + memory->offset; }
  };
  /// That of a memory, or null.
  const Part* find(const GstMemory* memory) const;

 private:
  bool add(GstBuffer* buffer, GstMemory* memory, const Place& place);
  void release() noexcept;

  std::array<Part, GST_VIDEO_MAX_PLANES> parts_;
  std::size_t count_ = 0;
};

/// The caps without DMA buffers, unless that leaves nothing. Takes and returns a reference.
GstCaps* prefer_system_memory(GstCaps* caps);

}  // namespace framequality
