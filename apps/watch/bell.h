// SPDX-License-Identifier: LGPL-2.1-or-later
// A signal by which threads wake a polling one.
#pragma once

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/eventfd.h>
#include <unistd.h>

namespace framequality::apps::watch {

/// Rings that nobody has heard yet count as one.
class Bell {
 public:
  /// Throws std::runtime_error with the reason.
  Bell() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_ < 0) throw std::runtime_error(std::string("cannot create an eventfd: ") + std::strerror(errno));
  }
  ~Bell() { close(descriptor_); }
  Bell(const Bell&) = delete;
  Bell& operator=(const Bell&) = delete;

  /// From any thread.
  void ring() const { (void)eventfd_write(descriptor_, 1); }
  /// Forgets earlier rings.
  void hush() const {
    eventfd_t rings = 0;
    (void)eventfd_read(descriptor_, &rings);
  }
  /// Readable once it has rung.
  int descriptor() const { return descriptor_; }

 private:
  const int descriptor_;
};

}  // namespace framequality::apps::watch
