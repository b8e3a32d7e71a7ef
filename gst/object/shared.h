// SPDX-License-Identifier: LGPL-2.1-or-later
// A value that any thread may read and change.
#pragma once

#include <mutex>
#include <utility>

namespace framequality {

/// Thread-safety: any thread, any time.
template <class T>
class Shared {
 public:
  Shared() = default;
  explicit Shared(T value) : value_(std::move(value)) {}

  T get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }
  /// Calls change(value) with the lock held, so that nobody else changes it meanwhile. Returns its result.
  template <class F>
  decltype(auto) change(F&& change) {
    const std::lock_guard lock(mutex_);
    return std::forward<F>(change)(value_);
  }

 private:
  mutable std::mutex mutex_;
  T value_{};
};

}  // namespace framequality
