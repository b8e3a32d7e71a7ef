// SPDX-License-Identifier: LGPL-2.1-or-later
// Files in folders that others may have written to.
#include "apps/common/plain_file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace framequality::apps {

PlainFile::PlainFile(const std::string& path)
    : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)) {
  // FreeBSD returns EMLINK.
  if (descriptor_ < 0 && (errno == ELOOP || errno == EMLINK))
    throw std::runtime_error("it is a symbolic link, and those are not followed");
  if (descriptor_ < 0) throw std::runtime_error(std::strerror(errno));
  struct stat about = {};
  if (fstat(descriptor_, &about) != 0 || !S_ISREG(about.st_mode)) {
    close(descriptor_);
    throw std::runtime_error("it is not a regular file");
  }
  size_ = static_cast<std::uint64_t>(about.st_size);
}

PlainFile::~PlainFile() { close(descriptor_); }

std::size_t PlainFile::read(std::string& buffer) const {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const ssize_t count = ::read(descriptor_, buffer.data() + done, buffer.size() - done);
    if (count < 0 && errno != EINTR) throw std::runtime_error(std::strerror(errno));
    if (count == 0) break;
    if (count > 0) done += static_cast<std::size_t>(count);
  }
  return done;
}

}  // namespace framequality::apps
