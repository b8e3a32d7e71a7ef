// SPDX-License-Identifier: LGPL-2.1-or-later
// Folders among the inputs: the images and videos in them.
#include "apps/scan/folders.h"

#include "apps/common/natural_order.h"
#include "apps/common/raw.h"
#include "apps/common/still.h"
#include "apps/common/text.h"

#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

namespace framequality::apps::scan {

namespace {

namespace fs = std::filesystem;

// Containers of video among all the types for documents and archives.
constexpr std::array<std::string_view, 4> kContainers = {"application/ogg", "application/mxf", "application/x-3gp",
                                                         "application/vnd.rn-realmedia"};
// Sound in containers that can hold video too, and ambiguous extensions.
constexpr std::array<std::string_view, 8> kNoPictures = {"mka", "wma", "oga", "spx", "axa", "ra", "ram", "dat"};
// Common extensions that no type finder has. A missing decoder is then reported instead of the file being skipped.
constexpr std::array<std::string_view, 11> kUnnamed = {"m2ts", "m2t",  "vob",  "y4m", "nut", "3g2",
                                                       "heic", "heif", "avif", "jxl", "jxr"};

template <class Range>
bool holds(const Range& range, std::string_view value) {
  return std::find(range.begin(), range.end(), value) != range.end();
}

bool is_media(const GstCaps* caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const std::string_view type = gst_structure_get_name(gst_caps_get_structure(caps, i));
    if (type.starts_with("image/") || type.starts_with("video/") || holds(kContainers, type)) return true;
  }
  return false;
}

std::string lower(std::string text) {
  for (char& c : text) c = g_ascii_tolower(c);
  return text;
}

/// True for files and links to files; false for a FIFO, which would wait forever.
bool is_file(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.is_regular_file(error)) return true;
  // A link to nothing is kept: its error belongs in the run's table.
  return entry.is_symlink(error) && !entry.exists(error);
}

void collect(const fs::path& folder, const std::set<std::string, std::less<>>& extensions,
             std::vector<std::string>& found, Skipped& skipped) {
  std::error_code error;
  fs::directory_iterator at(folder, error);
  std::vector<fs::path> below;
  while (!error && at != fs::directory_iterator()) {
    const fs::directory_entry& entry = *at;
    const std::string name = entry.path().filename().native();
    std::error_code unknown;
    if (name.front() != '.') {
      // The listing includes the kind: most file systems need no further look at each file.
      if (entry.is_directory(unknown)) {
        if (!entry.is_symlink(unknown)) below.push_back(entry.path());
      } else if (const auto dot = name.rfind('.');
                 dot != name.npos && extensions.contains(lower(name.substr(dot + 1))) && is_file(entry)) {
        found.push_back(entry.path().native());
      } else if (entry.is_regular_file(unknown)) {
        ++skipped[dot == name.npos ? "" : lower(name.substr(dot))];
      }
    }
    at.increment(error);
  }
  // Not dropped silently: scanning it reports the error.
  if (error) found.push_back(folder.native());
  for (const fs::path& folder_below : below) collect(folder_below, extensions, found, skipped);
}

}  // namespace

std::set<std::string, std::less<>> media_extensions() {
  std::set<std::string, std::less<>> extensions(kUnnamed.begin(), kUnnamed.end());
  GList* factories = gst_type_find_factory_get_list();
  for (GList* at = factories; at; at = at->next) {
    auto* factory = static_cast<GstTypeFindFactory*>(at->data);
    const GstCaps* caps = gst_type_find_factory_get_caps(factory);
    const gchar* const* names = gst_type_find_factory_get_extensions(factory);
    if (!caps || !is_media(caps)) continue;
    for (; names && *names; ++names) extensions.insert(lower(*names));
  }
  gst_plugin_feature_list_free(factories);
  if (kReadsRaw) extensions.insert(std::begin(kRawExtensions), std::end(kRawExtensions));
  for (const std::string_view name : kNoPictures) extensions.erase(std::string(name));
  return extensions;
}

std::vector<std::string> without_folders(const std::vector<std::string>& names,
                                         const std::set<std::string, std::less<>>& extensions, Skipped* skipped) {
  Skipped none;
  std::vector<std::string> files;
  for (const std::string& name : names) {
    const std::size_t before = files.size();
    std::error_code unknown;
    if (fs::is_directory(name, unknown)) collect(name, extensions, files, skipped ? *skipped : none);
    std::sort(files.begin() + static_cast<std::ptrdiff_t>(before), files.end(), natural_less);
    if (files.size() == before) files.push_back(name);
  }
  return files;
}

std::string skipped_text(const Skipped& skipped) {
  constexpr std::size_t kNamed = 8;
  std::vector<std::pair<std::size_t, std::string>> kinds;
  std::size_t files = 0;
  bool raw = false;
  for (const auto& [extension, count] : skipped) {
    kinds.emplace_back(count, extension);
    files += count;
    raw = raw || is_raw_name(extension);
  }
  if (files == 0) return "";
  std::stable_sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text = "skipped in folders: " + std::to_string(files) + (files == 1 ? " file" : " files") +
                     " that are not images or videos (";
  for (std::size_t i = 0; i < kinds.size() && i < kNamed; ++i)
    text += (i > 0 ? ", " : "") + std::to_string(kinds[i].first) + ' ' +
            (kinds[i].second.empty() ? "without extension" : printable(kinds[i].second));
  text += kinds.size() > kNamed ? ", ...)" : ")";
  return text + (raw ? "; for raw files install libraw-dev and build framequality again" : "");
}

std::string folder_error(const std::string& name) {
  std::error_code error;
  if (!fs::is_directory(name, error)) return "";
  fs::directory_iterator at(name, error);
  while (!error && at != fs::directory_iterator()) at.increment(error);
  return error ? error.message() : "it has no images or videos";
}

}  // namespace framequality::apps::scan
