// SPDX-License-Identifier: LGPL-2.1-or-later
// The small images of the live page: made on request, and at most once a second.
#include "apps/watch/thumbnails.h"

namespace framequality::apps::watch {

namespace {

constexpr gint64 kFresh = G_USEC_PER_SEC, kPatience = gint64{2} * G_USEC_PER_SEC;

}  // namespace

std::optional<std::string> Thumbnails::get(std::size_t camera, bool has_frames, gint64 now) {
  // Cameras with a wrong configuration have an index in the status, but none here.
  if (camera >= images_.size()) return "";
  std::unique_lock lock(mutex_);
  Image& image = images_[camera];
  if (!has_frames || (image.made != 0 && now - image.made < kFresh)) return image.jpeg;
  if (image.wanted == 0) image.wanted = now;
  std::optional<std::string> found;
  if (now - image.wanted >= kPatience) found = image.jpeg;
  // One request is enough for all who wait, but requests to a pipeline can get lost.
  if (image.asked == 0 || now - image.asked >= kFresh) {
    image.asked = now;
    lock.unlock();
    ask_(camera);
  }
  return found;
}

void Thumbnails::put(std::size_t camera, std::string jpeg, gint64 now) {
  {
    const std::lock_guard lock(mutex_);
    Image& image = images_[camera];
    if (!jpeg.empty()) image.jpeg = std::move(jpeg);
    image.made = now;
    image.wanted = image.asked = 0;
  }
  fresh_();
}

}  // namespace framequality::apps::watch
