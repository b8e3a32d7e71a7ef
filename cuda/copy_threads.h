// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that help to copy large frames: one core moves 10 GB/s, the bus takes 55.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace framequality::cuda {

/// Helpers shared by all meters and filters of the process. Thread-safety: any number of threads at once.
class CopyThreads {
 public:
  /// The shared instance; its threads live as long as a reference does.
  static std::shared_ptr<CopyThreads> get();

  /// Starts fewer threads if the system gives no more.
  explicit CopyThreads(int threads);
  ~CopyThreads();
  CopyThreads(const CopyThreads&) = delete;
  CopyThreads& operator=(const CopyThreads&) = delete;
  int threads() const { return static_cast<int>(threads_.size()); }

  /// Calls work() here and in up to `helpers` of the free threads, all at once; returns when the last
  /// call has returned. work: distributes its work by itself, must not throw.
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
