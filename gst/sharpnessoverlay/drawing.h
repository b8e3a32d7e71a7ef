// SPDX-License-Identifier: LGPL-2.1-or-later
// Drawing of scores with Cairo and Pango: text, graph, heat map, a search's curve. Independent of pipelines.
#pragma once

#include "algorithms/score_history.h"
#include "gst/sharpnessoverlay/layout.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <pango/pangocairo.h>
#include <span>
#include <string>
#include <vector>

namespace framequality::overlay {

/// Premultiplied ARGB, a 32-bit word in host order for each pixel; not owned. All drawing starts by clearing it.
struct Canvas {
  std::uint8_t* pixels = nullptr;
  int stride = 0, width = 0, height = 0;  ///< stride: bytes
};

struct Text {
  double score = 0;
  std::string metric;
  bool stale = false;  ///< the score is outdated
  bool operator==(const Text&) const = default;
};

struct Graph {
  std::span<const ScoreHistory::Column> columns;  ///< the oldest first
  ScoreHistory::Range range;
  std::uint64_t now = 0, span = 0;  ///< right edge, and the time from the left one, ns
};

/// Zones of a region, row by row; without scores only its outline is drawn.
struct Zones {
  Box region;  ///< within the image
  int columns = 1, rows = 1;
  std::vector<double> scores;
  ScoreHistory::Range range;  ///< scores at the ends of the palette
  Box kept_free;              ///< part of the image without numbers, besides those of text and graph
  bool operator==(const Zones& other) const {
    return region == other.region && columns == other.columns && rows == other.rows && scores == other.scores &&
           range.least == other.range.least && range.greatest == other.range.greatest && kept_free == other.kept_free;
  }
};

/// Samples and result of an autofocus search. Positions are in the lens's unit, all numbers finite unless noted.
struct Curve {
  struct Point {
    double position, score;
  };
  std::vector<Point> points;                              ///< by ascending position; may be empty
  double top = std::numeric_limits<double>::quiet_NaN();  ///< position found; not finite if unknown
  double error = 0;                                       ///< standard error of top; 0 if unknown
  bool failed = false;
};

/// Draws, and caches fonts between frames. For one thread at a time.
class Pen {
 public:
  Pen();
  void draw_text(const Canvas& canvas, const Layout& layout, const Text& text);
  void draw_graph(const Canvas& canvas, const Layout& layout, const Graph& graph);
  /// The canvas covers the region.
  void draw_zones(const Canvas& canvas, const Layout& layout, const Zones& zones);
  void draw_curve(const Canvas& canvas, const Layout& layout, const Curve& curve);

 private:
  struct Release {
    void operator()(void* object) const;
  };
  /// A line in one column of pixels; empty if top > bottom.
  struct Bar {
    double top, bottom;
  };
  struct Place {
    double x, y;
  };
  void set_font(double height, bool bold);
  /// Width and height of the text in the current font, pixels.
  std::pair<double, double> measure(const std::string& text);
  /// Draws text with its upper left corner at x, y; text wider than `room` is squeezed.
  void write(cairo_t* cr, const std::string& text, double x, double y, double room);
  /// The same with the right end at `right`, and `align` (0 ... 1) of the height above y.
  void write_label(cairo_t* cr, const std::string& text, double right, double y, double align);
  /// Draws scores at their height between two lines, or one score in the middle.
  void write_range(cairo_t* cr, const ScoreHistory::Range& range, double right, double top, double bottom);
  /// Extends bars_ to this place, and along the line between two of them, from left to right.
  void reach(Place to);
  void join(Place from, Place to);
  void fill_bars(cairo_t* cr, double bottom, double thick);
  /// Area of a search's curve, in pixels of the canvas.
  struct CurvePlot {
    CurvePlot(const Canvas& canvas, const Layout& layout, const Curve& curve);
    double x(double position) const;
    double y(double score) const;
    double left, right, top, bottom;
    double first = 0, last = 0;  // positions
    ScoreHistory::Range scores;
  };
  void write_curve(cairo_t* cr, const Canvas& canvas, const Layout& layout, const Curve& curve, const CurvePlot& plot);
  void plot_points(cairo_t* cr, const Layout& layout, const Curve& curve, const CurvePlot& plot);
  void trace(const Graph& graph, double left, double top, double width, double height);

  std::unique_ptr<PangoFontMap, Release> fonts_;
  std::unique_ptr<PangoContext, Release> context_;
  std::unique_ptr<PangoLayout, Release> words_;
  std::vector<Bar> bars_;
};

}  // namespace framequality::overlay
