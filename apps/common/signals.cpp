// SPDX-License-Identifier: LGPL-2.1-or-later
// Requests to end.
#include "apps/common/signals.h"

#include "apps/common/threads.h"

#include <glib-unix.h>

#include <csignal>
#include <utility>

namespace framequality::apps {

Signals::Signals(std::function<void(int)> came)
    : came_(std::move(came)), context_(g_main_context_new()), loop_(g_main_loop_new(context_, FALSE)) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) watch(signal);
  thread_ = make_thread([this] { g_main_loop_run(loop_); });
}

Signals::~Signals() {
  // Quitting a loop that is not running yet has no effect.
  GSource* quit = g_idle_source_new();
  g_source_set_callback(
      quit,
      [](gpointer loop) -> gboolean {
        g_main_loop_quit(static_cast<GMainLoop*>(loop));
        return G_SOURCE_REMOVE;
      },
      loop_, nullptr);
  g_source_attach(quit, context_);
  g_source_unref(quit);
  thread_.join();
  g_main_loop_unref(loop_);
  g_main_context_unref(context_);
}

void Signals::watch(int signal) {
  struct sigaction now = {};
  if (sigaction(signal, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) return;
  struct Call {
    Signals* self;
    int signal;
  };
  // GLib restores the signal's default action when its source is gone.
  GSource* source = g_unix_signal_source_new(signal);
  g_source_set_callback(
      source,
      [](gpointer data) -> gboolean {
        const Call* call = static_cast<Call*>(data);
        call->self->came_(call->signal);
        return G_SOURCE_REMOVE;
      },
      new Call{this, signal}, [](gpointer data) { delete static_cast<Call*>(data); });
  g_source_attach(source, context_);
  g_source_unref(source);
}

}  // namespace framequality::apps
