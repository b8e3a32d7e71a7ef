// SPDX-License-Identifier: LGPL-2.1-or-later
// What happens inside a pipeline that decodes any file: why it fails, and pictures that would fail for no good reason.
#pragma once

#include <gst/gst.h>

#include <mutex>
#include <string>
#include <vector>

namespace framequality::apps {

/// Watches the decoders that come into a pipeline, from before its start until after its end. BMP and TIFF pictures are
/// put together for libav's decoders, which no parser does, and go to GdkPixbuf's where those are not installed.
class Decoding {
 public:
  Decoding() = default;
  ~Decoding() = default;
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  /// Before the pipeline starts; this outlives it.
  void watch(GstElement* pipeline);
  /// A message of its bus, of type ELEMENT.
  void hear(GstMessage* message);
  /// What an error or warning of it says, in one line: what is missing, or what did not start.
  std::string reason(GstMessage* message) const;

 private:
  static void on_added(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_removed(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);

  std::vector<std::string> missing_;  ///< plugins that GStreamer says would be needed
  mutable std::mutex mutex_;
  std::vector<std::string> dropped_;  ///< decoders that were tried and taken out again
};

}  // namespace framequality::apps
