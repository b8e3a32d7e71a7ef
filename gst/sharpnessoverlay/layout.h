// SPDX-License-Identifier: LGPL-2.1-or-later
// Places of text, graph and curve in an image.
#pragma once

namespace framequality::overlay {

/// A part of an image, pixels; edges are first + length.
struct Box {
  int x = 0, y = 0, width = 0, height = 0;
  bool empty() const { return width <= 0 || height <= 0; }
  bool operator==(const Box&) const = default;
};

/// The pixels that two boxes share; empty if there are none. They may lie anywhere.
Box common(const Box& a, const Box& b);
inline bool overlap(const Box& a, const Box& b) { return !common(a, b).empty(); }

/// Positions and sizes of the parts in an image. Parts that would be illegible have an empty box.
struct Layout {
  int width = 0, height = 0;
  double em = 0, small = 0;  ///< height of the two fonts, pixels
  double stretch = 1;        ///< pixels across per pixel down
  Box text, graph, curve;
};
/// par_n/par_d: width of a pixel over its height.
Layout lay_out(int width, int height, int par_n, int par_d);

}  // namespace framequality::overlay
