// SPDX-License-Identifier: LGPL-2.1-or-later
// Progress of strips of an image that threads work on in turn, each strip behind the one above it.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

namespace framequality::cpu {

/// Strip i belongs to thread i % threads, which processes its strips in order. So strip i + 1, the only reader of i's
/// results, has ended before the same thread begins strip i + 1 + threads: that may write to the place of strip i.
class Wavefront {
 public:
  /// For at most this many threads.
  explicit Wavefront(int threads) : done_(static_cast<std::size_t>(threads) + 1) {}
  /// Number of places: threads + 1.
  std::size_t places() const { return done_.size(); }
  /// Place of strip i's data; -1 is above the first.
  std::size_t place(int strip) const {
    return static_cast<std::size_t>(strip + used_) % static_cast<std::size_t>(used_);
  }

  /// Starts an image whose strips all have this many chunks, with this many threads.
  void begin(int threads, int chunks) {
    used_ = threads + 1;
    chunks_ = chunks;
    for (std::atomic<int>& d : done_) d.store(0, std::memory_order_relaxed);
  }
  /// Marks chunks 0...chunk of the strip as complete.
  void complete(int strip, int chunk) {
    std::atomic<int>& d = done_[place(strip)];
    d.store(strip * chunks_ + chunk + 1, std::memory_order_release);
    d.notify_all();
  }
  /// Waits until the strip has completed its first `count` chunks.
  void await(int strip, int count) const {
    const std::atomic<int>& d = done_[place(strip)];
    const int least = strip * chunks_ + count;
    for (int v = d.load(std::memory_order_acquire); v < least; v = d.load(std::memory_order_acquire))
      d.wait(v, std::memory_order_acquire);
  }

 private:
  int used_ = 1, chunks_ = 0;
  std::vector<std::atomic<int>> done_;  ///< chunks since the first of strip 0
};

}  // namespace framequality::cpu
