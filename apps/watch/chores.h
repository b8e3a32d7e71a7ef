// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads for what may block for long.
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
  /// Does it in another thread; false, without calling it, if there is none.
  using Detach = std::function<bool(const Work& work)>;
  explicit Chores(Detach detach = try_detached) : detach_(std::move(detach)) {}

  /// Whether one more source may begin. Where threads are scarce, one in a second: looking for threads takes them from
  /// others that begin. Main thread.
  bool has_room() {
    const auto now = std::chrono::steady_clock::now();
    if (now < next_look_) return has_plenty_;
    next_look_ = now + std::chrono::seconds(1);
    has_plenty_ = has_threads(kPlenty);
    return has_plenty_ || has_threads(kThreadsToBegin);
  }
  /// False if there is no thread for it: it is not run.
  bool try_run(Work work) {
    count(1);
    // It may outlive this object.
    if (detach_([state = state_, work = std::move(work)]() mutable { serve(*state, std::move(work)); })) return true;
    count(-1);
    return false;
  }
  /// Runs it. If there is no thread for it, in one that has done its own, or when retry() finds one.
  void run(Work work) {
    {
      const std::lock_guard lock(state_->mutex);
      state_->waiting.push_back(std::move(work));
      ++state_->count;
    }
    retry();
  }
  /// Looks for threads for what waits for one.
  void retry() {
    while (Work work = next(*state_))
      if (!detach_([state = state_, work]() mutable { serve(*state, std::move(work)); })) {
        const std::lock_guard lock(state_->mutex);
        state_->waiting.push_front(std::move(work));
        return;
      }
  }
  /// True once all of it is done; false if that takes longer.
  bool wait(std::chrono::milliseconds patience) {
    std::unique_lock lock(state_->mutex);
    return state_->less.wait_for(lock, patience, [this] { return state_->count == 0; });
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable less;
    std::deque<Work> waiting;
    int count = 0;  ///< of pieces that run or wait
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
