// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads for work that may block for long.
#pragma once

#include "apps/common/threads.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace framequality::apps::watch {

/// Runs each piece of work in a thread of its own: a dead server or a hung device must hold up no other camera.
class Chores {
 public:
  using Work = std::function<void()>;
  /// Runs it in another thread; false, without calling it, if none can be started.
  using Detach = std::function<bool(const Work& work)>;
  explicit Chores(Detach detach = try_detached) : detach_(std::move(detach)) {}

  /// Whether one more source may begin: if threads are scarce, one per second, because probing for threads takes them
  /// from others that begin. Main thread.
  bool has_room() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return has_plenty_;
    next_look_ = now + std::chrono::seconds(1);
    has_plenty_ = has_threads(kPlenty);
    return has_plenty_ || has_threads(kThreadsToBegin);
  }
  /// False, without running it, if no thread can be started.
  bool try_run(Work work) {
    count(1);
    // It may outlive this object.
    if (detach_([state = state_, work = std::move(work)]() mutable { serve(*state, std::move(work)); })) return true;
    count(-1);
    return false;
  }
  /// Runs it; if no thread can be started, later in one that has finished its work, or when retry() finds one.
  void run(Work work) {
    {
      const std::lock_guard lock(state_->mutex);
      state_->waiting.push_back(std::move(work));
      ++state_->count;
    }
    retry();
  }
  /// Starts threads for waiting work, if possible.
  void retry() {
    while (Work work = next(*state_))
      if (!detach_([state = state_, work]() mutable { serve(*state, std::move(work)); })) {
        const std::lock_guard lock(state_->mutex);
        state_->waiting.push_front(std::move(work));
        return;
      }
  }
  /// True once all work is done; false if that takes longer.
  bool wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(state_->mutex);
    return state_->less.wait_for(lock, patience, [this] { return state_->count == 0; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable less;
    std::deque<Work> waiting;
    int count = 0;  ///< running and waiting pieces
  };
  void count(int more) {
    const std::lock_guard lock(state_->mutex);
    state_->count += more;
  }
  static Work next(State& state) {
    const std::lock_guard lock(state.mutex);
    if (state.waiting.empty()) return nullptr;
    Work work = std::move(state.waiting.front());
    state.waiting.pop_front();
    return work;
  }
  static void serve(State& state, Work work) {
    for (; work; work = next(state)) {
      work();
      work = nullptr;
      const std::lock_guard lock(state.mutex);
      --state.count;
      state.less.notify_all();
    }
  }

  static constexpr std::size_t kPlenty = 3 * kThreadsToBegin;
  const Detach detach_;
  bool has_plenty_ = false;
  std::chrono::steady_clock::time_point next_look_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace framequality::apps::watch
