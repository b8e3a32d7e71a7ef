// SPDX-License-Identifier: LGPL-2.1-or-later
// The source of a camera's video.
#include "apps/watch/address.h"

#include "apps/common/packages.h"
#include "apps/common/text.h"
#include "apps/common/uri.h"
#include "apps/common/url.h"

#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <stdexcept>
#include <sys/stat.h>

namespace framequality::apps::watch {

namespace {

constexpr std::size_t kLongestFileName = 80;

bool is_name_character(char c) { return g_ascii_isalnum(c) || c == '-' || c == '_'; }

/// Throws std::runtime_error with the right form, but nothing of the URL, which may be a part of a password.
void check_server(const Url& url, bool needs_host) {
  if (url.host.starts_with('[') && !url.has_ip_address())
    throw std::runtime_error("the text in [ ] is not an IPv6 address, as in rtsp://[fd00::1]:554/stream");
  if (!url.has_valid_port())
    throw std::runtime_error(
        "no port from 1 to 65535 follows a colon in the URL: write / ? # @ : in a user name or a password as "
        "%2F %3F %23 %40 %3A, and an IPv6 address in [ ]");
  if (needs_host && url.host.empty()) throw std::runtime_error("the URL has no host name");
}

void set_url(CameraSettings& camera, const std::string& address, const Url& url) {
  gchar* lower = g_ascii_strdown(url.scheme.data(), static_cast<gssize>(url.scheme.size()));
  const std::string scheme = lower;
  g_free(lower);
  if (std::any_of(address.begin(), address.end(), [](char c) { return g_ascii_iscntrl(c) || c == ' '; }))
    throw std::runtime_error("the URL contains a space: write it as %20");
  if (scheme == "rtp" || scheme == "srtp")
    throw std::runtime_error(scheme +
                             ":// does not describe the stream: use the camera's rtsp:// URL, or a pipeline in the "
                             "configuration, such as pipeline = 'udpsrc port=5004 caps=\"application/x-rtp,media=video,"
                             "clock-rate=90000,encoding-name=H264\" ! rtph264depay ! avdec_h264'");
  if (!gst_uri_protocol_is_supported(GST_URI_SRC, scheme.c_str()))
    throw std::runtime_error("no installed GStreamer element can read " + scheme + "://" +
                             install_hint({"urisource-" + scheme}));
  // They take the password as a property.
  const bool takes_user = scheme.starts_with("rtsp") || scheme.starts_with("http");
  check_server(url, takes_user);
  const auto colon = url.user_info.find(':');
  camera.user = percent_decoded(url.user_info.substr(0, colon));
  if (colon != std::string_view::npos) camera.password = percent_decoded(url.user_info.substr(colon + 1));
  camera.doubtful = doubtful_parts(url);
  camera.is_ambiguous = url.has_late_at();
  const auto server = url.port == ":" ? url.host : url.server();
  camera.uri = scheme + "://";
  if (!takes_user && url.has_user_info) camera.uri.append(url.user_info) += '@';
  camera.uri.append(server).append(url.tail);
  camera.source = shown_url(address);
}

}  // namespace

void set_address(CameraSettings& camera, const std::string& address) {
  if (address.empty()) throw std::runtime_error("the address is empty");
  const auto url = split_url(address);
  const bool is_file_url = g_ascii_strncasecmp(address.c_str(), "file:/", 6) == 0;
  if (url && !is_file_url) {
    set_url(camera, address, *url);
    return;
  }
  std::string path = address;
  if (is_file_url) {
    gchar* name = g_filename_from_uri(address.c_str(), nullptr, nullptr);
    if (!name) throw std::runtime_error("invalid file URL: write file:///PATH");
    path = name;
    g_free(name);
  }
  struct stat about = {};
  const bool there = stat(path.c_str(), &about) == 0;
  const int reason = errno;
  // A missing device may be plugged in later.
  if (there ? S_ISCHR(about.st_mode) : path.starts_with("/dev/video"))
    camera.uri = "v4l2://" + path;
  else if (there)
    camera.uri = uri_of(path);
  else  // nor is "rtsp:/host" a URL
    throw std::runtime_error(g_strerror(reason));
  camera.is_file = there && S_ISREG(about.st_mode);
  camera.source = valid_utf8(address);
}

std::string name_of(const CameraSettings& camera) {
  if (camera.is_file) return valid_utf8(base_name(camera.source));
  // The displayed URL, which is masked; a device's path is not in it.
  const std::string_view shown = split_url(camera.source) ? camera.source : camera.uri;
  const auto user_info = shown.rfind("***@");
  std::string_view name = shown.substr(user_info == shown.npos ? shown.find("://") + 3 : user_info + 4);
  name = name.substr(0, name.find_first_of("?#"));
  while (name.ends_with('/')) name.remove_suffix(1);
  while (name.starts_with('/')) name.remove_prefix(1);
  return valid_utf8(name);
}

std::string file_name_of(std::string_view name) {
  std::string safe;
  for (const char c : name.substr(0, kLongestFileName)) safe += is_name_character(c) ? c : '_';
  if (!safe.empty() && safe.front() == '-') safe.front() = '_';
  if (safe == name && !safe.empty()) return safe;
  // FNV-1a.
  std::uint32_t sum = 2'166'136'261u;
  for (const char c : name) sum = (sum ^ static_cast<unsigned char>(c)) * 16'777'619u;
  std::array<char, 9> digits{};
  g_snprintf(digits.data(), digits.size(), "%08x", sum);
  return safe + '~' + digits.data();
}

}  // namespace framequality::apps::watch
