// SPDX-License-Identifier: LGPL-2.1-or-later
// Preloaded into ThreadSanitizer runs: tells it of GLib's locks and reference counts, which it cannot see (futexes and
// atomics in libraries that are not instrumented) and without which every hand-over between threads looks like a race.
#include <glib-object.h>
#include <gst/gst.h>

#include <dlfcn.h>

extern "C" {
void __tsan_acquire(void* address);
void __tsan_release(void* address);
}

namespace {
template <class F>
F next(F, const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}
}  // namespace

// A call that locks has seen what was done before the unlock; one that unlocks publishes.
#define LOCK(name, type)                    \
  void name(type* lock) {                   \
    static auto* real = next(&name, #name); \
    real(lock);                             \
    __tsan_acquire(lock);                   \
  }
#define TRYLOCK(name, type)                 \
  gboolean name(type* lock) {               \
    static auto* real = next(&name, #name); \
    const gboolean locked = real(lock);     \
    if (locked) __tsan_acquire(lock);       \
    return locked;                          \
  }
#define UNLOCK(name, type)                  \
  void name(type* lock) {                   \
    static auto* real = next(&name, #name); \
    __tsan_release(lock);                   \
    real(lock);                             \
  }
// What a thread did with an object is done before another drops the last reference and frees it.
#define UNREF(name, type)                   \
  void name(type* object) {                 \
    static auto* real = next(&name, #name); \
    __tsan_release(object);                 \
    __tsan_acquire(object);                 \
    real(object);                           \
  }

extern "C" {
#undef g_object_unref
#undef gst_mini_object_unref
LOCK(g_mutex_lock, GMutex)
TRYLOCK(g_mutex_trylock, GMutex)
UNLOCK(g_mutex_unlock, GMutex)
UNREF(g_object_unref, void)
UNREF(gst_mini_object_unref, GstMiniObject)
UNREF(gst_object_unref, void)

void g_cond_wait(GCond* cond, GMutex* mutex) {
  static auto* real = next(&g_cond_wait, "g_cond_wait");
  __tsan_release(mutex);
  real(cond, mutex);
  __tsan_acquire(mutex);
}

gboolean g_cond_wait_until(GCond* cond, GMutex* mutex, gint64 end) {
  static auto* real = next(&g_cond_wait_until, "g_cond_wait_until");
  __tsan_release(mutex);
  const gboolean woken = real(cond, mutex, end);
  __tsan_acquire(mutex);
  return woken;
}
}
