// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that appear whole or not at all.
#include "apps/common/draft_file.h"

#include "apps/common/text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace framequality::apps {

namespace {

constexpr mode_t kForAll = 0666;
// Asked before there are threads: it can only be read by setting it.
const mode_t kMask = [] {
  const mode_t mask = umask(0);
  umask(mask);
  return mask;
}();

[[noreturn]] void fail(const std::string& path, int reason) {
  throw std::runtime_error("cannot write " + printable(path) + ": " + std::strerror(reason));
}

bool write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(descriptor, content.data(), content.size());
    if (count < 0 && errno != EINTR) return false;
    if (count > 0) content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

DraftFile::DraftFile(std::string path, std::string_view content) : path_(std::move(path)) {
  // A folder would only be noticed at the very end.
  struct stat about = {};
  if (stat(path_.c_str(), &about) == 0 && S_ISDIR(about.st_mode)) fail(path_, EISDIR);
  draft_ = path_ + ".XXXXXX";
  const int descriptor = mkostemp(draft_.data(), O_CLOEXEC);
  if (descriptor < 0) {
    const int reason = errno;
    draft_.clear();
    fail(path_, reason);
  }
  // mkostemp's files are private; a report is for whom the umask allows.
  const bool written = write_all(descriptor, content) && fchmod(descriptor, kForAll & ~kMask) == 0;
  const int reason = errno;
  // Some file systems report a full disk only now.
  const bool closed = close(descriptor) == 0;
  if (written && closed) return;
  const int failure = written ? errno : reason;
  unlink(draft_.c_str());
  fail(path_, failure);
}

DraftFile::DraftFile(DraftFile&& other) noexcept
    : path_(std::move(other.path_)), draft_(std::exchange(other.draft_, {})) {}

DraftFile::~DraftFile() {
  if (!draft_.empty()) unlink(draft_.c_str());
}

void DraftFile::publish() {
  if (std::rename(draft_.c_str(), path_.c_str()) != 0) fail(path_, errno);
  draft_.clear();
}

}  // namespace framequality::apps
