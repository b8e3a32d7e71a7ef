// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as image files.
#include "apps/common/pictures.h"

#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it first
#include <cstdlib>
#include <jpeglib.h>
#include <new>
#include <png.h>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace framequality::apps {

namespace {

constexpr int kFullChroma = 90;
constexpr std::size_t kLongestSegment = 65533;  // bytes, of a JPEG's marker
constexpr std::string_view kExifMark("Exif\0\0", 6);
// With filter "up", a frame of 1920x1080 takes 48 ms, 1.51 MB; level 4 takes 67 ms, 1.39 MB; 6 176 ms, 1.29 MB. Without
// a filter, as GStreamer's pngenc writes, level 6 takes 100 ms, 2.06 MB.
constexpr int kPngLevel = 2;

std::runtime_error failure(const std::string& what) { return std::runtime_error("cannot write an image: " + what); }

/// Whether these are the colours that viewers assume if a file does not say.
bool is_plain(const GstVideoColorimetry& colours) {
  const auto one_of = [](auto value, auto... all) { return ((value == all) || ...); };
  return one_of(colours.primaries, GST_VIDEO_COLOR_PRIMARIES_UNKNOWN, GST_VIDEO_COLOR_PRIMARIES_BT709,
                GST_VIDEO_COLOR_PRIMARIES_SMPTE170M, GST_VIDEO_COLOR_PRIMARIES_BT470BG) &&
         one_of(colours.transfer, GST_VIDEO_TRANSFER_UNKNOWN, GST_VIDEO_TRANSFER_BT709, GST_VIDEO_TRANSFER_BT601,
                GST_VIDEO_TRANSFER_SRGB);
}

// Both libraries return by longjmp on errors. Functions that call setjmp hold nothing that a destructor would
// have to free; their callers own everything.

struct PngFile {
  png_structp png = nullptr;
  png_infop info = nullptr;
  std::string bytes, error;
  PngFile() = default;
  ~PngFile() { png_destroy_write_struct(&png, &info); }
  PngFile(const PngFile&) = delete;
  PngFile& operator=(const PngFile&) = delete;
};

void png_failed(png_structp png, png_const_charp text) {
  static_cast<PngFile*>(png_get_error_ptr(png))->error = text;
  png_longjmp(png, 1);
}

void png_write(png_structp png, png_bytep data, std::size_t size) {
  try {
    static_cast<PngFile*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<const char*>(data), size);
    return;
  } catch (const std::bad_alloc&) {
  }
  png_error(png, "out of memory");
}

bool write_png(PngFile& file, const Raster& raster, const std::string& exif) {
  if (setjmp(png_jmpbuf(file.png))) return false;
  png_set_write_fn(file.png, &file, png_write, nullptr);
  png_set_compression_level(file.png, kPngLevel);
  png_set_filter(file.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
  png_set_IHDR(file.png, file.info, static_cast<png_uint_32>(raster.width), static_cast<png_uint_32>(raster.height),
               raster.is_deep() ? 16 : 8, raster.is_gray() ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(file.png, file.info);
  // Written by name: libpng supports cICP only since 1.6.45.
  if (!is_plain(raster.colorimetry)) {
    const png_byte cicp[4] = {static_cast<png_byte>(gst_video_color_primaries_to_iso(raster.colorimetry.primaries)),
                              static_cast<png_byte>(gst_video_transfer_function_to_iso(raster.colorimetry.transfer)), 0,
                              1};
    png_write_chunk(file.png, reinterpret_cast<png_const_bytep>("cICP"), cicp, sizeof(cicp));
  }
  if (!exif.empty())
    png_write_chunk(file.png, reinterpret_cast<png_const_bytep>("eXIf"), reinterpret_cast<png_const_bytep>(exif.data()),
                    exif.size());
  if (raster.format == GST_VIDEO_FORMAT_RGBA64_BE) png_set_filler(file.png, 0, PNG_FILLER_AFTER);
  for (int y = 0; y < raster.height; ++y) png_write_row(file.png, raster.row(y));
  png_write_end(file.png, nullptr);
  return true;
}

struct JpegFile {
  jpeg_compress_struct jpeg = {};
  jpeg_error_mgr errors = {};
  std::jmp_buf leave;
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  char error[JMSG_LENGTH_MAX] = "";
  JpegFile() = default;
  ~JpegFile() {
    jpeg_destroy_compress(&jpeg);
    std::free(bytes);
  }
  JpegFile(const JpegFile&) = delete;
  JpegFile& operator=(const JpegFile&) = delete;
};

void jpeg_failed(j_common_ptr jpeg) {
  auto* file = static_cast<JpegFile*>(jpeg->client_data);
  jpeg->err->format_message(jpeg, file->error);
  std::longjmp(file->leave, 1);
}

bool write_jpeg(JpegFile& file, const Raster& raster, int quality, const std::string& exif) {
  file.jpeg.err = jpeg_std_error(&file.errors);
  file.errors.error_exit = jpeg_failed;
  file.errors.output_message = [](j_common_ptr) {};
  file.jpeg.client_data = &file;
  if (setjmp(file.leave)) return false;
  jpeg_create_compress(&file.jpeg);
  jpeg_mem_dest(&file.jpeg, &file.bytes, &file.size);
  file.jpeg.image_width = static_cast<JDIMENSION>(raster.width);
  file.jpeg.image_height = static_cast<JDIMENSION>(raster.height);
  file.jpeg.input_components = raster.pixel;
  file.jpeg.in_color_space = raster.is_gray() ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&file.jpeg);
  jpeg_set_quality(&file.jpeg, quality, TRUE);
  if (quality >= kFullChroma) file.jpeg.comp_info[0].h_samp_factor = file.jpeg.comp_info[0].v_samp_factor = 1;
  file.jpeg.density_unit = 0;
  jpeg_start_compress(&file.jpeg, TRUE);
  if (!exif.empty())
    jpeg_write_marker(&file.jpeg, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(exif.data()),
                      static_cast<unsigned>(exif.size()));
  while (file.jpeg.next_scanline < file.jpeg.image_height) {
    JSAMPROW row = raster.row(static_cast<int>(file.jpeg.next_scanline));
    jpeg_write_scanlines(&file.jpeg, &row, 1);
  }
  jpeg_finish_compress(&file.jpeg);
  return true;
}

std::string jpeg_of(const Raster& raster, int quality, const std::string& exif) {
  const std::string block = exif.empty() ? "" : std::string(kExifMark) + exif;
  JpegFile file;
  if (!write_jpeg(file, raster, quality, block.size() > kLongestSegment ? "" : block)) throw failure(file.error);
  return {reinterpret_cast<const char*>(file.bytes), file.size};
}

}  // namespace

std::string png_of(GstSample* sample, const View& view, const std::string& exif) {
  const Raster raster = raster_of(sample, view);
  PngFile file;
  file.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &file, png_failed, [](png_structp, png_const_charp) {});
  if (file.png) file.info = png_create_info_struct(file.png);
  if (!file.info) throw failure("out of memory");
  if (!write_png(file, raster, exif)) throw failure(file.error);
  return std::move(file.bytes);
}

std::string jpeg_of(GstSample* sample, const View& view, int quality, const std::string& exif) {
  View shallow = view;
  shallow.deep = false;
  return jpeg_of(raster_of(sample, shallow), quality, exif);
}

std::string jpeg_within(GstSample* sample, const View& view, std::size_t bytes) {
  constexpr int kBest = 85, kWorst = 10, kStep = 15;
  View shallow = view;
  shallow.deep = false;
  const Raster raster = raster_of(sample, shallow);
  int quality = kBest;
  std::string jpeg = jpeg_of(raster, quality, "");
  for (; jpeg.size() > bytes && quality > kWorst; quality -= kStep) jpeg = jpeg_of(raster, quality - kStep, "");
  return jpeg;
}

}  // namespace framequality::apps
