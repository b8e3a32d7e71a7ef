// SPDX-License-Identifier: LGPL-2.1-or-later
// The report of an archive: one self-contained HTML page, however large the archive is.
#pragma once

#include "apps/merge/archive.h"
#include "apps/merge/options.h"

#include <string>
#include <vector>

namespace framequality::apps::merge {

/// Number of values in each of equally wide steps from low to high.
struct Histogram {
  double low = 0, high = 0;
  bool logarithmic = false;  ///< the steps are equal factors
  std::vector<std::size_t> counts;
};

/// Histogram of finite values; empty without any. Logarithmic if that shows more.
Histogram histogram(const std::vector<double>& values);

/// Throws std::runtime_error if a record cannot be read, or options.detail_names has an unknown file.
std::string report_page(const Archive& archive, const Options& options);

}  // namespace framequality::apps::merge
