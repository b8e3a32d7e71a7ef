// SPDX-License-Identifier: LGPL-2.1-or-later
// The manifest: what was chosen and what was not, as JSON for programs that go on with the pictures.
#include "apps/scan/manifest.h"

#include "apps/common/text.h"
#include "apps/common/version.h"

#include <gst/gst.h>

#include <array>
#include <filesystem>
#include <system_error>

namespace framequality::apps::scan {

namespace {

namespace fs = std::filesystem;

constexpr int kVersionOfFormat = 1;
constexpr int kDigits = 6;  // of what is for people

/// The folder that holds it, without links: `..` behind a link to a folder leads elsewhere.
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

std::string time_or_null(const std::optional<std::uint64_t>& ns) { return ns ? seconds(*ns) : "null"; }

/// Items one below the other: people and `diff` read it too.
template <class Range, class F>
std::string lines_of(const Range& range, F&& item) {
  std::string json;
  for (const auto& value : range) json.append(json.empty() ? "\n    " : ",\n    ").append(item(value));
  return '[' + json + (json.empty() ? "]" : "\n  ]");
}

template <class Range>
std::string numbers_of(const Range& range) {
  std::string json;
  for (const int value : range) json.append(json.empty() ? "" : ",").append(std::to_string(value));
  return '[' + json + ']';
}

std::string chosen_json(const ChosenFrame& frame, const fs::path& folder) {
  std::string json = "{";
  json_field(json, "file_path", frame.path.empty() ? "null" : json_string(relative(frame.path, folder)));
  json_field(json, "source", json_string(frame.source));
  json_field(json, "frame", std::to_string(frame.frame));
  json_field(json, "time", time_or_null(frame.time));
  json_field(json, "score", number(frame.score));
  json_field(json, "w", std::to_string(frame.width));
  json_field(json, "h", std::to_string(frame.height));
  return json + '}';
}

std::string rejected_json(const RejectedInput& input) {
  std::string json = "{";
  json_field(json, "source", json_string(input.source));
  if (input.frame) {
    json_field(json, "frame", std::to_string(*input.frame));
    json_field(json, "time", time_or_null(input.time));
  }
  if (input.score) json_field(json, "score", number(*input.score));
  json_field(json, "reason", json_string(input.reason));
  return json + '}';
}

std::string settings_json(const Options& options, const MeterOptions& meter) {
  std::string json = "{";
  json_field(json, "metric", json_string(meter.metric));
  json_field(json, "prefilter", json_string(meter.prefilter));
  json_field(json, "downscale", std::to_string(meter.downscale));
  json_field(json, "normalize", json_string(meter.normalize));
  json_field(json, "noise_correction", meter.noise_correction ? "true" : "false");
  json_field(json, "roi", meter.roi ? numbers_of(*meter.roi) : "null");
  json_field(json, "interval", seconds(meter.interval));
  json_field(json, "significant_bits", std::to_string(meter.significant_bits));
  json_field(json, "set", options.set ? "true" : "false");
  json_field(json, "best", options.best > 0 ? std::to_string(options.best) : "null");
  json_field(json, "every_frames",
             options.every && options.every->frames ? std::to_string(options.every->frames) : "null");
  json_field(json, "every_seconds", options.every && options.every->time ? seconds(options.every->time) : "null");
  return json + '}';
}

std::string run_json(const MeterFacts& facts, const RunFacts& run) {
  guint major, minor, micro, nano;
  gst_version(&major, &minor, &micro, &nano);
  std::string json = "{";
  json_field(json, "started", json_string(run.started));
  json_field(json, "files", std::to_string(run.files));
  json_field(json, "failed", std::to_string(run.failed));
  json_field(json, "frames", std::to_string(run.frames));
  json_field(json, "seconds", rounded(run.seconds, kDigits));
  json_field(json, "frames_per_second",
             run.seconds > 0 ? rounded(static_cast<double>(run.frames) / run.seconds, kDigits) : "null");
  json_field(json, "jobs", std::to_string(run.jobs));
  json_field(json, "device", json_string(facts.device));
  json_field(json, "gpus", numbers_of(run.gpus));
  json_field(json, "program", json_string(std::string("framequality-scan ") + kVersion));
  json_field(json, "plugin", json_string(facts.plugin_version));
  json_field(json, "gstreamer",
             json_string(std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(micro)));
  return json + '}';
}

}  // namespace

std::string rfc3339_now() { return local_time("%Y-%m-%dT%H:%M:%S%:z"); }

std::string manifest(const std::string& path, const Options& options, const MeterOptions& meter,
                     const MeterFacts& facts, const Selected& selected, const RunFacts& run) {
  const fs::path folder = folder_of(path);
  std::string counts = "{";
  json_field(counts, "candidates", std::to_string(selected.candidates));
  json_field(counts, "chosen", std::to_string(selected.chosen.size()));
  std::string json = "{\n  \"version\": " + std::to_string(kVersionOfFormat);
  const auto part = [&json](const char* key, const std::string& value) {
    json.append(",\n  ").append(json_string(key)).append(": ").append(value);
  };
  part("frames", lines_of(selected.chosen, [&](const ChosenFrame& frame) { return chosen_json(frame, folder); }));
  part("rejected", lines_of(selected.rejected, rejected_json));
  part("counts", counts + '}');
  part("settings", settings_json(options, meter));
  part("run", run_json(facts, run));
  return json + "\n}\n";
}

}  // namespace framequality::apps::scan
