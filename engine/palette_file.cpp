// SPDX-License-Identifier: LGPL-2.1-or-later
// Palettes of colour halftones as files.
#include "engine/palette_file.h"

#include "engine/file.h"

#include <sstream>
#include <stdexcept>

namespace framequality {

halftone::Palette load_palette(const std::string& location) {
  constexpr std::size_t kLongest = 4096;
  std::istringstream lines(read_small_file(location, kLongest, "longer than 4 KiB: not a palette"));
  std::string line, all;
  while (std::getline(lines, line)) {
    constexpr const char* kBlank = " \t\r";
    const std::size_t first = line.find_first_not_of(kBlank), last = line.find_last_not_of(kBlank);
    if (first != line.npos) all.append(all.empty() ? "" : ",").append(line, first, last + 1 - first);
  }
  if (all.empty()) throw std::invalid_argument("has no colours: write one on each line, such as #ff8000");
  return halftone::parse_palette(all);
}

}  // namespace framequality
