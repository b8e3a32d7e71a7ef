// SPDX-License-Identifier: LGPL-2.1-or-later
// Command line of framequality-merge.
#include "apps/merge/options.h"

#include "apps/common/command_line.h"

namespace framequality::apps::merge {

namespace {

constexpr int kMostDetails = 50, kMostNames = 100;  // so that the page stays small

/// Names that are given one by one.
Setter names(std::vector<std::string>& all) {
  Setter setter = parsed("a name", [&all](const std::string& name) {
    all.push_back(name);
    return true;
  });
  setter.kind = Kind::kPaths;
  return setter;
}

std::vector<Key> keys(Options& o) {
  // One line per row.
  // clang-format off
  return {
      {"output", 'o', "FILE", "Write the table to this file instead of stdout, whole or not at all", anything(o.output, Kind::kPath)},
      {"errors", 0, "FILE", "Write the files that could not be read, with reasons, as CSV", anything(o.errors, Kind::kPath)},
      {"report", 0, "FILE.html", "Write one HTML page of bounded size: totals, and the files with the lowest and highest scores", anything(o.report, Kind::kPath)},
      {"details", 0, "N", "Plot this many files with the lowest median in the report, and as many with the highest (default 12)", count(o.details, 0, kMostDetails)},
      {"detail", 0, "NAME", "Plot this file instead; may be given several times", names(o.detail_names)},
      {"quiet", 'q', "", "Print errors only: no summary", flag(o.quiet)},
      {"version", 0, "", "Print the version and exit", flag(o.version)},
  };
  // clang-format on
}

Help help() {
  return {"DIR...", "join the tables of framequality-scan --output",
          "Joins the tables that framequality-scan --output wrote, on one machine or many, into one table.",
          "Rows are in natural order of the file names, each file once, under one header. framequality-merge refuses\n"
          "tables with different options, missing or truncated tables, and different tables of the same file.\n"
          "\nFiles that could not be read to their end keep the rows that were read; stderr counts them and --errors\n"
          "lists them. They do not change the exit status.\n"
          "\nExit status:\n"
          "  0: all tables were joined\n"
          "  1: refused or failed\n"
          "  2: wrong usage\n"
          "  141: the reader of the table closed its end\n"
          "\nExamples:\n"
          "  framequality-merge tables > scores.csv\n"
          "  framequality-merge -o scores.csv --errors errors.csv --report report.html node1/tables node2/tables"};
}

}  // namespace

Options parse_options(int argc, char** argv) {
  Options options;
  const std::vector<Key> table = keys(options);
  const CommandLine line(argc, argv, help(), table, Library::kNone);
  line.apply(table);
  if (options.version) return options;
  options.folders = line.arguments();
  if (options.folders.empty()) throw UsageError("no folders given");
  if (options.report.empty() && (line.has("details") || line.has("detail")))
    throw UsageError("--details and --detail need --report FILE");
  if (options.detail_names.size() > kMostNames)
    throw UsageError("--detail accepts at most " + std::to_string(kMostNames) + " files");
  return options;
}

}  // namespace framequality::apps::merge
