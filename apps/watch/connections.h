// SPDX-License-Identifier: LGPL-2.1-or-later
// TCP connections of an RTSP source, which GStreamer does not expose.
#pragma once

#include <gio/gio.h>
#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace framequality::apps::watch {

/// GStreamer's reader of RTSP replies keeps all headers, checks nothing else meanwhile, and so cannot be
/// stopped as long as a server sends them. Closing its connections can end it. Thread-safe.
class Connections {
 public:
  Connections() = default;
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// Tracks the connections that this element, an rtspsrc, makes, if note() sees its messages.
  static void follow(GstElement* source, const std::shared_ptr<Connections>& connections);
  /// Handles a message of type PROGRESS, in the thread that posts it, which connects next.
  static void note(GstMessage* message);

  /// Bytes received before the server described its streams; 0 afterwards, or if the system does not count.
  std::uint64_t undescribed_bytes() const;
  /// Ends all current and future connections.
  void end();

 private:
  static gboolean on_event(GSignalInvocationHint* hint, guint count, const GValue* values, gpointer);
  void add(GSocket* socket);

  mutable std::mutex mutex_;
  std::vector<GSocket*> sockets_;
  bool ended_ = false;
  std::atomic<bool> described_ = false;
};

}  // namespace framequality::apps::watch
