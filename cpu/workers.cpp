// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads that share one object's work.
#include "cpu/workers.h"

#include "host/cores.h"
#include "host/log.h"

#include <algorithm>
#include <system_error>

namespace framequality::cpu {

Workers::Workers(int count) {
  if (count <= 0) count = host::usable_cores();
  threads_.reserve(static_cast<std::size_t>(count) - 1);
  try {
    for (int i = 1; i < count; ++i) threads_.emplace_back([this, i] { serve(i); });
  } catch (const std::system_error&) {
    host::log(host::LogLevel::kInfo, "CPU: the system granted only %zu of %d threads", threads_.size() + 1, count);
  }
  host::log(host::LogLevel::kDebug, "CPU: %zu threads, this one included", threads_.size() + 1);
}

Workers::~Workers() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  begun_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Workers::begin(int threads, void (*call)(void*, int), void* work) {
  if (threads == 1) return;
  {
    const std::lock_guard lock(mutex_);
    call_ = call;
    work_ = work;
    called_ = threads;
    running_ = threads - 1;
    ++turn_;
  }
  begun_.notify_all();
}

void Workers::wait() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [&] { return running_ == 0; });
}

void Workers::serve(int number) {
  std::unique_lock lock(mutex_);
  for (unsigned done = 0;;) {
    begun_.wait(lock, [&] { return ends_ || turn_ != done; });
    if (ends_) return;
    done = turn_;
    if (number >= called_) continue;
    lock.unlock();
    call_(work_, number);
    lock.lock();
    if (--running_ == 0) finished_.notify_one();
  }
}

}  // namespace framequality::cpu
