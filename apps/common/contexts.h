// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUs' contexts, shared by all pipelines: each further one would take half a second and hundreds of MB.
#pragma once

#include <gst/gst.h>

namespace framequality::apps {

/// For bus sync handlers: answers NEED_CONTEXT of elements on a GPU with the context that another one made, or is
/// making, and stores the one of HAVE_CONTEXT. `gpu`: CUDA id of the one that the message's pipeline runs on;
/// -1 if its elements choose. Any thread; waits for the first context, some seconds at most.
void share_context(GstMessage* message, int gpu = -1);

/// Installs that as the sync handler of a bus that has none.
void share_contexts_of(GstBus* bus, int gpu = -1);

/// Ends all waiting, also for servers that are being checked (reach.h), because the program ends. Any thread.
void end_waiting();

/// Releases all contexts; call it when no pipeline is left. True if there was one.
bool drop_contexts();

}  // namespace framequality::apps
