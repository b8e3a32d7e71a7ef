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
  /// What an error or warning of it says, in one line: cause() where there is one.
  std::string reason(GstMessage* message) const;
  /// What is behind an error of it: what is missing and which package has it, what cannot be decoded at all, or what
  /// did not start. Empty if the error itself says all there is.
  std::string cause(const Complaint& complaint) const;
  /// The demuxer has stopped and found no stream. Its error may be lost: decodebin drops those that come while it still
  /// starts a demuxer.
  bool has_given_up() const;
  /// What there is to say of a file without video.
  std::string emptiness() const;

 private:
  static void on_added(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_removed(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_type(GstElement* finder, guint probability, GstCaps* caps, gpointer self);

  std::vector<std::string> missing_,
      details_;  ///< what GStreamer says would be needed for video, for people and programs
  std::atomic<bool> is_heif_ = false;
  mutable std::mutex mutex_;
  Owned<GstElement> demuxer_;         ///< the first one
  std::vector<std::string> dropped_;  ///< decoders that were tried and taken out again
};

}  // namespace framequality::apps
