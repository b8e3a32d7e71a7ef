// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of framequality-scan.
#include "apps/scan/options.h"

#include "algorithms/sharpness/metrics.h"
#include "apps/common/command_line.h"
#include "apps/common/natural_order.h"
#include "apps/common/text.h"
#include "apps/scan/app.h"
#include "apps/scan/folders.h"
#include "apps/scan/source.h"

#include <gst/gst.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <limits>
#include <optional>
#include <tuple>
#include <unistd.h>
#include <utility>

namespace framequality::apps::scan {

using namespace sharpness;

namespace {

constexpr int kMaxZones = 64, kMaxBest = 10'000, kMaxJobs = 256, kMaxShards = 1'000'000, kMaxSegments = 64,
              kMaxGpus = 64;
constexpr int kMaxEvery = 1'000'000'000, kMaxStall = 1'000'000;
constexpr double kMaxInterval = 1e6, kLeastEvery = 1e-3;  // s
constexpr double kLeastTravel = 0.1;                      // %
constexpr double kMostGap = 24 * 60 * 60;                 // s
constexpr int kMostDistance = 31;                         // of 64 bits; unrelated images differ in 32

/// The whole text as whole numbers from `lowest` to `highest`, separated by `between`; none for anything
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

/// The list from standard input or a file.
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

// --- Values of single options
// Each returns a setter that reports what it accepts.

Setter downscale(int& factor) {
  Setter setter = count(factor, 0, 4).as("0, 1, 2 or 4");
  setter.set = [set = setter.set](const Value& value) { return value != Value(std::int64_t{3}) && set(value); };
  return setter;
}

Setter zones(MeterOptions& meter) {
  return parsed("COLUMNSxROWS, each from 1 to 64, such as 8x6", [&meter](const std::string& text) {
    const auto zones = whole_numbers<2>(text, 'x', 1, kMaxZones);
    if (zones) std::tie(meter.zone_columns, meter.zone_rows) = std::pair((*zones)[0], (*zones)[1]);
    return zones.has_value();
  });
}

Setter roi(MeterOptions& meter) {
  return parsed("X,Y,WIDTH,HEIGHT in pixels", [&meter](const std::string& text) {
    const auto roi = whole_numbers<4>(text, ',', std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
    if (roi) meter.roi = roi;
    return roi.has_value();
  });
}

/// 30, 1s or 8%: frames, seconds, or a share of the diagonal.
Setter every(std::optional<Every>& every) {
  return parsed("a whole number of frames, seconds from 0.001 on with an s, or 0.1% to 100%, such as 30, 0.5s or 8%",
                [&every](const std::string& text) {
                  std::string_view digits = text;
                  const bool timed = digits.ends_with('s'), moved = digits.ends_with('%');
                  if (timed || moved) digits.remove_suffix(1);
                  double value = 0;
                  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
                  const bool whole = error == std::errc() && end == digits.data() + digits.size();
                  if (moved) {
                    if (!whole || !(value >= kLeastTravel && value <= 100)) return false;
                    every = Every{0, 0, value / 100};
                    return true;
                  }
                  if (!whole || !(value >= (timed ? kLeastEvery : 1) && value <= (timed ? kMaxInterval : kMaxEvery)) ||
                      (!timed && value != std::floor(value)))
                    return false;
                  every = timed ? Every{0, static_cast<std::uint64_t>(std::llround(value * GST_SECOND))}
                                : Every{static_cast<std::uint64_t>(value), 0};
                  return true;
                });
}

/// 3s or 3: seconds.
Setter burst_gap(std::uint64_t& gap) {
  return parsed("seconds from 0.001 to 86400, such as 3s or 0.5s", [&gap](const std::string& text) {
    std::string_view digits = text;
    if (digits.ends_with('s')) digits.remove_suffix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || !(value >= kLeastEvery && value <= kMostGap))
      return false;
    gap = static_cast<std::uint64_t>(std::llround(value * GST_SECOND));
    return true;
  });
}

/// 0,2: numbers without duplicates.
Setter gpus(std::vector<int>& gpus) {
  return parsed("GPU numbers separated by commas, such as 0,2", [&gpus](const std::string& text) {
    std::vector<int> all;
    for (std::size_t at = 0; at <= text.size();) {
      const std::size_t comma = std::min(text.find(',', at), text.size());
      const auto id = whole_numbers<1>(std::string_view(text).substr(at, comma - at), ' ', 0, kMaxGpus - 1);
      if (!id || std::find(all.begin(), all.end(), (*id)[0]) != all.end()) return false;
      all.push_back((*id)[0]);
      at = comma + 1;
    }
    gpus = all;
    return true;
  });
}

Setter shard(Shard& shard) {
  return parsed("I/N, the I-th of N parts: 1/4, 2/4, 3/4 or 4/4", [&shard](const std::string& text) {
    const auto part = whole_numbers<2>(text, '/', 1, kMaxShards);
    const bool is_one = part && (*part)[0] <= (*part)[1];
    if (is_one) shard = {(*part)[0], (*part)[1]};
    return is_one;
  });
}

// --- The table
// All options, in the order of --help.

/// Values that need processing before they become options.
struct Lists {
  std::string from;  ///< file with more names
  bool null = false;
};

/// Recipe from docs/metrics.md for comparing scenes and images of different sizes.
void compare_scenes(MeterOptions& m) {
  m.metric = "directional-frequency";
  m.prefilter = "binomial5";
  m.noise_correction = true;
  m.downscale = 0;
}

std::vector<Key> keys(Options& o, Lists& lists) {
  MeterOptions& m = o.meter;
  // One line per row.
  // clang-format off
  return {
      {"format", 'f', "csv|jsonl", "Write the table as csv (default) or as jsonl, one JSON object per line", word(o.format, "csv|jsonl")},
      {"metric", 'm', "METRIC", "Score by this metric, see below (default tenengrad; with --set directional-frequency)", anything(m.metric)},
      {"prefilter", 0, "none|binomial3|binomial5", "Smooth frames first (default binomial3; with --set binomial5)", anything(m.prefilter)},
      {"downscale", 0, "0|1|2|4", "Average blocks of this many pixels each way first (default 1); 0 (default with --set): report the lowest of all three scores, to compare images of different sizes", downscale(m.downscale)},
      {"normalize", 0, "none|mean", "Divide by the mean, so that exposure cancels (default none)", anything(m.normalize)},
      {"noise-correction", 0, "", "Subtract the contribution of noise from the score (five metrics; default with --set)", flag(m.noise_correction)},
      {"zones", 0, "CxR", "Score a grid of zones too, for example 8x6", zones(m)},
      {"roi", 0, "X,Y,W,H", "Measure only this region, in pixels", roi(m)},
      {"device", 0, kDevices, "Measure on this device (default auto); scores are the same on all", anything(m.device)},
      {"opencl-device", 0, "NAME", "Use the OpenCL device whose platform and name contain this, for example intel (with --device opencl)", anything(m.opencl_device)},
      {"devices", 0, "", "List all devices, whether each can be used and how fast it measures, and exit", flag(o.devices)},
      {"interval", 0, "SECONDS", "Measure at most one frame per this time (default 0: every frame)", seconds_from(0, m.interval)},
      {"significant-bits", 0, "N", "Use this many bits of each 16-bit word, 9 to 16 (default: as the format says)", count(m.significant_bits, 9, 16)},
      {"best", 0, "N", "Choose the sharpest frame of each of N equal parts of a clip; with --set, choose N frames in total", count(o.best, 1, kMaxBest)},
      {"every", 0, "N|Ns|N%", "Choose the sharpest of every N frames, of every N seconds, or of every stretch in which the image moves by N% of its diagonal: 30, 0.5s, 8%", every(o.every)},
      {"max-gap", 0, "SECONDS", "Start a new stretch after this time even if the image has moved less, with --every N% (default 0: never)", seconds_from(0, o.max_gap)},
      {"set", 0, "", "Treat the files, and those in folders, as one set in natural order, with comparable scores", flag(o.set)},
      {"burst-gap", 0, "SECONDS", "With --set, choose the sharpest photograph of each burst: those taken at most this long after the one before (EXIF), for example 3s", burst_gap(o.burst_gap)},
      {"similar", 0, "", "With --set, choose the sharpest of each group of near-duplicates", flag(o.similar)},
      {"similar-distance", 0, "BITS", "With --similar, group photographs whose 64-bit perceptual hashes differ in at most this many bits (default 14)", count(o.similar_distance, 0, kMostDistance)},
      {"xmp", 0, "", "With --set, rate photographs in XMP files beside them: 5 stars if chosen, else 1", flag(o.xmp)},
      {"export", 0, "DIR", "Write the chosen images to this folder; it is created if missing", anything(o.export_dir, Kind::kPath)},
      {"pictures", 0, "png|jpeg", "Write frames of videos as png (default; 16 bits if they have more than 8) or jpeg", word(o.pictures, "png|jpeg")},
      {"originals", 0, "copy|hardlink|symlink", "With --set, copy (default) or link chosen files that are images", word(o.originals, "copy|hardlink|symlink")},
      {"manifest", 0, "FILE.json", "Write the chosen and rejected images, and totals of the run, to this file as JSON", anything(o.manifest, Kind::kPath)},
      {"report", 0, "FILE.html", "Write a self-contained HTML page with plots, images and heat maps", anything(o.report, Kind::kPath)},
      {"output", 'o', "DIR", "Write a complete table for each file to this folder, instead of one table to stdout", anything(o.output, Kind::kPath)},
      {"resume", 0, "", "Skip files that --output has already, with the same options", flag(o.resume)},
      {"keep-going", 0, "", "Exit with status 0 even if some files cannot be read", flag(o.keep_going)},
      {"stall-timeout", 0, "SECONDS", "Give up on a file that delivers no data for this long (default 60; 0: never)", count(o.stall_timeout, 0, kMaxStall).as("whole seconds from 0 to " + std::to_string(kMaxStall))},
      {"jobs", 'j', "N", "Scan at most this many files at once (default: as many as the machine can decode efficiently)", count(o.jobs, 1, kMaxJobs)},
      {"segments", 0, "N", "Scan this many parts of one long file at once (default: enough to keep a GPU's decoders busy, else 1)", count(o.segments, 1, kMaxSegments)},
      {"gpus", 0, "LIST", "Use only these GPUs, by number, for example 0,2 (default: all)", gpus(o.gpus)},
      {"shard", 0, "I/N", "Scan only the I-th of N parts of the list of files, for array jobs", shard(o.shard)},
      {"files-from", 0, "FILE", "Read more file names from FILE, one per line; - is stdin", anything(lists.from, Kind::kPath)},
      {"null", '0', "", "Read names that end in NUL, not newline, from --files-from", flag(lists.null)},
      {"progress", 0, "bar|json", "Show progress on stderr as bar (default, on a terminal) or json, one object per line", word(o.progress, "bar|json")},
      {"quiet", 'q', "", "Print errors only: no summary and no progress bar", flag(o.quiet)},
      {"version", 0, "", "Print the version and exit", flag(o.version)},
  };
  // clang-format on
}

Help help() {
  std::string metrics = "Metrics, with the unit of the score (8-bit grey levels at every depth):\n";
  for (int i = 0; i < kMetricCount; ++i) {
    const MetricInfo& info = metric_info(i);
    metrics += std::string("  ") + info.name + " [" + info.unit + "]: " + info.summary + "\n";
  }
  return {
      "FILE...", "score the sharpness of every frame of video files",
      "Scores the sharpness of every frame of videos and images, on the CPU or on GPUs, and writes a table, the\n"
      "sharpest images, and a report for a browser. The name - reads a video from standard input.",
      "The table has the columns file, frame (number in the clip, from 0), time (seconds; empty if unknown),\n"
      "metric, score; with --zones also zone_R_C for row R and column C, from 0. JSON lines use the same names, with\n"
      "zones as rows of numbers. Scores are written with full precision. Names are UTF-8; other bytes become U+FFFD.\n"
      "\nFrames of videos are written as BASE_fFRAME_TIMEs_SCORE.png. Summary, progress and errors go to stderr.\n"
      "\n" +
          metrics +
          "\nExit status:\n"
          "  0: all files were scanned\n"
          "  1: a file (not with --keep-going) or an output failed\n"
          "  2: wrong usage\n"
          "  130: interrupted (143: terminated); finished rows are written\n"
          "  141: the reader of the table closed its end\n"
          "\nExamples:\n"
          "  framequality-scan clip.mp4 > scores.csv\n"
          "  framequality-scan --best 12 --export images --report report.html *.mp4 > scores.csv\n"
          "  framequality-scan --set --best 40 --export chosen --manifest chosen.json photographs > scores.csv\n"
          "  framequality-scan --output tables --resume --keep-going videos && framequality-merge tables > scores.csv\n"
          "  ffmpeg -v error -i clip.mp4 -f yuv4mpegpipe - | framequality-scan - > scores.csv\n"
          "  framequality-scan --format jsonl --zones 8x6 --interval 0.5 clip.mp4 | jq .score\n"
          "  framequality-scan -q --files-from list --null --shard 3/16 --output tables --resume --keep-going"};
}

/// Rejects options that exclude each other.
void check(const Options& options, const CommandLine& line) {
  const std::pair<const char*, bool> of_set[] = {
      {"burst-gap", options.burst_gap > 0}, {"similar", options.similar}, {"xmp", options.xmp}};
  for (const auto& [name, given] : of_set)
    if (given && !options.set) throw UsageError(std::string("--") + name + " needs --set");
  if (line.has("similar-distance") && !options.similar) throw UsageError("--similar-distance needs --similar");
  if (options.groups() && options.every)
    throw UsageError("--every and --burst-gap or --similar exclude each other: give one of them");
  if (options.xmp && !options.picks())
    throw UsageError("--xmp rates what is chosen: it needs --best, --every, --burst-gap or --similar");
  if (options.best > 0 && options.every) throw UsageError("--best and --every exclude each other: give one of them");
  if (!options.export_dir.empty() && !options.picks())
    throw UsageError(
        "--export DIR needs --best N or --every N (with --set also --burst-gap or --similar), which choose the "
        "images");
  const bool shown = options.set && (options.xmp || !options.report.empty());
  if (options.picks() && options.export_dir.empty() && options.manifest.empty() && !shown)
    throw UsageError(std::string(options.groups() ? "--burst-gap and --similar" : "--best and --every") +
                     " need --export DIR for the images, or --manifest FILE for a list of them" +
                     (options.set ? ", or --report or --xmp" : ""));
  if (line.has("max-gap") && !options.follows_travel())
    throw UsageError("--max-gap needs --every N%, such as --every 8%");
  if (options.follows_travel() && options.set)
    throw UsageError("--every N% follows the motion of a video: it cannot be used with --set");
  if (options.resume && options.output.empty()) throw UsageError("--resume needs --output DIR");
  if (line.has("null") && !line.has("files-from")) throw UsageError("--null needs --files-from FILE");
}

/// Standard input can be read only once.
void check_standard_input(const Options& options, const std::vector<std::string>& names, const Lists& lists) {
  const auto count = std::count(names.begin(), names.end(), kStandardInput);
  if (count == 0) return;
  if (count > 1 || lists.from == kStandardInput) throw UsageError("standard input (-) can only be read once");
  if (options.set || options.best > 0 || !options.output.empty())
    throw UsageError(
        "standard input (-) can only be read once, from its beginning: it cannot be used with --set, --best or "
        "--output; --every N chooses images of it");
  if (isatty(STDIN_FILENO))
    throw UsageError("standard input is a terminal; pipe a video into it: ffmpeg -i INPUT -f yuv4mpegpipe - | " +
                     std::string(kName) + " -");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  Lists lists;
  const std::vector<Key> table = keys(options, lists);
  const CommandLine line(argc, argv, help(), table);
  if (line.has("set")) compare_scenes(options.meter);
  line.apply(table);
  if (options.version || options.devices) return options;
  check(options, line);
  options.meter.displacement = options.follows_travel();

  std::vector<std::string> names = line.arguments();
  const bool listed = line.has("files-from");
  if (listed)
    for (std::string& name : split_list(list_in(lists.from, lists.null), lists.null)) names.push_back(std::move(name));
  if (names.empty()) throw UsageError(listed ? "the list of --files-from is empty" : "no files given");
  check_standard_input(options, names, lists);
  Skipped skipped;
  names = without_folders(names, media_extensions(), &skipped);
  options.skipped = skipped_text(skipped);
  if (line.has("originals") && !options.set) throw UsageError("--originals needs --set");
  if (options.set) {
    if (options.picks() && options.resume)
      throw UsageError("--set with --best or --every cannot be combined with --resume: it compares all files");
    if (options.picks() && options.shard.count > 1)
      throw UsageError("--set with --best or --every cannot be combined with --shard: it compares all files");
    std::sort(names.begin(), names.end(), natural_less);
    names.erase(std::unique(names.begin(), names.end()), names.end());
  }
  options.inputs = choose_inputs(names, options.shard, options.export_dir);
  return options;
}

}  // namespace framequality::apps::scan
