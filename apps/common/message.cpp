// SPDX-License-Identifier: LGPL-2.1-or-later
// What errors and warnings of GStreamer say.
#include "apps/common/message.h"

#include <string_view>

namespace framequality::apps {

Complaint complaint_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  std::string_view details = debug ? debug : "";
  while (details.ends_with('\n')) details.remove_suffix(1);
  if (const auto line = details.find_last_of('\n'); line != std::string_view::npos) details.remove_prefix(line + 1);
  Complaint complaint{error->domain, error->code, error->message, std::string(details)};
  while (complaint.text.ends_with('.')) complaint.text.pop_back();
  g_error_free(error);
  g_free(debug);
  return complaint;
}

}  // namespace framequality::apps
