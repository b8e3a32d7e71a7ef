// SPDX-License-Identifier: LGPL-2.1-or-later
// Where a camera's video comes from.
#include "apps/watch/address.h"

#include "apps/common/packages.h"
#include "apps/common/text.h"
#include "apps/common/uri.h"

#include <gst/gst.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>
#include <sys/stat.h>

namespace framequality::apps::watch {

namespace {

constexpr char kSpecials[] =
    "characters such as / ? # @ : of a user name or a password are written %2F %3F %23 %40 %3A";
constexpr std::size_t kLongestFileName = 80;

bool is_name_character(char c) { return g_ascii_isalnum(c) || c == '-' || c == '_'; }

/// "host:554" or "[::1]:554".
void check_host(std::string_view host) {
  std::string_view port;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) throw std::runtime_error("the address in [ ] does not end");
    port = host.substr(end + 1);
    host = host.substr(1, end - 1);
  } else if (const auto colon = host.find(':'); colon != std::string_view::npos) {
    port = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (host.empty()) throw std::runtime_error("the URL names no host");
  if (port.empty()) return;
  unsigned number = 0;
  const auto [end, error] = std::from_chars(port.data() + 1, port.data() + port.size(), number);
  if (port.front() != ':' || error != std::errc() || end != port.data() + port.size() || number == 0 || number > 65535)
    throw std::runtime_error(std::string("the URL's port is none; ") + kSpecials);
}

void set_url(CameraSettings& camera, const std::string& url, std::size_t scheme_length) {
  const std::string scheme = url.substr(0, scheme_length);
  std::string_view rest = std::string_view(url).substr(scheme_length + 3);
  if (std::any_of(url.begin(), url.end(), [](char c) { return g_ascii_iscntrl(c) || c == ' '; }))
    throw std::runtime_error("a URL holds no space: it is written %20");
  if (!gst_uri_protocol_is_supported(GST_URI_SRC, scheme.c_str()))
    throw std::runtime_error("no GStreamer element that is installed reads " + scheme + "://" +
                             install_hint({"urisource-" + scheme}));
  const auto authority = rest.substr(0, rest.find_first_of("/?#"));
  const auto tail = rest.substr(authority.size());
  auto host = authority;
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) {
    const auto info = authority.substr(0, at);
    const auto colon = info.find(':');
    camera.user = percent_decoded(info.substr(0, colon));
    if (colon != std::string_view::npos) camera.password = percent_decoded(info.substr(colon + 1));
    host = authority.substr(at + 1);
  }
  const bool network = scheme.starts_with("rtsp") || scheme.starts_with("http");
  if (network) check_host(host);
  camera.uri = scheme + "://" + std::string(network ? host : authority) + std::string(tail);
  camera.source = without_url_passwords(url);
}

}  // namespace

void set_address(CameraSettings& camera, const std::string& address) {
  if (address.empty()) throw std::runtime_error("it is empty");
  const auto scheme = address.find("://");
  if (scheme != std::string::npos && scheme > 0 && gst_uri_protocol_is_valid(address.substr(0, scheme).c_str()) &&
      g_ascii_strncasecmp(address.c_str(), "file://", 7) != 0) {
    set_url(camera, address, scheme);
    return;
  }
  std::string path = address;
  if (scheme != std::string::npos && g_ascii_strncasecmp(address.c_str(), "file://", 7) == 0) {
    gchar* name = g_filename_from_uri(address.c_str(), nullptr, nullptr);
    if (!name) throw std::runtime_error("a file's URL is file:///PATH");
    path = name;
    g_free(name);
  }
  struct stat about = {};
  const bool there = stat(path.c_str(), &about) == 0;
  // One that is not there yet may be plugged in.
  if ((there && S_ISCHR(about.st_mode)) || (!there && path.starts_with("/dev/video")))
    camera.uri = "v4l2://" + path;
  else
    camera.uri = uri_of(path);
  camera.is_file = there && S_ISREG(about.st_mode);
  camera.source = valid_utf8(address);
}

std::string name_of(const CameraSettings& camera) {
  const auto scheme = camera.uri.find("://");
  if (camera.is_file || scheme == std::string::npos) return valid_utf8(base_name(camera.source));
  std::string name = camera.uri.substr(scheme + 3);
  name = name.substr(0, name.find_first_of("?#"));
  while (!name.empty() && name.back() == '/') name.pop_back();
  while (!name.empty() && name.front() == '/') name.erase(0, 1);
  return valid_utf8(without_url_passwords(name));
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
