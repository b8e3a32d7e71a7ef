// SPDX-License-Identifier: LGPL-2.1-or-later
// Drawing of scores with Cairo and Pango: text, graph, heat map, a search's curve. Independent of pipelines.
#include "gst/sharpnessoverlay/drawing.h"

#include "gst/sharpnessoverlay/number_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace framequality::overlay {

namespace {

struct Colour {
  double r, g, b, a = 1;
};
constexpr Colour kPlate{0.05, 0.06, 0.08, 0.62}, kWhite{1, 1, 1}, kDim{1, 1, 1, 0.62}, kShadow{0, 0, 0, 0.85};
constexpr Colour kCurve{0.45, 0.85, 1}, kUnderCurve{0.45, 0.85, 1, 0.25}, kNow{1, 0.8, 0.25}, kGrid{1, 1, 1, 0.16};
constexpr Colour kAround{1, 0.8, 0.25, 0.3};
constexpr double kHeat = 0.42;  // opacity of the heat map

void set(cairo_t* cr, const Colour& c) { cairo_set_source_rgba(cr, c.r, c.g, c.b, c.a); }

/// A Cairo context on a cleared canvas.
class Sheet {
 public:
  explicit Sheet(const Canvas& c)
      : surface_(cairo_image_surface_create_for_data(c.pixels, CAIRO_FORMAT_ARGB32, c.width, c.height, c.stride)),
        cr_(cairo_create(surface_)) {
    for (int y = 0; y < c.height; ++y)
      std::memset(c.pixels + std::ptrdiff_t{y} * c.stride, 0, 4 * static_cast<std::size_t>(c.width));
    cairo_surface_mark_dirty(surface_);
  }
  ~Sheet() {
    cairo_destroy(cr_);
    cairo_surface_flush(surface_);
    cairo_surface_destroy(surface_);
  }
  Sheet(const Sheet&) = delete;
  Sheet& operator=(const Sheet&) = delete;
  operator cairo_t*() { return cr_; }

 private:
  cairo_surface_t* surface_;
  cairo_t* cr_;
};

void draw_plate(cairo_t* cr, double width, double height, double radius) {
  cairo_new_path(cr);
  cairo_arc(cr, width - radius, radius, radius, -G_PI_2, 0);
  cairo_arc(cr, width - radius, height - radius, radius, 0, G_PI_2);
  cairo_arc(cr, radius, height - radius, radius, G_PI_2, G_PI);
  cairo_arc(cr, radius, radius, radius, G_PI, 3 * G_PI_2);
  set(cr, kPlate);
  cairo_fill(cr);
}

/// The colour of a score from 0 (least) to 1 (greatest): Matplotlib's viridis.
Colour palette(double at) {
  constexpr std::array<std::array<double, 3>, 9> kStops{{{68, 1, 84},
                                                         {71, 44, 122},
                                                         {59, 81, 139},
                                                         {44, 113, 142},
                                                         {33, 144, 141},
                                                         {39, 173, 129},
                                                         {92, 200, 99},
                                                         {170, 220, 50},
                                                         {253, 231, 37}}};
  const double place = std::clamp(at, 0.0, 1.0) * (kStops.size() - 1);
  const auto stop = std::min(static_cast<std::size_t>(place), kStops.size() - 2);
  const double part = place - static_cast<double>(stop);
  const auto mix = [&](std::size_t c) {
    return (kStops[stop][c] + part * (kStops[stop + 1][c] - kStops[stop][c])) / 255;
  };
  return {mix(0), mix(1), mix(2), kHeat};
}

/// Position of a number between two others: 0 at the first, 1 at the second, 0.5 if they are equal. Works for any
/// difference of doubles.
double share(double value, double least, double greatest) {
  const double spread = greatest / 2 - least / 2;
  return spread > 0 ? (value / 2 - least / 2) / spread : 0.5;
}

/// Width of a plotted line, pixels.
double line_width(const Layout& l) { return std::max(1.5, 0.06 * l.em); }

}  // namespace

void Pen::Release::operator()(void* object) const { g_object_unref(object); }

Pen::Pen()
    : fonts_(pango_cairo_font_map_new()),
      context_(pango_font_map_create_context(fonts_.get())),
      words_(pango_layout_new(context_.get())) {
  // The same letters on every desktop.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  pango_cairo_context_set_font_options(context_.get(), options);
  cairo_font_options_destroy(options);
}

void Pen::set_font(double height, bool bold) {
  PangoFontDescription* font = pango_font_description_new();
  pango_font_description_set_family_static(font, "Sans");
  pango_font_description_set_weight(font, bold ? PANGO_WEIGHT_BOLD : PANGO_WEIGHT_NORMAL);
  pango_font_description_set_absolute_size(font, height * PANGO_SCALE);
  pango_layout_set_font_description(words_.get(), font);
  pango_font_description_free(font);
}

std::pair<double, double> Pen::measure(const std::string& text) {
  pango_layout_set_text(words_.get(), text.data(), static_cast<int>(text.size()));
  PangoRectangle logical;
  pango_layout_get_extents(words_.get(), nullptr, &logical);
  return {static_cast<double>(logical.width) / PANGO_SCALE, static_cast<double>(logical.height) / PANGO_SCALE};
}

void Pen::write(cairo_t* cr, const std::string& text, double x, double y, double room) {
  const double wide = measure(text).first;
  cairo_save(cr);
  cairo_move_to(cr, x, y);
  if (wide > room) cairo_scale(cr, room / wide, 1);
  pango_cairo_show_layout(cr, words_.get());
  cairo_restore(cr);
}

void Pen::write_label(cairo_t* cr, const std::string& text, double right, double y, double align) {
  const auto [wide, high] = measure(text);
  cairo_move_to(cr, right - wide, y - align * high);
  pango_cairo_show_layout(cr, words_.get());
}

void Pen::write_range(cairo_t* cr, const ScoreHistory::Range& range, double right, double top, double bottom) {
  if (range.least < range.greatest) {
    write_label(cr, number_text(range.greatest, 4), right, top, 0.5);
    write_label(cr, number_text(range.least, 4), right, bottom, 0.5);
  } else {
    write_label(cr, number_text(range.least, 4), right, (top + bottom) / 2, 0.5);
  }
}

void Pen::draw_text(const Canvas& canvas, const Layout& l, const Text& text) {
  Sheet cr(canvas);
  cairo_scale(cr, l.stretch, 1);
  const double width = canvas.width / l.stretch;
  draw_plate(cr, width, canvas.height, 0.3 * l.em);
  set(cr, text.stale ? kDim : kWhite);
  const double pad = 0.45 * l.em, room = width - 2 * pad;
  set_font(l.em, true);
  write(cr, number_text(text.score, 4), pad, 0.2 * l.em, room);
  set_font(l.small, false);
  write(cr, text.stale ? "no score" : text.metric, pad, 0.2 * l.em + 1.15 * l.em, room);
}

void Pen::reach(Place to) {
  const auto last = static_cast<double>(bars_.size() - 1);
  Bar& bar = bars_[static_cast<std::size_t>(std::clamp(to.x, 0.0, last))];
  bar = {std::min(bar.top, to.y), std::max(bar.bottom, to.y)};
}

void Pen::join(Place from, Place to) {
  // Where the line crosses from one column of pixels to the next, both bars reach that height.
  const int last = static_cast<int>(std::floor(to.x));
  for (int edge = static_cast<int>(std::floor(from.x)) + 1; edge <= last; ++edge) {
    const double at = from.y + (to.y - from.y) * (edge - from.x) / (to.x - from.x);
    reach({edge - 1.0, at});
    reach({static_cast<double>(edge), at});
  }
}

/// Fills upright bars, many times faster than Cairo strokes a line; and the area below them, down to bottom.
void Pen::fill_bars(cairo_t* cr, double bottom, double thick) {
  const auto each_bar = [&](auto&& add) {
    for (std::size_t x = 0; x < bars_.size(); ++x)
      if (bars_[x].top <= bars_[x].bottom) add(static_cast<double>(x), bars_[x]);
  };
  each_bar([&](double x, const Bar& bar) { cairo_rectangle(cr, x, bar.bottom, 1, bottom - bar.bottom); });
  set(cr, kUnderCurve);
  cairo_fill(cr);
  each_bar(
      [&](double x, const Bar& bar) { cairo_rectangle(cr, x, bar.top - thick / 2, 1, bar.bottom - bar.top + thick); });
  set(cr, kCurve);
  cairo_fill(cr);
}

/// Sets bars_ to the curve of the graph, a bar for each column of pixels.
void Pen::trace(const Graph& graph, double left, double top, double width, double height) {
  const auto count = static_cast<std::size_t>(std::ceil(left + width));
  bars_.assign(count, {1e9, -1e9});
  const double spread = graph.range.greatest - graph.range.least;
  const auto x_of = [&](std::uint64_t time) {
    return left + width * (1 - static_cast<double>(graph.now - time) / static_cast<double>(graph.span));
  };
  const auto y_of = [&](double score) {
    return top + height * (spread > 0 ? (graph.range.greatest - score) / spread : 0.5);
  };
  Place old{};
  for (const ScoreHistory::Column& c : graph.columns) {
    const double x = x_of(c.time);
    if (c.joined) join(old, {x, y_of(c.first)});
    for (const double score : {c.first, c.least, c.greatest, c.last}) reach({x, y_of(score)});
    old = {x, y_of(c.last)};
  }
}

void Pen::draw_graph(const Canvas& canvas, const Layout& l, const Graph& graph) {
  Sheet cr(canvas);
  const double pad = 0.45 * l.em, dot = 0.16 * l.em, thick = line_width(l);
  cairo_save(cr);
  cairo_scale(cr, l.stretch, 1);
  const double plate = canvas.width / l.stretch, label_width = 4 * l.small;
  draw_plate(cr, plate, canvas.height, 0.3 * l.em);
  set_font(l.small, false);
  set(cr, kDim);
  const double top = pad, bottom = canvas.height - 1.4 * l.small - 0.2 * l.em;
  if (!graph.columns.empty()) write_range(cr, graph.range, pad / 2 + label_width, top, bottom);
  write_label(cr, span_text(graph.span), plate - pad, canvas.height - 0.15 * l.em, 1);
  cairo_restore(cr);

  const double left = std::round(l.stretch * (pad + label_width)), right = canvas.width - l.stretch * pad;
  set(cr, kGrid);
  for (const double y : {top, (top + bottom) / 2, bottom}) cairo_rectangle(cr, left, std::round(y), right - left, 1);
  cairo_fill(cr);
  if (graph.columns.empty()) return;

  trace(graph, left, top, right - left, bottom - top);
  fill_bars(cr, bottom, thick);

  const ScoreHistory::Column& last = graph.columns.back();
  const double spread = graph.range.greatest - graph.range.least;
  const double age = static_cast<double>(graph.now - last.time) / static_cast<double>(graph.span);
  cairo_translate(cr, left + (right - left) * (1 - age),
                  top + (bottom - top) * (spread > 0 ? (graph.range.greatest - last.last) / spread : 0.5));
  cairo_scale(cr, l.stretch, 1);
  cairo_arc(cr, 0, 0, dot, 0, 2 * G_PI);
  set(cr, kNow);
  cairo_fill(cr);
}

void Pen::draw_zones(const Canvas& canvas, const Layout& l, const Zones& zones) {
  Sheet cr(canvas);
  const double line = std::max(1.0, std::round(l.em / 24));
  if (zones.scores.empty()) {
    cairo_set_line_width(cr, 2 * line);
    cairo_rectangle(cr, line, line, canvas.width - 2 * line, canvas.height - 2 * line);
    set(cr, kNow);
    cairo_stroke(cr);
    return;
  }
  set_font(l.small, true);
  const double spread = zones.range.greatest - zones.range.least;
  const auto edge = [](int i, int length, int count) { return static_cast<int>(std::int64_t{i} * length / count); };
  for (int row = 0; row < zones.rows; ++row) {
    const double top = edge(row, canvas.height, zones.rows), bottom = edge(row + 1, canvas.height, zones.rows);
    for (int column = 0; column < zones.columns; ++column) {
      const double left = edge(column, canvas.width, zones.columns);
      const double right = edge(column + 1, canvas.width, zones.columns);
      const double score = zones.scores[static_cast<std::size_t>(row * zones.columns + column)];
      // Square root: scores are squares of contrasts, or grow as fast; without it only the sharpest zone has a colour.
      const double at = spread > 0 ? std::sqrt(std::max(0.0, (score - zones.range.least) / spread)) : 0;
      const double gap = right - left > 8 * line && bottom - top > 8 * line ? line : 0;
      cairo_rectangle(cr, left, top, right - left - (column + 1 < zones.columns ? gap : 0),
                      bottom - top - (row + 1 < zones.rows ? gap : 0));
      set(cr, palette(at));
      cairo_fill(cr);
      const std::string text = number_text(score, 3);
      const auto [wide, high] = measure(text);
      const double x = (left + right - wide * l.stretch) / 2, y = (top + bottom - high) / 2;
      if (x < left + 1 || y < top + 1) continue;
      const Box box{zones.region.x + static_cast<int>(x), zones.region.y + static_cast<int>(y),
                    static_cast<int>(std::ceil(wide * l.stretch)) + 1, static_cast<int>(std::ceil(high)) + 1};
      // A partial number next to or below another part of the overlay would only disturb.
      if (overlap(box, l.text) || overlap(box, l.graph) || overlap(box, zones.kept_free)) continue;
      cairo_save(cr);
      cairo_translate(cr, x, y);
      cairo_scale(cr, l.stretch, 1);
      for (const auto& [offset, ink] : {std::pair{line, kShadow}, std::pair{0.0, kWhite}}) {
        cairo_move_to(cr, offset, offset);
        set(cr, ink);
        pango_cairo_show_layout(cr, words_.get());
      }
      cairo_restore(cr);
    }
  }
}

Pen::CurvePlot::CurvePlot(const Canvas& canvas, const Layout& l, const Curve& curve)
    : left(std::round(l.stretch * (0.45 * l.em + 4 * l.small))),
      right(canvas.width - l.stretch * 0.45 * l.em),
      top(0.65 * l.em + 1.4 * l.small),
      bottom(canvas.height - 1.4 * l.small - 0.25 * l.em) {
  if (curve.points.empty()) return;
  const auto by_score = [](const Curve::Point& a, const Curve::Point& b) { return a.score < b.score; };
  const auto [least, greatest] = std::minmax_element(curve.points.begin(), curve.points.end(), by_score);
  scores = {least->score, greatest->score};
  first = curve.points.front().position;
  last = curve.points.back().position;
}

double Pen::CurvePlot::x(double position) const { return left + (right - left) * share(position, first, last); }
double Pen::CurvePlot::y(double score) const {
  return bottom - (bottom - top) * share(score, scores.least, scores.greatest);
}

void Pen::write_curve(cairo_t* cr, const Canvas& canvas, const Layout& l, const Curve& curve, const CurvePlot& plot) {
  const double pad = 0.45 * l.em, label_width = 4 * l.small, plate = canvas.width / l.stretch;
  cairo_save(cr);
  cairo_scale(cr, l.stretch, 1);
  draw_plate(cr, plate, canvas.height, 0.3 * l.em);
  set_font(l.small, true);
  set(cr, curve.failed ? kNow : kWhite);
  std::string title = curve.failed ? "failed" : "";
  if (std::isfinite(curve.top) && !curve.points.empty())
    title.append(curve.failed ? ", " : "").append(position_text(curve.top, curve.error));
  write(cr, title, pad, 0.25 * l.em, plate - 2 * pad);
  set_font(l.small, false);
  set(cr, kDim);
  if (!curve.points.empty()) {
    write_range(cr, plot.scores, pad / 2 + label_width, plot.top, plot.bottom);
    // Half of the width each, so that they cannot overlap.
    const double foot = canvas.height - 0.15 * l.em, near = pad + label_width, far = plate - pad,
                 half = (far - near) / 2;
    const std::string lowest = short_text(plot.first);
    const double high = measure(lowest).second;
    if (plot.first < plot.last) {
      write(cr, lowest, near, foot - high, half);
      write_label(cr, short_text(plot.last), far, foot, 1);
    } else {
      write_label(cr, lowest, near + half + measure(lowest).first / 2, foot, 1);
    }
  }
  cairo_restore(cr);
}

void Pen::plot_points(cairo_t* cr, const Layout& l, const Curve& curve, const CurvePlot& plot) {
  const double dot = 0.12 * l.em;
  const auto& points = curve.points;
  const auto place_of = [&](const Curve::Point& p) { return Place{plot.x(p.position), plot.y(p.score)}; };
  bars_.assign(static_cast<std::size_t>(std::ceil(plot.right)), {1e9, -1e9});
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Place place = place_of(points[i]);
    if (i > 0) join(place_of(points[i - 1]), place);
    reach(place);
  }
  fill_bars(cr, plot.bottom, line_width(l));
  // Only as many dots as fit side by side.
  double free_from = plot.left - 2 * dot * l.stretch;
  set(cr, kCurve);
  for (const Curve::Point& point : points) {
    const Place at = place_of(point);
    if (at.x < free_from) continue;
    free_from = at.x + 2 * dot * l.stretch;
    cairo_save(cr);
    cairo_translate(cr, at.x, at.y);
    cairo_scale(cr, l.stretch, 1);
    cairo_arc(cr, 0, 0, dot, 0, 2 * G_PI);
    cairo_restore(cr);
    cairo_fill(cr);
  }
}

void Pen::draw_curve(const Canvas& canvas, const Layout& l, const Curve& curve) {
  Sheet cr(canvas);
  const CurvePlot plot(canvas, l, curve);
  write_curve(cr, canvas, l, curve, plot);
  set(cr, kGrid);
  for (const double y : {plot.top, (plot.top + plot.bottom) / 2, plot.bottom})
    cairo_rectangle(cr, plot.left, std::round(y), plot.right - plot.left, 1);
  cairo_fill(cr);
  if (curve.points.empty()) return;
  plot_points(cr, l, curve, plot);

  if (!(curve.top >= plot.first && curve.top <= plot.last)) return;
  const auto band = [&](double from, double to, const Colour& colour) {
    from = std::max(from, plot.left);
    cairo_rectangle(cr, from, plot.top, std::min(to, plot.right) - from, plot.bottom - plot.top);
    set(cr, colour);
    cairo_fill(cr);
  };
  const double at = plot.x(curve.top), half = line_width(l) * l.stretch / 2;
  if (curve.error > 0 && plot.first < plot.last)
    band(plot.x(std::max(curve.top - curve.error, plot.first)), plot.x(std::min(curve.top + curve.error, plot.last)),
         kAround);
  band(at - half, at + half, curve.failed ? kDim : kNow);
}

}  // namespace framequality::overlay
