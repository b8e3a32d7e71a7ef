// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-merge: joins the tables that framequality-scan --output wrote, and makes one report of them.
#include "apps/common/draft_file.h"
#include "apps/common/text.h"
#include "apps/common/version.h"
#include "apps/merge/archive.h"
#include "apps/merge/join.h"
#include "apps/merge/options.h"
#include "apps/merge/report.h"

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace framequality::apps::merge {

namespace {

constexpr char kName[] = "framequality-merge";

void complain(const std::string& text) { std::fprintf(stderr, "%s: %s\n", kName, text.c_str()); }

/// Throws std::system_error.
void write_out(std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category(), "cannot write the table");
    if (count > 0) text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string summary(const Archive& archive) {
  std::uint64_t rows = 0;
  for (const Entry& entry : archive.entries) rows += entry.record.rows;
  return std::to_string(archive.entries.size()) + " files, " + std::to_string(rows) + " rows, " +
         std::to_string(archive.failed()) + " failed";
}

void merge(const Options& options) {
  const Archive archive = read_archive(options.folders);
  if (archive.programs.size() > 1)
    complain("warning: versions " + printable(archive.programs.front()) + " to " + printable(archive.programs.back()) +
             " of framequality-scan wrote these tables");
  check_tables(archive);
  // All of them are published, or none except the table on stdout.
  std::optional<DraftFile> table, errors, report;
  if (!options.errors.empty()) errors.emplace(options.errors, error_list(archive));
  if (!options.report.empty()) report.emplace(options.report, report_page(archive, options));
  if (!options.output.empty())
    table.emplace(DraftFile::open(options.output, options.output.substr(options.output.find_last_of('/') + 1) + '.'));
  join_tables(archive, [&](std::string_view text) { table ? table->append(text) : write_out(text); });
  for (std::optional<DraftFile>* file : {&table, &errors, &report})
    if (*file) (*file)->publish();
  if (!options.quiet) std::fprintf(stderr, "%s\n", summary(archive).c_str());
}

int run(int argc, char** argv) {
  try {
    const Options options = parse_options(argc, argv);
    if (options.version)
      std::printf("%s %s\n", kName, kVersion);
    else
      merge(options);
    return 0;
  } catch (const UsageError& e) {
    complain(std::string(e.what()) + "\nusage: " + kName + " [OPTION...] DIR...   (see --help)");
    return kMisused;
  } catch (const std::system_error& e) {
    if (e.code().value() == EPIPE) return kSignalled + SIGPIPE;
    complain(e.what());
    return kFailed;
  } catch (const std::exception& e) {
    complain(e.what());
    return kFailed;
  }
}

}  // namespace

}  // namespace framequality::apps::merge

int main(int argc, char** argv) {
  // Characters as in the user's terminal, but numbers and messages as everywhere.
  std::setlocale(LC_CTYPE, "");
  std::signal(SIGPIPE, SIG_IGN);
  framequality::apps::keep_standard_descriptors();
  return framequality::apps::merge::run(argc, argv);
}
