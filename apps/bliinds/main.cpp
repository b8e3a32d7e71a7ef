// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-bliinds: prints features and scores of files.
#include "apps/bliinds/csv.h"
#include "apps/bliinds/measure.h"
#include "apps/common/command_line.h"
#include "apps/common/meter.h"
#include "apps/common/nearest.h"
#include "apps/common/program.h"
#include "apps/common/uri.h"
#include "apps/common/url.h"
#include "apps/common/version.h"

#include <gst/gst.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

using namespace framequality;
using namespace framequality::apps;
using namespace framequality::tools;

namespace {

constexpr char kUsage[] =
    R"(usage: framequality-bliinds features [OPTION...] FILE...
       framequality-bliinds score [OPTION...] FILE...

Scores the quality of images and video frames without a reference, by BLIINDS-II.

features  prints CSV: name, frame (from 0), and the 24 features of every image or frame of video that GStreamer
          decodes
score     prints CSV: name, frame, score from 0 (best) to 99 (worst), raw-score (before rounding and clamping)

Names are written byte for byte as given.
)";

constexpr char kDetails[] = R"(
Exit status:
  0: all files were measured
  1: a file or the output failed
  2: wrong usage

Examples:
  framequality-bliinds score --interval 1 clip.mp4 > quality.csv
  framequality-bliinds features images/*.png > features.csv
)";

constexpr int kMaxStall = 1'000'000;  // s

struct Options {
  MeasureOptions measure;
  std::vector<std::string> files;
};

const std::vector<std::string> kCommands = {"features", "score"};

// One line per row.
// clang-format off
std::vector<Key> shared_keys(MeasureOptions& m) {
  return {
      {"channel", 0, "luma|red", "Measure this channel (default red, which the published model was trained on)", word(m.channel, "luma|red")},
      {"device", 0, kDoubleDevices, "Measure on this device (default auto)", word(m.device, kDevices)},
      {"interval", 0, "SECONDS", "Measure at most one frame per this time (default 0: every frame)", seconds_from(0, m.interval)},
      {"stall-timeout", 0, "SECONDS", "Give up on a file that delivers no data for this long (default 60; 0: never)", count(m.stall_timeout, 0, kMaxStall).as("whole seconds from 0 to " + std::to_string(kMaxStall))},
  };
}

std::vector<Key> score_keys(MeasureOptions& m) {
  return {
      {"model", 0, "FILE", "Score by this model (default: the published one)", anything(m.model, Kind::kPath)},
  };
}
// clang-format on

std::string help() {
  const auto lines = [](const std::vector<Key>& keys) {
    std::string text;
    for (const Key& key : keys) {
      const std::string option = std::string("  --") + key.name + ' ' + key.value;
      text += option + std::string(27 - std::min<std::size_t>(25, option.size()), ' ') + key.help + '\n';
    }
    return text;
  };
  MeasureOptions options;
  return std::string(kUsage) + "\nOptions of features and score:\n" + lines(shared_keys(options)) +
         "\nOptions of score:\n" + lines(score_keys(options)) + kDetails;
}

/// Parses the options of this command; the rest are files, including everything after `--`.
Options parse_options(const std::string& command, const std::vector<std::string>& words) {
  Options options;
  std::vector<Key> keys = shared_keys(options.measure);
  if (command == "score") keys = joined(keys, score_keys(options.measure));
  std::vector<std::string> known;
  known.reserve(keys.size());
  for (const Key& key : keys) known.push_back(std::string("--") + key.name);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--") {
      options.files.insert(options.files.end(), words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
      break;
    }
    if (!word.starts_with("-") || word == "-") {
      options.files.push_back(word);
      continue;
    }
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end())
      throw UsageError(
          std::string(command).append(" does not have the option '" + name + "'").append(suggestion(name, known)));
    if (equals == word.npos && i + 1 == words.size()) throw UsageError(name + " needs a value");
    set_option(keys[static_cast<std::size_t>(found - known.begin())],
               equals == word.npos ? words[++i] : word.substr(equals + 1));
  }
  if (options.files.empty()) throw UsageError("no files given");
  return options;
}

/// Columns of the 24 features, in their order: zeta_mean_L1 ... orient_hi10_L3.
std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const char* scale : {"_L1", "_L2", "_L3"})
    for (const char* statistic : {"zeta_mean", "zeta_hi10", "gamma_mean", "gamma_lo10", "energy_mean", "energy_hi10",
                                  "orient_mean", "orient_hi10"})
      names.push_back(std::string(statistic) + scale);
  return names;
}

/// Writes to stdout; an incomplete table must not look complete.
void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
    throw std::runtime_error(std::string("cannot write to stdout: ") + std::strerror(errno));
}

/// Measures all files, also after one fails, which is reported. Returns the exit status.
int measure_files(const Options& options, bool features) {
  require_meter(options.measure);
  std::vector<std::string> header{"name", "frame"};
  const std::vector<std::string> columns = features ? feature_names() : std::vector<std::string>{"score", "raw-score"};
  header.insert(header.end(), columns.begin(), columns.end());
  print(csv_record(header));
  int status = 0;
  for (const std::string& file : options.files) {
    const std::string name = shown_name(file);
    try {
      measure(file, options.measure, [&](const Measured& m) {
        std::vector<std::string> record{name, std::to_string(m.frame)};
        if (features)
          for (const double v : m.features) record.push_back(digits(v));
        else
          record.insert(record.end(), {digits(m.score), digits(m.raw)});
        print(csv_record(record));
      });
    } catch (const std::runtime_error& e) {
      if (std::ferror(stdout)) throw;
      std::cerr << name << ": " << (name == file ? e.what() : without_url_passwords(e.what())) << '\n';
      status = kFailed;
    }
  }
  return status;
}

/// True if help is requested, and not a file of that name.
bool wants_help(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::any_of(words.begin(), end, [](const std::string& w) { return w == "-h" || w == "--help"; });
}

int run(const std::vector<std::string>& words) {
  if (wants_help(words)) {
    print(help());
    return 0;
  }
  const std::string command = words.empty() ? "" : words[0];
  if (command == "--version") {
    print(std::string("framequality-bliinds ") + kVersion + '\n');
    return 0;
  }
  if (std::find(kCommands.begin(), kCommands.end(), command) == kCommands.end())
    throw UsageError(command.empty() ? "no command given; use features or score"
                                     : "no command '" + command + "'" + suggestion(command, kCommands));
  const Options options = parse_options(command, {words.begin() + 1, words.end()});
  return measure_files(options, command == "features");
}

int run(int argc, char** argv) {
  try {
    const int status = run({argv + 1, argv + argc});
    if (std::fflush(stdout) != 0)
      throw std::runtime_error(std::string("cannot write to stdout: ") + std::strerror(errno));
    return status;
  } catch (const UsageError& e) {
    std::cerr << "framequality-bliinds: " << e.what()
              << "\nusage: framequality-bliinds features|score [OPTION...] FILE...   (see --help)\n";
    return kMisused;
  } catch (const std::exception& e) {
    std::cerr << "framequality-bliinds: " << e.what() << '\n';
    return kFailed;
  }
}

}  // namespace

int main(int argc, char** argv) {
  gst_init(nullptr, nullptr);
  return leave(run(argc, argv));
}
