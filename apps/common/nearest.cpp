// SPDX-License-Identifier: LGPL-2.1-or-later
// The known name that is nearest to a mistyped one.
#include "apps/common/nearest.h"

#include <algorithm>
#include <cstddef>

namespace framequality {

namespace {

constexpr std::size_t kLongest = 64;  // longer names are not mistyped
constexpr std::size_t kLeastBeginning = 3;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

/// Damerau and Levenshtein's distance, in the variant that changes no letter twice (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::string suggestion(std::string_view text, const std::vector<std::string>& known) {
  if (text.empty() || text.size() > kLongest) return "";
  const std::string meant = lower(text);
  const std::string* nearest = nullptr;
  std::size_t least = 0;
  for (const std::string& name : known) {
    const std::string other = lower(name);
    std::size_t mistakes = distance(meant, other);
    if (mistakes > 1 && meant.size() >= kLeastBeginning && other.starts_with(meant)) mistakes = 1;
    if (mistakes * 3 > std::max(meant.size(), other.size())) continue;
    if (nearest && mistakes >= least) continue;
    nearest = &name;
    least = mistakes;
  }
  return nearest ? "; did you mean '" + *nearest + "'?" : "";
}

}  // namespace framequality
