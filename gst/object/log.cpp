// SPDX-License-Identifier: LGPL-2.1-or-later
// Bridge from the engine's log to GStreamer's.
#include "gst/object/log.h"

#include "host/log.h"

namespace framequality {

namespace {

GstDebugCategory* engine_category() {
  static GstDebugCategory* const category = [] {
    GstDebugCategory* made = nullptr;
    GST_DEBUG_CATEGORY_INIT(made, "framequality", 0,
                            "decisions of the engine; its level applies to all elements of framequality");
    return made;
  }();
  return category;
}

bool wants(host::LogLevel level) noexcept {
  return gst_debug_category_get_threshold(engine_category()) >= static_cast<GstDebugLevel>(level);
}

void write([[maybe_unused]] host::LogLevel level, [[maybe_unused]] const host::Caller& from,
           [[maybe_unused]] const char* text) noexcept {
#ifndef GST_DISABLE_GST_DEBUG
  gst_debug_log_literal(engine_category(), static_cast<GstDebugLevel>(level), from.file, from.function, from.line,
                        nullptr, text);
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
