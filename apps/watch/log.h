// SPDX-License-Identifier: LGPL-2.1-or-later
// Where events are written: a file, or stdout.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace framequality::apps::watch {

/// Appends lines in a thread of its own: no disk and no reader of stdout holds up the cameras. What cannot be written
/// is tried again; if too much waits, the newest lines are lost. Lines come out whole.
class Log {
 public:
  /// What went wrong, once until it goes well again, from the log's thread. `reader_left`: nobody reads stdout any
  /// more.
  using OnTrouble = std::function<void(const std::string& text, bool reader_left)>;
  /// `path` is empty for stdout. Throws std::runtime_error with path and reason.
  Log(std::string path, OnTrouble on_trouble);
  ~Log();  ///< as close(), with little patience
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  /// `line` with its end.
  void write(std::string line);
  /// Opens the file anew, which may have another name by now.
  void reopen();
  /// Writes what waits, if it can be written in this time.
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
  // The thread's.
  int descriptor_ = -1;
  std::size_t written_ = 0;  ///< of the first line
  bool troubled_ = false;
  std::thread thread_;
};

}  // namespace framequality::apps::watch
