// SPDX-License-Identifier: LGPL-2.1-or-later
// The manifest: all chosen and rejected images, as JSON for programs that use them next.
#include "apps/scan/manifest.h"

#include "apps/common/json.h"
#include "apps/common/text.h"
#include "apps/common/version.h"

#include <gst/gst.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

namespace framequality::apps::scan {

namespace {

namespace fs = std::filesystem;

constexpr int kVersionOfFormat = 1;
constexpr int kDigits = 6;  // of numbers for people

/// The folder of a file, without links: `..` after a link to a folder leads elsewhere.
fs::path folder_of(const fs::path& file) {
  std::error_code error;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
  const fs::path whole = fs::canonical(folder, error);
  return error ? fs::absolute(folder).lexically_normal() : whole;
}

std::string relative(const std::string& file, const fs::path& folder) {
  const fs::path path = file;
  return (folder_of(path) / path.filename()).lexically_relative(folder).native();
}

/// One item per line, for people and `diff`.
template <class Range, class F>
std::string lines_of(const Range& range, F&& item) {
  std::vector<std::string> lines;
  lines.reserve(range.size());
  for (const auto& value : range) lines.push_back(dump(item(value)));
  return array_of_lines(lines);
}

Json chosen_json(const ChosenFrame& frame, const fs::path& folder) {
  Json json = {{"file_path", frame.path.empty() ? Json() : json_text(relative(frame.path, folder))},
               {"source", json_text(frame.source)},
               {"frame", frame.frame},
               {"time", json_seconds(frame.time)},
               {"score", json_number(frame.score)},
               {"w", frame.width},
               {"h", frame.height}};
  if (frame.travel) {
    json["displacement"] = {json_rounded(frame.travel->x, kDigits), json_rounded(frame.travel->y, kDigits)};
    json["shot"] = frame.travel->shot;
  }
  if (frame.group) json["group"] = *frame.group;
  return json;
}

Json rejected_json(const RejectedInput& input) {
  Json json = {{"source", json_text(input.source)}};
  if (input.frame) {
    json["frame"] = *input.frame;
    json["time"] = json_seconds(input.time);
  }
  if (input.score) json["score"] = json_number(*input.score);
  json["reason"] = json_text(input.reason);
  if (input.group) json["group"] = *input.group;
  return json;
}

Json settings_json(const Options& options, const MeterOptions& meter) {
  const bool frames = options.every && options.every->frames, time = options.every && options.every->time;
  return {{"metric", json_text(meter.metric)},
          {"prefilter", json_text(meter.prefilter)},
          {"downscale", meter.downscale},
          {"normalize", json_text(meter.normalize)},
          {"noise_correction", meter.noise_correction},
          {"roi", meter.roi ? Json(*meter.roi) : Json()},
          {"interval", json_seconds(meter.interval)},
          {"significant_bits", meter.significant_bits},
          {"set", options.set},
          {"best", options.best > 0 ? Json(options.best) : Json()},
          {"every_frames", frames ? Json(options.every->frames) : Json()},
          {"every_seconds", time ? json_seconds(options.every->time) : Json()},
          {"every_percent", options.follows_travel() ? json_rounded(100 * options.every->travel, kDigits) : Json()},
          {"burst_gap", options.burst_gap > 0 ? json_seconds(options.burst_gap) : Json()},
          {"similar_distance", options.similar ? Json(options.similar_distance) : Json()},
          {"max_gap", options.follows_travel() ? json_seconds(options.max_gap) : Json()}};
}

Json run_json(const MeterFacts& facts, const RunFacts& run) {
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  const double rate = static_cast<double>(run.frames) / run.seconds;
  return {{"started", json_text(run.started)},
          {"files", run.files},
          {"failed", run.failed},
          {"frames", run.frames},
          {"seconds", json_rounded(run.seconds, kDigits)},
          {"frames_per_second", run.seconds > 0 ? json_rounded(rate, kDigits) : Json()},
          {"jobs", run.jobs},
          {"device", json_text(facts.device)},
          {"gpus", run.gpus},
          {"program", std::string("framequality-scan ") + kVersion},
          {"plugin", json_text(facts.plugin_version)},
          {"gstreamer", std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(micro)}};
}

}  // namespace

std::string rfc3339_now() { return local_time("%Y-%m-%dT%H:%M:%S%:z"); }

std::string manifest(const std::string& path, const Options& options, const MeterOptions& meter,
                     const MeterFacts& facts, const Selected& selected, const RunFacts& run) {
  const fs::path folder = folder_of(path);
  const auto chosen = [&](const ChosenFrame& frame) { return chosen_json(frame, folder); };
  std::string json = dump({{"version", kVersionOfFormat}});
  add_member(json, "frames", lines_of(selected.chosen, chosen));
  add_member(json, "rejected", lines_of(selected.rejected, rejected_json));
  add_member(
      json, "counts",
      dump({{"candidates", selected.candidates}, {"chosen", selected.chosen.size()}, {"damaged", selected.damaged}}));
  add_member(json, "settings", dump(settings_json(options, meter)));
  add_member(json, "run", dump(run_json(facts, run)));
  return json + '\n';
}

}  // namespace framequality::apps::scan
