// SPDX-License-Identifier: LGPL-2.1-or-later
// The report of an archive: one self-contained HTML page, however large the archive is.
#include "apps/merge/report.h"

#include "apps/common/json.h"
#include "apps/common/text.h"
#include "apps/common/version.h"
#include "apps/merge/report_template.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace framequality::apps::merge {

namespace {

// With these the page stays below 3 MB.
constexpr std::size_t kListed = 200;       // files at each end, and failed ones
constexpr std::size_t kLongestText = 200;  // characters of a name or a reason
constexpr std::size_t kSparkSteps = 40;
constexpr std::size_t kBars = 40;
constexpr double kWide = 30;  // range of scores from which on the scale is logarithmic
constexpr int kDigits = 6;    // more than a plot can show
constexpr char kDataMark[] = "\"@DATA@\"";
constexpr double kNs = 1e-9;

Json text(const std::string& bytes) { return json_text(shortened(bytes, kLongestText)); }

/// The curve, merged into at most kSparkSteps steps.
Json spark(const std::vector<std::array<double, 3>>& curve) {
  const std::size_t steps = std::min(curve.size(), kSparkSteps);
  Json means = Json::array();
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t begin = step * curve.size() / steps, end = (step + 1) * curve.size() / steps;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += curve[i][0];
    means.push_back(json_rounded(sum / static_cast<double>(end - begin), 4));
  }
  return means;
}

Json extreme_json(const Extreme& extreme) {
  return Json::array({json_rounded(extreme.score, kDigits), extreme.frame, json_seconds(extreme.time)});
}

/// `detail`: with its whole curve and all facts.
Json file_json(const Entry& entry, bool detail) {
  const Record& record = entry.record;
  Json json = {{"name", text(record.file)}, {"error", text(record.error)}};
  if (!record.scores) return json;
  const auto curve = read_record(entry.record_path()).curve;
  json["rows"] = record.rows;
  json["length"] = json_rounded(static_cast<double>(record.length) * kNs, 9);
  json["timed"] = record.timed;
  json["width"] = record.width;
  json["height"] = record.height;
  json["min"] = extreme_json(record.scores->min);
  json["median"] = json_rounded(record.scores->median, kDigits);
  json["max"] = extreme_json(record.scores->max);
  if (!detail) {
    json["spark"] = spark(curve);
    return json;
  }
  json["curve"] = json_curve(curve);
  json["rate"] = json_rounded(record.rate, kDigits);
  json["format"] = text(record.format);
  json["codec"] = text(record.codec);
  json["frames"] = record.frames;
  json["seconds"] = json_rounded(record.seconds, kDigits);
  return json;
}

using Entries = std::vector<const Entry*>;

Json files_json(const Entries& entries, bool detail) {
  Json json = Json::array();
  for (const Entry* entry : entries) json.push_back(file_json(*entry, detail));
  return json;
}

/// At most `count` with the lowest, or the highest, medians; the most extreme first.
Entries extremes(const Entries& measured, std::size_t count, bool highest) {
  Entries some = measured;
  const auto end = some.begin() + static_cast<std::ptrdiff_t>(std::min(count, some.size()));
  std::partial_sort(some.begin(), end, some.end(), [highest](const Entry* a, const Entry* b) {
    const double x = a->record.scores->median, y = b->record.scores->median;
    // Equal ones keep their order in the archive.
    return x == y ? a < b : highest ? x > y : x < y;
  });
  some.erase(end, some.end());
  return some;
}

Entries details(const Archive& archive, const Entries& measured, const Options& options) {
  Entries some;
  if (options.detail_names.empty()) {
    const auto count = static_cast<std::size_t>(options.details);
    some = extremes(measured, count, false);
    for (const Entry* entry : extremes(measured, count, true))
      if (std::find(some.begin(), some.end(), entry) == some.end()) some.push_back(entry);
    return some;
  }
  for (const std::string& name : options.detail_names) {
    const auto found =
        std::find_if(archive.entries.begin(), archive.entries.end(),
                     [file = valid_utf8(name)](const Entry& entry) { return entry.record.file == file; });
    if (found == archive.entries.end())
      throw std::runtime_error("--detail " + printable(name) + ": no record of this file");
    some.push_back(&*found);
  }
  return some;
}

Json totals_json(const Archive& archive) {
  std::uint64_t rows = 0, frames = 0, size = 0;
  double length = 0, spent = 0;
  for (const auto& [record, folder, name] : archive.entries) {
    rows += record.rows;
    frames += record.frames;
    size += record.size.value_or(0);
    length += static_cast<double>(record.length) * kNs;
    spent += record.seconds;
  }
  return {{"files", archive.entries.size()},
          {"failed", archive.failed()},
          {"rows", rows},
          {"frames", frames},
          {"size", size},
          {"length", json_rounded(length, 12)},
          {"seconds", json_rounded(spent, kDigits)}};
}

Json failed_json(const Archive& archive) {
  Json some = Json::array();
  for (const Entry& entry : archive.entries)
    if (!entry.record.error.empty() && some.size() < kListed)
      some.push_back(Json::array({text(entry.record.file), text(entry.record.error)}));
  return some;
}

Json histogram_json(const Histogram& histogram) {
  return {{"low", json_rounded(histogram.low, kDigits)},
          {"high", json_rounded(histogram.high, kDigits)},
          {"logarithmic", histogram.logarithmic},
          {"counts", histogram.counts}};
}

Json settings_json(const Archive& archive) {
  Json settings = Json::array();
  const auto add = [&](const std::string& name, std::string value) {
    std::erase(value, '"');
    settings.push_back(Json::array({text(name), text(value)}));
  };
  for (const auto& [name, value] : archive.options) add(name, value);
  std::string versions;
  for (const std::string& version : archive.programs) versions += (versions.empty() ? "" : ", ") + version;
  add("framequality-scan", versions);
  add("framequality-merge", kVersion);
  return settings;
}

}  // namespace

Histogram histogram(const std::vector<double>& values) {
  Histogram result;
  if (values.empty()) return result;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  result.low = *low;
  result.high = *high;
  result.logarithmic = *low > 0 && *high / *low > kWide;
  result.counts.resize(*high > *low ? kBars : 1);
  const auto scaled = [&](double value) { return result.logarithmic ? std::log(value) : value; };
  const double begin = scaled(*low), width = scaled(*high) / 2 - begin / 2;
  for (const double value : values) {
    // Halves, since the range of any two doubles may overflow.
    const double place =
        width > 0 ? (scaled(value) / 2 - begin / 2) / width * static_cast<double>(result.counts.size()) : 0;
    ++result.counts[std::min(static_cast<std::size_t>(std::max(place, 0.0)), result.counts.size() - 1)];
  }
  return result;
}

std::string report_page(const Archive& archive, const Options& options) {
  Entries measured;
  std::vector<double> medians;
  for (const Entry& entry : archive.entries) {
    if (!entry.record.scores) continue;
    measured.push_back(&entry);
    medians.push_back(entry.record.scores->median);
  }
  // Show two tables of the extremes, or one of all.
  const bool all = measured.size() <= 2 * kListed;
  const auto metric = archive.options.find("metric");
  const Json json = {{"made", local_time()},
                     {"metric", metric == archive.options.end() ? Json("") : Json::parse(metric->second)},
                     {"unit", text(archive.unit)},
                     {"totals", totals_json(archive)},
                     {"histogram", histogram_json(histogram(medians))},
                     {"listed", kListed},
                     {"failed", failed_json(archive)},
                     {"all", all},
                     {"lowest", files_json(extremes(measured, all ? measured.size() : kListed, false), false)},
                     {"highest", all ? Json::array() : files_json(extremes(measured, kListed, true), false)},
                     {"details", files_json(details(archive, measured, options), true)},
                     {"settings", settings_json(archive)}};
  const std::string data = json_for_html(dump(json));

  std::string page = kReportTemplate;
  page.replace(page.find(kDataMark), sizeof(kDataMark) - 1, data);
  return page;
}

}  // namespace framequality::apps::merge
