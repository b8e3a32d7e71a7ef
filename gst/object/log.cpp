// SPDX-License-Identifier: LGPL-2.1-or-later
// The way from the engine's log to GStreamer's.
#include "gst/object/log.h"

#include "host/log.h"

#include <string>
#include <string_view>

namespace framequality {

namespace {

GstDebugCategory* engine_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "framequality", 0, "what the engine decides, and all elements of framequality");
    return made;
  }();
  return category;
}

bool wants(host::LogLevel level) noexcept {
  return gst_debug_category_get_threshold(engine_category()) >= static_cast<GstDebugLevel>(level);
}

/// "find_device" of "Device framequality::find_device(int)".
std::string name_of(std::string_view signature) {
  const std::string_view before = signature.substr(0, signature.find('('));
  const std::size_t at = before.find_last_of(": ");
  return std::string(at == std::string_view::npos ? before : before.substr(at + 1));
}

void write([[maybe_unused]] host::LogLevel level, [[maybe_unused]] const std::source_location& from,
           [[maybe_unused]] const char* text) noexcept {
#ifndef GST_DISABLE_GST_DEBUG
  gst_debug_log_literal(engine_category(), static_cast<GstDebugLevel>(level), from.file_name(),
                        name_of(from.function_name()).c_str(), static_cast<gint>(from.line()), nullptr, text);
#endif
}

constexpr host::LogSink kSink{wants, write};

}  // namespace

GstDebugCategory* debug_category(const char* name, const char* description) {
  GstDebugCategory* made = nullptr;
  GST_DEBUG_CATEGORY_INIT(made, name, 0, description);
  const GstDebugLevel asked = gst_debug_category_get_threshold(engine_category());
  const bool is_named = gst_debug_category_get_threshold(made) != gst_debug_get_default_threshold();
  if (!is_named && asked > gst_debug_category_get_threshold(made)) gst_debug_category_set_threshold(made, asked);
  host::set_log_sink(&kSink);
  return made;
}

}  // namespace framequality
