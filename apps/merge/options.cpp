// SPDX-License-Identifier: LGPL-2.1-or-later
// The command line of framequality-merge.
#include "apps/merge/options.h"

#include <glib.h>

namespace framequality::apps::merge {

namespace {

constexpr int kMostDetails = 50, kMostNames = 100;  // so that the page stays small

constexpr char kDescription[] =
    "Folders: what framequality-scan --output wrote, on one machine or many. Rows come in natural order of the names "
    "of\n"
    "the files, each file once, under one header. Options that differ, tables that are missing or of another size, "
    "and\n"
    "files with tables of different times are refused.\n"
    "\n"
    "Files that could not be read to their end are in the table as far as they were, are counted on stderr and listed\n"
    "by --errors; they are no failure.\n"
    "\n"
    "Exit status: 0 all done, 1 refused or failed, 2 wrong usage, 141 if the reader of the table went away.\n"
    "\n"
    "Examples:\n"
    "  framequality-merge tables > scores.csv\n"
    "  framequality-merge -o scores.csv --errors errors.csv --report report.html node1/tables node2/tables";

std::string take(gchar* text) {
  std::string copy = text ? text : "";
  g_free(text);
  return copy;
}

std::vector<std::string> take_all(gchar** texts) {
  std::vector<std::string> all;
  for (gchar** text = texts; text && *text; ++text) all.emplace_back(*text);
  g_strfreev(texts);
  return all;
}

}  // namespace

Options parse_options(int argc, char** argv) {
  gchar *output = nullptr, *errors = nullptr, *report = nullptr;
  gchar **details = nullptr, **folders = nullptr;
  gint count = -1;
  gboolean quiet = FALSE, version = FALSE;
  const std::vector<GOptionEntry> entries = {
      {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "Write the table there instead of stdout, whole or not at all",
       "FILE"},
      {"errors", 0, 0, G_OPTION_ARG_FILENAME, &errors, "Write the files that could not be read, with reasons, as CSV",
       "FILE"},
      {"report", 0, 0, G_OPTION_ARG_FILENAME, &report,
       "Write one HTML page about the archive, of bounded size: figures, and the files at both ends", "FILE"},
      {"details", 0, 0, G_OPTION_ARG_INT, &count,
       "Plots in the report, of as many files with the lowest median and with the highest (default 12)", "N"},
      {"detail", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &details, "A plot of this file instead; may be given again",
       "NAME"},
      {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "No summary; errors only", nullptr},
      {"version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version and exit", nullptr},
      {G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &folders, nullptr, "DIR..."},
      {},
  };
  parse_command_line(argc, argv, "- join the tables of framequality-scan --output", entries, kDescription,
                     Library::kNone);
  Options options;
  options.version = version;
  options.quiet = quiet;
  options.output = take(output);
  options.errors = take(errors);
  options.report = take(report);
  options.detail_names = take_all(details);
  options.folders = take_all(folders);
  if (options.version) return options;
  if (options.folders.empty()) throw UsageError("which folders?");
  if (options.report.empty() && (count >= 0 || !options.detail_names.empty()))
    throw UsageError("--details and --detail are about --report FILE");
  if (count < -1 || count > kMostDetails)
    throw UsageError("--details takes a whole number from 0 to " + std::to_string(kMostDetails));
  if (options.detail_names.size() > kMostNames)
    throw UsageError("--detail is for up to " + std::to_string(kMostNames) + " files");
  if (count >= 0) options.details = count;
  return options;
}

}  // namespace framequality::apps::merge
