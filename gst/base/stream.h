// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames of one format on their way through an element that works on a device: what measuring and filtering share.
#pragma once

#include "engine/session.h"
#include "gst/base/device_base.h"
#include "gst/buffer/significant_bits.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace framequality {

/// Exists from caps to stop: no half-configured stream can be worked on. Frames come in through take(), and leave in
/// order through it or finish(). Thread-safety: the sink pad's stream lock. Functions throw what guard() takes.
class Stream : protected SessionHost {
 public:
  /// info: of the frames that come. memory: that they lie in. radius: frames before and after one that it is
  /// made of. what, promise: what a warning says to continue after a fault with device=auto, and how.
  Stream(FqDeviceBase* element, const GstVideoInfo& info, Memory memory, int radius, const char* what,
         const char* promise);
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// The device is done with the frames before they are released.
  virtual ~Stream() = default;

  /// Takes a frame in; null: only asks for what is complete. *out: one to be pushed, if there is one and it has not
  /// been pushed here. Called until it gives none.
  virtual GstFlowReturn take(BufferPtr buffer, GstBuffer** out) = 0;
  /// Finishes the oldest frame held; null if there is none.
  virtual BufferPtr finish() = 0;
  /// Drops the frames held without a word; the stream goes on.
  virtual void drop() noexcept = 0;
  /// Releases frames that have left and are kept for those after them, which are of another scene or time.
  virtual void forget_past() {}
  /// Works in the CUDA context of this buffer's memory from now on. No frame is held.
  virtual void change_context(GstBuffer* buffer) = 0;

  const GstVideoInfo& info() const { return info_; }
  Memory memory() const { return memory_; }
  /// Frames that may be held back when one has been taken: those that a device holds, if it may come to that.
  int in_flight() const { return in_flight_; }
  int radius() const { return radius_; }
  /// Input frames held at once, the one that comes included.
  guint most_held() const { return static_cast<guint>(in_flight_ + 2 * radius_ + 1); }
  /// Tells the pipeline of the latency, when the stream is made.
  void tell_latency();

 protected:
  FqDeviceBase* element() const { return element_; }
  /// Brings a frame's memory into a state in which it can be read fast. Warns once if its size says that its rows may
  /// lie otherwise than its caps do.
  void prepare_to_read(GstBuffer* buffer);
  /// Warns of 16-bit words that do not fit the significant bits; for every frame that is worked on.
  void look(const Frame& frame) { significant_bits_.look(frame); }

  /// Where workers are made at first: a frame in a device's memory is worked on in its own context, which enter() makes
  /// current.
  Place where() const;
  /// The device that may be cheaper, where that is to be found out.
  std::optional<Prospect> prospect() const;

  // Of the frames in `stats`: one that is done, replayed or not, and one that passes as it came.
  void count_done(bool replayed);
  void count_skipped();

  /// Adds the time of its life to busy-ns.
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
