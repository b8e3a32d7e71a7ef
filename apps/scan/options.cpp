// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of framequality-scan.
#include "apps/scan/options.h"

#include "algorithms/sharpness/metrics.h"
#include "apps/common/natural_order.h"
#include "apps/common/text.h"
#include "apps/scan/folders.h"

#include <gst/gst.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>

namespace framequality::apps::scan {

namespace {

constexpr int kMaxZones = 64, kMaxBest = 10'000, kMaxJobs = 256, kMaxShards = 1'000'000, kMaxSegments = 64,
              kMaxGpus = 64;
constexpr int kMaxEvery = 1'000'000'000, kMaxStall = 1'000'000;
constexpr double kMaxInterval = 1e6, kLeastEvery = 1e-3;  // s

/// The options as they stand on the command line; names are bytes, the rest is text.
struct Raw {
  gchar *format = nullptr, *metric = nullptr, *prefilter = nullptr, *downscale = nullptr, *normalize = nullptr,
        *zones = nullptr, *roi = nullptr, *device = nullptr, *interval = nullptr, *significant_bits = nullptr,
        *best = nullptr, *every = nullptr, *export_dir = nullptr, *pictures = nullptr, *originals = nullptr,
        *manifest = nullptr, *report = nullptr, *output = nullptr, *stall_timeout = nullptr, *jobs = nullptr,
        *segments = nullptr, *gpus = nullptr, *shard = nullptr, *files_from = nullptr, *progress = nullptr;
  gboolean noise_correction = FALSE, set = FALSE, resume = FALSE, keep_going = FALSE, null = FALSE, quiet = FALSE,
           version = FALSE;
  gchar** files = nullptr;
};

/// All of the text as whole numbers from `lowest` to `highest` with `between` between them; none if it is anything
/// else.
template <std::size_t N>
std::optional<std::array<int, N>> whole_numbers(std::string_view text, char between, int lowest, int highest) {
  std::array<int, N> numbers{};
  const char *at = text.data(), *end = at + text.size();
  for (std::size_t i = 0; i < N; ++i) {
    if (i > 0 && (at == end || *at++ != between)) return std::nullopt;
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc() || numbers[i] < lowest || numbers[i] > highest) return std::nullopt;
    at = next;
  }
  if (at != end) return std::nullopt;
  return numbers;
}

template <std::size_t N>
std::array<int, N> demand(const char* option, const char* text, char between, int lowest, int highest,
                          const std::string& takes) {
  const auto numbers = whole_numbers<N>(text, between, lowest, highest);
  if (!numbers) throw UsageError(std::string(option) + " takes " + takes + ", not '" + printable(text) + "'");
  return *numbers;
}

int demand_count(const char* option, const char* text, int highest) {
  return demand<1>(option, text, ' ', 1, highest, "a whole number from 1 to " + std::to_string(highest))[0];
}

std::uint64_t demand_interval(const char* text) {
  double value = 0;
  const std::string_view whole = text;
  const auto [end, error] = std::from_chars(whole.data(), whole.data() + whole.size(), value);
  if (error != std::errc() || end != whole.data() + whole.size() || !(value >= 0 && value <= kMaxInterval))
    throw UsageError("--interval takes seconds from 0 to 1000000, not '" + printable(text) + "'");
  return static_cast<std::uint64_t>(std::llround(value * GST_SECOND));
}

/// 30 or 1s: frames, or seconds.
Every demand_every(const std::string& text) {
  std::string_view digits = text;
  const bool timed = digits.ends_with('s');
  if (timed) digits.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || !(value >= (timed ? kLeastEvery : 1) && value <= (timed ? kMaxInterval : kMaxEvery)) ||
      (!timed && value != std::floor(value)))
    throw UsageError("--every takes a whole number of frames, or seconds from 0.001 with an s, not '" +
                     printable(text) + "'");
  if (timed) return {0, static_cast<std::uint64_t>(std::llround(value * GST_SECOND))};
  return {static_cast<std::uint64_t>(value), 0};
}

/// 0,2: no number twice.
std::vector<int> demand_gpus(const std::string& text) {
  std::vector<int> gpus;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const auto id = whole_numbers<1>(std::string_view(text).substr(at, comma - at), ' ', 0, kMaxGpus - 1);
    if (!id || std::find(gpus.begin(), gpus.end(), (*id)[0]) != gpus.end())
      throw UsageError("--gpus takes numbers of GPUs with commas, such as 0,2, not '" + printable(text) + "'");
    gpus.push_back((*id)[0]);
    at = comma + 1;
  }
  return gpus;
}

/// The list, of standard input or a file.
std::string list_in(const std::string& path, bool null) {
  std::ifstream file;
  const bool is_input = path == "-";
  if (!is_input) file.open(path, std::ios::binary);
  std::string list;
  if (file) list = read_list(is_input ? std::cin : static_cast<std::istream&>(file), null);
  if (!is_input && !file.eof())
    throw std::runtime_error("cannot read the list " + printable(path) + ": " + g_strerror(errno));
  return list;
}

std::vector<GOptionEntry> entries(Raw& raw) {
  const auto text = [](const char* name, gchar** into, const char* what, const char* value, char letter = 0) {
    return GOptionEntry{name, letter, 0, G_OPTION_ARG_STRING, into, what, value};
  };
  const auto path = [](const char* name, gchar** into, const char* what, const char* value, char letter = 0) {
    return GOptionEntry{name, letter, 0, G_OPTION_ARG_FILENAME, into, what, value};
  };
  const auto flag = [](const char* name, gboolean* into, const char* what, char letter = 0) {
    return GOptionEntry{name, letter, 0, G_OPTION_ARG_NONE, into, what, nullptr};
  };
  return {
      text("format", &raw.format, "Table as csv (default) or jsonl, one JSON object in each line", "FORMAT", 'f'),
      text("metric", &raw.metric, "What the score measures, see below (default tenengrad)", "METRIC", 'm'),
      text("prefilter", &raw.prefilter, "Smoothing first: none, binomial3 (default) or binomial5", "FILTER"),
      text("downscale", &raw.downscale, "Box average of 1 (default), 2 or 4 pixels each way first", "K"),
      text("normalize", &raw.normalize, "none (default) or mean: exposure cancels", "HOW"),
      flag("noise-correction", &raw.noise_correction, "Take the share of noise off the scores of four metrics"),
      text("zones", &raw.zones, "Score a grid of zones too, for example 8x6", "CxR"),
      text("roi", &raw.roi, "Measure this region only, in pixels", "X,Y,W,H"),
      text("device", &raw.device, "auto (default), cpu or cuda; the scores are the same", "DEVICE"),
      text("interval", &raw.interval, "Least time between measured frames (default 0: every frame)", "SECONDS"),
      text("significant-bits", &raw.significant_bits,
           "Bits in use of each 16-bit word, 9 to 16 (default: as the format says)", "N"),
      text("best", &raw.best, "Choose the sharpest frame of each of N equal parts of a clip; with --set, N of all",
           "N"),
      text("every", &raw.every, "Choose the sharpest of every N frames, or of every Ns seconds: 30, 1s, 0.5s", "N|Ns"),
      flag("set", &raw.set, "The files, and those in folders, are one set in natural order; scored to be compared"),
      path("export", &raw.export_dir, "Where the chosen pictures go; made if it is not there", "DIR"),
      text("pictures", &raw.pictures, "Frames of videos as png (default; 16 bits if they have more than 8) or jpeg",
           "FORMAT"),
      text("originals", &raw.originals,
           "With --set, chosen files that are pictures: copy (default), hardlink or symlink them", "HOW"),
      path("manifest", &raw.manifest, "Write what was chosen and rejected, and figures of the run, as JSON", "FILE"),
      path("report", &raw.report, "Write one self-contained HTML page: plots, pictures, heat maps", "FILE"),
      path("output", &raw.output, "A table for each file in this folder, whole or not at all, instead of one on stdout",
           "DIR", 'o'),
      flag("resume", &raw.resume, "Leave out what --output has of the same files and options"),
      flag("keep-going", &raw.keep_going, "A file that cannot be read is no failure of the program"),
      text("stall-timeout", &raw.stall_timeout,
           "Give a file up of which nothing came for so long (default 60; 0: never)", "SECONDS"),
      text("jobs", &raw.jobs, "Files at once (default: as many as the machine decodes well)", "N", 'j'),
      text("segments", &raw.segments, "Parts of one long file at once (default: what fills a GPU's decoders, else 1)",
           "N"),
      text("gpus", &raw.gpus, "Only these GPUs, by number, for example 0,2 (default: all)", "LIST"),
      text("shard", &raw.shard, "Only the I-th of N parts of the list of files, for array jobs", "I/N"),
      path("files-from", &raw.files_from, "Read more file names from FILE, one in each line; - is stdin", "FILE"),
      flag("null", &raw.null, "Names in that list end in NUL, not newline", '0'),
      text("progress", &raw.progress, "On stderr: bar (default, on a terminal) or json, one object in each line",
           "FORMAT"),
      flag("quiet", &raw.quiet, "No summary and no progress bar; errors only", 'q'),
      flag("version", &raw.version, "Print the version and exit"),
      GOptionEntry{G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &raw.files, nullptr, "FILE..."},
      GOptionEntry{},
  };
}

std::string description() {
  std::string metrics = "Metrics, with the unit of the score (8-bit codes at every depth):\n";
  for (int i = 0; i < kMetricCount; ++i) {
    const MetricInfo& info = metric_info(i);
    metrics += std::string("  ") + info.name + " [" + info.unit + "]: " + info.summary + "\n";
  }
  return metrics +
         "\nColumns of the table: file, frame (its number in the clip, from 0), time (seconds; empty if unknown), "
         "metric,\n"
         "score; with --zones zone_R_C for row R and column C, from 0. JSON lines have the same names, zones as rows "
         "of\n"
         "numbers. Scores read back exactly. Names are UTF-8; a byte that is not becomes U+FFFD.\n"
         "\nFrames of videos are called BASE_fFRAME_TIMEs_SCORE.png. Summary, progress and errors go to stderr.\n"
         "\nExit status: 0 all done, 1 a file (not with --keep-going) or an output failed, 2 wrong usage, 130 "
         "interrupted\n"
         "(143 terminated) with the finished rows written, 141 if the reader of the table went away.\n"
         "\nExamples:\n"
         "  framequality-scan clip.mp4 > scores.csv\n"
         "  framequality-scan --best 12 --export pictures --report report.html *.mp4 > scores.csv\n"
         "  framequality-scan --set --best 40 --export chosen --manifest chosen.json photographs > scores.csv\n"
         "  framequality-scan --output tables --resume --keep-going videos && framequality-merge tables > scores.csv\n"
         "  framequality-scan --format jsonl --zones 8x6 --interval 0.5 clip.mp4 | jq .score\n"
         "  framequality-scan -q --files-from list --null --shard 3/16 --output tables --resume --keep-going";
}

void parse(int argc, char** argv, Raw& raw) {
  parse_command_line(argc, argv, "- score the sharpness of every frame of video files", entries(raw), description());
}

std::string take(gchar* text) {
  std::string copy = text ? text : "";
  g_free(text);
  return copy;
}

void take_into(std::string& value, gchar* text) {
  if (text) value = take(text);
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Raw raw;
  parse(argc, argv, raw);
  Options options;
  options.quiet = raw.quiet;
  options.version = raw.version;
  if (options.version) return options;

  if (raw.format)
    options.format =
        std::array{Format::kCsv, Format::kJsonLines}[choice("--format", take(raw.format), {"csv", "jsonl"})];

  MeterOptions& meter = options.meter;
  options.set = raw.set;
  if (options.set) {
    // What docs/metrics.md found to compare scenes.
    meter.metric = "mean-square-frequency";
    meter.prefilter = "binomial5";
    meter.noise_correction = true;
  }
  take_into(meter.metric, raw.metric);
  take_into(meter.prefilter, raw.prefilter);
  take_into(meter.normalize, raw.normalize);
  if (raw.noise_correction) meter.noise_correction = true;
  take_into(meter.device, raw.device);
  if (raw.downscale) {
    meter.downscale = demand<1>("--downscale", take(raw.downscale).c_str(), ' ', 1, 4, "1, 2 or 4")[0];
    if (meter.downscale == 3) throw UsageError("--downscale takes 1, 2 or 4, not '3'");
  }
  if (raw.zones) {
    const auto zones = demand<2>("--zones", take(raw.zones).c_str(), 'x', 1, kMaxZones,
                                 "COLUMNSxROWS, each from 1 to 64, such as 8x6");
    meter.zone_columns = zones[0];
    meter.zone_rows = zones[1];
  }
  if (raw.roi)
    meter.roi = demand<4>("--roi", take(raw.roi).c_str(), ',', std::numeric_limits<int>::min(),
                          std::numeric_limits<int>::max(), "X,Y,WIDTH,HEIGHT in pixels");
  if (raw.interval) meter.interval = demand_interval(take(raw.interval).c_str());
  if (raw.significant_bits)
    meter.significant_bits = demand<1>("--significant-bits", take(raw.significant_bits).c_str(), ' ', 9, 16,
                                       "a whole number from 9 to 16")[0];

  if (raw.best) options.best = demand_count("--best", take(raw.best).c_str(), kMaxBest);
  if (raw.every) options.every = demand_every(take(raw.every));
  if (options.best > 0 && options.every) throw UsageError("--best and --every are two ways to choose: give one");
  options.export_dir = take(raw.export_dir);
  options.manifest = take(raw.manifest);
  if (!options.export_dir.empty() && !options.picks())
    throw UsageError("--export DIR needs --best N or --every N, which choose what goes there");
  if (options.picks() && options.export_dir.empty() && options.manifest.empty())
    throw UsageError("--best and --every need --export DIR for the pictures, or --manifest FILE for their list");
  if (raw.pictures)
    options.pictures = std::array{PictureFormat::kPng,
                                  PictureFormat::kJpeg}[choice("--pictures", take(raw.pictures), {"png", "jpeg"})];
  const bool links = raw.originals;
  if (raw.originals)
    options.originals = std::array{
        Originals::kCopy, Originals::kHardLink,
        Originals::kSymbolicLink}[choice("--originals", take(raw.originals), {"copy", "hardlink", "symlink"})];
  options.report = take(raw.report);
  options.output = take(raw.output);
  options.resume = raw.resume;
  options.keep_going = raw.keep_going;
  if (options.resume && options.output.empty()) throw UsageError("--resume is about what --output DIR has");
  if (raw.stall_timeout)
    options.stall_timeout = demand<1>("--stall-timeout", take(raw.stall_timeout).c_str(), ' ', 0, kMaxStall,
                                      "whole seconds from 0 to " + std::to_string(kMaxStall))[0];
  if (raw.jobs) options.jobs = demand_count("--jobs", take(raw.jobs).c_str(), kMaxJobs);
  if (raw.segments) options.segments = demand_count("--segments", take(raw.segments).c_str(), kMaxSegments);
  if (raw.gpus) options.gpus = demand_gpus(take(raw.gpus));
  if (raw.progress)
    options.progress = std::array{ProgressFormat::kBar,
                                  ProgressFormat::kJson}[choice("--progress", take(raw.progress), {"bar", "json"})];
  if (raw.shard) {
    const std::string text = take(raw.shard), takes = "I/N, the I-th of N parts: 1/4, 2/4, 3/4 or 4/4";
    const auto part = demand<2>("--shard", text.c_str(), '/', 1, kMaxShards, takes);
    if (part[0] > part[1]) throw UsageError("--shard takes " + takes + ", not '" + text + "'");
    options.shard = {part[0], part[1]};
  }

  std::vector<std::string> names;
  for (gchar** name = raw.files; name && *name; ++name) names.emplace_back(*name);
  g_strfreev(raw.files);
  if (raw.null && !raw.files_from) throw UsageError("--null is about the list of --files-from");
  const bool listed = raw.files_from;
  if (listed)
    for (std::string& name : split_list(list_in(take(raw.files_from), raw.null), raw.null))
      names.push_back(std::move(name));
  if (names.empty()) throw UsageError(listed ? "the list of --files-from is empty" : "which files?");
  names = without_folders(names, media_extensions());
  if (links && !options.set) throw UsageError("--originals is about the pictures of a --set");
  if (options.set) {
    if (options.picks() && options.resume)
      throw UsageError("--set chooses among all its members: none can be left out by --resume");
    if (options.picks() && options.shard.count > 1)
      throw UsageError("--set chooses among all its members: it cannot be a --shard of them");
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  options.inputs = choose_inputs(names, options.shard, options.export_dir);
  return options;
}

}  // namespace framequality::apps::scan
