// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II as files.
// GCC 12 sees overlapping copies in "literal" + string (its bug 105651).
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wrestrict"
#endif

#include "engine/bliinds_model.h"

#include "engine/file.h"

#include <cstddef>

namespace framequality {

ModelPtr load_model(const std::string& location) {
  constexpr std::size_t kLongest = 1 << 20;  // far more than any model takes
  return std::make_shared<const bliinds::Model>(
      location.empty() ? bliinds::published_model()
                       : bliinds::parse_model(read_small_file(location, kLongest, "longer than 1 MiB: not a model")));
}

}  // namespace framequality
