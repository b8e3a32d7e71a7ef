// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of files to scan: its sources, this run's part of it, and the names of their images.
#include "apps/scan/files.h"

#include "apps/common/program.h"
#include "apps/common/text.h"
#include "apps/common/uri.h"
#include "apps/scan/source.h"

#include <glib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>

namespace framequality::apps::scan {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 255;
constexpr std::size_t kAtOnce = 1 << 16, kLongestListed = 1 << 14;  // paths have 4096 bytes at most; URLs may have more
constexpr std::size_t kLongestList = 256 << 20;

/// clip~2.mp4: sorts after clip.mp4, or close to it.
std::string numbered(const std::string& name, int number, const std::string& extension = "") {
  const std::string end = '~' + std::to_string(number) + extension;
  const std::size_t room = kLongestName - std::min(kLongestName, end.size());
  if (name.size() <= room) return name + end;
  // Do not cut inside a character.
  const gchar* cut = nullptr;
  g_utf8_validate(name.data(), static_cast<gssize>(room), &cut);
  return name.substr(0, static_cast<std::size_t>(cut - name.data())) + end;
}

/// File systems of memory cards do not distinguish IMG_1.JPG and img_1.jpg.
std::string folded(std::string name) {
  for (char& c : name) c = g_ascii_tolower(c);
  return name;
}

/// Each file's name in the export if it is a photograph.
std::vector<std::string> export_names(const std::vector<std::string>& names, const std::string& export_dir) {
  std::vector<std::string> files(names.size());
  std::set<std::string> taken;
  // Nothing must replace an original in the export's folder.
  std::map<fs::path, bool> is_export;
  for (std::size_t i = 0; i < names.size() && !export_dir.empty(); ++i) {
    const fs::path path = names[i];
    const auto [folder, added] = is_export.try_emplace(path.has_parent_path() ? path.parent_path() : ".", false);
    std::error_code error;
    if (added) folder->second = fs::equivalent(folder->first, export_dir, error);
    if (!folder->second || !path.has_filename()) continue;
    files[i] = path.filename().native();
    taken.insert(folded(files[i]));
  }
  std::map<std::string, int> copies;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!files[i].empty()) continue;
    const std::string wanted = file_name(names[i]);
    const auto dot = wanted.rfind('.');
    const std::string extension = dot == std::string::npos || dot == 0 ? "" : wanted.substr(dot);
    const std::string stem = wanted.substr(0, wanted.size() - extension.size());
    files[i] = wanted;
    for (int& copy = copies[folded(wanted)]; !taken.insert(folded(files[i])).second;)
      files[i] = numbered(stem, ++copy + 1, extension);
  }
  return files;
}

}  // namespace

std::string read_list(std::istream& from, bool null) {
  const char end = null ? '\0' : '\n';
  std::string list;
  std::size_t begin = 0, number = 1;  // of the name that is being read
  while (from) {
    const std::size_t before = list.size();
    list.resize(before + kAtOnce);
    from.read(list.data() + before, kAtOnce);
    list.resize(before + static_cast<std::size_t>(from.gcount()));
    const std::string which = null ? "name " : "line ";
    for (std::size_t at = before; at < list.size(); ++at) {
      if (list[at] == end) {
        begin = at + 1;
        ++number;
      } else if (list[at] == '\0') {
        throw UsageError(
            "line " + std::to_string(number) +
            " of the list of --files-from contains a NUL byte: add --null, or check that it is a list of file names");
      } else if (at - begin >= kLongestListed) {
        throw UsageError(which + std::to_string(number) + " of the list of --files-from is longer than " +
                         std::to_string(kLongestListed) + " bytes: check that it is a list of file names" +
                         (null ? ", or omit --null" : ""));
      }
    }
    if (list.size() > kLongestList)
      throw UsageError("the list of --files-from is longer than " + std::to_string(kLongestList >> 20) +
                       " MiB: split it");
  }
  return list;
}

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

std::vector<Input> choose_inputs(const std::vector<std::string>& addresses, const Shard& shard,
                                 const std::string& export_dir) {
  std::vector<std::string> names(addresses.size());
  std::transform(addresses.begin(), addresses.end(), names.begin(),
                 [](const std::string& address) { return shown_name(address); });
  const std::vector<std::string> files = export_names(names, export_dir);
  std::vector<Input> inputs;
  std::set<std::string> taken;
  std::map<std::string, int> copies;
  for (std::size_t i = 0; i < names.size(); ++i) {
    // Over the whole list, so that shards that export to one folder do not collide either.
    const std::string wanted = addresses[i] == kStandardInput ? "stdin" : base_name(names[i]);
    std::string base = wanted;
    for (int& copy = copies[wanted]; !taken.insert(base).second;) base = numbered(wanted, ++copy + 1);
    if (i % static_cast<std::size_t>(shard.count) == static_cast<std::size_t>(shard.index - 1))
      inputs.push_back({addresses[i], names[i], base, files[i]});
  }
  return inputs;
}

}  // namespace framequality::apps::scan
