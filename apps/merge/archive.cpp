// SPDX-License-Identifier: LGPL-2.1-or-later
// The records of an archive, from all folders that framequality-scan --output wrote.
#include "apps/merge/archive.h"

#include "apps/common/natural_order.h"
#include "apps/common/text.h"
#include "apps/common/threads.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

namespace framequality::apps::merge {

namespace {

constexpr unsigned kReaders = 16;  // records read at once: a network's file system takes its time for each

std::vector<Entry> find_records(const std::vector<std::string>& folders) {
  std::vector<Entry> entries;
  for (const std::string& folder : folders) {
    const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(folder.c_str()), closedir);
    if (!listing) throw std::runtime_error("cannot read the folder " + printable(folder) + ": " + std::strerror(errno));
    while (const dirent* entry = readdir(listing.get()))
      if (is_record_name(entry->d_name)) entries.push_back({{}, folder, entry->d_name});
  }
  return entries;
}

/// Calls `read` for each entry, from many threads; rethrows the exception of the first failed entry in the list.
template <class Read>
void read_all(std::vector<Entry>& entries, Read&& read) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::size_t failed = entries.size();
  std::exception_ptr failure;
  const auto read_some = [&] {
    for (std::size_t i = 0; (i = next++) < entries.size();) {
      try {
        read(entries[i]);
      } catch (const std::runtime_error&) {
        const std::lock_guard lock(mutex);
        if (i < failed) failure = std::current_exception();
        failed = std::min(failed, i);
      }
    }
  };
  in_threads(std::min<std::size_t>(kReaders, entries.size()), read_some);
  if (failure) std::rethrow_exception(failure);
}

/// Checks that a record names no file elsewhere.
void check_table(const Entry& entry) {
  const std::string_view stem = std::string_view(entry.name).substr(0, entry.name.size() - sizeof(kRecordEnding) + 1);
  const std::string_view table = entry.record.table;
  if (!table.starts_with(stem) || (table.substr(stem.size()) != ".csv" && table.substr(stem.size()) != ".jsonl"))
    throw std::runtime_error("the record " + printable(entry.record_path()) +
                             " names the table of another file: " + printable(table));
}

std::string difference(const std::map<std::string, std::string>& a, const std::map<std::string, std::string>& b,
                       const std::string& in_a, const std::string& in_b) {
  std::set<std::string> names;
  for (const auto& [name, value] : a) names.insert(name);
  for (const auto& [name, value] : b) names.insert(name);
  const auto value = [](const std::map<std::string, std::string>& options, const std::string& name) {
    const auto found = options.find(name);
    return found == options.end() ? std::string("missing") : printable(found->second);
  };
  for (const std::string& name : names)
    if (value(a, name) != value(b, name))
      return "the options differ: " + printable(name) + " is " + value(a, name) + " in " + printable(in_a) + " and " +
             value(b, name) + " in " + printable(in_b);
  return "";
}

/// The record to use of two records of a file.
const Entry& better(const Entry& a, const Entry& b) {
  // The record of a machine that did not find the file does not count against the other.
  if (!a.record.error.empty() && !a.record.size) return b;
  if (!b.record.error.empty() && !b.record.size) return a;
  const bool same_file = a.record.size == b.record.size && a.record.modified == b.record.modified;
  if (same_file && !a.record.error.empty()) return b;
  if (same_file && (!b.record.error.empty() || (a.record.bytes == b.record.bytes && a.record.rows == b.record.rows)))
    return a;
  throw std::runtime_error(std::string(same_file ? "the tables" : "the file changed between the scans") + " of " +
                           printable(a.record.file) + (same_file ? " differ: " : ": ") + printable(a.record_path()) +
                           " and " + printable(b.record_path()));
}

}  // namespace

std::size_t Archive::failed() const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return !entry.record.error.empty(); }));
}

Archive read_archive(const std::vector<std::string>& folders) {
  std::vector<Entry> all = find_records(folders);
  if (all.empty()) throw std::runtime_error("no records of framequality-scan --output found");
  Archive archive;
  // Keep the first record for all, so that the others need not be kept.
  const Record first = read_record(all.front().record_path(), false);
  archive.options = first.options;
  archive.unit = first.unit;
  read_all(all, [&archive, &all](Entry& entry) {
    entry.record = read_record(entry.record_path(), false);
    check_table(entry);
    const std::string differs =
        difference(archive.options, entry.record.options, all.front().record_path(), entry.record_path());
    if (!differs.empty()) throw std::runtime_error(differs);
    entry.record.options.clear();
  });
  std::stable_sort(all.begin(), all.end(), [](const Entry& a, const Entry& b) {
    if (a.record.file != b.record.file) return natural_less(a.record.file, b.record.file);
    return a.name < b.name;
  });
  std::set<std::string> programs;
  for (Entry& entry : all) {
    programs.insert(entry.record.program);
    if (archive.entries.empty() || archive.entries.back().name != entry.name) {
      archive.entries.push_back(std::move(entry));
    } else if (&better(archive.entries.back(), entry) == &entry) {
      archive.entries.back() = std::move(entry);
    }
  }
  archive.programs.assign(programs.begin(), programs.end());
  return archive;
}

std::string error_list(const Archive& archive) {
  std::string text = "file,error\n";
  for (const Entry& entry : archive.entries)
    if (!entry.record.error.empty()) text += csv_field(entry.record.file) + ',' + csv_field(entry.record.error) + '\n';
  return text;
}

}  // namespace framequality::apps::merge
