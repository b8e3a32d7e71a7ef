// SPDX-License-Identifier: LGPL-2.1-or-later
// Threads on systems that may refuse to start more of them: limits of the user, of a service, of memory.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

namespace framequality::apps {

/// For people: what is the matter where there is no thread to be had, and which limits to look at.
inline constexpr char kNoThread[] =
    "the system gives no more threads: raise the limit (ulimit -u, TasksMax= of a service, pids.max of a container)";

/// A thread that does this. Throws std::runtime_error with kNoThread.
std::thread make_thread(std::function<void()> work);

/// Runs `work` in a detached thread; false, without having called it, if the system starts no thread.
bool try_detached(const std::function<void()>& work);

/// So many a pipeline with its source makes while it begins, with those that GLib makes once: where some of these
/// cannot be had, GLib ends the program.
inline constexpr std::size_t kThreadsToBegin = 12;

/// Whether so many more threads are to be had now. Takes some 10 us for each, in which others may find none.
bool has_threads(std::size_t count);

/// Calls it here and in others, in at most so many threads and in as few as there are to be had; returns after the
/// last.
void in_threads(std::size_t most, const std::function<void()>& work);

}  // namespace framequality::apps
