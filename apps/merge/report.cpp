// SPDX-License-Identifier: LGPL-2.1-or-later
// The report of an archive: one HTML page that holds everything it shows, however large the archive is.
#include "apps/merge/report.h"

#include "apps/common/text.h"
#include "apps/common/version.h"
#include "apps/merge/report_template.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <utility>

namespace framequality::apps::merge {

namespace {

// With these the page stays below 3 MB.
constexpr std::size_t kListed = 200;       // files at each end, and failed ones
constexpr std::size_t kLongestText = 200;  // characters of a name or a reason
constexpr std::size_t kSparkSteps = 40;
constexpr std::size_t kBars = 40;
constexpr double kWide = 30;  // a range of scores that only a logarithmic scale shows
constexpr int kDigits = 6;    // more than a plot can show
constexpr char kDataMark[] = "\"@DATA@\"";
constexpr double kNs = 1e-9;

std::string text(const std::string& bytes) { return json_string(shortened(bytes, kLongestText)); }

/// Every so many steps as one.
std::string spark(const std::vector<std::array<double, 3>>& curve) {
  const std::size_t steps = std::min(curve.size(), kSparkSteps);
  std::vector<double> means;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t begin = step * curve.size() / steps, end = (step + 1) * curve.size() / steps;
    double sum = 0;
    for (std::size_t i = begin; i < end; ++i) sum += curve[i][0];
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return array_of(means, [](double mean) { return rounded(mean, 4); });
}

std::string curve_json(const std::vector<std::array<double, 3>>& curve) {
  return array_of(curve, [](const std::array<double, 3>& step) {
    return array_of(step, [](double value) { return rounded(value, 5); });
  });
}

std::string extreme_json(const Extreme& extreme) {
  return '[' + rounded(extreme.score, kDigits) + ',' + std::to_string(extreme.frame) + ',' + seconds(extreme.time) +
         ']';
}

/// `detail`: with its whole curve and all facts.
std::string file_json(const Entry& entry, bool detail) {
  const Record& record = entry.record;
  std::string json = "{";
  json_field(json, "name", text(record.file));
  json_field(json, "error", text(record.error));
  if (!record.scores) return json + '}';
  const auto curve = read_record(entry.record_path()).curve;
  json_field(json, "rows", std::to_string(record.rows));
  json_field(json, "length", rounded(static_cast<double>(record.length) * kNs, 9));
  json_field(json, "timed", record.timed ? "true" : "false");
  json_field(json, "width", std::to_string(record.width));
  json_field(json, "height", std::to_string(record.height));
  json_field(json, "min", extreme_json(record.scores->min));
  json_field(json, "median", rounded(record.scores->median, kDigits));
  json_field(json, "max", extreme_json(record.scores->max));
  json_field(json, detail ? "curve" : "spark", detail ? curve_json(curve) : spark(curve));
  if (!detail) return json + '}';
  json_field(json, "rate", rounded(record.rate, kDigits));
  json_field(json, "format", text(record.format));
  json_field(json, "codec", text(record.codec));
  json_field(json, "frames", std::to_string(record.frames));
  json_field(json, "seconds", rounded(record.seconds, kDigits));
  return json + '}';
}

using Entries = std::vector<const Entry*>;

std::string files_json(const Entries& entries, bool detail) {
  return array_of(entries, [detail](const Entry* entry) { return file_json(*entry, detail); });
}

/// At most `count` with the lowest, or the highest, medians; the most extreme first.
Entries extremes(const Entries& measured, std::size_t count, bool highest) {
  Entries some = measured;
  const auto end = some.begin() + static_cast<std::ptrdiff_t>(std::min(count, some.size()));
  std::partial_sort(some.begin(), end, some.end(), [highest](const Entry* a, const Entry* b) {
    const double x = a->record.scores->median, y = b->record.scores->median;
    // As they stand in the archive where they are equal.
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
      throw std::runtime_error("--detail " + printable(name) + ": there is no record of a file of this name");
    some.push_back(&*found);
  }
  return some;
}

std::string totals_json(const Archive& archive) {
  std::uint64_t rows = 0, frames = 0, size = 0;
  double length = 0, spent = 0;
  for (const auto& [record, folder, name] : archive.entries) {
    rows += record.rows;
    frames += record.frames;
    size += record.size.value_or(0);
    length += static_cast<double>(record.length) * kNs;
    spent += record.seconds;
  }
  std::string json = "{";
  json_field(json, "files", std::to_string(archive.entries.size()));
  json_field(json, "failed", std::to_string(archive.failed()));
  json_field(json, "rows", std::to_string(rows));
  json_field(json, "frames", std::to_string(frames));
  json_field(json, "size", std::to_string(size));
  json_field(json, "length", rounded(length, 12));
  json_field(json, "seconds", rounded(spent, kDigits));
  return json + '}';
}

std::string failed_json(const Archive& archive) {
  Entries some;
  for (const Entry& entry : archive.entries)
    if (!entry.record.error.empty() && some.size() < kListed) some.push_back(&entry);
  return array_of(
      some, [](const Entry* entry) { return '[' + text(entry->record.file) + ',' + text(entry->record.error) + ']'; });
}

std::string histogram_json(const Histogram& histogram) {
  std::string json = "{";
  json_field(json, "low", rounded(histogram.low, kDigits));
  json_field(json, "high", rounded(histogram.high, kDigits));
  json_field(json, "logarithmic", histogram.logarithmic ? "true" : "false");
  json_field(json, "counts", array_of(histogram.counts, [](std::size_t count) { return std::to_string(count); }));
  return json + '}';
}

std::string settings_json(const Archive& archive) {
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [name, value] : archive.options) settings.emplace_back(name, value);
  std::string versions;
  for (const std::string& version : archive.programs) versions += (versions.empty() ? "" : ", ") + version;
  settings.emplace_back("framequality-scan", versions);
  settings.emplace_back("framequality-merge", kVersion);
  return array_of(settings, [](const auto& setting) {
    std::string value = setting.second;
    std::erase(value, '"');
    return '[' + text(setting.first) + ',' + text(value) + ']';
  });
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
    // Halves, since the range of any two doubles may be none.
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
  // Two tables of the ends, or one of all.
  const bool all = measured.size() <= 2 * kListed;
  const auto metric = archive.options.find("metric");
  std::string data = "{";
  json_field(data, "made", json_string(local_time()));
  json_field(data, "metric", metric == archive.options.end() ? "\"\"" : metric->second);
  json_field(data, "unit", text(archive.unit));
  json_field(data, "totals", totals_json(archive));
  json_field(data, "histogram", histogram_json(histogram(medians)));
  json_field(data, "listed", std::to_string(kListed));
  json_field(data, "failed", failed_json(archive));
  json_field(data, "all", all ? "true" : "false");
  json_field(data, "lowest", files_json(extremes(measured, all ? measured.size() : kListed, false), false));
  json_field(data, "highest", all ? "[]" : files_json(extremes(measured, kListed, true), false));
  json_field(data, "details", files_json(details(archive, measured, options), true));
  json_field(data, "settings", settings_json(archive));
  data = json_for_html(data + '}');

  std::string page = kReportTemplate;
  page.replace(page.find(kDataMark), sizeof(kDataMark) - 1, data);
  return page;
}

}  // namespace framequality::apps::merge
