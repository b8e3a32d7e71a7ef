// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads on systems that may refuse to start more of them: limits of the user, of a service, of memory.
#include "apps/common/threads.h"

#include "apps/common/program.h"

#include <chrono>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace framequality::apps {

namespace {

constexpr int kPatience = 100;  // ms

/// Threads of this process; 0 if unknown.
int thread_count() {
  std::ifstream status("/proc/self/status");
  int count = 0;
  for (std::string word; count == 0 && status >> word;)
    if (word == "Threads:") status >> count;
  return count;
}

}  // namespace

// If this gets no thread, GStreamer gets none either, and waits at its end for tasks that never run.

std::thread make_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error&) {
    expect_stuck_threads();
    throw std::runtime_error(kNoThread);
  }
}

bool try_detached(const std::function<void()>& work) {
  try {
    std::thread(work).detach();
    return true;
  } catch (const std::system_error&) {
    expect_stuck_threads();
    return false;
  }
}

bool has_threads(std::size_t count) {
  const int before = thread_count();
  std::mutex mutex;
  std::vector<std::thread> threads;
  threads.reserve(count);
  bool all = true;
  {
    // Start all of them at once.
    const std::lock_guard lock(mutex);
    try {
      while (threads.size() < count) threads.emplace_back([&mutex] { const std::lock_guard wait(mutex); });
    } catch (const std::system_error&) {
      all = false;
    }
  }
  for (std::thread& thread : threads) thread.join();
  // A joined thread counts until the kernel has removed it.
  for (int i = 0; i < kPatience && thread_count() > before; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return all;
}

void in_threads(std::size_t most, const std::function<void()>& work) {
  std::vector<std::thread> others;
  others.reserve(most);
  try {
    while (others.size() + 1 < most) others.emplace_back(work);
  } catch (const std::system_error&) {
  }
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace framequality::apps
