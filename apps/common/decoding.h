// SPDX-License-Identifier: LGPL-2.1-or-later
// Inside of pipelines that decode any file: reasons for failures, and workarounds for images that should not fail.
#pragma once

#include "apps/common/message.h"
#include "apps/common/owned.h"

#include <gst/gst.h>

#include <atomic>
#include <mutex>
#include <string>
#include <vector>

namespace framequality::apps {

/// Watches the decoders that enter a pipeline, from before its start until after its end. BMP and TIFF images are
/// reassembled for libav's decoders, because no parser does, or go to GdkPixbuf's if those are not installed.
class Decoding {
 public:
  Decoding() = default;
  ~Decoding() = default;
  Decoding(const Decoding&) = delete;
  Decoding& operator=(const Decoding&) = delete;

  /// Call before the pipeline starts; this outlives it.
  void watch(GstElement* pipeline);
  /// Takes in a message of its bus, of type ELEMENT.
  void hear(GstMessage* message);
  /// The text of an error or warning of it, in one line: cause() if there is one.
  std::string reason(GstMessage* message) const;
  /// The cause behind an error of it: what is missing and which package has it, what cannot be decoded at all, or what
  /// did not start. Empty if the error itself says everything.
  std::string cause(const Complaint& complaint) const;
  /// True if the demuxer stopped without finding a stream. Its error may be lost: decodebin drops errors while it
  /// starts a demuxer.
  bool has_given_up() const;
  /// The reason why a file has no video.
  std::string emptiness() const;

 private:
  static void on_added(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_removed(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_type(GstElement* finder, guint probability, GstCaps* caps, gpointer self);

  std::vector<std::string> missing_,
      details_;  ///< GStreamer's descriptions of what video needs, for people and programs
  std::atomic<bool> is_heif_ = false;
  mutable std::mutex mutex_;
  Owned<GstElement> demuxer_;         ///< the first one
  std::vector<std::string> dropped_;  ///< decoders that were tried and removed again
};

}  // namespace framequality::apps
