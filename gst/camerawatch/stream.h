// SPDX-License-Identifier: LGPL-2.1-or-later
// The watch over one stream: metadata in, messages out, and the file that stores learned values.
#pragma once

#include "algorithms/watch/camera_watch.h"
#include "gst/camerawatch/baseline_file.h"
#include "gst/object/owned.h"
#include "gst/object/shared.h"

#include <gst/gst.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace framequality {

/// The element's settings.
struct CameraWatchOptions {
  CameraWatchSettings watch;
  std::string baseline_location;  ///< empty: the baseline is not stored
};

/// The current status; any thread may have a copy.
struct CameraStatus {
  CameraState state = CameraState::kLearning;
  double seconds = 0;  ///< duration so far
  CameraFigures figures;
  double black = 0;  ///< pixel value of black: figures.mean is relative to it
  std::uint64_t frames = 0, unscored = 0;
};

/// Thread-safety: options(), status() and relearn() from any thread; the rest with the stream lock of the element's
/// sink pad.
class CameraWatchStream {
 public:
  /// element: posts the messages.
  explicit CameraWatchStream(GstElement* element) : element_(element), file_(std::make_shared<File>()) {}

  Shared<CameraWatchOptions>& options() { return options_; }
  CameraStatus status() const { return status_.get(); }
  void relearn() { relearn_ = true; }

  /// Loads the baseline. An unusable file causes a warning, and is not written to either.
  void start();
  /// Saves the baseline.
  void stop();

  void take_caps(GstCaps* caps);
  void frame(GstBuffer* buffer, const GstSegment& segment);
  /// Starts another stretch of time.
  void begin_anew() { watch_.begin_anew(); }

 private:
  /// A file written by one thread at a time, the newest text last.
  struct File {
    /// Any thread; may take long.
    void write(GstElement* element, const std::string& path, const std::string& text, std::uint64_t number);
    std::mutex mutex;
    std::uint64_t written = 0;  ///< number of the stored text
    bool has_warned = false;
  };

  bool read(const GstStructure* fields, GstBuffer* buffer, const GstSegment& segment);
  void mind_kind(const GstStructure* fields, const GstSegment& segment, GstClockTime pts);
  void learn_anew(const GstSegment& segment, GstClockTime pts);
  void tell(const CameraNews& news, const std::string& state, const std::string& reason, const CameraFigures& figures,
            const GstSegment& segment, GstClockTime pts);
  void warn_of_missing(const GstStructure* fields);
  void warn(const std::string& text);
  void save_if_due();
  void save(bool wait);

  GstElement* element_;
  Shared<CameraWatchOptions> options_;
  Shared<CameraStatus> status_;
  std::atomic<bool> relearn_ = false;

  CameraWatch watch_;
  CameraWatchOptions now_;  ///< of this frame
  WatchedFrame frame_;
  std::vector<double> zones_;
  double black_ = 0, range_ = 255;  ///< of luma
  std::uint64_t frames_ = 0, unscored_ = 0;
  bool warned_unscored_ = false, warned_missing_ = false;

  std::shared_ptr<File> file_;
  std::string location_;     ///< empty: not stored
  ScoreKind kind_;           ///< of the baseline; without a metric until one is seen
  std::uint64_t texts_ = 0;  ///< number of texts handed over for writing
  int saved_levels_ = 0;
  GstClockTime saved_ = GST_CLOCK_TIME_NONE;  ///< running time
};

}  // namespace framequality
