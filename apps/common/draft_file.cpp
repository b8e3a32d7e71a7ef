// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that appear whole or not at all.
#include "apps/common/draft_file.h"

#include "apps/common/text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace framequality::apps {

namespace {

constexpr mode_t kForAll = 0666;
// Read before there are threads: reading the umask means setting it.
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

void sync_folder(const std::string& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  // A folder may be writable but not readable.
  if (descriptor < 0) return;
  const int reason = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  if (reason == EIO || reason == ENOSPC || reason == EDQUOT) fail(folder, reason);
}

DraftFile::DraftFile(std::string path) : path_(std::move(path)) {
  // Otherwise only the last step would fail; and root would replace /dev/null.
  struct stat about = {};
  if (stat(path_.c_str(), &about) != 0 || S_ISREG(about.st_mode)) return;
  if (S_ISDIR(about.st_mode)) fail(path_, EISDIR);
  throw std::runtime_error("cannot write " + printable(path_) + ": it is not a regular file");
}

DraftFile::DraftFile(std::string path, std::string_view content) : DraftFile(std::move(path)) {
  create(path_ + '.');
  append(content);
  close_file();
}

DraftFile DraftFile::open(std::string path, std::string_view prefix) {
  DraftFile file(std::move(path));
  file.create(file.folder() + '/' + std::string(prefix));
  // Nobody else waits for it; some file systems do not support locks.
  (void)flock(file.descriptor_, LOCK_EX | LOCK_NB);
  return file;
}

DraftFile::DraftFile(DraftFile&& other) noexcept
    : path_(std::move(other.path_)),
      draft_(std::exchange(other.draft_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

DraftFile::~DraftFile() {
  if (!draft_.empty()) unlink(draft_.c_str());
  if (descriptor_ >= 0) close(descriptor_);
}

void DraftFile::create(std::string name) {
  name += "XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path_, errno);
  draft_ = std::move(name);
  // mkostemp's files are private; a report gets the permissions that the umask allows.
  if (fchmod(descriptor_, kForAll & ~kMask) != 0) fail(path_, errno);
}

void DraftFile::append(std::string_view content) {
  if (!write_all(descriptor_, content)) fail(path_, errno);
}

void DraftFile::close_file() {
  // Some file systems report a full disk only now.
  if (close(std::exchange(descriptor_, -1)) != 0) fail(path_, errno);
}

std::string DraftFile::folder() const {
  const auto slash = path_.find_last_of('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path_.substr(0, slash);
}

void DraftFile::publish_unsynced() {
  if (descriptor_ < 0) descriptor_ = ::open(draft_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0 || fsync(descriptor_) != 0 || std::rename(draft_.c_str(), path_.c_str()) != 0) fail(path_, errno);
  draft_.clear();
  close_file();
}

bool DraftFile::publish_new() {
  if (descriptor_ < 0) descriptor_ = ::open(draft_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor_ < 0 || fsync(descriptor_) != 0) fail(path_, errno);
  bool is_new = renameat2(AT_FDCWD, draft_.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE) == 0;
  // Some file systems do not support this in one step.
  if (!is_new && errno == EINVAL) {
    struct stat about = {};
    if (lstat(path_.c_str(), &about) == 0)
      errno = EEXIST;
    else
      is_new = std::rename(draft_.c_str(), path_.c_str()) == 0;
  }
  if (!is_new && errno != EEXIST) fail(path_, errno);
  if (is_new) draft_.clear();
  close_file();
  if (is_new) sync_folder(folder());
  return is_new;
}

void DraftFile::publish() {
  publish_unsynced();
  sync_folder(folder());
}

}  // namespace framequality::apps
