// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II as files, for elements.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "gst/bliindsmeter/model.h"

#include "gst/object/guard.h"

#include <cerrno>
#include <cstdio>
#include <stdexcept>

namespace framequality {

namespace {

/// Far more than any model takes: what is longer is none, and may never end.
constexpr std::size_t kLongest = 1 << 20;

/// Text for people, whatever its bytes.
std::string readable(const char* bytes) {
  gchar* valid = g_utf8_make_valid(bytes, -1);
  std::string text = valid;
  g_free(valid);
  return text;
}

std::string read(const std::string& location) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(location.c_str(), "rb"), std::fclose);
  std::string text(kLongest + 1, '\0');
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (!file || std::ferror(file.get()))
    throw std::invalid_argument(std::string("cannot be read: ") + g_strerror(errno));
  if (text.size() > kLongest) throw std::invalid_argument("longer than 1 MiB, not a model");
  return text;
}

}  // namespace

ModelPtr load_model(const std::string& location) {
  if (location.empty()) return std::make_shared<const bliinds::Model>(bliinds::published_model());
  try {
    return std::make_shared<const bliinds::Model>(bliinds::parse_model(read(location)));
  } catch (const std::invalid_argument& e) {
    throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                       "model-location: " + readable(location.c_str()) + ": " + readable(e.what()));
  }
}

}  // namespace framequality
