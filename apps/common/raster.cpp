// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as plain pixels, the way they are meant to be seen.
#include "apps/common/raster.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace framequality::apps {

namespace {

constexpr double kLongestSide = 32767;  // limit of scaling up: a damaged file may claim any shape

std::runtime_error failure(const char* what) {
  return std::runtime_error(std::string("cannot write an image: ") + what);
}

/// A buffer mapped as a frame while this lives.
class Mapped {
 public:
  Mapped(const GstVideoInfo& info, GstBuffer* buffer, GstMapFlags flags) : info_(info) {
    if (!gst_video_frame_map(&frame_, &info_, buffer, flags)) throw failure("the frame cannot be read");
  }
  ~Mapped() { gst_video_frame_unmap(&frame_); }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  GstVideoFrame* get() { return &frame_; }

 private:
  GstVideoInfo info_;
  GstVideoFrame frame_{};
};

struct UnrefBuffer {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};
using Buffer = std::unique_ptr<GstBuffer, UnrefBuffer>;

GstVideoInfo info_of(GstCaps* caps) {
  GstVideoInfo info;
  if (!caps || !gst_video_info_from_caps(&info, caps)) throw failure("unknown format");
  return info;
}

bool is_in_system_memory(GstCaps* caps) {
  const GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  return !features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY);
}

/// Width and height in square pixels, before turning.
std::pair<int, int> shape(const GstVideoInfo& info, int longest) {
  double width = GST_VIDEO_INFO_WIDTH(&info), height = GST_VIDEO_INFO_HEIGHT(&info);
  const int n = GST_VIDEO_INFO_PAR_N(&info), d = GST_VIDEO_INFO_PAR_D(&info);
  if (n > d && d > 0 && width * n / d <= kLongestSide) width = width * n / d;
  if (d > n && n > 0 && height * d / n <= kLongestSide) height = height * d / n;
  const double scale = std::min(1.0, longest / std::max(width, height));
  const auto pixels = [scale](double length) { return std::max(1, static_cast<int>(std::lround(length * scale))); };
  return {pixels(width), pixels(height)};
}

GstVideoFormat target(const GstVideoInfo& info, bool deep) {
  deep = deep && GST_VIDEO_INFO_COMP_DEPTH(&info, 0) > 8;
  if (GST_VIDEO_INFO_IS_GRAY(&info)) return deep ? GST_VIDEO_FORMAT_GRAY16_BE : GST_VIDEO_FORMAT_GRAY8;
  return deep ? GST_VIDEO_FORMAT_RGBA64_BE : GST_VIDEO_FORMAT_RGB;
}

/// Expands gray of 16...235, or its equivalent in 16 bits, to full range. GStreamer's converter would leave it.
void fill_range(Raster& raster) {
  const int scale = raster.is_deep() ? 256 : 1, black = 16 * scale, range = 219 * scale, white = 256 * scale - 1;
  const auto full = [&](int value) {
    return std::clamp(((value - black) * std::int64_t{white} + range / 2) / range, std::int64_t{0},
                      std::int64_t{white});
  };
  for (int y = 0; y < raster.height; ++y) {
    std::uint8_t* at = raster.row(y);
    for (int x = 0; x < raster.width; ++x, at += raster.pixel) {
      if (raster.is_deep())
        GST_WRITE_UINT16_BE(at, static_cast<guint16>(full(GST_READ_UINT16_BE(at))));
      else
        *at = static_cast<std::uint8_t>(full(*at));
    }
  }
}

Raster converted(GstBuffer* frame, GstVideoInfo from, const View& view) {
  const auto [width, height] = shape(from, view.longest);
  GstVideoInfo to;
  gst_video_info_set_interlaced_format(&to, target(from, view.deep), GST_VIDEO_INFO_INTERLACE_MODE(&from),
                                       static_cast<guint>(width), static_cast<guint>(height));
  GST_VIDEO_INFO_FPS_N(&to) = GST_VIDEO_INFO_FPS_N(&from);
  GST_VIDEO_INFO_FPS_D(&to) = GST_VIDEO_INFO_FPS_D(&from);
  if (from.colorimetry.range == GST_VIDEO_COLOR_RANGE_UNKNOWN)
    from.colorimetry.range = GST_VIDEO_INFO_IS_YUV(&from) ? GST_VIDEO_COLOR_RANGE_16_235 : GST_VIDEO_COLOR_RANGE_0_255;
  const bool gray = GST_VIDEO_INFO_IS_GRAY(&from), limited = from.colorimetry.range != GST_VIDEO_COLOR_RANGE_0_255;
  if (gray) from.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;
  to.colorimetry = from.colorimetry;
  to.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;
  if (!gray) to.colorimetry.matrix = GST_VIDEO_COLOR_MATRIX_RGB;

  Raster raster;
  raster.format = GST_VIDEO_INFO_FORMAT(&to);
  raster.width = width;
  raster.height = height;
  raster.pixel = GST_VIDEO_INFO_COMP_PSTRIDE(&to, 0);
  raster.stride = GST_VIDEO_INFO_PLANE_STRIDE(&to, 0);
  raster.colorimetry = to.colorimetry;
  raster.data = std::make_unique<std::uint8_t[]>(to.size);
  const Buffer target(gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), raster.data.get(), to.size, 0,
                                                  to.size, nullptr, nullptr));
  const std::unique_ptr<GstVideoConverter, decltype(&gst_video_converter_free)> converter(
      gst_video_converter_new(&from, &to, nullptr), gst_video_converter_free);
  if (!converter) throw failure("GStreamer cannot convert the frame's format");
  Mapped source(from, frame, GST_MAP_READ), destination(to, target.get(), GST_MAP_WRITE);
  gst_video_converter_frame(converter.get(), source.get(), destination.get());
  if (gray && limited) fill_range(raster);
  return raster;
}

/// Source of a turned image's pixels: the first, and bytes to its right neighbour and to the one below.
struct Walk {
  std::ptrdiff_t first = 0, right = 0, down = 0;
};

template <int pixel>
void copy_pixels(const Raster& from, const Walk& walk, Raster& to) {
  for (int y = 0; y < to.height; ++y) {
    const std::uint8_t* source = from.data.get() + walk.first + walk.down * y;
    std::uint8_t* target = to.row(y);
    for (int x = 0; x < to.width; ++x, source += walk.right, target += pixel) std::memcpy(target, source, pixel);
  }
}

Raster turned(Raster from, GstVideoOrientationMethod how) {
  const std::ptrdiff_t x = from.pixel, y = from.stride;
  const std::ptrdiff_t last_x = x * (from.width - 1), last_y = y * (from.height - 1);
  Walk walk;
  switch (how) {
    case GST_VIDEO_ORIENTATION_90R:
      walk = {last_y, -y, x};
      break;
    case GST_VIDEO_ORIENTATION_180:
      walk = {last_x + last_y, -x, -y};
      break;
    case GST_VIDEO_ORIENTATION_90L:
      walk = {last_x, y, -x};
      break;
    case GST_VIDEO_ORIENTATION_HORIZ:
      walk = {last_x, -x, y};
      break;
    case GST_VIDEO_ORIENTATION_VERT:
      walk = {last_y, x, -y};
      break;
    case GST_VIDEO_ORIENTATION_UL_LR:
      walk = {0, y, x};
      break;
    case GST_VIDEO_ORIENTATION_UR_LL:
      walk = {last_x + last_y, -y, -x};
      break;
    default:
      return from;
  }
  Raster to;
  to.format = from.format;
  to.pixel = from.pixel;
  to.colorimetry = from.colorimetry;
  const bool upended = std::abs(walk.right) == y;
  to.width = upended ? from.height : from.width;
  to.height = upended ? from.width : from.height;
  to.stride = to.width * to.pixel;
  to.data = std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(to.stride) * static_cast<std::size_t>(to.height));
  switch (from.pixel) {
    case 1:
      copy_pixels<1>(from, walk, to);
      break;
    case 2:
      copy_pixels<2>(from, walk, to);
      break;
    case 3:
      copy_pixels<3>(from, walk, to);
      break;
    default:
      copy_pixels<8>(from, walk, to);
  }
  return to;
}

}  // namespace

Owned<GstSample> copy_of(GstSample* sample) {
  GstCaps* caps = gst_sample_get_caps(sample);
  const GstVideoInfo info = info_of(caps);
  const Owned<GstCaps> plain_caps(gst_caps_copy(caps));
  gst_caps_set_features(plain_caps.get(), 0, nullptr);
  const GstVideoInfo plain = info_of(plain_caps.get());
  // Written before the sample shares it: a buffer with two owners is read-only.
  const Buffer copy(gst_buffer_new_allocate(nullptr, plain.size, nullptr));
  {
    // Mapping to read copies memory of any kind to here.
    Mapped from(info, gst_sample_get_buffer(sample), GST_MAP_READ), to(plain, copy.get(), GST_MAP_WRITE);
    if (!gst_video_frame_copy(to.get(), from.get())) throw failure("the frame cannot be read");
  }
  return Owned<GstSample>(gst_sample_new(copy.get(), plain_caps.get(), nullptr, nullptr));
}

std::pair<int, int> raster_size(GstCaps* caps, const View& view) {
  const auto [width, height] = shape(info_of(caps), view.longest);
  switch (view.orientation) {
    case GST_VIDEO_ORIENTATION_90R:
    case GST_VIDEO_ORIENTATION_90L:
    case GST_VIDEO_ORIENTATION_UL_LR:
    case GST_VIDEO_ORIENTATION_UR_LL:
      return {height, width};
    default:
      return {width, height};
  }
}

Raster raster_of(GstSample* sample, const View& view) {
  const Owned<GstSample> frame(is_in_system_memory(gst_sample_get_caps(sample)) ? gst_sample_ref(sample)
                                                                                : copy_of(sample).release());
  return turned(converted(gst_sample_get_buffer(frame.get()), info_of(gst_sample_get_caps(frame.get())), view),
                view.orientation);
}

}  // namespace framequality::apps
