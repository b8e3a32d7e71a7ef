// SPDX-License-Identifier: LGPL-2.1-or-later
// What every program of ours is to those who start it.
#pragma once

#include <stdexcept>

namespace framequality::apps {

/// Exit statuses; 0 is for all done. A signal's number is added to the last.
inline constexpr int kFailed = 1, kMisused = 2, kSignalled = 128;

/// The command line is not one: what() says what would be accepted.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that a library opens must not become stdout or stderr because they were closed.
void keep_standard_descriptors();

}  // namespace framequality::apps
