// SPDX-License-Identifier: LGPL-2.1-or-later
// A GPU's context, of which all pipelines have the same: each of its own takes half a second and hundreds of MB.
#include "apps/watch/contexts.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string_view>

namespace framequality::apps::watch {

namespace {

constexpr char kCuda[] = "gst.cuda.context";
// Who was to make one may have failed, or may have no GPU.
constexpr std::chrono::seconds kPatience{10};

struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  GstContext* context = nullptr;
  std::optional<std::chrono::steady_clock::time_point> awaited;  ///< until then somebody is making one
  bool is_over = false;
};

Shared& shared() {
  static Shared all;
  return all;
}

void answer(GstElement* element) {
  Shared& s = shared();
  GstContext* found = nullptr;
  {
    std::unique_lock lock(s.mutex);
    while (!s.context && !s.is_over && s.awaited && std::chrono::steady_clock::now() < *s.awaited)
      s.changed.wait_until(lock, *s.awaited);
    if (s.context)
      found = gst_context_ref(s.context);
    else
      s.awaited = std::chrono::steady_clock::now() + kPatience;
  }
  if (!found) return;
  gst_element_set_context(element, found);
  gst_context_unref(found);
}

void keep(GstContext* context) {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  if (!s.context) s.context = gst_context_ref(context);
  s.changed.notify_all();
}

}  // namespace

void share_context(GstMessage* message) {
  const gchar* type = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_NEED_CONTEXT && GST_IS_ELEMENT(GST_MESSAGE_SRC(message)) &&
      gst_message_parse_context_type(message, &type) && std::string_view(type) == kCuda) {
    answer(GST_ELEMENT(GST_MESSAGE_SRC(message)));
  } else if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_HAVE_CONTEXT) {
    GstContext* context = nullptr;
    gst_message_parse_have_context(message, &context);
    if (context && std::string_view(gst_context_get_context_type(context)) == kCuda) keep(context);
    if (context) gst_context_unref(context);
  }
}

void end_waiting() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  s.is_over = true;
  s.changed.notify_all();
}

bool drop_contexts() {
  Shared& s = shared();
  const std::lock_guard lock(s.mutex);
  const bool any = s.context;
  if (any) gst_context_unref(s.context);
  s.context = nullptr;
  s.awaited.reset();
  return any;
}

}  // namespace framequality::apps::watch
