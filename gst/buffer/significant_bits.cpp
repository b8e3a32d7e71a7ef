// SPDX-License-Identifier: LGPL-2.1-or-later
// The property significant-bits: its description, its range, and the warnings about frames that contradict it.
#include "gst/buffer/significant_bits.h"

#include "gst/buffer/frame.h"
#include "gst/object/guard.h"

#include <string>

namespace framequality {

namespace {

void warn(GstElement* element, const std::string& text) {
  post(element, GST_MESSAGE_WARNING, {GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, text});
}

}  // namespace

bool accepts_significant_bits(gpointer element, unsigned bits) {
  if (bits == 0 || (bits >= kLeastSignificantBits && bits <= kMostSignificantBits)) return true;
  g_warning("%s: significant-bits must be 0, or %u to %u, not %u; keeping the old value", GST_OBJECT_NAME(element),
            kLeastSignificantBits, kMostSignificantBits, bits);
  return false;
}

SignificantBitsCheck::SignificantBitsCheck(GstElement* element, const GstVideoInfo& info, unsigned bits)
    : element_(element), bits_(bits) {
  const std::optional<PixelLayout> layout = layout_of(*info.finfo);
  if (!layout) return;
  // Cameras deliver gray and RGB. YUV comes from decoders and converters, which fill the words: there, dark is dark.
  if (bits != 0 || !GST_VIDEO_INFO_IS_YUV(&info))
    used_ = UsedBits({GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), *layout}, bits);
  if (bits != 0 && !has_full_words(*layout) && bits != layout->depth)
    warn(element, "significant-bits=" + std::to_string(bits) + " has no effect on " + GST_VIDEO_INFO_NAME(&info) +
                      ", whose samples have " + std::to_string(layout->depth) +
                      " bits: it applies to formats of 16 bits, such as GRAY16_LE");
}

void SignificantBitsCheck::look(const Frame& frame) {
  if (frame.memory != Memory::kHost) return used_.skip();
  const unsigned fitting = used_.look(frame);
  if (fitting == 0) return;
  const std::string set = "significant-bits=" + std::to_string(fitting);
  if (bits_ == 0)
    warn(element_, "The upper " + std::to_string(kMostSignificantBits - fitting) +
                       " bits of each 16-bit sample have been 0 for " + std::to_string(UsedBits::kFrames) +
                       " frames. If the source has " + std::to_string(fitting) +
                       " significant bits, as cameras do, set " + set +
                       "; if it has 16 and the image really is that dark, set significant-bits=16");
  else
    warn(element_, "Samples use more bits than significant-bits=" + std::to_string(bits_) +
                       ", and the upper ones are ignored: set " + set);
}

}  // namespace framequality
