// SPDX-License-Identifier: LGPL-2.1-or-later
// The report: one HTML page that holds everything it shows.
#include "apps/scan/report.h"

#include "algorithms/sharpness/metrics.h"
#include "apps/common/text.h"
#include "apps/common/version.h"
#include "apps/scan/report_template.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace framequality::apps::scan {

namespace {

constexpr int kDigits = 6;  // more than a plot can show
constexpr char kDataMark[] = "\"@DATA@\"";

/// Whole numbers as the difference of each from the one before.
template <class F>
std::string differences(const std::vector<Moment>& moments, F&& of) {
  std::int64_t last = 0;
  return array_of(moments, [&](const Moment& m) {
    const std::int64_t now = of(m);
    return std::to_string(now - std::exchange(last, now));
  });
}

std::string thumbnails(const std::vector<Thumbnail>& all) {
  return array_of(all, [](const Thumbnail& t) {
    std::string json = "{";
    json_field(json, "frame", std::to_string(t.moment.frame));
    json_field(json, "time", seconds(t.moment.time));
    json_field(json, "score", number(t.moment.score));
    json_field(json, "src", json_string("data:image/jpeg;base64," + base64(t.jpeg)));
    return json + '}';
  });
}

std::string zones(const ZoneHistory& history) {
  const auto [low, high] = std::minmax_element(history.means().begin(), history.means().end());
  const double min = *low, range = *high - min;
  std::string levels;
  for (const double mean : history.means())
    levels += static_cast<char>(range > 0 ? std::lround((mean - min) / range * 255) : 0);
  std::string json = "{";
  json_field(json, "mean", array_of(history.overall(), [](double v) { return rounded(v, kDigits); }));
  json_field(json, "frames", std::to_string(history.frames_per_step()));
  json_field(json, "min", rounded(min, kDigits));
  json_field(json, "max", rounded(*high, kDigits));
  json_field(json, "levels", json_string(base64(levels)));
  return json + '}';
}

}  // namespace

std::string unit_of(const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  std::string unit = info ? info->unit : "";
  if (unit.ends_with("^2")) unit.replace(unit.size() - 2, 2, "²");
  return unit;
}

std::string report_part(const Result& result) {
  std::string json = "{";
  json_field(json, "name", json_string(result.name));
  json_field(json, "error", json_string(result.error));
  if (result.moments.empty()) return json + '}';
  const VideoFacts& video = result.video;
  json_field(json, "width", std::to_string(video.width));
  json_field(json, "height", std::to_string(video.height));
  json_field(json, "rate", rounded(video.rate_n > 0 ? static_cast<double>(video.rate_n) / video.rate_d : 0, kDigits));
  json_field(json, "format", json_string(video.format));
  json_field(json, "codec", json_string(video.codec));
  json_field(json, "length", seconds(result.length));
  json_field(json, "decoded", std::to_string(result.decoded));
  json_field(json, "timed", result.timed ? "true" : "false");
  json_field(json, "seconds", rounded(result.seconds, kDigits));
  json_field(json, "frames",
             differences(result.moments, [](const Moment& m) { return static_cast<std::int64_t>(m.frame); }));
  json_field(json, "times", differences(result.moments, [](const Moment& m) {
               return static_cast<std::int64_t>((m.time + 500) / 1000);
             }));
  json_field(json, "scores", array_of(result.moments, [](const Moment& m) { return rounded(m.score, kDigits); }));
  json_field(json, "best", thumbnails(result.chosen.best));
  json_field(json, "worst", thumbnails(result.chosen.worst));
  if (result.zones.steps() > 0) json_field(json, "zones", zones(result.zones));
  return json + '}';
}

std::string report_page(const Options& options, const MeterOptions& meter, const MeterFacts& facts,
                        const std::vector<std::string>& parts) {
  const auto grid = [](const MeterOptions& m) {
    return std::to_string(m.zone_columns) + " × " + std::to_string(m.zone_rows);
  };
  std::string settings = "[";
  const auto setting = [&](const char* name, const std::string& value) {
    if (settings.size() > 1) settings += ',';
    settings.append("[").append(json_string(name)).append(",").append(json_string(value)).append("]");
  };
  const std::string unit = unit_of(meter.metric);
  setting("metric", meter.metric + " [" + unit + ']');
  setting("prefilter", meter.prefilter);
  setting("downscale", std::to_string(meter.downscale));
  setting("normalize", meter.normalize);
  if (meter.noise_correction) setting("noise-correction", "on");
  if (meter.significant_bits != 0) setting("significant-bits", std::to_string(meter.significant_bits));
  std::string roi;
  if (meter.roi)
    for (const int v : *meter.roi) roi.append(roi.empty() ? "" : ",").append(std::to_string(v));
  setting("roi", meter.roi ? roi : "the frame");
  setting("zones", grid(meter) + (grid(meter) == grid(options.meter) ? "" : " (for this report only)"));
  setting("interval",
          meter.interval == 0 ? "every frame" : number(static_cast<double>(meter.interval) / GST_SECOND) + " s");
  setting("device",
          meter.device + (facts.device.empty() || facts.device == meter.device ? "" : ", here " + facts.device));
  setting("framequality-scan", kVersion);
  setting("plugin framequality", facts.plugin_version);
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  setting("GStreamer", std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(micro));

  std::string data = "{";
  json_field(data, "made", json_string(local_time()));
  json_field(data, "metric", json_string(meter.metric));
  json_field(data, "unit", json_string(unit));
  json_field(data, "columns", std::to_string(meter.zone_columns));
  json_field(data, "rows", std::to_string(meter.zone_rows));
  json_field(data, "roi", meter.roi ? std::string("[") + roi + ']' : "null");
  json_field(data, "settings", settings + ']');
  json_field(data, "files", array_of(parts, [](const std::string& part) { return part; }));
  data = json_for_html(data + '}');

  std::string page = kReportTemplate;
  page.replace(page.find(kDataMark), sizeof(kDataMark) - 1, data);
  return page;
}

}  // namespace framequality::apps::scan
