// SPDX-License-Identifier: LGPL-2.1-or-later
// Makes JPEGs of frames in a thread of its own.
#include "apps/watch/encoder.h"

#include "apps/common/pictures.h"

#include <stdexcept>
#include <utility>

namespace framequality::apps::watch {

namespace {

// Each holds a frame: decoders own few, and memory ends.
constexpr std::size_t kMostTasks = 16;

}  // namespace

Encoder::Encoder() : thread_([this] { work(); }) {}

Encoder::~Encoder() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    tasks_.clear();
    more_.notify_one();
  }
  thread_.join();
}

bool Encoder::submit(Owned<GstSample> frame, int longest, OnDone done) {
  const std::lock_guard lock(mutex_);
  if (ending_ || tasks_.size() >= kMostTasks) return false;
  tasks_.push_back({std::move(frame), longest, std::move(done)});
  more_.notify_one();
  return true;
}

void Encoder::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [this] { return ending_ || !tasks_.empty(); });
    if (ending_) return;
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    std::string jpeg, error;
    try {
      jpeg = jpeg_of(task.frame.get(), task.longest);
    } catch (const std::runtime_error& e) {
      error = e.what();
    }
    task.frame.reset();
    task.done(jpeg, error);
    task.done = nullptr;
    lock.lock();
  }
}

}  // namespace framequality::apps::watch
