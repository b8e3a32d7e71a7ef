// SPDX-License-Identifier: LGPL-2.1-or-later
// Process-wide setup shared by the command-line programs.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::apps {

/// Exit statuses; 0: everything was done. A signal's number is added to the last.
inline constexpr int kFailed = 1, kMisused = 2, kSignalled = 128;

/// Invalid command line: what() says what would be accepted.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Index of the text among the words that an option takes. Throws UsageError, which lists them and suggests one,
/// if it is not one of them.
std::size_t choice(const std::string& option, const std::string& text, const std::vector<std::string>& words);

/// Keeps files that a library opens from becoming stdout or stderr if those were closed.
void keep_standard_descriptors();

/// Raises the limit of open files as far as this user may. A scan or a camera needs some ten of them.
void allow_many_open_files();

/// The return value of main(), called last in it, when nothing of GStreamer is in use: shuts GStreamer down. With
/// NVIDIA's driver in the process, or stuck threads, it does not return but flushes stdio and ends the program with
/// this status.
int leave(int status);

/// Ends the program with this status if it still runs after 10 s: at the end GStreamer waits forever for tasks that
/// never got a thread.
void end_soon(int status);

/// Marks a thread as stuck in reading, possibly forever: leave() then waits for nothing. Any thread.
void expect_stuck_threads();

}  // namespace framequality::apps
