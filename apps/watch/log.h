// SPDX-License-Identifier: LGPL-2.1-or-later
// The event log: a file, or stdout.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace framequality::apps::watch {

/// Appends lines in a thread of its own: no disk and no reader of stdout holds up the cameras. Failed writes
/// are retried; if too much waits, the newest lines are lost. Lines are never split.
class Log {
 public:
  /// Reports an error, once until writing works again, in the log's thread. `reader_left`: stdout was closed by its
  /// reader.
  using OnTrouble = std::function<void(const std::string& text, bool reader_left)>;
  /// `path` is empty for stdout. Throws std::runtime_error with path and reason.
  Log(std::string path, OnTrouble on_trouble);
  ~Log();  ///< as close(), but waits only briefly
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// `line`: including its end.
  void write(std::string line);
  /// Reopens the file, which may have been renamed.
  void reopen();
  /// Writes waiting lines for at most this time.
  void close(std::chrono::milliseconds patience);

 private:
  void work();
  void open_file();
  enum class Outcome { kWhole, kPart, kFailed };
  Outcome write_some(const std::string& line);
  void complain(const std::string& text, bool reader_left = false);

  const std::string path_;
  const OnTrouble on_trouble_;
  std::mutex mutex_;
  std::condition_variable more_, less_;
  std::deque<std::string> lines_;
  std::size_t bytes_ = 0, lost_ = 0;
  bool ending_ = false, reopen_ = false;
  // Used by the thread only.
  int descriptor_ = -1;
  std::size_t written_ = 0;  ///< bytes of the first line
  bool troubled_ = false;
  std::thread thread_;
};

}  // namespace framequality::apps::watch
