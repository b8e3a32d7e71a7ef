// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II as files.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "engine/bliinds_model.h"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace framequality {

namespace {

/// Far more than any model takes: what is longer is none, and may never end.
constexpr std::size_t kLongest = 1 << 20;

std::string read(const std::string& location) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(location.c_str(), "rb"), std::fclose);
  std::string text(kLongest + 1, '\0');
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (!file || std::ferror(file.get()))
    throw std::invalid_argument("cannot be read: " + std::generic_category().message(errno));
  if (text.size() > kLongest) throw std::invalid_argument("longer than 1 MiB: not a model");
  return text;
}

}  // namespace

ModelPtr load_model(const std::string& location) {
  return std::make_shared<const bliinds::Model>(location.empty() ? bliinds::published_model()
                                                                 : bliinds::parse_model(read(location)));
}

}  // namespace framequality
