// SPDX-License-Identifier: LGPL-2.1-or-later
// Photographs that GStreamer does not decode, as data that it does: HEIC and AVIF, previews in raw files.
#include "apps/common/still.h"

#include "apps/common/exif.h"
#include "apps/common/raw.h"

#include <gst/video/video.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#if FQ_HAVE_HEIF
#include <libheif/heif.h>
#endif
#if FQ_HAVE_RAW
#include <libraw/libraw.h>
#endif

namespace framequality::apps {

const bool kReadsHeif = FQ_HAVE_HEIF != 0, kReadsRaw = FQ_HAVE_RAW != 0;

namespace {

bool is_heif(const std::string& path) {
  std::array<char, 12> head{};
  std::ifstream file(path, std::ios::binary);
  if (!file.read(head.data(), head.size())) return false;
  constexpr std::string_view kBrands[] = {"heic", "heix", "heim", "heis", "mif1", "avif"};
  const std::string_view bytes(head.data(), head.size());
  return bytes.substr(4, 4) == "ftyp" &&
         std::find(std::begin(kBrands), std::end(kBrands), bytes.substr(8)) != std::end(kBrands);
}

#if FQ_HAVE_HEIF

void check(const heif_error& error) {
  if (error.code != heif_error_Ok) throw std::runtime_error(std::string("libheif cannot decode it: ") + error.message);
}

template <class T, void (*release)(T*)>
struct Release {
  void operator()(T* object) const { release(object); }
};
void release_handle(heif_image_handle* handle) { heif_image_handle_release(handle); }
void release_image(heif_image* image) { heif_image_release(image); }
using Context = std::unique_ptr<heif_context, Release<heif_context, heif_context_free>>;
using Handle = std::unique_ptr<heif_image_handle, Release<heif_image_handle, release_handle>>;
using Image = std::unique_ptr<heif_image, Release<heif_image, release_image>>;

/// The EXIF block of the primary image, without the offset before it; empty if there is none.
std::string exif_of_heif(const heif_image_handle* handle) {
  constexpr std::size_t kOffset = 4;
  heif_item_id id = 0;
  if (heif_image_handle_get_list_of_metadata_block_IDs(handle, "Exif", &id, 1) < 1) return "";
  std::string block(heif_image_handle_get_metadata_size(handle, id), '\0');
  if (block.size() < kOffset || heif_image_handle_get_metadata(handle, id, block.data()).code != heif_error_Ok)
    return "";
  const std::size_t begin = kOffset + GST_READ_UINT32_BE(block.data());
  return begin < block.size() ? block.substr(begin) : "";
}

/// Colours, with full range unless the file says otherwise, as in JPEG.
GstVideoColorimetry colours_of(const heif_image_handle* handle) {
  GstVideoColorimetry colours = {GST_VIDEO_COLOR_RANGE_0_255, GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_TRANSFER_SRGB,
                                 GST_VIDEO_COLOR_PRIMARIES_BT709};
  heif_color_profile_nclx* profile = nullptr;
  if (heif_image_handle_get_nclx_color_profile(handle, &profile).code != heif_error_Ok || !profile) return colours;
  if (!profile->full_range_flag) colours.range = GST_VIDEO_COLOR_RANGE_16_235;
  const GstVideoColorMatrix matrix = gst_video_color_matrix_from_iso(profile->matrix_coefficients);
  if (matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN && matrix != GST_VIDEO_COLOR_MATRIX_RGB) colours.matrix = matrix;
  colours.transfer = gst_video_transfer_function_from_iso(profile->transfer_characteristics);
  colours.primaries = gst_video_color_primaries_from_iso(profile->color_primaries);
  heif_nclx_color_profile_free(profile);
  return colours;
}

Still frame_of(const heif_image* image, const GstVideoColorimetry& colours) {
  constexpr heif_channel kPlanes[] = {heif_channel_Y, heif_channel_Cb, heif_channel_Cr};
  const int depth = heif_image_get_bits_per_pixel_range(image, heif_channel_Y);
  const GstVideoFormat format = depth <= 8    ? GST_VIDEO_FORMAT_I420
                                : depth == 10 ? GST_VIDEO_FORMAT_I420_10LE
                                : depth == 12 ? GST_VIDEO_FORMAT_I420_12LE
                                              : GST_VIDEO_FORMAT_UNKNOWN;
  if (format == GST_VIDEO_FORMAT_UNKNOWN)
    throw std::runtime_error("HEIF images of " + std::to_string(depth) + " bits are not supported");
  GstVideoInfo info;
  const int width = heif_image_get_width(image, heif_channel_Y), height = heif_image_get_height(image, heif_channel_Y);
  if (width < 1 || height < 1 ||
      !gst_video_info_set_format(&info, format, static_cast<guint>(width), static_cast<guint>(height)))
    throw std::runtime_error("its size is not supported");
  info.colorimetry = colours;
  Still still;
  still.data.reset(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  GstVideoFrame frame;
  if (!still.data || !gst_video_frame_map(&frame, &info, still.data.get(), GST_MAP_WRITE))
    throw std::runtime_error("out of memory");
  bool whole = true;
  for (guint i = 0; i < 3 && whole; ++i) {
    int stride = 0;
    const std::uint8_t* plane = heif_image_get_plane_readonly(image, kPlanes[i], &stride);
    whole = plane != nullptr;
    const auto bytes = static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, i)) * (depth > 8 ? 2 : 1);
    for (int y = 0; whole && y < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, i); ++y)
      std::memcpy(static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, i)) +
                      static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&frame, i),
                  plane + static_cast<std::ptrdiff_t>(y) * stride, bytes);
  }
  gst_video_frame_unmap(&frame);
  if (!whole) throw std::runtime_error("libheif delivers no 4:2:0 image of it");
  still.caps.reset(gst_video_info_to_caps(&info));
  return still;
}

Still heif_still(const std::string& path) {
  const Context context(heif_context_alloc());
  check(heif_context_read_from_file(context.get(), path.c_str(), nullptr));
  heif_image_handle* found = nullptr;
  check(heif_context_get_primary_image_handle(context.get(), &found));
  const Handle handle(found);
  heif_image* decoded = nullptr;
  // It also turns the image as the file says.
  check(heif_decode_image(handle.get(), &decoded, heif_colorspace_YCbCr, heif_chroma_420, nullptr));
  const Image image(decoded);
  Still still = frame_of(image.get(), colours_of(handle.get()));
  still.taken = taken_of(exif_of_heif(handle.get()));
  return still;
}

#endif
#if FQ_HAVE_RAW

/// Orientation for dcraw's numbers.
const char* orientation_of(int flip) {
  switch (flip) {
    case 3:
      return "rotate-180";
    case 5:
      return "rotate-270";
    case 6:
      return "rotate-90";
    default:
      return "rotate-0";
  }
}

void check(int status) {
  if (status != LIBRAW_SUCCESS)
    throw std::runtime_error(std::string("LibRaw finds no preview in it: ") + libraw_strerror(status));
}

Still raw_still(const std::string& path) {
  const auto raw = std::make_unique<LibRaw>();  // some 500 kB
  check(raw->open_file(path.c_str()));
  check(raw->unpack_thumb());
  int status = LIBRAW_SUCCESS;
  const std::unique_ptr<libraw_processed_image_t, void (*)(libraw_processed_image_t*)> preview(
      raw->dcraw_make_mem_thumb(&status), LibRaw::dcraw_clear_mem);
  check(status);
  if (!preview) throw std::runtime_error("LibRaw finds no preview in it");
  Still still;
  if (preview->type == LIBRAW_IMAGE_JPEG) {
    still.caps.reset(gst_caps_new_empty_simple("image/jpeg"));
    still.data.reset(gst_buffer_new_allocate(nullptr, preview->data_size, nullptr));
    gst_buffer_fill(still.data.get(), 0, preview->data, preview->data_size);
  } else if (preview->colors == 3 && preview->bits == 8) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGB, preview->width, preview->height);
    still.caps.reset(gst_video_info_to_caps(&info));
    still.data.reset(gst_buffer_new_allocate(nullptr, info.size, nullptr));
    const std::size_t row = static_cast<std::size_t>(preview->width) * 3;
    for (std::size_t y = 0; y < preview->height && (y + 1) * row <= preview->data_size; ++y)
      gst_buffer_fill(still.data.get(), y * static_cast<std::size_t>(GST_VIDEO_INFO_PLANE_STRIDE(&info, 0)),
                      preview->data + y * row, row);
  } else {
    throw std::runtime_error("the preview in it is of a kind that is not supported");
  }
  still.orientation = orientation_of(raw->imgdata.sizes.flip);
  still.taken = taken_of(exif_in(path).bytes);
  if (!still.taken.time && preview->type == LIBRAW_IMAGE_JPEG)
    still.taken = taken_of(exif_in_jpeg({reinterpret_cast<const char*>(preview->data), preview->data_size}));
  return still;
}

#endif

}  // namespace

std::optional<Still> read_still(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return std::nullopt;
  if (is_heif(path)) {
#if FQ_HAVE_HEIF
    return heif_still(path);
#endif
  } else if (is_raw_name(path)) {
#if FQ_HAVE_RAW
    return raw_still(path);
#else
    throw std::runtime_error(
        "this build does not read raw files: install libraw-dev and build framequality again, or convert them first");
#endif
  }
  return std::nullopt;
}

}  // namespace framequality::apps
