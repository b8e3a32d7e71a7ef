// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads for work that must not hold up a stream.
#include "apps/common/task_pool.h"

#include <exception>
#include <system_error>
#include <utility>

namespace framequality::apps {

TaskPool::~TaskPool() {
  std::deque<Task> dropped;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    dropped.swap(tasks_);
    more_.notify_all();
    room_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

void TaskPool::submit(Task task) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [this] { return ending_ || tasks_.size() < most_waiting_; });
  if (ending_ || put(task)) return;
  lock.unlock();
  task();
}

bool TaskPool::try_submit(Task task) {
  const std::lock_guard lock(mutex_);
  return !ending_ && tasks_.size() < most_waiting_ && put(task);
}

/// False, with the task unchanged, if no thread can be started.
bool TaskPool::put(Task& task) {
  if (tasks_.size() >= idle_ && threads_.size() < most_threads_) {
    try {
      threads_.emplace_back([this] { work(); });
    } catch (const std::system_error&) {
      if (threads_.empty()) return false;
    }
  }
  tasks_.push_back(std::move(task));
  more_.notify_one();
  return true;
}

void TaskPool::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    more_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    --idle_;
    if (ending_) return;
    {
      Task task = std::move(tasks_.front());
      tasks_.pop_front();
      room_.notify_one();
      lock.unlock();
      task();
    }
    lock.lock();
  }
}

TaskGroup::TaskGroup(TaskPool& pool, std::function<void(const std::string&)> failed)
    : pool_(pool), failed_(std::move(failed)) {}

TaskGroup::~TaskGroup() {
  std::unique_lock lock(mutex_);
  stopped_ = true;
  done_.wait(lock, [this] { return pending_ == 0; });
}

void TaskGroup::add(TaskPool::Task task) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    ++pending_;
  }
  pool_.submit(TaskPool::Task([this, own = std::move(task)]() mutable { run(own); }));
}

void TaskGroup::run(TaskPool::Task& task) {
  std::unique_lock lock(mutex_);
  if (!stopped_) {
    lock.unlock();
    task();
    std::string reason;
    try {
      task.get_future().get();
    } catch (const std::exception& e) {
      reason = e.what();
    }
    // Free the task's data before reporting it as done.
    task = {};
    lock.lock();
    if (!reason.empty() && !std::exchange(stopped_, true)) {
      lock.unlock();
      failed_(reason);
      lock.lock();
    }
  }
  --pending_;
  done_.notify_all();
}

bool TaskGroup::finish() {
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return pending_ == 0; });
  return !stopped_;
}

}  // namespace framequality::apps
