// SPDX-License-Identifier: LGPL-2.1-or-later
// The property significant-bits: its description, its range, and the warnings about frames that contradict it.
#pragma once

#include "algorithms/significant_bits.h"

#include <gst/video/video.h>

namespace framequality {

inline constexpr char kSignificantBitsText[] =
    "Use this many low bits of each word, 9 to 16, and ignore those above, in formats of 16 bits such as GRAY16_LE: "
    "for cameras that deliver 10 or 12. 0 = as the format says";

/// True if significant-bits may have this value; otherwise warns that the old one is kept, and why.
bool accepts_significant_bits(gpointer element, unsigned bits);

/// Warning messages about the frames of one stream and its significant bits.
class SignificantBitsCheck {
 public:
  SignificantBitsCheck() = default;
  /// bits: the property's value. Warns at once if it has no effect on these frames.
  SignificantBitsCheck(GstElement* element, const GstVideoInfo& info, unsigned bits);
  /// True if look() reads the next frame, which must be mapped for that.
  bool is_due() const { return used_.is_due(); }
  /// Checks the next frame, or skips it. Warns once if its words use fewer or more bits than declared; for YUV
  /// only if more. Frames that are not in host memory are not checked.
  void look(const Frame& frame);

 private:
  GstElement* element_ = nullptr;
  unsigned bits_ = 0;
  UsedBits used_;
};

}  // namespace framequality
