// SPDX-License-Identifier: LGPL-2.1-or-later
// Small files that users name, as text.
#include "engine/file.h"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <system_error>

namespace framequality {

std::string read_small_file(const std::string& location, std::size_t most, const char* too_long) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(location.c_str(), "rb"), std::fclose);
  std::string text(most + 1, '\0');
  if (file) text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (!file || std::ferror(file.get()))
    throw std::invalid_argument("cannot be read: " + std::generic_category().message(errno));
  if (text.size() > most) throw std::invalid_argument(too_long);
  return text;
}

}  // namespace framequality
