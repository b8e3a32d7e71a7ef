// SPDX-License-Identifier: LGPL-2.1-or-later
// Number of bits that a stream uses of its 16-bit words: cameras deliver 10 or 12 in a format of 16.
#pragma once

#include "algorithms/layout.h"

#include <algorithm>
#include <cstdint>

namespace framequality {

/// Values of significant-bits besides 0, which means the format's own depth. 8 would be bytes, which have their own
/// formats.
inline constexpr unsigned kLeastSignificantBits = 9, kMostSignificantBits = 16;

/// True if samples fill words of 16 bits, so that a source may use fewer of them. Layout: PixelLayout or PictureLayout.
template <class Layout>
constexpr bool has_full_words(const Layout& layout) {
  return layout.word_bytes == 2 && layout.depth == 16;
}

/// The layout that reads the `bits` low bits of each word; unchanged where words are not full, or with 0.
template <class Layout>
constexpr Layout with_significant_bits(Layout layout, unsigned bits) {
  if (bits != 0 && has_full_words(layout)) layout.depth = static_cast<std::uint8_t>(bits);
  return layout;
}

/// Checks a few rows of a stream's frames for words that contradict the declared bits. For one thread.
class UsedBits {
 public:
  /// Frames to check before upper bits count as unused; later, one in this many is checked.
  static constexpr int kFrames = 32;

  UsedBits() = default;
  /// geometry: with the format's own layout; one without full words is never checked. significant: 0, or the bits
  /// that the source declares.
  UsedBits(const Geometry& geometry, unsigned significant) : geometry_(geometry), significant_(significant) {
    is_done_ = !has_full_words(geometry.layout) || significant == kMostSignificantBits;
  }

  /// True if look() reads the next frame's words.
  bool is_due() const { return !is_done_ && (number_ < kFrames || number_ % kFrames == 0); }
  /// Passes over a frame that is not in host memory.
  void skip() { ++number_; }

  /// Takes the next frame, in host memory; planes may be null. Returns the significant bits that fit the frames so far,
  /// 10, 12, 14 or 16, once, if they differ from the declared ones; else 0.
  unsigned look(const Frame& frame) {
    if (!is_due()) {
      skip();
      return 0;
    }
    const std::uint64_t number = number_++;
    used_ |= sample(frame, number < kFrames ? number : number / kFrames);
    if (significant_ != 0) {
      is_done_ = used_ >> significant_ != 0;
    } else {
      if (used_ >> kMostUnused != 0) {
        is_done_ = true;
        return 0;
      }
      // Black frames prove nothing, and values without the lowest bit are aligned to the top of their words.
      is_done_ = number + 1 >= kFrames && used_ & 1u;
    }
    return is_done_ ? fitting() : 0;
  }

 private:
  static constexpr unsigned kMostUnused = 14;
  static constexpr int kRows = 8;

  unsigned fitting() const {
    unsigned bits = 10;
    while (bits < kMostSignificantBits && used_ >> bits != 0) bits += 2;
    return bits;
  }

  /// All bits that are set in some rows, which depend on `turn`.
  std::uint32_t sample(const Frame& frame, std::uint64_t turn) const {
    const PixelLayout& layout = geometry_.layout;
    const int rows = std::min(kRows, geometry_.height);
    std::uint32_t bits = 0;
    for (int i = 0; i < rows; ++i) {
      const int first = i * geometry_.height / rows, last = (i + 1) * geometry_.height / rows;
      const int y = first + static_cast<int>(turn % static_cast<unsigned>(last - first));
      for (int c = 0; c < layout.components(); ++c) {
        const int plane = layout.plane[c];
        if (!frame.plane[plane]) continue;
        const std::uint8_t* row = frame.plane[plane] + y * frame.stride[plane];
        for (int x = 0; x < geometry_.width; ++x) bits |= component_code(layout, row, c, x);
      }
    }
    return bits;
  }

  Geometry geometry_;
  unsigned significant_ = 0;
  std::uint32_t used_ = 0;    ///< all bits seen
  std::uint64_t number_ = 0;  ///< of the next frame
  bool is_done_ = true;
};

}  // namespace framequality
