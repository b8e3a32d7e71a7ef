// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that help to copy large frames: one core moves 10 GB/s, the bus takes 55.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace framequality::cuda {

/// Helpers that all meters and filters of the process share. Thread-safety: any number of threads at once.
class CopyThreads {
 public:
  /// The shared ones; the threads live as long as somebody holds them.
  static std::shared_ptr<CopyThreads> get();

  /// With fewer threads if the system gives no more.
  explicit CopyThreads(int threads);
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  int threads() const { return static_cast<int>(threads_.size()); }

  /// Calls work() here and in up to `helpers` of the threads that are free, all at once; returns when the last
  /// call has returned. work: shares its work out by itself, must not throw.
  template <class F>
  void run(int helpers, F& work) {
    Task task{[](void* f) { (*static_cast<F*>(f))(); }, &work};
    offer(task, helpers);
    work();
    withdraw(task);
  }

 private:
  struct Task {
    void (*call)(void*);
    void* work;
    int running = 0;
  };
  void offer(Task& task, int helpers);
  void withdraw(Task& task);
  void serve();

  std::mutex mutex_;
  std::condition_variable offered_, finished_;
  std::vector<Task*> tasks_;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace framequality::cuda
