// SPDX-License-Identifier: LGPL-2.1-or-later
// Output on stderr: lines that stay and, on a terminal, a progress bar below them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace framequality::apps::scan {

/// Progress of the whole run.
struct Standing {
  std::string name;                   ///< of the file being scanned
  std::size_t number, files;          ///< its place in the list, from 1
  double done;                        ///< share of everything, 0...1
  std::uint64_t frames;               ///< decoded so far
  std::size_t ended = 0, failed = 0;  ///< files; those that failed are among those that ended
};

/// The bar's text: at most `width` characters, which must be at least 1. rate: frames/s; left: seconds, negative if
/// unknown.
std::string bar_text(const Standing& standing, double rate, double left, std::size_t width, bool unicode);

/// The same as one JSON object without an end of line.
std::string progress_json(const Standing& standing, double rate, double left);

/// Prints on stderr. Main thread only.
class Console {
 public:
  /// kBar: shows a bar if stderr is a terminal. kJson: every line is a JSON object.
  enum class Kind { kPlain, kBar, kJson };
  explicit Console(Kind kind);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Period at which to call show(), in ms; 0: never.
  unsigned interval() const;
  /// Prints a line.
  void line(const std::string& text);
  void show(const Standing& standing);

 private:
  void erase();

  Kind kind_;
  bool unicode_, drawn_ = false;
  std::int64_t begun_, drawn_at_;
  std::uint64_t drawn_frames_ = 0;
  int draws_ = 0;
  double rate_ = 0;
};

}  // namespace framequality::apps::scan
