// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of an archive as one.
#include "apps/merge/join.h"

#include "apps/common/plain_file.h"
#include "apps/common/text.h"

#include <memory>
#include <stdexcept>
#include <string>

namespace framequality::apps::merge {

namespace {

constexpr std::size_t kAtOnce = 1 << 20;  // bytes; longer than any header

[[noreturn]] void fail(const Entry& entry, const std::string& reason) {
  throw std::runtime_error("cannot read the table " + printable(entry.table_path()) + ": " + reason);
}

/// Result of `action`; adds the table's name to what it throws.
template <class F>
auto of_table(const Entry& entry, F&& action) {
  try {
    return action();
  } catch (const std::runtime_error& e) {
    fail(entry, e.what());
  }
}

void check_size(const Entry& entry, std::uint64_t bytes) {
  if (bytes == entry.record.bytes) return;
  throw std::runtime_error("it has " + std::to_string(bytes) + " bytes, but its record says " +
                           std::to_string(entry.record.bytes) + "; scan again with --resume");
}

}  // namespace

void check_tables(const Archive& archive) {
  for (const Entry& entry : archive.entries)
    of_table(entry, [&] { check_size(entry, PlainFile(entry.table_path()).size()); });
}

void join_tables(const Archive& archive, const std::function<void(std::string_view)>& append) {
  std::string buffer(kAtOnce, '\0'), header;
  for (const Entry& entry : archive.entries) {
    const auto source = of_table(entry, [&] { return std::make_unique<PlainFile>(entry.table_path()); });
    const auto read = [&] {
      return std::string_view(buffer).substr(0, of_table(entry, [&] { return source->read(buffer); }));
    };
    std::string_view text = read();
    std::uint64_t bytes = text.size();
    if (entry.record.table.ends_with(".csv")) {
      const std::string_view own = text.substr(0, text.find('\n') + 1);
      if (own.empty()) fail(entry, "it has no header");
      if (header.empty()) append(header = own);
      if (own != header) fail(entry, "its header differs from that of the tables before it");
      text.remove_prefix(own.size());
    }
    for (bool whole = false; !whole; bytes += text.size()) {
      append(text);
      text = read();
      whole = text.empty();
    }
    of_table(entry, [&] { check_size(entry, bytes); });
  }
}

}  // namespace framequality::apps::merge
