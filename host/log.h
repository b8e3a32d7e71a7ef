// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine's log: decisions and reasons, for an optional sink. Independent of GStreamer and files.
#pragma once

namespace framequality::host {

/// Levels, by GStreamer's numbers. kLog is for events of every frame, the others are rarer.
enum class LogLevel { kWarning = 2, kInfo = 4, kDebug = 5, kLog = 6 };

/// Source of a line. Not std::source_location, which clang 14 cannot compile from GCC 12's library.
struct Caller {
  const char* file;
  const char* function;
  int line;
};

/// Receives lines. Both functions are called from any thread, also at the same time, and must not throw.
struct LogSink {
  bool (*wants)(LogLevel level) noexcept;
  void (*write)(LogLevel level, const Caller& from, const char* text) noexcept;
};

/// Sends all lines there from now on; null, as initially: nowhere. The sink is not copied and must outlive its use.
void set_log_sink(const LogSink* sink) noexcept;

/// A level, with the caller's location.
struct LogFrom {
  // NOLINTNEXTLINE(google-explicit-constructor): log(LogLevel::kDebug, ...) is how it is called
  LogFrom(LogLevel level, const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
          int line = __builtin_LINE()) noexcept
      : level(level), from{file, function, line} {}
  LogLevel level;
  Caller from;
};

/// True if lines of this level are wanted: check before costly formatting.
bool is_logged(LogLevel level) noexcept;

/// Writes one line, formatted as by printf(), cut at 500 characters. Unwanted lines cost a comparison.
[[gnu::format(printf, 2, 3)]] void log(LogFrom from, const char* format, ...) noexcept;

}  // namespace framequality::host
