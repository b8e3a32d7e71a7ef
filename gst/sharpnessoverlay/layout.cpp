// SPDX-License-Identifier: LGPL-2.1-or-later
// Places of text, graph and curve in an image.
#include "gst/sharpnessoverlay/layout.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace framequality::overlay {

Box common(const Box& a, const Box& b) {
  struct Span {
    int first, length;
  };
  const auto shared = [](Span one, Span two) -> Span {
    const int first = std::max(one.first, two.first);
    const std::int64_t end = std::min(std::int64_t{one.first} + one.length, std::int64_t{two.first} + two.length);
    return {first, static_cast<int>(std::max<std::int64_t>(0, end - first))};
  };
  const Span x = shared({a.x, a.width}, {b.x, b.width}), y = shared({a.y, a.height}, {b.y, b.height});
  return {x.first, y.first, x.length, y.length};
}

Layout lay_out(int width, int height, int par_n, int par_d) {
  // Smaller letters are illegible: parts that need them are omitted.
  constexpr double kLeastEm = 14, kLeastSmall = 10;
  Layout l;
  l.width = width;
  l.height = height;
  l.stretch = par_n > 0 && par_d > 0 ? static_cast<double>(par_d) / par_n : 1;
  l.em = std::max(kLeastEm, std::min<double>(height, width / l.stretch) / 24);
  l.small = std::max(kLeastSmall, 0.56 * l.em);
  // Clamped just beyond the width: hostile pixel aspect ratios make lengths that overflow an int.
  const auto across = [&](double length) {
    return static_cast<int>(std::lround(std::min<double>(length * l.stretch, width + 1)));
  };
  const auto down = [](double length) { return static_cast<int>(std::lround(length)); };
  const int left = across(0.5 * l.em), top = down(0.5 * l.em);
  l.text = {left, top, across(std::max(5.9 * l.em, 10.6 * l.small)), down(1.35 * l.em + 1.75 * l.small)};
  if (l.text.x + l.text.width > width || l.text.y + l.text.height > height) l.text = {};
  l.graph = {left, 0, std::min(across(15 * l.em), width - 2 * left), down(4.2 * l.em)};
  l.graph.y = height - top - l.graph.height;
  if (l.graph.width < across(9 * l.em) || l.graph.y < l.text.y + l.text.height + top) l.graph = {};
  // Right of the text, or below it if the image is too narrow for both.
  const int least = across(9 * l.em), end = width - left;
  const auto start = [&](int edge, int gap) { return edge > 0 ? edge + gap : gap; };
  int from = start(l.text.x + l.text.width, left);
  l.curve.y = top;
  if (end - from < least) {
    from = left;
    l.curve.y = start(l.text.y + l.text.height, top);
  }
  l.curve.width = std::min(across(13 * l.em), end - from);
  l.curve.x = end - l.curve.width;
  l.curve.height = std::min(down(6.2 * l.em), (l.graph.empty() ? height : l.graph.y) - top - l.curve.y);
  if (l.curve.width < least || l.curve.height < down(4.6 * l.em)) l.curve = {};
  return l;
}

}  // namespace framequality::overlay
