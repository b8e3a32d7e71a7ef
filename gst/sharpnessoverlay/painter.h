// SPDX-License-Identifier: LGPL-2.1-or-later
// Overlay composition of buffers' scores and of a search's result; redraws only what changed.
#pragma once

#include "algorithms/score_history.h"
#include "cpu/overlay/edges.h"
#include "gst/buffer/significant_bits.h"
#include "gst/sharpnessoverlay/drawing.h"

#include <gst/video/video.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::overlay {

/// The element's settings.
struct Settings {
  bool text = true, graph = true, zones = true, curve = false, peaking = false;
  std::uint64_t history = 10 * GST_SECOND;
  std::uint32_t peaking_colour = 0xffff3030;  ///< ARGB, not premultiplied
  int peaking_threshold = 32;                 ///< see cpu::EdgeMarker
  std::uint32_t significant_bits = 0;         ///< of 16-bit words; 0: as the format says
};

struct ReleaseOverlay {
  void operator()(GstVideoOverlayComposition* composition) const { gst_video_overlay_composition_unref(composition); }
  void operator()(GstVideoOverlayRectangle* rectangle) const { gst_video_overlay_rectangle_unref(rectangle); }
};
using CompositionPtr = std::unique_ptr<GstVideoOverlayComposition, ReleaseOverlay>;
using RectanglePtr = std::unique_ptr<GstVideoOverlayRectangle, ReleaseOverlay>;

/// One rectangle of the composition, in pixels that are reused when nobody shows them any more.
class Layer {
 public:
  Layer() = default;
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer() {
    hide();
    drop_pool();
  }

  /// Shows the result of draw(canvas) at `place` in the image: all of it, or the rows that draw returns, as
  /// cpu::RowRange. Throws ElementError if memory runs out.
  template <class F>
  void show(const Box& place, F&& draw);
  void hide() { rectangle_.reset(); }
  GstVideoOverlayRectangle* rectangle() const { return rectangle_.get(); }

 private:
  void set_size(int width, int height);
  void drop_pool() noexcept;

  GstBufferPool* pool_ = nullptr;
  int width_ = 0, height_ = 0;
  RectanglePtr rectangle_;
};

/// Draws for the frames of one stream. For one thread at a time.
class Painter {
 public:
  /// element: posts the warnings about significant bits.
  explicit Painter(GstElement* element) : element_(element) {}
  /// Sets the format of the following frames. Zones are forgotten, since they are in pixels of earlier frames; scores
  /// are kept, since frames may have been scaled after they were measured.
  void set_format(const GstVideoInfo& info);
  /// Forgets all scores; a search's result is kept.
  void reset();
  /// Shows this curve from the next frame on; nothing for one without points that did not fail.
  void set_curve(Curve curve);
  bool has_score() const { return !history_.empty(); }
  /// True if peaking was requested for unreadable frames; it is off until the next format or reset.
  bool cannot_read() const { return cannot_read_; }

  /// The overlay for this frame, null for nothing; owned by the painter until the next call. Adds the frame's score
  /// to the history. time: running time, ns. blended: into the frame itself, which may have no colours. Throws
  /// ElementError.
  GstVideoOverlayComposition* paint(const Settings& settings, GstBuffer* buffer, std::uint64_t time, bool blended);

 private:
  void take_scores(GstBuffer* buffer, std::uint64_t time);
  void take_zones(const GstStructure* fields, std::uint64_t time);
  Box region_of(const GstStructure* fields) const;
  void paint_text(bool wanted, std::uint64_t time);
  void paint_graph(bool wanted, std::uint64_t time);
  void paint_zones(bool wanted, std::uint64_t time);
  void paint_curve(bool wanted);
  void paint_peaking(const Settings& settings, GstBuffer* buffer, bool blended);

  GstElement* element_;
  GstVideoInfo info_{};
  Layout layout_;
  std::optional<cpu::EdgeMarker> edges_;  ///< for significant_bits_, as bits_check_
  std::uint32_t significant_bits_ = 0;
  SignificantBitsCheck bits_check_;
  bool cannot_read_ = false;

  /// The properties that scores must share to be comparable.
  struct Scale {
    std::string metric;
    guint width = 0, height = 0;  ///< of the measured frame
    bool operator==(const Scale&) const = default;
  };

  ScoreHistory history_{Settings{}.history}, zone_history_{Settings{}.history};
  Scale scale_;  ///< of these
  Text text_, drawn_text_;
  std::optional<Zones> zones_;  ///< of the last score
  Zones drawn_zones_;
  Curve curve_;
  std::vector<ScoreHistory::Column> columns_;
  Pen pen_;

  Layer zone_layer_, peaking_layer_, curve_layer_, graph_layer_, text_layer_;
  std::array<GstVideoOverlayRectangle*, 5> shown_{};  ///< the parts of composition_, which keeps them alive
  CompositionPtr composition_;
};

}  // namespace framequality::overlay
