// SPDX-License-Identifier: LGPL-2.1-or-later
// Autofocus algorithms on virtual lenses in front of photographs, clips and real focus sweeps: how fast, how well.
#include "algorithms/focus/virtual_lens.h"
#include "benchmarks/focus/pictures.h"
#include "benchmarks/focus/tables.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace framequality::bench {
namespace {

struct Table {
  const char* name;
  void (*run)(Bench&);
  const char* summary;
};
constexpr Table kTables[] = {
    {"focusing", focusing, "frames until it is in focus, and how well, by positions of the lens and noise"},
    {"contrast", low_contrast, "the same with 50%, 8% and 3% of the contrast"},
    {"certainty", certainties, "whether the certainty of focus::Search is a probability, and which limit loses least"},
    {"refocus", refocusing, "the best position jumps, or drifts slowly"},
    {"lenses", real_lenses, "play, slow motors, long exposures, lag that is not what one was told"},
    {"scenes", hard_scenes, "lamps that flicker, scenes that are almost black, lenses that breathe"},
    {"moving", moving_scenes, "clips in front of the lens (--clips)"},
    {"disturbances", disturbances, "noise, light and passers-by in front of a scene that stays in focus"},
    {"flat", flat_scenes, "a gray wall: there is nothing to find"},
};

void introduce() {
  std::printf("Autofocus algorithms on virtual lenses, in front of pictures, clips and real focus sweeps.\n");
  std::printf("Seeds are fixed: the same command gives the same figures. Settle frames 3, lag 2.\n\nTables:\n");
  for (const Table& t : kTables) std::printf("  %-14s%s\n", t.name, t.summary);
  std::printf("Algorithms:\n");
  for (const auto& [name, summary] : algorithm_names()) std::printf("  %-14s%s\n", name.c_str(), summary.c_str());
  std::printf("\n");
}

/// "--sweep A --sweep B" and "--clips A B" as "--sweep=A,B" and "--clips=A,B".
std::vector<std::string> joined(int argc, char** argv) {
  std::vector<std::string> names, values;
  std::vector<std::string> all{argv[0]};
  for (int i = 1; i < argc;) {
    std::string name = argv[i++], value;
    if (const std::size_t equals = name.find('='); equals != std::string::npos && name.starts_with("--")) {
      value = name.substr(equals + 1);
      name = name.substr(0, equals);
    }
    while (i < argc && std::strncmp(argv[i], "--", 2) != 0) {
      if (!value.empty()) value += ',';
      value += argv[i++];
    }
    const auto before = std::find(names.begin(), names.end(), name);
    if (before == names.end()) {
      names.push_back(name);
      values.push_back(value);
    } else if (!value.empty()) {
      std::string& all_values = values[static_cast<std::size_t>(before - names.begin())];
      all_values.append(all_values.empty() ? "" : ",").append(value);
    }
  }
  for (std::size_t i = 0; i < names.size(); ++i)
    all.push_back(names[i] == "--help" ? names[i] : names[i] + '=' + values[i]);
  return all;
}

Options parse(int argc, char** argv) {
  std::string tables, algorithms;
  for (const Table& t : kTables) tables.append(tables.empty() ? "" : ",").append(t.name);
  for (const auto& [name, summary] : algorithm_names()) algorithms.append(algorithms.empty() ? "" : ",").append(name);
  std::vector<std::string> arguments = joined(argc, argv);
  std::vector<char*> pointers;
  for (std::string& a : arguments) pointers.push_back(a.data());
  return Options(
      static_cast<int>(pointers.size()), pointers.data(),
      {{"only", tables, "tables to make"},
       {"algorithms", algorithms, "to compare; NAME:SETTING=VALUE:... for other settings than the defaults"},
       {"runs", "400", "searches for each cell; of disturbances a quarter of it, of moving scenes a half"},
       {"sweep", "", "folder with the pictures of a real focus sweep; may be given more than once"},
       {"photos", "", "folder of photographs (JPEG, PNG); none: pictures of overlapping disks"},
       {"photos-most", "16", "how many of these to use, chosen evenly"},
       {"clips", "", "video files for the table of moving scenes; more than one: separated by spaces"},
       {"samples", "", "file for the searches of the table of certainties, for docs/figures/focus_certainty.py"},
       {"set", "", "settings of focus::Search, such as average_frames=1,loss=0.2"}});
}

std::vector<Subject> photographs(const std::string& folder, double most) {
  constexpr std::uint64_t kDrawn = 4;
  std::vector<Subject> subjects;
  if (folder.empty()) {
    for (std::uint64_t i = 1; i <= kDrawn; ++i)
      subjects.push_back(Subject::blurred("leaves " + std::to_string(i), dead_leaves(kWidth, kHeight, i)));
    return subjects;
  }
  for (const auto& [name, picture] : read_photographs(folder, static_cast<std::size_t>(most)))
    subjects.push_back(Subject::blurred(name, picture));
  return subjects;
}

Settings settings_of(const Options& options) {
  Settings settings;
  for (const std::string& part : options.list("set")) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("--set takes SETTING=VALUE, not '" + part + "'");
    settings[part.substr(0, equals)] = std::stod(part.substr(equals + 1));
  }
  return settings;
}

int run(const Options& options) {
  const std::vector<std::string> wanted = options.list("only");
  for (const std::string& name : wanted)
    if (std::none_of(std::begin(kTables), std::end(kTables), [&](const Table& t) { return name == t.name; }))
      throw std::invalid_argument("there is no table '" + name + "'");

  Bench bench{.algorithms = {},
              .photographs = {},
              .sweeps = {},
              .clips = {},
              .runs = static_cast<std::size_t>(options.number("runs")),
              .results = Results(options.text("out"), machine_context("focus_bench", "", options)),
              .samples = options.text("samples")};
  const Settings settings = settings_of(options);
  for (const std::string& text : options.list("algorithms")) bench.algorithms.push_back(find_algorithm(text, settings));
  const bool can_read = can_read_pictures();
  if (!can_read && !(options.text("photos") + options.text("sweep") + options.text("clips")).empty())
    std::printf("built without OpenCV: --photos, --sweep and --clips are left out\n");
  bench.photographs = photographs(can_read ? options.text("photos") : "", options.number("photos-most"));
  if (can_read) {
    bench.clips = options.list("clips");
    for (const std::string& folder : options.list("sweep"))
      bench.sweeps.push_back(Subject::swept(short_name(folder), read_sweep(folder)));
  }
  std::printf("%zu pictures, %zu sweeps, %zu clips; %zu runs\n", bench.photographs.size(), bench.sweeps.size(),
              bench.clips.size(), bench.runs);
  for (const Table& t : kTables)
    if (std::find(wanted.begin(), wanted.end(), t.name) != wanted.end()) t.run(bench);
  return 0;
}

}  // namespace
}  // namespace framequality::bench

int main(int argc, char** argv) {
  using namespace framequality::bench;
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--help") == 0) introduce();
  const Options options = parse(argc, argv);
  try {
    return run(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
