// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames as picture files.
#include "apps/common/pictures.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace framequality::apps {

namespace {

constexpr GstClockTime kPatience = 60 * GST_SECOND;

std::runtime_error failure(const char* what, GError* error) {
  std::string text = std::string("cannot make a picture: ") + what;
  if (error) text += std::string(": ") + error->message;
  g_clear_error(&error);
  return std::runtime_error(text);
}

/// The frame in ordinary memory: the converter reads no other. Mapping any memory to read brings it there.
Owned<GstSample> in_system_memory(GstSample* sample) {
  GstCaps* caps = gst_sample_get_caps(sample);
  GstCapsFeatures* features = gst_caps_get_features(caps, 0);
  if (!features || gst_caps_features_is_equal(features, GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
    return Owned<GstSample>(gst_sample_ref(sample));
  GstVideoInfo info, plain;
  GstVideoFrame from, to;
  if (!gst_video_info_from_caps(&info, caps)) throw failure("unknown format", nullptr);
  const Owned<GstCaps> plain_caps(gst_caps_copy(caps));
  gst_caps_set_features(plain_caps.get(), 0, nullptr);
  if (!gst_video_info_from_caps(&plain, plain_caps.get())) throw failure("unknown format", nullptr);
  // Written before the sample shares it: a buffer of two owners cannot be.
  GstBuffer* copy = gst_buffer_new_allocate(nullptr, plain.size, nullptr);
  const bool read = gst_video_frame_map(&from, &info, gst_sample_get_buffer(sample), GST_MAP_READ);
  const bool write = read && gst_video_frame_map(&to, &plain, copy, GST_MAP_WRITE);
  const bool copied = write && gst_video_frame_copy(&to, &from);
  if (write) gst_video_frame_unmap(&to);
  if (read) gst_video_frame_unmap(&from);
  Owned<GstSample> result(gst_sample_new(copy, plain_caps.get(), nullptr, nullptr));
  gst_buffer_unref(copy);
  if (!copied) throw failure("the frame cannot be read", nullptr);
  return result;
}

Owned<GstSample> converted(GstSample* sample, const std::string& caps) {
  const Owned<GstCaps> wanted(gst_caps_from_string(caps.c_str()));
  GError* error = nullptr;
  Owned<GstSample> result(gst_video_convert_sample(sample, wanted.get(), kPatience, &error));
  if (!result) throw failure(caps.c_str(), error);
  g_clear_error(&error);
  return result;
}

std::string bytes_of(GstSample* sample) {
  GstMapInfo map;
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!gst_buffer_map(buffer, &map, GST_MAP_READ)) throw failure("the encoder's output cannot be read", nullptr);
  std::string bytes(reinterpret_cast<const char*>(map.data), map.size);
  gst_buffer_unmap(buffer, &map);
  return bytes;
}

GstVideoInfo info_of(GstSample* sample) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) throw failure("unknown format", nullptr);
  return info;
}

}  // namespace

std::string png_of(GstSample* sample) {
  const Owned<GstSample> frame = in_system_memory(sample);
  const GstVideoInfo info = info_of(frame.get());
  const char* format = !GST_VIDEO_INFO_IS_GRAY(&info)            ? "RGB"
                       : GST_VIDEO_INFO_COMP_DEPTH(&info, 0) > 8 ? "GRAY16_BE"
                                                                 : "GRAY8";
  const Owned<GstSample> raw = converted(frame.get(), std::string("video/x-raw,format=") + format);
  return bytes_of(converted(raw.get(), "image/png").get());
}

std::string jpeg_of(GstSample* sample, int longest) {
  const Owned<GstSample> frame = in_system_memory(sample);
  const GstVideoInfo info = info_of(frame.get());
  const double par = static_cast<double>(GST_VIDEO_INFO_PAR_N(&info)) / std::max(1, GST_VIDEO_INFO_PAR_D(&info));
  const double width = GST_VIDEO_INFO_WIDTH(&info) * (par > 0 ? par : 1), height = GST_VIDEO_INFO_HEIGHT(&info);
  const double scale = std::min(1.0, longest / std::max(width, height));
  const auto pixels = [&](double length) {
    return std::to_string(std::max(1, static_cast<int>(std::lround(length * scale))));
  };
  return bytes_of(converted(frame.get(), "image/jpeg,width=" + pixels(width) + ",height=" + pixels(height) +
                                             ",pixel-aspect-ratio=1/1")
                      .get());
}

}  // namespace framequality::apps
