// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine's log: what it decided and why, for whoever wants to hear it. Knows neither GStreamer nor a file.
#pragma once

namespace framequality::host {

/// How loud a line is, by GStreamer's numbers. kLog is for what happens with every frame, the others are not.
enum class LogLevel { kWarning = 2, kInfo = 4, kDebug = 5, kLog = 6 };

/// Where a line comes from. Not std::source_location, which clang 14 cannot make of GCC 12's library.
struct Caller {
  const char* file;
  const char* function;
  int line;
};

/// Takes lines. Both functions are called from any thread, also at the same time, and must not throw.
struct LogSink {
  bool (*wants)(LogLevel level) noexcept;
  void (*write)(LogLevel level, const Caller& from, const char* text) noexcept;
};

/// All lines go there from now on; null, as at the beginning: nowhere. The sink is never copied and must stay.
void set_log_sink(const LogSink* sink) noexcept;

/// A level, with the place of the call that names it.
struct LogFrom {
  // NOLINTNEXTLINE(google-explicit-constructor): log(LogLevel::kDebug, ...) is how it is called
  LogFrom(LogLevel level, const char* file = __builtin_FILE(), const char* function = __builtin_FUNCTION(),
          int line = __builtin_LINE()) noexcept
      : level(level), from{file, function, line} {}
  LogLevel level;
  Caller from;
};

/// True if a line of this level is wanted: for what costs something to put together.
bool is_logged(LogLevel level) noexcept;

/// One line, as printf() takes it, cut at 500 characters. Where nobody wants it, it costs a comparison.
[[gnu::format(printf, 2, 3)]] void log(LogFrom from, const char* format, ...) noexcept;

}  // namespace framequality::host
