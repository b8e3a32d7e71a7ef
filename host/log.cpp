// SPDX-License-Identifier: LGPL-2.1-or-later
// The one sink of the engine's log.
#include "host/log.h"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace framequality::host {

namespace {

std::atomic<const LogSink*> the_sink{nullptr};

}  // namespace

void set_log_sink(const LogSink* sink) noexcept { the_sink = sink; }

bool is_logged(LogLevel level) noexcept {
  const LogSink* sink = the_sink.load(std::memory_order_acquire);
  return sink && sink->wants(level);
}

void log(LogFrom from, const char* format, ...) noexcept {
  const LogSink* sink = the_sink.load(std::memory_order_acquire);
  if (!sink || !sink->wants(from.level)) return;
  std::array<char, 501> text;
  std::va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  if (length >= 0) sink->write(from.level, from.from, text.data());
}

}  // namespace framequality::host
