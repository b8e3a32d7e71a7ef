// SPDX-License-Identifier: LGPL-2.1-or-later
// Tones of a frame's samples for colour halftoning: the table that the host makes of all codes, and how it is read.
#pragma once

#include "algorithms/halftone/colour_filter.h"
#include "algorithms/picture.h"
#include "algorithms/plane_size.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace framequality::halftone {

// Numbers that are looked up lie in one table, so that a device takes them as one. With codes = 1 << code_depth():
//   gray, RGB: the tone of each code, 0...kFull
//   YUV: in 1/kPart of a tone, what each code of Y adds to every channel, with what rounds the sum; what each code of U
//        adds to green and to blue; what each of V adds to green and to red; then, of each tone 0...kFull, the light

inline constexpr int kPartBits = 6, kPart = 1 << kPartBits;

FQ_HD bool is_yuv(const PictureLayout& l) { return l.components == 3 && !l.is_rgb; }
/// Of more than 12 bits the upper 12 count.
FQ_HD int code_depth(const PictureLayout& l) { return l.depth > 12 ? 12 : l.depth; }

/// Length of the table of a layout.
inline std::size_t code_table_size(const PictureLayout& l) {
  const std::size_t codes = std::size_t{1} << code_depth(l);
  return is_yuv(l) ? 5 * codes + kFull + 1 : codes;
}
std::vector<std::int32_t> make_code_table(const PictureLayout& layout, const ToneSettings& tone, Matrix matrix);

/// The output word of each colour: its code, or R, G, B and 255 from the lowest byte on.
std::array<std::uint32_t, kMostColours> output_words(const ColourSettings& settings);

/// Behind those words, the table: all that a device looks up, but for mixtures.
std::vector<std::int32_t> make_device_table(const PictureLayout& layout, const ColourSettings& settings);

/// Bytes of a row of plane p up to the last one that is read; 0 if none is.
inline std::size_t source_row_bytes(const PictureGeometry& g, int p) {
  std::size_t bytes = 0;
  for (int c = 0; c < g.layout.components; ++c) {
    const PictureLayout::Component& at = g.layout.component[c];
    if (at.plane != p || g.width <= 0) continue;
    const auto last = static_cast<std::size_t>(g.width_of(c) - 1) * at.pixel_stride + at.offset;
    bytes = std::max(bytes, last + g.layout.word_bytes);
  }
  return bytes;
}
/// The planes of a frame up to those bytes.
inline std::vector<PlaneSize> source_sizes(const PictureGeometry& g) {
  return plane_sizes(g.layout.planes, [&](int p) { return PlaneSize{source_row_bytes(g, p), std::max(g.rows(p), 0)}; });
}

// I in what follows: an integer, or the numbers of algorithms/text.

/// Row of its plane where row y of a frame finds a component's samples. height: of the frame. fields: as Task::fields;
/// the second field of few rows may have no chroma of its own.
template <class I>
FQ_HD I component_row(I y, I height, I fields, int y_shift) {
  if (y_shift == 0) return y;
  const I last = ((height + ((1 << y_shift) - 1)) >> y_shift) - 1;
  const I field = y % fields, first = choose(field > last, last, field);
  const I row = (y / fields) >> y_shift, most = (last - first) / fields;
  return first + fields * choose(row > most, most, row);
}

/// Code of the sample that begins at p. Row: as in generic::word_at().
template <class Row>
FQ_HD auto colour_code(const PictureLayout& l, Row p) {
  return generic::read_sample(l, p) >> (l.depth - code_depth(l));
}

/// Place of a sum of Y's, U's and V's parts among the tones 0...kFull.
template <class I>
FQ_HD I tone_of_parts(I sum) {
  const I tone = sum >> kPartBits;
  return choose(tone > kFull, constant(tone, kFull), choose(tone < 0, constant(tone, 0), tone));
}

}  // namespace framequality::halftone
