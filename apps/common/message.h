// SPDX-License-Identifier: LGPL-2.1-or-later
// Texts of GStreamer's errors and warnings.
#pragma once

#include <gst/gst.h>

#include <string>

namespace framequality::apps {

/// An error or a warning, as text for users.
struct Complaint {
  GQuark domain = 0;
  int code = 0;
  std::string text;     ///< without a full stop
  std::string details;  ///< the last line for developers, which is more specific where `text` is the same for
                        ///< everything; never a place in GStreamer's sources; may be empty

  bool is(GQuark d, int c) const { return domain == d && code == c; }
};

/// The text of a message of type ERROR or WARNING.
Complaint complaint_of(GstMessage* message);

}  // namespace framequality::apps
