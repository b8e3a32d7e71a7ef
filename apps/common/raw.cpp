// SPDX-License-Identifier: LGPL-2.1-or-later
// Raw files of cameras, by name.
#include "apps/common/raw.h"

#include <glib.h>

#include <algorithm>
#include <iterator>

namespace framequality::apps {

const std::string_view kRawExtensions[17] = {"3fr", "arw", "cr2", "cr3", "dng", "erf", "iiq", "mef", "nef",
                                             "nrw", "orf", "pef", "raf", "rw2", "rwl", "srw", "x3f"};

bool is_raw_name(const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos) return false;
  std::string extension = path.substr(dot + 1);
  for (char& c : extension) c = g_ascii_tolower(c);
  return std::find(std::begin(kRawExtensions), std::end(kRawExtensions), extension) != std::end(kRawExtensions);
}

}  // namespace framequality::apps
