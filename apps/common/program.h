// SPDX-License-Identifier: LGPL-2.1-or-later
// Process-wide setup shared by the command-line programs.
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::apps {

/// Exit statuses; 0 is for all done. A signal's number is added to the last.
inline constexpr int kFailed = 1, kMisused = 2, kSignalled = 128;

/// The command line is not one: what() says what would be accepted.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The place among the words that an option takes. Throws UsageError, which lists them and suggests the nearest, if the
/// text is none of them.
std::size_t choice(const std::string& option, const std::string& text, const std::vector<std::string>& words);

/// A file that a library opens must not become stdout or stderr because they were closed.
void keep_standard_descriptors();

/// Raises the limit of open files as far as this user may. A scan or a camera has some ten of them open.
void allow_many_open_files();

/// What main() returns, called last in it, when nothing of GStreamer is in use any more: takes GStreamer down. With
/// NVIDIA's driver in the process, or stuck threads, it does not return but writes out stdio and ends the program with
/// this status.
int leave(int status);

/// Ends the program with this status if it has not ended after 10 s: at the end GStreamer waits for ever for tasks that
/// it got no thread for.
void end_soon(int status);

/// A thread of the program is stuck in what it reads, and may be for ever: leave() waits for nothing. Any thread.
void expect_stuck_threads();

}  // namespace framequality::apps
