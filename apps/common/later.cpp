// SPDX-License-Identifier: LGPL-2.1-or-later
// Calls to be made from the main loop.
#include "apps/common/later.h"

#include <algorithm>
#include <utility>

namespace framequality::apps {

guint call_later(std::function<void()> what) {
  return g_idle_add_full(
      G_PRIORITY_DEFAULT_IDLE,
      [](gpointer call) -> gboolean {
        // The call may destroy the object that it was made for.
        const auto now = *static_cast<std::function<void()>*>(call);
        now();
        return G_SOURCE_REMOVE;
      },
      new std::function<void()>(std::move(what)),
      [](gpointer call) { delete static_cast<std::function<void()>*>(call); });
}

void LaterCalls::add(std::function<void()> what) {
  const std::lock_guard lock(mutex_);
  // Calls already made need not be remembered.
  std::erase_if(all_, [](guint id) { return !g_main_context_find_source_by_id(nullptr, id); });
  all_.push_back(call_later(std::move(what)));
}

void LaterCalls::drop() {
  const std::lock_guard lock(mutex_);
  for (const guint id : all_)
    if (GSource* source = g_main_context_find_source_by_id(nullptr, id)) g_source_destroy(source);
  all_.clear();
}

}  // namespace framequality::apps
