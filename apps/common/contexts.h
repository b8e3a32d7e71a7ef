// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUs' contexts, one of each for all pipelines: one of its own takes each half a second and hundreds of MB.
#pragma once

#include <gst/gst.h>

namespace framequality::apps {

/// For bus sync handlers: answers NEED_CONTEXT of elements on a GPU with the context that another one made, or that is
/// being made, and keeps what HAVE_CONTEXT brings. `gpu`: the one that the message's pipeline runs on, by its CUDA id;
/// -1 where that is left to its elements. Any thread; waits for the first context, some seconds at most.
void share_context(GstMessage* message, int gpu = -1);

/// Makes that the sync handler of a bus, which has no other.
void share_contexts_of(GstBus* bus, int gpu = -1);

/// Nobody is to wait any more, not for a server that is asked either (reach.h): the program ends. Any thread.
void end_waiting();

/// Lets go of them, once no pipeline is left. True if there was one.
bool drop_contexts();

}  // namespace framequality::apps
