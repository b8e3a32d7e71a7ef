// SPDX-License-Identifier: LGPL-2.1-or-later
// Check whether the server of a failed source accepts connections.
#pragma once

#include <gst/gst.h>

#include <string>

namespace framequality::apps {

/// "cannot connect to 10.0.0.8:80: connection refused; is the camera on?" for an error of a source with the URL of a
/// server that cannot be connected to, and that it can where the error does not say more; empty otherwise. Sources
/// seldom say why: the server is asked, by TCP, which takes some seconds at most. Any thread.
std::string why_unreachable(GstMessage* error);

/// For bus sync handlers: posts an error that says so in the place of `message`. True if it did: then drop that.
bool explain_unreachable(GstBus* bus, GstMessage* message);

/// No server is to be waited for any more: the program ends. Any thread.
void end_asking();

}  // namespace framequality::apps
