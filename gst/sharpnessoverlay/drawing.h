// SPDX-License-Identifier: LGPL-2.1-or-later
// Draws scores with Cairo and Pango: text, graph, heat map. Knows pixels, not pipelines.
#pragma once

#include "algorithms/score_history.h"

#include <cstdint>
#include <memory>
#include <pango/pango.h>
#include <span>
#include <string>
#include <vector>

namespace framequality::overlay {

/// Premultiplied ARGB, a 32-bit word in host order for each pixel; not owned. All drawing starts by clearing it.
struct Canvas {
  std::uint8_t* pixels = nullptr;
  int stride = 0, width = 0, height = 0;  ///< stride: bytes
};

/// A part of a picture, pixels; edges are first + length.
struct Box {
  int x = 0, y = 0, width = 0, height = 0;
  bool empty() const { return width <= 0 || height <= 0; }
  bool operator==(const Box&) const = default;
};

/// Where the parts go in a picture, and how large they are. A part that would be illegible there has an empty box.
struct Layout {
  int width = 0, height = 0;
  double em = 0, small = 0;  ///< height of the two fonts, pixels
  double stretch = 1;        ///< pixels across for each pixel down
  Box text, graph;
};
/// par_n/par_d: width of a pixel over its height.
Layout lay_out(int width, int height, int par_n, int par_d);

struct Text {
  double score = 0;
  std::string metric;
  bool stale = false;  ///< the score is an old one
  bool operator==(const Text&) const = default;
};

struct Graph {
  std::span<const ScoreHistory::Column> columns;  ///< the oldest first
  ScoreHistory::Range range;
  std::uint64_t now = 0, span = 0;  ///< right edge, and the time from the left one, ns
};

/// Zones of a region, row by row; without scores only its outline is drawn.
struct Zones {
  Box region;  ///< within the picture
  int columns = 1, rows = 1;
  std::vector<double> scores;
  ScoreHistory::Range range;  ///< scores that get the ends of the palette
  bool operator==(const Zones& other) const {
    return region == other.region && columns == other.columns && rows == other.rows && scores == other.scores &&
           range.least == other.range.least && range.greatest == other.range.greatest;
  }
};

/// Draws, and keeps fonts between frames. For one thread at a time.
class Pen {
 public:
  Pen();
  void draw_text(const Canvas& canvas, const Layout& layout, const Text& text);
  void draw_graph(const Canvas& canvas, const Layout& layout, const Graph& graph);
  /// The canvas is the region.
  void draw_zones(const Canvas& canvas, const Layout& layout, const Zones& zones);

 private:
  struct Release {
    void operator()(void* object) const;
  };
  /// A line of the curve in one column of pixels; empty if top > bottom.
  struct Bar {
    double top, bottom;
  };
  void set_font(double height, bool bold);
  /// Width and height of the text in the current font, pixels.
  std::pair<double, double> measure(const std::string& text);
  void trace(const Graph& graph, double left, double top, double width, double height);

  std::unique_ptr<PangoFontMap, Release> fonts_;
  std::unique_ptr<PangoContext, Release> context_;
  std::unique_ptr<PangoLayout, Release> words_;
  std::vector<Bar> bars_;
};

}  // namespace framequality::overlay
