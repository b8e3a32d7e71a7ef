// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts and times of the frames that pass a pad, readable from any thread.
#include "apps/watch/tap.h"

#include <gst/video/video.h>

#include <algorithm>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr std::size_t kMostWishes = 8;

}  // namespace

void Tap::attach(GstPad* pad) {
  gst_pad_add_probe(pad, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
                    on_data, new std::shared_ptr<Tap>(shared_from_this()),
                    [](gpointer self) { delete static_cast<std::shared_ptr<Tap>*>(self); });
}

void Tap::wish(Wish wish) {
  const std::lock_guard lock(mutex_);
  const bool there =
      std::any_of(wishes_.begin(), wishes_.end(), [&](const Wish& other) { return other.event == wish.event; });
  if (!there && wishes_.size() < kMostWishes) wishes_.push_back(std::move(wish));
  wanted_ = true;
}

GstPadProbeReturn Tap::on_data(GstPad* pad, GstPadProbeInfo* info, gpointer self) {
  Tap& tap = **static_cast<std::shared_ptr<Tap>*>(self);
  if (GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_BUFFER) {
    ++tap.frames_;
    tap.last_ = g_get_monotonic_time();
    if (tap.wanted_) tap.give(pad, GST_PAD_PROBE_INFO_BUFFER(info));
  } else if (GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info); GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    GstVideoInfo video;
    gst_event_parse_caps(event, &caps);
    if (gst_video_info_from_caps(&video, caps)) {
      tap.width_ = GST_VIDEO_INFO_WIDTH(&video);
      tap.height_ = GST_VIDEO_INFO_HEIGHT(&video);
    }
  }
  return GST_PAD_PROBE_OK;
}

void Tap::give(GstPad* pad, GstBuffer* buffer) {
  std::vector<Wish> wishes;
  {
    const std::lock_guard lock(mutex_);
    wishes = std::exchange(wishes_, {});
    wanted_ = false;
  }
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  if (!caps) return;
  for (const Wish& wish : wishes)
    on_picture_(Owned<GstSample>(gst_sample_new(buffer, caps.get(), nullptr, nullptr)), wish);
}

}  // namespace framequality::apps::watch
