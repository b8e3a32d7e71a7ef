// SPDX-License-Identifier: LGPL-2.1-or-later
// Check whether the server of a failed source accepts connections.
#pragma once

#include <gst/gst.h>

#include <string>

namespace framequality::apps {

/// "cannot connect to 10.0.0.8:80: connection refused; is the camera on?" for an error of a source whose server
/// cannot be connected to, or a note that it can if the error is not specific; empty otherwise. Sources
/// seldom say why, so this connects to the server by TCP, which takes some seconds at most. Any thread.
std::string why_unreachable(GstMessage* error);

/// For bus sync handlers: replaces `message` by an error with that text. True if it did: then drop `message`.
bool explain_unreachable(GstBus* bus, GstMessage* message);

/// Ends all waiting for servers, because the program ends. Any thread.
void end_asking();

}  // namespace framequality::apps
