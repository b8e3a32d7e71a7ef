// SPDX-License-Identifier: LGPL-2.1-or-later
// A buffer's planes, mapped where they lie and checked against its size.
#include "gst/buffer/frame.h"
#include "gst/buffer/padding.h"
#include "gst/memory/kinds.h"
#include "gst/object/guard.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace framequality {

namespace {

[[noreturn]] void refuse(const std::string& text) {
  throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, text);
}

/// True for the info that frame_layout_of() makes of a mosaic's caps: other encoded video is not accepted.
bool is_mosaic(const GstVideoInfo& info) { return GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_ENCODED; }

std::string size_of(const GstVideoInfo& info) {
  return std::to_string(GST_VIDEO_INFO_WIDTH(&info)) + "x" + std::to_string(GST_VIDEO_INFO_HEIGHT(&info)) + " " +
         (is_mosaic(info) ? "Bayer" : GST_VIDEO_INFO_NAME(&info));
}

std::string where(const GstVideoInfo& info, int plane) {
  return "Plane " + std::to_string(plane) + " of a frame of " + size_of(info);
}

}  // namespace

MappedPlanes::Maps::~Maps() {
  for (int p = GST_VIDEO_MAX_PLANES - 1; p >= 0; --p) {
    if (!(mapped >> p & 1)) continue;
    if (meta)
      gst_video_meta_unmap(meta, static_cast<guint>(p), &plane[p]);
    else
      gst_buffer_unmap(buffer, &plane[p]);
  }
}

void MappedPlanes::check_size(const GstVideoInfo& info) const {
  const int width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  const gsize size = gst_buffer_get_size(maps_.buffer);
  const GstVideoMeta* meta = maps_.meta;
  if (width <= 0 || height <= 0) refuse("The caps say " + size_of(info) + ": an empty frame");
  if (is_mosaic(info)) {
    if (meta && (meta->width < static_cast<guint>(width) || meta->height < static_cast<guint>(height)))
      refuse("The caps say " + size_of(info) + ", but the buffer's GstVideoMeta says " + std::to_string(meta->width) +
             "x" + std::to_string(meta->height));
  } else if (meta) {
    if (meta->format != GST_VIDEO_INFO_FORMAT(&info) || meta->n_planes != GST_VIDEO_INFO_N_PLANES(&info) ||
        meta->width < static_cast<guint>(width) || meta->height < static_cast<guint>(height))
      refuse("The caps say " + size_of(info) + ", but the buffer's GstVideoMeta says " + std::to_string(meta->width) +
             "x" + std::to_string(meta->height) + " " + gst_video_format_to_string(meta->format) + " in " +
             std::to_string(meta->n_planes) + " planes");
  } else if (size < GST_VIDEO_INFO_SIZE(&info)) {
    const std::string hint = padding_hint(info, size);
    refuse("A frame of " + size_of(info) + " needs " + std::to_string(GST_VIDEO_INFO_SIZE(&info)) +
           " bytes, but the buffer has " + std::to_string(size) + (hint.empty() ? "" : ". " + hint));
  }
}

namespace {

/// Row stride, in bytes, of a mosaic in a buffer of this size without GstVideoMeta: as in bayer2rgb, or
/// without gaps, as some cameras send it; else, as a driver's rows may be longer, the stride that fills the buffer.
std::ptrdiff_t mosaic_stride(const GstVideoInfo& info, gsize size) {
  const auto usual = static_cast<gsize>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0));
  const auto width = static_cast<gsize>(GST_VIDEO_INFO_WIDTH(&info)),
             rows = static_cast<gsize>(GST_VIDEO_INFO_HEIGHT(&info));
  const gsize tight = usual / GST_ROUND_UP_4(width) * width;
  const bool fills = size % rows == 0 && size / rows >= tight && size / rows <= G_MAXINT;
  return static_cast<std::ptrdiff_t>(size == usual * rows || !fills ? usual : size / rows);
}

}  // namespace

MappedPlanes::MappedPlanes(const GstVideoInfo& info, GstBuffer* buffer, std::span<const Extent> planes,
                           GstMapFlags access, Memory memory)
    : maps_(buffer, static_cast<GstMapFlags>(access | map_flags_of(memory))) {
  if (memory != Memory::kHost && !maps_.meta)
    refuse(
        "A frame in GPU memory has no GstVideoMeta, so its strides are unknown: fix the element that made it, or put "
        "cudadownload upstream");
  find_planes(info, planes);
}

MappedPlanes::MappedPlanes(const GstVideoInfo& info, GstBuffer* buffer, std::span<const Extent> planes,
                           DmaImport import)
    : maps_(buffer, GST_MAP_READ, std::move(import)) {
  find_planes(info, planes);
}

void MappedPlanes::find_planes(const GstVideoInfo& info, std::span<const Extent> planes) {
  GstBuffer* const buffer = maps_.buffer;
  if (is_mosaic(info) && maps_.meta && (maps_.meta->n_planes == 0 || maps_.meta->stride[0] == 0)) maps_.meta = nullptr;
  check_size(info);
  for (int p = 0; p < static_cast<int>(planes.size()); ++p) {
    const Extent& extent = planes[static_cast<std::size_t>(p)];
    if (extent.rows == 0) continue;
    stride[p] = maps_.meta        ? map_meta_plane(p)
                : is_mosaic(info) ? mosaic_stride(info, gst_buffer_get_size(buffer))
                                  : GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
    const gsize bytes = bytes_of(info, p, extent);
    if (!maps_.meta) map_plain_plane(info, p, bytes);

    // The meta's own map function may return other memory than the buffer's: it is responsible for its size.
    const auto begin = reinterpret_cast<std::uintptr_t>(maps_.plane[p].data), end = begin + maps_.plane[p].size;
    const auto first = reinterpret_cast<std::uintptr_t>(data[p]);
    if (maps_.meta && (first < begin || first >= end)) continue;
    const bool upwards = stride[p] < 0 && extent.tile_bytes == 0;
    const gsize span = bytes - extent.row_bytes, before = first - begin, after = end - first;
    if (upwards ? before < span || after < extent.row_bytes : after < bytes)
      refuse(where(info, p) + " needs " + std::to_string(bytes) + " bytes at stride " + std::to_string(stride[p]) +
             ", but the buffer has " + std::to_string(upwards ? std::min(before, span) + after : after) + " there");
  }
}

/// Bytes of a plane from its first byte, or the lowest of its rows, to its last.
gsize MappedPlanes::bytes_of(const GstVideoInfo& info, int plane, const Extent& extent) const {
  const auto [row, rows, tile] = extent;
  const std::ptrdiff_t given = stride[plane];
  if (tile > 0) {
    const auto packed = static_cast<guint32>(given);
    const gsize across = GST_VIDEO_TILE_X_TILES(packed), down = GST_VIDEO_TILE_Y_TILES(packed);
    if (across < row || down < static_cast<gsize>(rows))
      refuse(where(info, plane) + " has " + std::to_string(row) + "x" + std::to_string(rows) +
             " tiles, but its stride says " + std::to_string(across) + "x" + std::to_string(down));
    return across * down * tile;
  }
  const auto step = static_cast<gsize>(std::abs(given));
  if (rows > 1 && step < row)
    refuse(where(info, plane) + " needs rows of " + std::to_string(row) + " bytes, but its stride is " +
           std::to_string(given));
  if (static_cast<gsize>(rows - 1) > (std::numeric_limits<gsize>::max() / 2 - row) / std::max<gsize>(step, 1))
    refuse(where(info, plane) + " is too large: stride " + std::to_string(given));
  return static_cast<gsize>(rows - 1) * step + row;
}

gssize MappedPlanes::map_meta_plane(int plane) {
  GstVideoMeta* meta = maps_.meta;
  const gsize size = gst_buffer_get_size(maps_.buffer);
  if (meta->offset[plane] >= size)
    refuse("GstVideoMeta puts plane " + std::to_string(plane) + " at byte " + std::to_string(meta->offset[plane]) +
           ", but the buffer has " + std::to_string(size));
  gpointer at = nullptr;
  gint step = 0;
  if (maps_.import) {
    place_in_import(plane, meta->offset[plane]);
    return meta->stride[plane];
  }
  if (!gst_video_meta_map(meta, static_cast<guint>(plane), &maps_.plane[plane], &at, &step, maps_.flags))
    cannot_map(plane);
  maps_.mapped |= 1u << plane;
  data[plane] = static_cast<std::uint8_t*>(at);
  return step;
}

void MappedPlanes::map_plain_plane(const GstVideoInfo& info, int plane, gsize needed) {
  const gsize offset = GST_VIDEO_INFO_PLANE_OFFSET(&info, plane);
  guint first = 0, count = 0;
  gsize skip = 0;
  if (maps_.import) return place_in_import(plane, offset);
  // Only the memories that hold the plane: mapping a whole buffer of several would copy it.
  if (!gst_buffer_find_memory(maps_.buffer, offset, needed, &first, &count, &skip))
    refuse("Plane " + std::to_string(plane) + " needs " + std::to_string(needed) + " bytes at " +
           std::to_string(offset) + ", but the buffer has " + std::to_string(gst_buffer_get_size(maps_.buffer)));
  if (!gst_buffer_map_range(maps_.buffer, first, static_cast<gint>(count), &maps_.plane[plane], maps_.flags))
    cannot_map(plane);
  maps_.mapped |= 1u << plane;
  data[plane] = maps_.plane[plane].data + skip;
}

/// Sets a plane whose row 0 begins at this byte of the buffer.
void MappedPlanes::place_in_import(int plane, gsize offset) {
  guint number = 0, count = 0;
  gsize skip = 0;
  const DmaImport::Part* const part = gst_buffer_find_memory(maps_.buffer, offset, 1, &number, &count, &skip)
                                          ? maps_.import.find(gst_buffer_peek_memory(maps_.buffer, number))
                                          : nullptr;
  if (!part) cannot_map(plane);
  maps_.plane[plane].data = part->data();
  maps_.plane[plane].size = part->memory->size;
  data[plane] = part->data() + skip;
  import[plane] = part->import.get();
}

void MappedPlanes::cannot_map(int plane) const {
  const bool write = maps_.flags & GST_MAP_WRITE;
  throw ElementError(
      GST_RESOURCE_ERROR, write ? GST_RESOURCE_ERROR_WRITE : GST_RESOURCE_ERROR_READ,
      "Plane " + std::to_string(plane) + " of a buffer cannot be mapped for " + (write ? "writing" : "reading"));
}

namespace {

Frame frame_of(const MappedPlanes& planes, const GstVideoInfo& info, Memory memory) {
  Frame frame;
  std::copy_n(planes.import, 3, frame.import);
  std::copy_n(planes.data, 3, frame.plane);
  std::copy_n(planes.stride, 3, frame.stride);
  frame.memory = memory;
  if (!is_mosaic(info)) return frame;
  frame.plane[1] = frame.plane[0] + frame.stride[0];
  frame.import[1] = frame.import[0];
  frame.stride[0] = frame.stride[1] = 2 * frame.stride[0];
  return frame;
}

}  // namespace

namespace {

using MapFunction = decltype(GstVideoMeta::map);

/// GStreamer's own function that maps planes. Elements replace it where planes are not simply the buffer's bytes.
MapFunction usual_map() {
  static const MapFunction usual = [] {
    const BufferPtr any(gst_buffer_new_allocate(nullptr, 1, nullptr));
    return gst_buffer_add_video_meta(any.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8, 1, 1)->map;
  }();
  return usual;
}

}  // namespace

PlaneExtents::PlaneExtents(const PictureGeometry& geometry) : count(geometry.layout.planes) {
  for (int p = 0; p < geometry.layout.planes; ++p)
    plane[static_cast<std::size_t>(p)] = {geometry.row_bytes(p), geometry.rows(p)};
}

PlaneExtents::PlaneExtents(const Geometry& geometry) : count(static_cast<std::size_t>(geometry.layout.planes())) {
  if (geometry.layout.kind == PixelLayout::Kind::kBayer) {  // both planes are rows of one
    plane[0] = {geometry.layout.row_bytes(0, geometry.width), 2 * geometry.height};
    count = 1;
    return;
  }
  for (int p = 0; p < geometry.layout.planes(); ++p)
    plane[static_cast<std::size_t>(p)] = {geometry.layout.row_bytes(p, geometry.width), geometry.height};
}

PlaneExtents::PlaneExtents(const GstVideoInfo& info) : count(GST_VIDEO_INFO_N_PLANES(&info)) {
  const GstVideoFormatInfo& f = *info.finfo;
  for (guint p = 0; p < count; ++p) {
    const gint stride = GST_VIDEO_INFO_PLANE_STRIDE(&info, p);
    if (GST_VIDEO_FORMAT_INFO_IS_TILED(&f))
      plane[p] = {static_cast<gsize>(GST_VIDEO_TILE_X_TILES(stride)), static_cast<int>(GST_VIDEO_TILE_Y_TILES(stride)),
                  f.tile_info[p].size};
    // Words that hold several samples: GStreamer reads whole ones.
    else if (GST_VIDEO_FORMAT_INFO_IS_COMPLEX(&f) || f.pixel_stride[0] == 0)
      plane[p].row_bytes = static_cast<gsize>(stride);
  }
  if (GST_VIDEO_FORMAT_INFO_IS_TILED(&f)) return;
  const bool has_palette = GST_VIDEO_FORMAT_INFO_HAS_PALETTE(&f);
  if (has_palette) plane[1] = {256 * sizeof(guint32), 1};
  for (guint c = 0; c < (has_palette ? 1 : f.n_components); ++c) {
    const auto samples = static_cast<gsize>(GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(&f, c, GST_VIDEO_INFO_WIDTH(&info)));
    MappedPlanes::Extent& extent = plane[f.plane[c]];
    extent.row_bytes = std::max(extent.row_bytes, samples * static_cast<gsize>(f.pixel_stride[c]));
    extent.rows = std::max(extent.rows, GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(&f, c, GST_VIDEO_INFO_HEIGHT(&info)));
  }
}

DmaImport import_planes(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, const Place& place) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  if (meta && meta->map != usual_map()) return {};
  unsigned memories = 0;
  for (std::size_t p = 0; p < extents.count; ++p) {
    const auto [row_bytes, rows, tile] = extents.plane[p];
    if (rows == 0) continue;
    const auto at = static_cast<std::int64_t>(meta ? meta->offset[p] : info.offset[p]);
    const std::int64_t last = at + std::int64_t{meta ? meta->stride[p] : info.stride[p]} * (rows - 1);
    const std::int64_t lowest = std::min(at, last), bytes = std::abs(last - at) + static_cast<std::int64_t>(row_bytes);
    guint number = 0, count = 0;
    gsize skip = 0;
    // Planes in several memories each, and faulty ones, are mapped.
    if (tile > 0 || lowest < 0 ||
        !gst_buffer_find_memory(buffer, static_cast<gsize>(lowest), static_cast<gsize>(bytes), &number, &count,
                                &skip) ||
        count != 1 || number >= std::numeric_limits<unsigned>::digits)
      return {};
    memories |= 1u << number;
  }
  return {buffer, memories, place};
}

MappedFrame::MappedFrame(const GstVideoInfo& info, const PixelLayout& layout, GstBuffer* buffer, Memory memory)
    : planes_(info, buffer,
              PlaneExtents(Geometry{GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), layout}).planes(),
              GST_MAP_READ, memory),
      frame_(frame_of(planes_, info, memory)) {}

MappedPicture::MappedPicture(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, Memory memory)
    : planes_(info, buffer, extents.planes(), GST_MAP_READ, memory), frame_(frame_of(planes_, info, memory)) {}

MappedPicture::MappedPicture(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, DmaImport import)
    : planes_(info, buffer, extents.planes(), std::move(import)), frame_(frame_of(planes_, info, Memory::kDma)) {}

MappedCanvas::MappedCanvas(const GstVideoInfo& info, const PlaneExtents& extents, GstBuffer* buffer, Memory memory)
    : planes_(info, buffer, extents.planes(), GST_MAP_WRITE, memory) {
  std::copy_n(planes_.data, 3, canvas_.plane);
  std::copy_n(planes_.stride, 3, canvas_.stride);
  canvas_.memory = memory;
}

MappedVideoFrame::MappedVideoFrame(const GstVideoInfo& info, GstBuffer* buffer)
    : planes_(info, buffer, PlaneExtents(info).planes(), GST_MAP_READWRITE, Memory::kHost) {
  frame_.info = info;
  frame_.buffer = buffer;
  frame_.meta = gst_buffer_get_video_meta(buffer);
  for (guint p = 0; p < GST_VIDEO_INFO_N_PLANES(&info); ++p) {
    frame_.data[p] = planes_.data[p];
    frame_.info.stride[p] = static_cast<gint>(planes_.stride[p]);
  }
}

}  // namespace framequality
