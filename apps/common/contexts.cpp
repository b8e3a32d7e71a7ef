// SPDX-License-Identifier: LGPL-2.1-or-later
// GPUs' contexts, shared by all pipelines: each further one would take half a second and hundreds of MB.
#include "apps/common/contexts.h"

#include "apps/common/reach.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

namespace framequality::apps {

namespace {

constexpr char kCuda[] = "gst.cuda.context";
// The element expected to make one may have failed, or have no GPU.
constexpr std::chrono::seconds kPatience{10};

struct Entry {
  GstContext* context = nullptr;
  std::optional<std::chrono::steady_clock::time_point> awaited;  ///< until then an element is making one
};

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int, Entry> gpus;
  bool is_over = false;
};

Shared& shared() {
  static Shared all;
  return all;
}

void answer(GstElement* element, int gpu) {
  Shared& s = shared();
  GstContext* found = nullptr;
  {
    std::unique_lock lock(s.mutex);
    Entry& e = s.gpus[gpu];
    while (!e.context && !s.is_over && e.awaited && std::chrono::steady_clock::now() < *e.awaited)
      s.changed.wait_until(lock, *e.awaited);
    if (e.context)
      found = gst_context_ref(e.context);
    else
      e.awaited = std::chrono::steady_clock::now() + kPatience;
  }
  if (!found) return;
  gst_element_set_context(element, found);
  gst_context_unref(found);
}

void keep(GstContext* context, int gpu) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  Entry& e = s.gpus[gpu];
  if (!e.context) e.context = gst_context_ref(context);
  s.changed.notify_all();
}

}  // namespace

void share_context(GstMessage* message, int gpu) {
  const gchar* type = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT && GST_IS_ELEMENT(GST_MESSAGE_SRC(message)) &&
      gst_message_parse_context_type(message, &type) && std::string_view(type) == kCuda) {
    answer(GST_ELEMENT(GST_MESSAGE_SRC(message)), gpu);
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_HAVE_CONTEXT) {
    GstContext* context = nullptr;
    gst_message_parse_have_context(message, &context);
    if (context && std::string_view(gst_context_get_context_type(context)) == kCuda) keep(context, gpu);
    if (context) gst_context_unref(context);
  }
}

void share_contexts_of(GstBus* bus, int gpu) {
  const auto share = +[](GstBus*, GstMessage* message, gpointer on) {
    share_context(message, GPOINTER_TO_INT(on));
    return GST_BUS_PASS;
  };
  gst_bus_set_sync_handler(bus, share, GINT_TO_POINTER(gpu), nullptr);
}

void end_waiting() {
  end_asking();
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.is_over = true;
  s.changed.notify_all();
}

bool drop_contexts() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  bool any = false;
  for (auto& [gpu, e] : s.gpus) {
    any |= e.context != nullptr;
    if (e.context) gst_context_unref(e.context);
  }
  s.gpus.clear();
  return any;
}

}  // namespace framequality::apps
