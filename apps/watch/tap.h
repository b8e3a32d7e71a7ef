// SPDX-License-Identifier: LGPL-2.1-or-later
// Counts and times of the frames that pass a pad, readable from any thread.
#pragma once

#include "apps/common/owned.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::watch {

/// A request for an image.
struct Wish {
  guint32 event = 0;  ///< seqnum of its event's message; 0: a thumbnail
  std::string state;  ///< of the event
  gint64 time = 0;    ///< µs since 1970
};

/// Counts frames, and hands one out on request: none is held.
class Tap : public std::enable_shared_from_this<Tap> {
 public:
  /// Called in the streaming thread; it must not block.
  using OnPicture = std::function<void(Owned<GstSample> frame, const Wish& wish)>;
  explicit Tap(OnPicture on_picture) : on_picture_(std::move(on_picture)) {}

  /// Observes this pad from now on.
  void attach(GstPad* pad);
  /// Requests the next frame. One thumbnail request is enough.
  void wish(Wish wish);

  std::uint64_t frames() const { return frames_; }
  gint64 last_frame() const { return last_; }  ///< µs of g_get_monotonic_time(); 0: none
  int width() const { return width_; }
  int height() const { return height_; }

 private:
  static GstPadProbeReturn on_data(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  void give(GstPad* pad, GstBuffer* buffer);

  const OnPicture on_picture_;
  std::atomic<std::uint64_t> frames_ = 0;
  std::atomic<gint64> last_ = 0;
  std::atomic<int> width_ = 0, height_ = 0;
  std::atomic<bool> wanted_ = false;
  std::mutex mutex_;
  std::vector<Wish> wishes_;
};

}  // namespace framequality::apps::watch
