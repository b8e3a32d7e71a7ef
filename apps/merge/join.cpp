// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of an archive as one.
#include "apps/merge/join.h"

#include "apps/common/text.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace framequality::apps::merge {

namespace {

constexpr std::size_t kAtOnce = 1 << 20;  // bytes; longer than any header

[[noreturn]] void fail(const std::string& path, const std::string& reason) {
  throw std::runtime_error("cannot read the table " + printable(path) + ": " + reason);
}

void check_size(const Entry& entry, std::uint64_t bytes) {
  if (bytes == entry.record.bytes) return;
  fail(entry.table_path(), "it has " + std::to_string(bytes) + " bytes, and its record says " +
                               std::to_string(entry.record.bytes) + "; scan again with --resume");
}

/// An open file.
class Source {
 public:
  explicit Source(std::string path)
      : path_(std::move(path)), descriptor_(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (descriptor_ < 0) fail(path_, std::strerror(errno));
  }
  ~Source() { close(descriptor_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// As much as there is room for in `buffer`, unless the file ends.
  std::string_view read(std::string& buffer) const {
    std::size_t done = 0;
    while (done < buffer.size()) {
      const ssize_t count = ::read(descriptor_, buffer.data() + done, buffer.size() - done);
      if (count < 0 && errno != EINTR) fail(path_, std::strerror(errno));
      if (count == 0) break;
      if (count > 0) done += static_cast<std::size_t>(count);
    }
    return std::string_view(buffer).substr(0, done);
  }

 private:
  const std::string path_;
  const int descriptor_;
};

}  // namespace

void check_tables(const Archive& archive) {
  for (const Entry& entry : archive.entries) {
    struct stat about = {};
    const std::string path = entry.table_path();
    if (stat(path.c_str(), &about) != 0) fail(path, std::strerror(errno));
    if (!S_ISREG(about.st_mode)) fail(path, "it is no ordinary file");
    check_size(entry, static_cast<std::uint64_t>(about.st_size));
  }
}

void join_tables(const Archive& archive, const std::function<void(std::string_view)>& append) {
  std::string buffer(kAtOnce, '\0'), header;
  for (const Entry& entry : archive.entries) {
    const Source source(entry.table_path());
    std::string_view text = source.read(buffer);
    std::uint64_t bytes = text.size();
    if (entry.record.table.ends_with(".csv")) {
      const std::string_view own = text.substr(0, text.find('\n') + 1);
      if (own.empty()) fail(entry.table_path(), "it has no header");
      if (header.empty()) append(header = own);
      if (own != header) fail(entry.table_path(), "its header is another than that of the tables before it");
      text.remove_prefix(own.size());
    }
    for (bool whole = false; !whole; bytes += text.size()) {
      append(text);
      text = source.read(buffer);
      whole = text.empty();
    }
    check_size(entry, bytes);
  }
}

}  // namespace framequality::apps::merge
