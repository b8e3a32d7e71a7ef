// SPDX-License-Identifier: LGPL-2.1-or-later
// The small pictures of the live page: made when they are asked for, and at most once a second.
#include "apps/watch/thumbnails.h"

#include <chrono>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr gint64 kFresh = G_USEC_PER_SEC;
constexpr std::chrono::milliseconds kPatience{2000};

}  // namespace

std::string Thumbnails::get(std::size_t camera, bool has_frames) {
  // Cameras whose configuration is wrong have a place in the status, but none here.
  if (camera >= pictures_.size()) return "";
  std::unique_lock lock(mutex_);
  Picture& picture = pictures_[camera];
  const gint64 now = g_get_monotonic_time();
  if (!has_frames || closed_ || (picture.made != 0 && now - picture.made < kFresh)) return picture.jpeg;
  // Whoever comes meanwhile waits for the same one.
  if (picture.asked == 0 || now - picture.asked >= kFresh) {
    picture.asked = now;
    lock.unlock();
    ask_(camera);
    lock.lock();
  }
  fresh_.wait_for(lock, kPatience, [&] { return closed_ || picture.made >= now; });
  return picture.jpeg;
}

void Thumbnails::put(std::size_t camera, std::string jpeg) {
  const std::lock_guard lock(mutex_);
  Picture& picture = pictures_[camera];
  if (!jpeg.empty()) picture.jpeg = std::move(jpeg);
  picture.made = g_get_monotonic_time();
  fresh_.notify_all();
}

void Thumbnails::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  fresh_.notify_all();
}

}  // namespace framequality::apps::watch
