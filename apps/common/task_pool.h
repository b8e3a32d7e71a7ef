// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads for work that must not hold up a stream.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace framequality::apps {

/// Runs tasks in order, a few at once, with a bound on waiting ones, whose data may be large. Its threads
/// start with the first tasks; if the system allows fewer, there are fewer. Thread-safe.
class TaskPool {
 public:
  using Task = std::packaged_task<void()>;  ///< move-only; keeps exceptions out of the threads
  TaskPool(std::size_t threads, std::size_t most_waiting) : most_threads_(threads), most_waiting_(most_waiting) {}
  ~TaskPool();  ///< waiting tasks are dropped
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Waits while the queue is full. Runs the task itself if the system gives no thread at all.
  void submit(Task task);
  /// False if the queue is full, or the system gives no thread at all.
  bool try_submit(Task task);

 private:
  bool put(Task& task);
  void work();

  const std::size_t most_threads_, most_waiting_;
  std::mutex mutex_;
  std::condition_variable more_, room_;
  std::deque<Task> tasks_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ending_ = false;
};

/// Tasks of a pool that are waited for together. The pool outlives it.
class TaskGroup {
 public:
  /// `failed` is called with the reason of the first task that throws, in its thread.
  TaskGroup(TaskPool& pool, std::function<void(const std::string&)> failed);
  ~TaskGroup();  ///< waits for running tasks; drops the others
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Waits for room in the pool. From one thread at a time. After a failure tasks are dropped.
  void add(TaskPool::Task task);
  /// Waits for all. True if none failed.
  bool finish();

 private:
  void run(TaskPool::Task& task);

  TaskPool& pool_;
  const std::function<void(const std::string&)> failed_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::size_t pending_ = 0;
  bool stopped_ = false;
};

}  // namespace framequality::apps
