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

/// Does tasks in their order, a few at once, with a bound on how many wait: what they hold may be large. Its threads
/// begin with the first tasks; if the system gives fewer, there are fewer. Thread-safe.
class TaskPool {
 public:
  using Task = std::packaged_task<void()>;  ///< which may be moved only, and keeps exceptions from the threads
  TaskPool(std::size_t threads, std::size_t most_waiting) : most_threads_(threads), most_waiting_(most_waiting) {}
  ~TaskPool();  ///< what waits is not done
  TaskPool(const TaskPool&) = delete;
  TaskPool& operator=(const TaskPool&) = delete;

  /// Waits while as many wait as may. Does the task itself if the system gives no thread at all.
  void submit(Task task);
  /// False if as many wait as may, or the system gives no thread at all.
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

/// Tasks of a pool that belong together. The pool outlives it.
class TaskGroup {
 public:
  /// `failed` is called with the reason of the first task that throws, in its thread.
  TaskGroup(TaskPool& pool, std::function<void(const std::string&)> failed);
  ~TaskGroup();  ///< waits; what has not begun is left out
  TaskGroup(const TaskGroup&) = delete;
  TaskGroup& operator=(const TaskGroup&) = delete;

  /// Waits for room in the pool. From one thread at a time. After a failure tasks are left out.
  void add(TaskPool::Task task);
  /// Waits for all. True if all were done.
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
