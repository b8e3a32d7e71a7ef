// SPDX-License-Identifier: LGPL-2.1-or-later
// The baseline of a camera as a small text file: GLib's key file format, closed by a checksum.
#include "gst/camerawatch/baseline_file.h"

#include "gst/object/owned.h"

#include <glib/gstdio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <string_view>
#include <vector>

namespace framequality {

namespace {

constexpr char kGroup[] = "camerawatch";
constexpr char kSum[] = "# sha256 ";
constexpr int kVersion = 1;
constexpr std::size_t kMostBytes = 4 << 20;  // 64 x 64 zones at eight levels take 700 kB
constexpr double kMostLog = kHighest;

struct FreeKeys {
  void operator()(GKeyFile* keys) const { g_key_file_free(keys); }
};
using Keys = std::unique_ptr<GKeyFile, FreeKeys>;

std::string group_of(std::size_t level) { return "level " + std::to_string(level); }

std::string sum_of(std::string_view text) {
  const TextPtr sum(
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, reinterpret_cast<const guchar*>(text.data()), text.size()));
  return sum.get();
}

/// A level's numbers with their keys, least and greatest value.
struct Figure {
  const char* key;
  double LevelBaseline::*member;
  double least, most;
};
constexpr double kMostSeconds = 1e12;
constexpr Figure kFigures[] = {{"seconds", &LevelBaseline::seconds, 0, kMostSeconds},
                               {"score", &LevelBaseline::score, -kMostLog, kMostLog},
                               {"low", &LevelBaseline::low, -kMostLog, kMostLog},
                               {"noise", &LevelBaseline::noise, -kMostLog, kMostLog},
                               {"energy", &LevelBaseline::energy, -kMostLog, kMostLog},
                               {"floor", &LevelBaseline::floor, -kMostLog, kMostLog},
                               {"restless", &LevelBaseline::restless, 0, 2},
                               {"activity", &LevelBaseline::activity, 0, kMostLog},
                               {"longest-still", &LevelBaseline::longest_still, 0, kMostSeconds}};

[[noreturn]] void refuse(const std::string& why) { throw BadBaseline(why); }

/// Reads a number; missing means unknown, NaN.
double number(GKeyFile* keys, const std::string& group, const char* key, double least, double most) {
  if (!g_key_file_has_key(keys, group.c_str(), key, nullptr)) return kUnknown;
  GError* error = nullptr;
  const double v = g_key_file_get_double(keys, group.c_str(), key, &error);
  const ErrorPtr owned(error);
  if (error || !(v >= least && v <= most)) refuse("[" + group + "] has no valid value for " + key);
  return v;
}

unsigned count(GKeyFile* keys, const char* key, int least, int most) {
  GError* error = nullptr;
  const int v = g_key_file_get_integer(keys, kGroup, key, &error);
  const ErrorPtr owned(error);
  if (error || v < least || v > most) refuse(std::string("it has no valid value for ") + key);
  return static_cast<unsigned>(v);
}

std::string word(GKeyFile* keys, const char* key) {
  const TextPtr v(g_key_file_get_string(keys, kGroup, key, nullptr));
  if (!v) refuse(std::string("it has no ") + key);
  return v.get();
}

/// A list of one number per zone.
std::vector<double> numbers(GKeyFile* keys, const std::string& group, const char* key, std::size_t zones,
                            double least) {
  gsize n = 0;
  const std::unique_ptr<double, decltype(&g_free)> values(
      g_key_file_get_double_list(keys, group.c_str(), key, &n, nullptr), g_free);
  if (n != zones)
    refuse("[" + group + "] has a " + key + " of " + std::to_string(n) + " zones, not " + std::to_string(zones));
  std::vector<double> list(values.get(), values.get() + n);
  if (!std::ranges::all_of(list, [&](double v) { return v >= least && v <= kMostLog; }))
    refuse("[" + group + "] has no valid " + key);
  return list;
}

LevelBaseline level_from(GKeyFile* keys, const std::string& group, std::size_t zones) {
  LevelBaseline level;
  for (const Figure& f : kFigures) level.*f.member = number(keys, group, f.key, f.least, f.most);
  // These may be unknown; the others are always present.
  for (const auto member : {&LevelBaseline::seconds, &LevelBaseline::score, &LevelBaseline::low, &LevelBaseline::floor,
                            &LevelBaseline::restless, &LevelBaseline::activity, &LevelBaseline::longest_still})
    if (std::isnan(level.*member)) refuse("[" + group + "] is incomplete");
  if (!g_key_file_has_key(keys, group.c_str(), "pattern", nullptr)) return level;
  level.pattern = numbers(keys, group, "pattern", zones, -kMostLog);
  // Files up to version 0.2 do not have a template, which is learned anew.
  if (!g_key_file_has_key(keys, group.c_str(), "view", nullptr)) return level;
  level.view.usual = numbers(keys, group, "view", zones, -kMostLog);
  level.view.spread = numbers(keys, group, "view-spread", zones, 0);
  level.view.floor = number(keys, group, "view-floor", -kMostLog, kMostLog);
  level.view.seconds = number(keys, group, "view-seconds", 0, kMostSeconds);
  if (std::isnan(level.view.floor) || std::isnan(level.view.seconds)) refuse("[" + group + "] is incomplete");
  return level;
}

/// The text without its last line, which must be the sum of the rest.
std::string_view checked(std::string_view text) {
  const std::size_t at = text.rfind(kSum);
  if (at == std::string_view::npos || (at > 0 && text[at - 1] != '\n')) refuse("it is not a camerawatch baseline");
  const std::string_view body = text.substr(0, at);
  if (text.substr(at) != kSum + sum_of(body) + "\n") refuse("it is damaged: its checksum does not match");
  return body;
}

}  // namespace

std::string to_text(const Baseline& baseline, const ScoreKind& kind) {
  const Keys keys(g_key_file_new());
  GKeyFile* const k = keys.get();
  g_key_file_set_integer(k, kGroup, "version", kVersion);
  g_key_file_set_string(k, kGroup, "metric", kind.metric.c_str());
  g_key_file_set_string(k, kGroup, "normalize", kind.normalize.c_str());
  g_key_file_set_integer(k, kGroup, "width", static_cast<int>(kind.width));
  g_key_file_set_integer(k, kGroup, "height", static_cast<int>(kind.height));
  g_key_file_set_integer(k, kGroup, "zone-columns", static_cast<int>(kind.zone_columns));
  g_key_file_set_integer(k, kGroup, "zone-rows", static_cast<int>(kind.zone_rows));
  for (std::size_t i = 0; i < baseline.levels().size(); ++i) {
    const LevelBaseline& level = baseline.levels()[i];
    if (!level.learned()) continue;
    const std::string group = group_of(i);
    for (const Figure& f : kFigures)
      if (std::isfinite(level.*f.member)) g_key_file_set_double(k, group.c_str(), f.key, level.*f.member);
    const auto put = [&](const char* key, std::vector<double> list) {
      if (!list.empty()) g_key_file_set_double_list(k, group.c_str(), key, list.data(), list.size());
    };
    put("pattern", level.pattern);
    if (!level.view.learned()) continue;
    put("view", level.view.usual);
    put("view-spread", level.view.spread);
    g_key_file_set_double(k, group.c_str(), "view-floor", level.view.floor);
    g_key_file_set_double(k, group.c_str(), "view-seconds", level.view.seconds);
  }
  const TextPtr text(g_key_file_to_data(k, nullptr, nullptr));
  const std::string body =
      std::string(
          "# A camera's usual sharpness and image, learned by camerawatch, which reads and writes this file.\n") +
      text.get();
  return body + kSum + sum_of(body) + "\n";
}

void from_text(const std::string& text, Baseline& baseline, ScoreKind& kind) {
  const std::string_view body = checked(text);
  const Keys keys(g_key_file_new());
  GKeyFile* const k = keys.get();
  if (!g_key_file_load_from_data(k, body.data(), body.size(), G_KEY_FILE_NONE, nullptr))
    refuse("it is not a camerawatch baseline");
  if (g_key_file_get_integer(k, kGroup, "version", nullptr) != kVersion)
    refuse("another version of camerawatch wrote it");
  ScoreKind read;
  read.metric = word(k, "metric");
  read.normalize = word(k, "normalize");
  read.width = count(k, "width", 0, G_MAXINT);
  read.height = count(k, "height", 0, G_MAXINT);
  constexpr int kMostZones = 64;
  read.zone_columns = count(k, "zone-columns", 1, kMostZones);
  read.zone_rows = count(k, "zone-rows", 1, kMostZones);
  Baseline all;
  for (std::size_t i = 0; i < all.levels().size(); ++i)
    if (const std::string group = group_of(i); g_key_file_has_group(k, group.c_str()))
      all.levels()[i] = level_from(k, group, std::size_t{read.zone_columns} * read.zone_rows);
  baseline = std::move(all);
  kind = read;
}

bool load_baseline(const std::string& path, Baseline& baseline, ScoreKind& kind) {
  GStatBuf about;
  if (g_stat(path.c_str(), &about) != 0) {
    if (errno == ENOENT) return false;
    refuse(g_strerror(errno));
  }
  if (!S_ISREG(about.st_mode)) refuse("it is not a regular file");
  if (static_cast<std::size_t>(about.st_size) > kMostBytes) refuse("it is too large for a baseline");
  gchar* data = nullptr;
  gsize size = 0;
  GError* error = nullptr;
  g_file_get_contents(path.c_str(), &data, &size, &error);
  const TextPtr text(data);
  const ErrorPtr owned(error);
  if (error) refuse(error->message);
  from_text({data, size}, baseline, kind);
  return true;
}

std::string save_baseline(const std::string& path, const std::string& text) {
  GError* error = nullptr;
  constexpr int kForAll = 0644;
  g_file_set_contents_full(path.c_str(), text.data(), static_cast<gssize>(text.size()), G_FILE_SET_CONTENTS_CONSISTENT,
                           kForAll, &error);
  const ErrorPtr owned(error);
  return error ? error->message : "";
}

}  // namespace framequality
