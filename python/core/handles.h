// SPDX-License-Identifier: LGPL-2.1-or-later
// Handles of the C library that a thread keeps from call to call, and closes when it ends.
#pragma once

#include "c/framequality.h"

#include <cstdio>
#include <cstring>

namespace core {

/// Number of forks since the process that loaded the module. A child owns neither the threads of its
/// parent's handles nor their GPU contexts: it must not use or close them.
inline unsigned generation = 0;

/// One handle for each device. Number: the other parameter of opening; another value replaces the handle.
template <class Handle, int (*open)(const char*, int, Handle**), void (*close)(Handle*)>
class Handles {
 public:
  Handles() = default;
  ~Handles() {
    while (count_ > 0) drop(entries_[count_ - 1]);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  /// Opens the handle if necessary, and returns the status.
  int get(const char* device, int number, Handle*& handle) {
    for (int i = 0; i < count_; ++i) {
      Entry& e = entries_[i];
      if (std::strcmp(e.device, device) != 0) continue;
      if (e.generation == generation && e.number == number) {
        handle = e.handle;
        return FQ_OK;
      }
      drop(e);
      break;
    }
    if (count_ == kMost) drop(entries_[0]);
    handle = nullptr;
    if (const int status = open(device, number, &handle)) return status;
    Entry& e = entries_[count_++];
    e.number = number;
    e.generation = generation;
    e.handle = handle;
    std::snprintf(e.device, sizeof e.device, "%s", device);
    return FQ_OK;
  }

  /// Call it after using the handle: one whose device is lost is closed, so that the next call opens another.
  void settle(Handle* handle, int status) {
    if (status != FQ_ERROR_DEVICE_LOST) return;
    for (int i = 0; i < count_; ++i)
      if (entries_[i].handle == handle) {
        drop(entries_[i]);
        return;
      }
  }

 private:
  static constexpr int kMost = 8;  ///< devices at the same time
  struct Entry {
    char device[32];
    int number;
    unsigned generation;
    Handle* handle;
  };

  void drop(Entry& e) {
    if (e.generation == generation) close(e.handle);
    e = entries_[--count_];
  }

  Entry entries_[kMost] = {};  // no allocation: get() is called where nothing may throw
  int count_ = 0;
};

}  // namespace core
