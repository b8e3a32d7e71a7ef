// SPDX-License-Identifier: LGPL-2.1-or-later
// One file through decoder and meter, frame by frame.
#pragma once

#include "apps/common/meter.h"
#include "apps/scan/options.h"
#include "apps/scan/table.h"

#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps::scan {

/// What a file's video is, as far as it is known.
struct VideoFacts {
  int width = 0, height = 0;
  int rate_n = 0, rate_d = 1;             ///< frames per second; 0 if unknown or variable
  std::string format, codec;              ///< GStreamer's name; a description, may be empty
  std::optional<std::uint64_t> duration;  ///< ns, as the container says
};

/// A measured frame as it comes by, in the file's streaming thread. buffer and caps are valid during the call.
struct Measured {
  Row row;
  GstBuffer* buffer;
  GstCaps* caps;
  const VideoFacts& video;
};

/// Decodes a file's first video stream and measures it. Made, started and ended in the main thread; it needs the
/// default main context to run.
class FileScan {
 public:
  using OnFrame = std::function<void(const Measured&)>;
  /// `error` is empty, or says in one line why the file could not be scanned to its end.
  using OnEnd = std::function<void(const std::string& error)>;
  using OnWarning = std::function<void(const std::string& text)>;

  FileScan(std::string name, const MeterOptions& options, OnFrame on_frame);
  ~FileScan();  ///< stops it; on_frame is not called afterwards
  FileScan(const FileScan&) = delete;
  FileScan& operator=(const FileScan&) = delete;

  /// `ended` is called once, later, unless this is destroyed first; it may destroy this.
  void start(OnEnd ended, OnWarning warned);

  /// Frames decoded, and the part of the file that is done, 0...1. From any thread.
  std::uint64_t frames() const { return frames_; }
  double done() const;

  /// After the end.
  const VideoFacts& video() const { return video_; }

 private:
  static GstPadProbeReturn on_data(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static void on_element(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_pad(GstElement* source, GstPad* pad, gpointer self);
  static void on_no_more_pads(GstElement* source, gpointer self);
  static gboolean on_message(GstBus* bus, GstMessage* message, gpointer self);
  void build();
  void take_caps(GstCaps* caps);
  void measure(GstPad* pad, GstBuffer* buffer);
  std::string reason(GstMessage* message) const;
  std::string shortfall() const;
  void stop();
  void end(const std::string& error);

  const std::string name_;
  const MeterOptions options_;
  const OnFrame on_frame_;
  OnEnd ended_;
  OnWarning warned_;
  Owned<GstElement> pipeline_;
  GstElement *convert_ = nullptr, *meter_ = nullptr;  ///< the pipeline's
  guint watch_ = 0, idle_ = 0;
  std::string early_error_;  ///< found before the pipeline ran
  std::string codec_;
  std::vector<std::string> missing_;  ///< plugins that GStreamer says would be needed

  // In the streaming thread, until the pipeline has stopped.
  Owned<GstCaps> caps_;
  VideoFacts video_;
  std::vector<double> zones_;
  std::uint64_t video_end_ = 0;  ///< ns: where the last frame ends

  std::atomic<std::uint64_t> frames_ = 0, measured_ = 0, time_ = 0, duration_ = 0;
  std::atomic<std::uint64_t> data_end_ = 0;  ///< ns: how far the data of any stream of the file goes
  std::atomic<bool> linked_ = false;
};

}  // namespace framequality::apps::scan
