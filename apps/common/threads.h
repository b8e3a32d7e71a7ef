// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads on systems that may refuse to start more of them: limits of the user, of a service, of memory.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

namespace framequality::apps {

/// For users: why no thread can be started, and which limits to check.
inline constexpr char kNoThread[] =
    "the system gives no more threads: raise the limit (ulimit -u, TasksMax= of a service, pids.max of a container)";

/// A thread that runs `work`. Throws std::runtime_error with kNoThread.
std::thread make_thread(std::function<void()> work);

/// Runs `work` in a detached thread; false, without having called it, if the system starts no thread.
bool try_detached(const std::function<void()>& work);

/// Threads that a pipeline and its source start while they begin, with those that GLib starts once: if some of these
/// cannot be started, GLib ends the program.
inline constexpr std::size_t kThreadsToBegin = 12;

/// Whether this many more threads can be started. Takes some 10 us for each, during which others may find none.
bool has_threads(std::size_t count);

/// Runs `work` here and in others, in at most this many threads, or fewer if the system gives fewer; returns after the
/// last.
void in_threads(std::size_t most, const std::function<void()>& work);

}  // namespace framequality::apps
