// SPDX-License-Identifier: LGPL-2.1-or-later
// File names as the URIs that GStreamer needs.
#include "apps/common/uri.h"

#include "apps/common/url.h"

#include <gst/gst.h>

#include <cerrno>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace framequality::apps {

std::string uri_of(const std::string& name) {
  struct stat about = {};
  if (stat(name.c_str(), &about) != 0) {
    const int reason = errno;
    if (gst_uri_is_valid(name.c_str())) return name;
    throw std::runtime_error(g_strerror(reason));
  }
  if (S_ISDIR(about.st_mode)) throw std::runtime_error(g_strerror(EISDIR));
  if (access(name.c_str(), R_OK) != 0) throw std::runtime_error(g_strerror(errno));
  if (S_ISREG(about.st_mode) && about.st_size == 0) throw std::runtime_error("the file is empty");
  GError* error = nullptr;
  gchar* uri = gst_filename_to_uri(name.c_str(), &error);
  if (!uri) {
    const std::string reason = error->message;
    g_error_free(error);
    throw std::runtime_error(reason);
  }
  std::string result = uri;
  g_free(uri);
  return result;
}

std::string shown_name(const std::string& name) {
  struct stat about = {};
  return split_url(name) && stat(name.c_str(), &about) != 0 ? shown_url(name) : name;
}

}  // namespace framequality::apps
