// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that share one object's work, each with a number, so that each can have buffers of its own.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace framequality::cpu {

/// Thread-safety: run() by one thread at a time.
class Workers {
 public:
  /// count: threads that work at once, with the caller; 0 for as many as there are cores that this process may
  /// use. Fewer if the system gives no more.
  explicit Workers(int count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  int count() const { return static_cast<int>(threads_.size()) + 1; }

  /// Calls work(i) for i = 0...threads-1 at once, 0 in this thread; returns after the last call. work must not throw.
  /// threads: 1...count(); 1 wakes no thread.
  template <class F>
  void run(int threads, F&& work) {
    begin(
        threads, [](void* f, int i) { (*static_cast<std::remove_reference_t<F>*>(f))(i); }, &work);
    work(0);
    wait();
  }
  /// The same on all of them.
  template <class F>
  void run(F&& work) {
    run(count(), work);
  }

 private:
  void begin(int threads, void (*call)(void*, int), void* work);
  void wait();
  void serve(int number);

  std::mutex mutex_;
  std::condition_variable begun_, finished_;
  void (*call_)(void*, int) = nullptr;
  void* work_ = nullptr;
  unsigned turn_ = 0;
  int called_ = 1, running_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace framequality::cpu
