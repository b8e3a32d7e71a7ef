// SPDX-License-Identifier: LGPL-2.1-or-later
// The end of JPEG files, which decoders do without.
#include "apps/common/jpeg_end.h"

#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>

namespace framequality::apps {

namespace {

constexpr int kPrefix = 0xff, kBegin = 0xd8, kEnd = 0xd9, kScan = 0xda, kNone = -1;

bool is_restart(int marker) { return marker >= 0xd0 && marker <= 0xd7; }

/// A marker's second byte; kNone at the end of the file.
int marker_behind_prefix(std::ifstream& file) {
  int byte = file.get();
  while (byte == kPrefix) byte = file.get();
  return file ? byte : kNone;
}

/// The marker that stands here; kNone also if none does.
int marker_here(std::ifstream& file) { return file.get() == kPrefix ? marker_behind_prefix(file) : kNone; }

/// The first marker behind the data of a scan.
int marker_behind_scan(std::ifstream& file) {
  int marker = 0;
  while (marker == 0 || is_restart(marker)) {
    file.ignore(std::numeric_limits<std::streamsize>::max(), kPrefix);
    marker = marker_behind_prefix(file);
  }
  return marker;
}

/// False at the end of the file.
bool skip_segment(std::ifstream& file) {
  const int high = file.get(), low = file.get(), rest = high * 256 + low - 2;
  if (!file || rest < 0) return false;
  file.ignore(rest);
  return file.gcount() == rest && !file.eof();
}

}  // namespace

bool is_cut_jpeg(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path, none)) return false;
  std::ifstream file(path, std::ios::binary);
  if (marker_here(file) != kBegin) return false;
  for (int marker = marker_here(file); marker != kNone && marker != kEnd;) {
    const bool is_bare = marker == 1 || is_restart(marker);  // without a length
    if (!is_bare && !skip_segment(file)) break;
    marker = marker == kScan ? marker_behind_scan(file) : marker_here(file);
  }
  return file.eof();
}

}  // namespace framequality::apps
