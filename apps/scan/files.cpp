// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of files to scan: where it comes from, which part of it is ours, what their pictures are called.
#include "apps/scan/files.h"

#include "apps/common/text.h"

#include <algorithm>
#include <map>
#include <set>

namespace framequality::apps::scan {

std::vector<std::string> split_list(std::string_view list, bool null) {
  const char end = null ? '\0' : '\n';
  std::vector<std::string> names;
  while (!list.empty()) {
    const auto length = std::min(list.find(end), list.size());
    if (length > 0) names.emplace_back(list.substr(0, length));
    list.remove_prefix(std::min(length + 1, list.size()));
  }
  return names;
}

std::vector<Input> choose_inputs(const std::vector<std::string>& names, const Shard& shard) {
  std::vector<Input> inputs;
  std::set<std::string> taken;
  std::map<std::string, int> copies;
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Over the whole list, so that shards that export to one folder do not meet either.
    const std::string wanted = base_name(names[i]);
    std::string base = wanted;
    for (int& copy = copies[wanted]; !taken.insert(base).second;) base = wanted + '~' + std::to_string(++copy + 1);
    if (i % static_cast<std::size_t>(shard.count) == static_cast<std::size_t>(shard.index - 1))
      inputs.push_back({names[i], base});
  }
  return inputs;
}

}  // namespace framequality::apps::scan
