// SPDX-License-Identifier: LGPL-2.1-or-later
// The watch on the encoded stream that frames are decoded from: which of them lack data.
//
// Decoders conceal what is missing, and most do not say so. The watch reads what enters the decoder upstream of a pad,
// and marks access units of damaged frames with the custom metadata `GstFrameLossMeta`, which GstVideoDecoder copies to
// the decoded frame.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

namespace framequality {

/// Registers the metadata; for class_init.
void register_frame_loss_meta();

/// True if a frame has this metadata, or is flagged as corrupted by the element that made it.
bool is_damaged(GstBuffer* frame);

/// Data is missing where an H.264 stream says so (see H264Losses), and where a buffer of any
/// codec is flagged GST_BUFFER_FLAG_CORRUPTED, or GST_BUFFER_FLAG_DISCONT in mid-stream, as depayloaders and demuxers
/// do after lost packets; frames of codecs other than H.264 are damaged from there to the next keyframe.
class LossWatch {
 public:
  /// The pad is not owned, and must exist when begin() is called.
  explicit LossWatch(GstPad* sink) : sink_(sink) {}
  ~LossWatch() { end(); }
  LossWatch(const LossWatch&) = delete;
  LossWatch& operator=(const LossWatch&) = delete;

  /// Watches the decoder nearest upstream as the pads are linked now, if all elements between it and the sink pad have
  /// one sink pad; else nothing. What is known of a decoder that was watched already is kept.
  void begin();
  void end();

 private:
  struct UnrefPad {
    void operator()(GstPad* pad) const { gst_object_unref(pad); }
  };
  using PadPtr = std::unique_ptr<GstPad, UnrefPad>;
  static PadPtr decoder_input(GstPad* sink);
  static PadPtr source_of(GstPad* sink);

  void leave();

  GstPad* sink_;
  std::mutex mutex_;
  PadPtr pad_;  ///< the decoder's sink pad; null: none
  gulong probe_ = 0;
};

}  // namespace framequality
