// SPDX-License-Identifier: LGPL-2.1-or-later
// The report: one self-contained HTML page.
#include "apps/scan/report.h"

#include "algorithms/sharpness/metrics.h"
#include "apps/common/json.h"
#include "apps/common/text.h"
#include "apps/common/version.h"
#include "apps/scan/report_template.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace framequality::apps::scan {

using namespace sharpness;

namespace {

constexpr int kDigits = 6;  // more than a plot can show
constexpr char kDataMark[] = "\"@DATA@\"";

/// The value of `of` for each moment.
template <class F>
Json column(const std::vector<Moment>& moments, F&& of) {
  Json values = Json::array();
  for (const Moment& moment : moments) values.push_back(of(moment));
  return values;
}

/// Whole numbers as differences from their predecessors.
template <class F>
Json differences(const std::vector<Moment>& moments, F&& of) {
  return column(moments, [&of, last = std::int64_t{0}](const Moment& m) mutable {
    const std::int64_t now = of(m);
    return now - std::exchange(last, now);
  });
}

Json thumbnails(const std::vector<Thumbnail>& all) {
  Json json = Json::array();
  for (const Thumbnail& t : all)
    json.push_back({{"frame", t.moment.frame},
                    {"time", json_seconds(t.moment.time)},
                    {"score", json_number(t.moment.score)},
                    {"src", "data:image/jpeg;base64," + base64(t.jpeg)}});
  return json;
}

Json zones(const ZoneHistory& history) {
  const auto [low, high] = std::minmax_element(history.means().begin(), history.means().end());
  const double min = *low, range = *high - min;
  std::string levels;
  for (const double mean : history.means())
    levels += static_cast<char>(range > 0 ? std::lround((mean - min) / range * 255) : 0);
  Json means = Json::array();
  for (const double mean : history.overall()) means.push_back(json_rounded(mean, kDigits));
  return {{"mean", std::move(means)},
          {"frames", history.frames_per_step()},
          {"min", json_rounded(min, kDigits)},
          {"max", json_rounded(*high, kDigits)},
          {"levels", base64(levels)}};
}

/// Chosen frames as [input, frame].
Json chosen(const Selected& selected) {
  Json json = Json::array();
  for (const ChosenFrame& c : selected.chosen) json.push_back(Json::array({c.input, c.frame}));
  return json;
}

/// Reasons for rejections, by input name.
Json reasons(const Selected& selected) {
  Json json = Json::object();
  for (const RejectedInput& r : selected.rejected) json[json_text(r.source).get<std::string>()] = json_text(r.reason);
  return json;
}

}  // namespace

std::string unit_of(const std::string& metric) {
  const MetricInfo* info = find_metric(metric);
  std::string unit = info ? info->unit : "";
  if (unit.ends_with("^2")) unit.replace(unit.size() - 2, 2, "²");
  return unit;
}

std::string report_part(const Result& result) {
  Json json = {{"name", json_text(result.name)}, {"error", json_text(result.error)}};
  if (result.moments.empty()) return dump(json);
  const VideoFacts& video = result.video;
  json["width"] = video.width;
  json["height"] = video.height;
  json["rate"] = json_rounded(video.rate_n > 0 ? static_cast<double>(video.rate_n) / video.rate_d : 0, kDigits);
  json["format"] = json_text(video.format);
  json["codec"] = json_text(video.codec);
  json["length"] = json_seconds(result.length);
  json["decoded"] = result.decoded;
  json["timed"] = result.timed;
  json["seconds"] = json_rounded(result.seconds, kDigits);
  json["frames"] = differences(result.moments, [](const Moment& m) { return static_cast<std::int64_t>(m.frame); });
  json["times"] =
      differences(result.moments, [](const Moment& m) { return static_cast<std::int64_t>((m.time + 500) / 1000); });
  json["scores"] = column(result.moments, [](const Moment& m) { return json_rounded(m.score, kDigits); });
  json["best"] = thumbnails(result.chosen.best);
  json["worst"] = thumbnails(result.chosen.worst);
  if (result.zones.steps() > 0) json["zones"] = zones(result.zones);
  return dump(json);
}

namespace {

Json settings_of(const Options& options, const MeterOptions& meter, const MeterFacts& facts) {
  const auto grid = [](const MeterOptions& m) {
    return std::to_string(m.zone_columns) + " × " + std::to_string(m.zone_rows);
  };
  Json settings = Json::array();
  const auto setting = [&](const char* name, const std::string& value) {
    settings.push_back(Json::array({name, json_text(value)}));
  };
  setting("metric", meter.metric + " [" + unit_of(meter.metric) + ']');
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
  if (options.burst_gap > 0) setting("burst-gap", number(static_cast<double>(options.burst_gap) / GST_SECOND) + " s");
  if (options.similar) setting("similar", "at most " + std::to_string(options.similar_distance) + " bits of 64 differ");
  setting("device",
          meter.device + (facts.device.empty() || facts.device == meter.device ? "" : ", here " + facts.device));
  setting("framequality-scan", kVersion);
  setting("plugin framequality", facts.plugin_version);
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  setting("GStreamer", std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(micro));
  return settings;
}

}  // namespace

std::string report_page(const Options& options, const MeterOptions& meter, const MeterFacts& facts,
                        const std::vector<std::string>& parts, const Selected& selected) {
  std::string data = dump({{"made", local_time()},
                           {"metric", json_text(meter.metric)},
                           {"unit", json_text(unit_of(meter.metric))},
                           {"columns", meter.zone_columns},
                           {"rows", meter.zone_rows},
                           {"roi", meter.roi ? Json(*meter.roi) : Json()},
                           {"groups", selected.groups.empty() ? Json() : Json(selected.groups)},
                           {"settings", settings_of(options, meter, facts)}});
  if (options.picks()) add_member(data, "chosen", dump(chosen(selected)));
  if (options.picks()) add_member(data, "reasons", dump(reasons(selected)));
  add_member(data, "files", array_of_lines(parts));
  data = json_for_html(data);

  std::string page = kReportTemplate;
  page.replace(page.find(kDataMark), sizeof(kDataMark) - 1, data);
  return page;
}

}  // namespace framequality::apps::scan
