// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of one format on their way through an element that works on a device: the shared part of meters and filters.
#pragma once

#include "engine/session.h"
#include "gst/base/device_base.h"
#include "gst/buffer/frame.h"
#include "gst/buffer/significant_bits.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace framequality {

/// Exists from caps to stop, so a half-configured stream cannot be used. Frames come in through take(), and leave in
/// order through it or finish(). Thread-safety: the sink pad's stream lock. Functions throw what guard() catches.
class Stream : protected SessionHost {
 public:
  /// info, memory: of input frames. radius: frames before and after one that its output depends
  /// on. what, promise: texts for the warning after a fault with device=auto: what continues, and how.
  Stream(FqDeviceBase* element, const GstVideoInfo& info, Memory memory, int radius, const char* what,
         const char* promise);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Releases frames after the device is done with them.
  virtual ~Stream() = default;

  /// Takes a frame; null: only returns complete ones. *out: a frame to push, if there is one that has not
  /// been pushed here. Called until it returns none.
  virtual GstFlowReturn take(BufferPtr buffer, GstBuffer** out) = 0;
  /// Finishes the oldest frame held; null if there is none.
  virtual BufferPtr finish() = 0;
  /// Drops the held frames silently; the stream continues.
  virtual void drop() noexcept = 0;
  /// Releases frames that have left and are kept for later ones, which belong to another scene or time.
  virtual void forget_past() {}
  /// Works in the CUDA context of this buffer's memory from now on. No frame is held.
  virtual void change_context(GstBuffer* buffer) = 0;

  const GstVideoInfo& info() const { return info_; }
  Memory memory() const { return memory_; }
  /// Frames that may be held back after taking one: those that a device holds, if one may be used.
  int in_flight() const { return in_flight_; }
  int radius() const { return radius_; }
  /// Input frames held at once, including the arriving one.
  guint most_held() const { return static_cast<guint>(in_flight_ + 2 * radius_ + 1); }
  /// Reports the latency to the pipeline, when the stream is made.
  void tell_latency();

 protected:
  FqDeviceBase* element() const { return element_; }
  /// Brings a frame's memory into a state that is fast to read. Warns once if its size suggests that its rows
  /// lie differently from its caps.
  void prepare_to_read(GstBuffer* buffer);
  /// Warns about 16-bit words that contradict the significant bits; call it for every processed frame.
  void look(const Frame& frame) { significant_bits_.look(frame); }
  /// The next frame's planes in its DMA buffer if the device reads them there; empty: map them.
  DmaImport import_frame(GstBuffer* buffer, const PlaneExtents& extents, const Place* device) const;

  /// Initial place of workers: frames in a device's memory are processed in its own context, which enter() makes
  /// current.
  Place where() const;
  /// The device that may be cheaper, if that must be determined.
  std::optional<Prospect> prospect() const;

  // Count a frame in `stats`: one that is done, replayed or not, or one that passes unchanged.
  void count_done(bool replayed);
  void count_skipped();

  /// Adds its lifetime to busy-ns.
  class Busy {
   public:
    explicit Busy(Stream& stream) : stream_(stream) {}
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Stream& stream_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

 private:
  bool enter() override;
  void leave() noexcept override;
  Place fall_back(const Error& fault, const Place& failed) override;
  void moved(const Place& to) override;
  void stays(const std::string& reason) override;
  void warn_of_padding(gsize size);

  FqDeviceBase* element_;
  GstVideoInfo info_;
  Memory memory_;
  int in_flight_, radius_;
  const char *what_, *promise_;
  bool warned_of_padding_ = false;
  bool has_moved_ = false;
  SignificantBitsCheck significant_bits_;
};

}  // namespace framequality
