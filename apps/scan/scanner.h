// SPDX-License-Identifier: LGPL-2.1-or-later
// One file through decoder and meter, frame by frame.
#pragma once

#include "apps/common/decoding.h"
#include "apps/common/exif.h"
#include "apps/common/later.h"
#include "apps/common/meter.h"
#include "apps/common/still.h"
#include "apps/common/taken.h"
#include "apps/scan/options.h"
#include "apps/scan/table.h"

#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace framequality::apps::scan {

/// Properties of a file's video, as far as known.
struct VideoFacts {
  int width = 0, height = 0;
  int rate_n = 0, rate_d = 1;             ///< frames per second; 0 if unknown or variable
  std::string format, codec;              ///< GStreamer's name; a description, may be empty
  std::optional<std::uint64_t> duration;  ///< ns, as the container says
  bool picture = false;                   ///< the file is a still image
  GstVideoOrientationMethod orientation = GST_VIDEO_ORIENTATION_IDENTITY;  ///< how frames must be turned
  std::set<std::string> devices;                                           ///< that measured frames: cpu, cuda
  Taken taken;                                                             ///< of a photograph, from its EXIF block
  std::shared_ptr<GstTagList> tags;  ///< all tags of the file; may be null; never modified
};

/// A measured frame, in the file's streaming thread. buffer and caps are valid during the call.
struct Measured {
  Row row;
  GstBuffer* buffer;
  GstCaps* caps;
  const VideoFacts& video;
};

/// Decodes and measures a file's first video stream, from its beginning or from a keyframe on. Construct, start and
/// destroy it in the main thread; it needs the default main context to run.
class FileScan {
 public:
  struct Calls {
    /// A frame, in a streaming thread; numbered from 0 where the scan began. Return false to stop: then
    /// the stream stands still until seek() or the end.
    std::function<bool(const Measured&)> frame;
    /// The file has been read to its end, in a streaming thread, after the last frame; not after an error. `shortfall`:
    /// empty, or how a file ended too early.
    std::function<void(const std::string& shortfall)> all_read;
    /// Once, in the main thread: the first frame has arrived, and can_cut() is known.
    std::function<void()> opened;
    /// Called in the main thread.
    std::function<void(const std::string& text)> warned;
    /// At most once, in the main thread: why the file could not be scanned to its end, in one line. May destroy the
    /// scan.
    std::function<void(const std::string& why)> failed;
  };

  /// gpu: CUDA id of the one that decodes and measures video, -1 for none; photographs are decoded without it, and,
  /// with device=auto, measured on the CPU, which is done before a GPU has started. stall_timeout:
  /// seconds without any data, while frames are wanted, after which it fails; 0: never.
  FileScan(std::string name, const MeterOptions& options, int gpu, int stall_timeout, Calls calls);
  ~FileScan();  ///< stops it; nothing is called afterwards
  FileScan(const FileScan&) = delete;
  FileScan& operator=(const FileScan&) = delete;

  /// Starts at the beginning, or at the last keyframe up to a time of the file, in ns; there at the first frame that
  /// the decoder does not mark as damaged.
  void start(std::optional<std::uint64_t> from = std::nullopt);
  /// Continues at the last keyframe up to this time, after a frame that returned false.
  void seek(std::uint64_t time);
  /// Destroys a scan, in a thread of its own if possible: closing a hardware decoder takes tens of milliseconds.
  /// None of its calls is made any more. `gone`, which may be empty: called in the main thread when it is
  /// destroyed, or at once if that may take forever.
  static void retire(std::unique_ptr<FileScan> scan, std::function<void()> gone = {});
  /// Waits for all retired scans.
  static void wait_for_retired();

  /// Frames decoded, and the share of the file that is done, 0...1. Any thread.
  std::uint64_t frames() const { return frames_; }
  double done() const;

  /// Once opened: whether scans from keyframes give the same as one of the whole file, because the container has an
  /// index and a time for every frame; and whether a GPU decodes.
  bool can_cut() const { return can_cut_; }
  bool is_on_gpu() const { return decoder_gpu_ >= 0; }
  std::uint64_t duration() const { return duration_; }  ///< ns; 0: unknown
  double rate() const { return rate_; }                 ///< frames per second; 0: unknown
  /// After all_read or failed, when `frame` no longer waits.
  VideoFacts video() const;

 private:
  static GstPadProbeReturn on_data(GstPad* pad, GstPadProbeInfo* info, gpointer self);
  static void on_element(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_element_removed(GstBin* bin, GstBin* inner, GstElement* element, gpointer self);
  static void on_pad(GstElement* source, GstPad* pad, gpointer self);
  static void on_no_more_pads(GstElement* source, gpointer self);
  static gint on_select(GstElement* source, GstPad* pad, GstCaps* caps, GstElementFactory* factory, gpointer self);
  static GstBusSyncReply on_sync_message(GstBus* bus, GstMessage* message, gpointer self);
  static void on_type(GstElement* finder, guint probability, GstCaps* caps, gpointer self);
  static gboolean on_message(GstBus* bus, GstMessage* message, gpointer self);
  static gboolean on_second(gpointer self);
  void build();
  void set_going(GstState state);
  void start_meter();
  void take_event(GstEvent* event);
  void take_caps(GstCaps* caps);
  void take_tags(const GstTagList* tags);
  std::optional<Still> look_at_photograph();
  void take_exif(const ExifBlock& block);
  void measure(GstPad* pad, GstBuffer* buffer);
  void look_at_file(GstPad* pad);
  void silence();
  void stop();
  void fail(const std::string& why);
  std::string shown(const std::string& text) const;
  std::string shortfall() const;

  const std::string name_;
  const MeterOptions options_;
  const int gpu_, stall_timeout_;
  bool stalled_ = false;  ///< its threads may be stuck: do not wait for them
  const Calls calls_;
  Decoding decoding_;
  Owned<GstElement> pipeline_;
  GstElement *convert_ = nullptr, *queue_ = nullptr, *meter_ = nullptr;  ///< the pipeline's
  guint watch_ = 0, clock_ = 0;
  int idle_seconds_ = 0;
  std::uint64_t progress_seen_ = 0;
  std::thread starter_;
  LaterCalls later_;
  std::optional<std::uint64_t> from_;  ///< where to begin, until the seek is sent
  std::string early_error_;            ///< found before the pipeline ran
  std::string codec_;

  // Used by the streaming thread until the pipeline has stopped.
  Owned<GstCaps> caps_;
  VideoFacts video_;
  bool is_cut_ = false;  ///< the file is a photograph that lacks its end
  std::vector<double> zones_;
  std::uint64_t video_end_ = 0;  ///< ns: where the last frame ends

  mutable std::mutex mutex_;  ///< held while `frame` and `all_read` are called
  std::condition_variable changed_;
  bool listening_ = true;  ///< frames are wanted ones, not from before a seek
  bool intact_ = true;     ///< no frame at the beginning is damaged for lack of earlier ones
  bool held_ = false, ending_ = false;

  std::atomic<std::uint64_t> frames_ = 0, measured_ = 0, time_ = 0, duration_ = 0;
  std::atomic<std::uint64_t> progress_ = 0;  ///< counts reads and decoded frames
  std::atomic<bool> waits_for_us_ = false;   ///< frame or all_read is running, or no more frames are wanted
  std::atomic<std::uint64_t> data_end_ = 0;  ///< ns: end of the data of all streams of the file
  std::atomic<std::uint64_t> read_end_ = 0;  ///< bytes: how far the demuxer has read since the first frame; 0: unknown
  std::atomic<int> streams_ = 0;             ///< of the file
  std::atomic<int> decoder_gpu_ = -1;        ///< CUDA id of the GPU that decodes
  std::atomic<double> rate_ = 0;
  std::atomic<bool> linked_ = false, has_index_ = false, can_cut_ = false, has_opened_ = false, has_failed_ = false,
                    typed_ = false, image_ = false;
};

}  // namespace framequality::apps::scan
