// SPDX-License-Identifier: LGPL-2.1-or-later
// GStreamer's video formats and buffers as the layouts and frames that backends read.
#pragma once

#include "algorithms/layout.h"
#include "algorithms/picture.h"
#include "gst/memory/cuda.h"
#include "gst/memory/dma.h"

#include <gst/video/video.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>

namespace framequality {

// clang-format off: versions of it disagree here.
// Formats of newer GStreamer versions.
#if GST_CHECK_VERSION(1, 24, 0)
#define FQ_PICTURE_FORMATS_1_24 ", RBGA, GBR_16LE, GBR_16BE"
#define FQ_LUMA_FORMATS_1_24                                                                                          \
  FQ_PICTURE_FORMATS_1_24                                                                                             \
  ", A422, A444, A420_12LE, A420_12BE, A422_12LE, A422_12BE, A444_12LE, A444_12BE, A420_16LE, A420_16BE, A422_16LE, " \
  "A422_16BE, A444_16LE, A444_16BE"
#else
#define FQ_PICTURE_FORMATS_1_24
#define FQ_LUMA_FORMATS_1_24
#endif
#if GST_CHECK_VERSION(1, 26, 0)
#define FQ_PICTURE_FORMATS_1_26 ", GRAY10_LE16"
#define FQ_LUMA_FORMATS_1_26 FQ_PICTURE_FORMATS_1_26 ", Y216_LE, Y216_BE"
#else
#define FQ_PICTURE_FORMATS_1_26
#define FQ_LUMA_FORMATS_1_26
#endif

// Every format whose luma, or R, G and B, are whole bytes or 16-bit words of 8...16 bits, and GRAY10_LE32. Excluded
// are those whose description in GStreamer differs from their packing (v216, r210, Y210, Y410, Y412_*, Y416_*,
// *10A2_LE) and those packed or tiled otherwise.
#define FQ_LUMA_FORMATS                                                                                             \
  "{ GRAY8, GRAY10_LE32, GRAY16_LE, GRAY16_BE, NV12, NV21, NV16, NV61, NV24, I420, YV12, Y42B, Y444, Y41B, YUV9, "  \
  "YVU9, A420, AV12, YUY2, UYVY, YVYU, VYUY, AYUV, VUYA, v308, IYU2, P010_10LE, P010_10BE, P012_LE, P012_BE, "      \
  "P016_LE, P016_BE, I420_10LE, I420_10BE, I420_12LE, I420_12BE, I422_10LE, I422_10BE, I422_12LE, I422_12BE, "      \
  "Y444_10LE, Y444_10BE, Y444_12LE, Y444_12BE, Y444_16LE, Y444_16BE, A420_10LE, A420_10BE, A422_10LE, A422_10BE, "  \
  "A444_10LE, A444_10BE, Y212_LE, Y212_BE, AYUV64, RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, GBR, " \
  "GBRA, RGBP, BGRP, GBR_10LE, GBR_10BE, GBR_12LE, GBR_12BE, GBRA_10LE, GBRA_10BE, GBRA_12LE, GBRA_12BE, ARGB64, "  \
  "ARGB64_LE, ARGB64_BE, RGBA64_LE, RGBA64_BE, BGRA64_LE, BGRA64_BE, ABGR64_LE, ABGR64_BE" FQ_LUMA_FORMATS_1_24     \
      FQ_LUMA_FORMATS_1_26 " }"

// Those of them with only samples that filters write, and at most alpha or filler in the pixel.
#define FQ_PICTURE_FORMATS                                                                                          \
  "{ GRAY8, GRAY16_LE, GRAY16_BE, NV12, NV21, NV16, NV61, NV24, I420, YV12, Y42B, Y444, Y41B, YUV9, YVU9, YUY2, "   \
  "UYVY, YVYU, VYUY, AYUV, VUYA, v308, IYU2, P010_10LE, P010_10BE, P012_LE, P012_BE, P016_LE, P016_BE, I420_10LE, " \
  "I420_10BE, I420_12LE, I420_12BE, I422_10LE, I422_10BE, I422_12LE, I422_12BE, Y444_10LE, Y444_10BE, Y444_12LE, "  \
  "Y444_12BE, Y444_16LE, Y444_16BE, AYUV64, RGB, BGR, RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, "                   \
  "ABGR, GBR, RGBP, BGRP, GBR_10LE, GBR_10BE, GBR_12LE, GBR_12BE, ARGB64, ARGB64_LE, ARGB64_BE, RGBA64_LE, "        \
  "RGBA64_BE, BGRA64_LE, BGRA64_BE, ABGR64_LE, ABGR64_BE" FQ_PICTURE_FORMATS_1_24 FQ_PICTURE_FORMATS_1_26 " }"

// clang-format on

/// Caps of frames in these formats in system memory and, if supported, of others in GPU memory.
#define FQ_CAPS(formats) GST_VIDEO_CAPS_MAKE(formats) FQ_GPU_CAPS
/// Caps of frames that MappedFrame accepts.
#define FQ_LUMA_CAPS FQ_CAPS(FQ_LUMA_FORMATS)
/// Caps of frames that MappedPicture accepts.
#define FQ_PICTURE_CAPS FQ_CAPS(FQ_PICTURE_FORMATS)

// Bayer mosaics in whole bytes or 16-bit words, by the names in bayer2rgb: all versions have those without a number,
// GStreamer 1.24 those with one. Older versions accept any name, and some cameras' elements use them there too.
#define FQ_BAYER_ORDERS(depth) "bggr" depth ", gbrg" depth ", grbg" depth ", rggb" depth
#define FQ_BAYER_DEPTHS(order) \
  FQ_BAYER_ORDERS("10" order)  \
  ", " FQ_BAYER_ORDERS("12" order) ", " FQ_BAYER_ORDERS("14" order) ", " FQ_BAYER_ORDERS("16" order)
/// Caps of mosaics that MappedPicture accepts: at least one cell.
#define FQ_BAYER_CAPS                                                                                     \
  "video/x-bayer, format=(string){ " FQ_BAYER_ORDERS("") ", " FQ_BAYER_DEPTHS("le") ", " FQ_BAYER_DEPTHS( \
      "be") " }, width=(int)[ 2, max ], height=(int)[ 2, max ], framerate=(fraction)[ 0, max ]"

/// Layout of luma in a format of FQ_LUMA_FORMATS; nullopt for packings that PixelLayout cannot express.
std::optional<PixelLayout> layout_of(const GstVideoFormatInfo& format);

/// Layout of luma in frames of FQ_LUMA_CAPS or FQ_BAYER_CAPS, and their GstVideoInfo; nullopt as layout_of(). The info
/// of a mosaic, for which GStreamer has only the size, has the format ENCODED, and the stride and size that bayer2rgb
/// assumes.
std::optional<PixelLayout> frame_layout_of(GstCaps* caps, GstVideoInfo* info);

/// Layout of component c's samples in a format of FQ_LUMA_FORMATS.
PictureLayout::Component component_of(const GstVideoFormatInfo& format, int c);

/// Layout of all samples in a format of FQ_PICTURE_FORMATS; nullopt if PictureLayout cannot express it, or if
/// alpha has a plane of its own.
std::optional<PictureLayout> picture_layout_of(const GstVideoFormatInfo& format);

/// Layout of gray, or of all colours, in a format of FQ_LUMA_FORMATS, for reading: planes of alpha are
/// omitted. nullopt as picture_layout_of().
std::optional<PictureLayout> colour_layout_of(const GstVideoFormatInfo& format);

/// Size and layout of frames, if their format has a PictureLayout and they are not empty.
std::optional<PictureGeometry> picture_geometry_of(const GstVideoInfo& info);

/// True if each buffer holds one field, or two one after the other, which elements here do not accept.
bool has_separate_fields(const GstVideoInfo& info);

/// True if the frame is two interleaved fields: by caps, or with interlace-mode=mixed by the buffer's flag.
bool is_interlaced(const GstVideoInfo& info, GstBuffer* buffer);

/// Planes of a buffer, mapped while this lives. The buffer must outlive it.
class MappedPlanes {
 public:
  /// The used part of a plane: rows in bytes or, for tiled formats, rows in tiles. No rows: the plane
  /// is not mapped.
  struct Extent {
    gsize row_bytes;
    int rows;
    gsize tile_bytes = 0;  ///< 0: not tiled
  };
  /// Honours GstVideoMeta; a mosaic without one, or with one without planes, gets its rows from its buffer's size, if
  /// that is possible. access: GST_MAP_READ or GST_MAP_WRITE. memory: where the planes lie; they are mapped there.
  /// Throws ElementError with the numbers if a plane's extent does not lie within the buffer (STREAM/FORMAT) or the
  /// memory cannot be mapped (RESOURCE/READ or WRITE); nothing has been read or written then.
  MappedPlanes(const GstVideoInfo& info, GstBuffer* buffer, std::span<const Extent> planes, GstMapFlags access,
               Memory memory);
  /// Planes that import_planes() has found, for a device's reading: nothing is mapped.
  MappedPlanes(const GstVideoInfo& info, GstBuffer* buffer, std::span<const Extent> planes, DmaImport import);

  std::uint8_t* data[GST_VIDEO_MAX_PLANES] = {};  ///< of row 0
  std::ptrdiff_t stride[GST_VIDEO_MAX_PLANES] = {};
  const void* import[GST_VIDEO_MAX_PLANES] = {};  ///< what `data` lies in, or null

 private:
  /// Maps of planes, unmapped at the end, also if the rest of the frame is refused.
  struct Maps {
    Maps(GstBuffer* buffer, GstMapFlags flags, DmaImport import = {})
        : buffer(buffer), meta(gst_buffer_get_video_meta(buffer)), flags(flags), import(std::move(import)) {}
    ~Maps();
    Maps(const Maps&) = delete;
    Maps& operator=(const Maps&) = delete;
    GstBuffer* buffer;
    GstVideoMeta* meta;  ///< maps the planes, if there is one
    GstMapFlags flags;
    GstMapInfo plane[GST_VIDEO_MAX_PLANES];
    unsigned mapped = 0;  ///< bit p: plane p is mapped
    DmaImport import;     ///< in place of maps
  };
  void find_planes(const GstVideoInfo& info, std::span<const Extent> planes);
  void check_size(const GstVideoInfo& info) const;
  gsize bytes_of(const GstVideoInfo& info, int plane, const Extent& extent) const;
  gssize map_meta_plane(int plane);  ///< returns the stride
  void map_plain_plane(const GstVideoInfo& info, int plane, gsize needed);
  void place_in_import(int plane, gsize offset);
  [[noreturn]] void cannot_map(int plane) const;

  Maps maps_;
};

/// The part of the planes of all frames of one geometry that is read or written.
struct PlaneExtents {
  PlaneExtents() = default;
  /// All planes.
  explicit(false) PlaneExtents(const PictureGeometry& geometry);
  /// The planes with luma.
  explicit(false) PlaneExtents(const Geometry& geometry);
  /// All planes of any format, as far as GStreamer's own functions read and write them.
  explicit(false) PlaneExtents(const GstVideoInfo& info);
  std::span<const MappedPlanes::Extent> planes() const { return std::span(plane).first(count); }

  std::array<MappedPlanes::Extent, GST_VIDEO_MAX_PLANES> plane{};
  std::size_t count = 0;
};

/// The DMA buffers that hold these planes, if the place's device reads them by itself; else empty.
DmaImport import_planes(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, const Place& place);

/// The planes of a buffer that hold luma, mapped for reading.
class MappedFrame {
 public:
  /// Throws what MappedPlanes throws.
  MappedFrame(const GstVideoInfo& info, const PixelLayout& layout, GstBuffer* buffer, Memory memory = Memory::kHost);
  const Frame& frame() const { return frame_; }

 private:
  MappedPlanes planes_;
  Frame frame_;
};

/// Planes of a buffer, mapped for reading; a mosaic's even and odd rows as two planes.
class MappedPicture {
 public:
  /// info: of frames with these extents. Throws what MappedPlanes throws.
  MappedPicture(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer,
                Memory memory = Memory::kHost);
  /// Not mapped: import_planes() returned the import.
  MappedPicture(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, DmaImport import);
  const Frame& frame() const { return frame_; }

 private:
  MappedPlanes planes_;
  Frame frame_;
};

/// Planes of a writable buffer, mapped for writing.
class MappedCanvas {
 public:
  /// info: of frames with these extents. Throws what MappedPlanes throws.
  MappedCanvas(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, Memory memory = Memory::kHost);
  const Canvas& canvas() const { return canvas_; }

 private:
  MappedPlanes planes_;
  Canvas canvas_;
};

/// A writable buffer of any format, mapped for reading and writing, for GStreamer's own functions. As
/// gst_video_frame_map(), which trusts GstVideoMeta.
class MappedVideoFrame {
 public:
  /// Throws what MappedPlanes throws.
  MappedVideoFrame(const GstVideoInfo& info, GstBuffer* buffer);
  GstVideoFrame* get() { return &frame_; }

 private:
  MappedPlanes planes_;
  GstVideoFrame frame_{};
};

}  // namespace framequality
