// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads for what may block for long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

namespace framequality::apps::watch {

/// Runs each piece of work in a thread of its own: a dead server or a hung device must hold up no other camera.
class Chores {
 public:
  void run(std::function<void()> work) {
    {
      const std::lock_guard lock(state_->mutex);
      ++state_->count;
    }
    // It may outlive this object.
    std::thread([state = state_, work = std::move(work)]() mutable {
      work();
      work = nullptr;
      const std::lock_guard lock(state->mutex);
      --state->count;
      state->less.notify_all();
    }).detach();
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
    int count = 0;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace framequality::apps::watch
