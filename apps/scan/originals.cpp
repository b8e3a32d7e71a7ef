// SPDX-License-Identifier: LGPL-2.1-or-later
// Placement of chosen photographs in a folder: unchanged, never encoded again.
#include "apps/scan/originals.h"

#include "apps/common/text.h"

#include <gst/gst.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <linux/fs.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace framequality::apps::scan {

namespace {

namespace fs = std::filesystem;

constexpr mode_t kPermissions = 07777;
constexpr int kTries = 100;

/// A unique name next to `path`; a file created there is removed unless it is renamed.
class Draft {
 public:
  explicit Draft(std::string name) : name_(std::move(name)) {}
  ~Draft() { unlink(name_.c_str()); }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  const char* name() const { return name_.c_str(); }

 private:
  const std::string name_;
};

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  const int number_;
};

/// errno, or 0.
int result_of(int status) { return status == 0 ? 0 : errno; }

int copy_to(const std::string& source, const std::string& path) {
  const Descriptor from(open(source.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat about = {};
  if (from.number() < 0 || fstat(from.number(), &about) != 0) return errno;
  std::string name = path + ".XXXXXX";
  const Descriptor to(mkostemp(name.data(), O_CLOEXEC));
  if (to.number() < 0) return errno;
  const Draft draft(name);
  if (ioctl(to.number(), FICLONE, from.number()) != 0) {
    std::error_code error;
    if (!fs::copy_file(source, name, fs::copy_options::overwrite_existing, error)) return error.value();
  }
  const std::array<struct timespec, 2> times{about.st_atim, about.st_mtim};
  if (fchmod(to.number(), about.st_mode & kPermissions) != 0 || futimens(to.number(), times.data()) != 0) return errno;
  return result_of(std::rename(draft.name(), path.c_str()));
}

/// `link` makes a link of a name, and returns 0, or -1 and errno.
template <class Link>
int link_to(const std::string& path, Link&& link) {
  for (int i = 0; i < kTries; ++i) {
    std::array<char, 16> end;
    std::snprintf(end.data(), end.size(), ".%06x", static_cast<unsigned>(g_random_int_range(0, 1 << 24)));
    const std::string name = path + end.data();
    if (link(name.c_str()) != 0) {
      if (errno == EEXIST) continue;
      return errno;
    }
    // Renaming one hard link of a file to another does nothing at all, so the draft is removed in any case.
    const Draft draft(name);
    return result_of(std::rename(draft.name(), path.c_str()));
  }
  return EEXIST;
}

bool same(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

/// Whether `path` is the source itself, by this name or another spelling of its folder.
bool is_itself(const std::string& source, const std::string& path) {
  const auto folder_of = [](const std::string& name) {
    const fs::path folder = fs::path(name).parent_path();
    return folder.empty() ? fs::path(".") : folder;
  };
  struct stat a = {}, b = {};
  std::error_code error;
  return lstat(source.c_str(), &a) == 0 && lstat(path.c_str(), &b) == 0 && same(a, b) &&
         fs::equivalent(folder_of(source), folder_of(path), error);
}

}  // namespace

void place_original(const std::string& source, const std::string& path, Originals how) {
  if (is_itself(source, path)) return;
  int error = 0;
  const char* verb = "copy ";
  switch (how) {
    case Originals::kCopy:
      error = copy_to(source, path);
      break;
    case Originals::kHardLink:
      verb = "hard-link ";
      error = link_to(
          path, [&](const char* name) { return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW); });
      break;
    case Originals::kSymbolicLink:
      verb = "link ";
      error = link_to(path, [&](const char* name) { return symlink(fs::absolute(source).c_str(), name); });
      break;
  }
  if (error == 0) return;
  const std::string reason =
      error == EXDEV ? "they are on different file systems; use --originals copy or symlink" : std::strerror(error);
  throw std::runtime_error(std::string("cannot ") + verb + printable(source) + " to " + printable(path) + ": " +
                           reason);
}

std::string local_file(const std::string& name) {
  struct stat about = {};
  if (stat(name.c_str(), &about) == 0 || !gst_uri_is_valid(name.c_str())) return name;
  gchar* path =
      gst_uri_has_protocol(name.c_str(), "file") ? g_filename_from_uri(name.c_str(), nullptr, nullptr) : nullptr;
  std::string result = path ? path : "";
  g_free(path);
  return result;
}

}  // namespace framequality::apps::scan
