// SPDX-License-Identifier: LGPL-2.1-or-later
// Texts of GStreamer's errors and warnings.
#include "apps/common/message.h"

#include <string_view>

namespace framequality::apps {

namespace {

/// Whether a line is a location, which GStreamer puts first: "file.c(12): function (): /path:".
bool is_location(const std::string& line) {
  return g_regex_match_simple(R"(^.+\(\d+\): .+ \(\): /)", line.c_str(), G_REGEX_RAW, static_cast<GRegexMatchFlags>(0));
}

/// The last line that is not a location.
std::string last_line(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find_last_of('\n');
    std::string line(end == text.npos ? text : text.substr(end + 1));
    if (!line.empty() && !is_location(line)) return line;
    text = text.substr(0, end == text.npos ? 0 : end);
  }
  return "";
}

}  // namespace

Complaint complaint_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  Complaint complaint{error->domain, error->code, error->message, last_line(debug ? debug : "")};
  while (complaint.text.ends_with('.')) complaint.text.pop_back();
  g_error_free(error);
  g_free(debug);
  return complaint;
}

}  // namespace framequality::apps
