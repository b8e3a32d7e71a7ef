// SPDX-License-Identifier: LGPL-2.1-or-later
// A GPU's context, of which all pipelines have the same: each of its own takes half a second and hundreds of MB.
#pragma once

#include <gst/gst.h>

namespace framequality::apps::watch {

/// For bus sync handlers: answers NEED_CONTEXT of decoders on the GPU with the context that another one made, or that
/// is being made, and keeps what HAVE_CONTEXT brings. Any thread; waits for the first one, some seconds at most.
void share_context(GstMessage* message);

/// Nobody is to wait any more: the program ends. Any thread.
void end_waiting();

/// Lets go of it, once no pipeline is left. True if there was one.
bool drop_contexts();

}  // namespace framequality::apps::watch
