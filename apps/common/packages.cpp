// SPDX-License-Identifier: LGPL-2.1-or-later
// The packages of Debian and Ubuntu with the parts that GStreamer misses.
#include "apps/common/packages.h"

#include "apps/common/owned.h"

#include <gst/gst.h>

#include <algorithm>

namespace framequality::apps {

namespace {

constexpr char kBase[] = "gstreamer1.0-plugins-base", kGood[] = "gstreamer1.0-plugins-good",
               kBad[] = "gstreamer1.0-plugins-bad", kUgly[] = "gstreamer1.0-plugins-ugly",
               kLibav[] = "gstreamer1.0-libav", kCore[] = "libgstreamer1.0-0", kNone[] = "";

struct Entry {
  std::string_view missing;  ///< with a * at its end: a prefix; the first match counts
  const char* package;
  guint since = 0;  ///< of GStreamer 1.x
};

// As in Debian 12, 13 and sid and in Ubuntu 24.04; tests compare it with the installed packages.
constexpr Entry kTable[] = {
    {"element-uridecodebin", kBase},
    {"element-decodebin", kBase},
    {"element-videoconvert", kBase},
    {"element-videoscale", kBase},
    {"element-videorate", kBase},
    {"element-videotestsrc", kBase},
    {"element-appsink", kBase},
    {"element-tcpclientsrc", kBase},
    {"element-queue", kCore},
    {"element-capsfilter", kCore},
    {"element-fakesink", kCore},
    {"element-identity", kCore},
    {"element-filesrc", kCore},
    {"element-tee", kCore},
    {"element-rtspsrc", kGood},
    {"element-souphttpsrc", kGood},
    {"element-v4l2src", kGood},
    {"element-udpsrc", kGood},
    {"element-multipartdemux", kGood},
    {"element-jpegdec", kGood},
    {"element-rtph264depay", kGood},
    {"element-rtph265depay", kGood},
    {"element-rtpjpegdepay", kGood},
    {"element-qtdemux", kGood},
    {"element-matroskademux", kGood},
    {"element-h264parse", kBad},
    {"element-h265parse", kBad},
    {"element-bayer2rgb", kBad},
    {"element-srtsrc", kBad},
    {"element-rtmp2src", kBad},
    {"element-avdec_*", kLibav},
    {"urisource-file", kCore},
    {"urisource-rtsp*", kGood},
    {"urisource-http*", kGood},
    {"urisource-v4l2", kGood},
    {"urisource-udp", kGood},
    {"urisource-rtmp*", kBad},
    {"urisource-srt", kBad},
    {"decoder-application/ogg", kBase},
    {"decoder-video/x-theora", kBase},
    {"decoder-video/quicktime", kGood},
    {"decoder-video/x-matroska*", kGood},
    {"decoder-video/webm", kGood},
    {"decoder-video/x-msvideo", kGood},
    {"decoder-video/x-flv", kGood},
    {"decoder-video/x-dv", kGood},
    {"decoder-video/x-vp8", kGood},
    {"decoder-video/x-vp9", kGood},
    {"decoder-multipart/x-mixed-replace", kGood},
    {"decoder-image/jpeg", kGood},
    {"decoder-image/png", kGood},
    {"decoder-video/mpegts", kBad},
    {"decoder-video/x-av1", kBad},
    {"decoder-application/mxf", kBad},
    {"decoder-application/x-hls", kBad},
    {"decoder-application/dash+xml", kBad},
    {"decoder-application/x-yuv4mpeg", kGood, 28},
    {"decoder-application/x-yuv4mpeg", kBad},
    {"decoder-image/webp", kBad},
    {"decoder-image/svg+xml", kBad},
    {"decoder-image/x-portable-*", kBad},
    {"decoder-image/jp2", kBad},
    {"decoder-image/x-jpc", kBad},
    {"decoder-image/x-j2c", kBad},
    {"decoder-video/x-ms-asf", kUgly},
    {"decoder-application/vnd.rn-realmedia", kUgly},
    {"decoder-image/tiff", kLibav},
    {"decoder-image/bmp", kLibav},
    {"decoder-image/*", kNone},  // GIF: its reader is disabled, see decoding.cpp
    {"decoder-video/*", kLibav},
};

bool fits(std::string_view name, std::string_view missing) {
  return missing.ends_with('*') ? name.starts_with(missing.substr(0, missing.size() - 1)) : name == missing;
}

/// True if the package is installed and does not have what is missing: FFmpeg's plugin has all of its decoders.
bool is_there(std::string_view package) {
  return package == kLibav && Owned<GstPlugin>(gst_registry_find_plugin(gst_registry_get(), "libav"));
}

}  // namespace

std::string package_of(std::string_view missing) {
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  for (const Entry& entry : kTable)
    if (minor >= entry.since && fits(missing, entry.missing)) return entry.package;
  return "";
}

std::string install_hint(const std::vector<std::string>& missing) {
  std::vector<std::string> packages;
  for (const std::string& one : missing) {
    std::string package = package_of(one);
    if (!package.empty() && !is_there(package) &&
        std::find(packages.begin(), packages.end(), package) == packages.end())
      packages.push_back(std::move(package));
  }
  std::string text;
  for (const std::string& package : packages)
    text += (text.empty() ? "; on Debian and Ubuntu: sudo apt install " : " ") + package;
  return text;
}

}  // namespace framequality::apps
