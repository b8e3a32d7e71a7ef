// SPDX-License-Identifier: LGPL-2.1-or-later
// Overlay composition of buffers' scores and of a search's result; redraws only what changed.
#include "gst/sharpnessoverlay/painter.h"

#include "gst/buffer/frame.h"
#include "gst/object/guard.h"
#include "gst/object/owned.h"
#include "gst/object/score_meta.h"
#include "gst/object/structure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

namespace framequality::overlay {

namespace {

[[noreturn]] void no_memory() {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT, "Out of memory for the overlay");
}

std::uint32_t premultiplied(std::uint32_t argb) {
  const std::uint32_t a = argb >> 24;
  const auto part = [&](int shift) { return ((argb >> shift & 255) * a + 127) / 255 << shift; };
  return a << 24 | part(16) | part(8) | part(0);
}

}  // namespace

// --- Layer ----------------------------------------------------------------------------------------------------------

void Layer::drop_pool() noexcept {
  if (!pool_) return;
  gst_buffer_pool_set_active(pool_, FALSE);
  gst_object_unref(pool_);
  pool_ = nullptr;
}

void Layer::set_size(int width, int height) {
  if (pool_ && width == width_ && height == height_) return;
  drop_pool();
  width_ = width;
  height_ = height;
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, static_cast<guint>(width),
                            static_cast<guint>(height));
  GstCaps* caps = gst_video_info_to_caps(&info);
  pool_ = gst_video_buffer_pool_new();
  GstStructure* config = gst_buffer_pool_get_config(pool_);
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(info.size), 0, 0);
  gst_buffer_pool_config_add_option(config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_caps_unref(caps);
  if (!gst_buffer_pool_set_config(pool_, config) || !gst_buffer_pool_set_active(pool_, TRUE)) no_memory();
}

template <class F>
void Layer::show(const Box& place, F&& draw) {
  set_size(place.width, place.height);
  hide();
  GstBuffer* taken = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_, &taken, nullptr) != GST_FLOW_OK) no_memory();
  const BufferPtr pixels(taken);
  GstMapInfo map;
  if (!gst_buffer_map(taken, &map, GST_MAP_WRITE)) no_memory();
  GstVideoMeta* meta = gst_buffer_get_video_meta(taken);
  cpu::RowRange rows{0, height_};
  const Canvas canvas{map.data, meta->stride[0], width_, height_};
  if constexpr (std::is_void_v<std::invoke_result_t<F, const Canvas&>>)
    draw(canvas);
  else
    rows = draw(canvas);
  gst_buffer_unmap(taken, &map);
  if (rows.first >= rows.last) return;
  // The pool's buffer keeps these values when it is reused.
  meta->offset[0] = static_cast<gsize>(rows.first) * static_cast<gsize>(meta->stride[0]);
  meta->height = static_cast<guint>(rows.last - rows.first);
  rectangle_.reset(gst_video_overlay_rectangle_new_raw(taken, place.x, place.y + rows.first, meta->width, meta->height,
                                                       GST_VIDEO_OVERLAY_FORMAT_FLAG_PREMULTIPLIED_ALPHA));
}

// --- Scores ---------------------------------------------------------------------------------------------------------

void Painter::set_format(const GstVideoInfo& info) {
  info_ = info;
  layout_ = lay_out(GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info), GST_VIDEO_INFO_PAR_N(&info),
                    GST_VIDEO_INFO_PAR_D(&info));
  edges_.reset();
  zones_.reset();
  cannot_read_ = false;
  for (Layer* layer : {&zone_layer_, &peaking_layer_, &curve_layer_, &graph_layer_, &text_layer_}) layer->hide();
}

void Painter::reset() {
  history_.clear();
  zone_history_.clear();
  zones_.reset();
  cannot_read_ = false;
}

void Painter::set_curve(Curve curve) {
  curve_ = std::move(curve);
  curve_layer_.hide();  // it shows the previous search
}

void Painter::take_scores(GstBuffer* buffer, std::uint64_t time) {
  const GstStructure* fields = score_fields(buffer, kSharpnessMeta);
  const double score = fields ? number_in(fields, "score") : std::nan("");
  if (std::isnan(score)) return;
  Scale scale{.metric = string_in(fields, "metric")};
  gst_structure_get_uint(fields, "width", &scale.width);
  gst_structure_get_uint(fields, "height", &scale.height);
  if (scale_ != scale) {
    reset();
    scale_ = std::move(scale);
    text_.metric = scale_.metric;
  }
  history_.add(time, score);
  text_.score = score;
  take_zones(fields, time);
}

Box Painter::region_of(const GstStructure* fields) const {
  const std::int64_t width = GST_VIDEO_INFO_WIDTH(&info_), height = GST_VIDEO_INFO_HEIGHT(&info_);
  guint measured_width = 0, measured_height = 0;
  if (!gst_structure_get_uint(fields, "width", &measured_width) || measured_width == 0)
    measured_width = static_cast<guint>(width);
  if (!gst_structure_get_uint(fields, "height", &measured_height) || measured_height == 0)
    measured_height = static_cast<guint>(height);
  std::array<std::int64_t, 4> roi{0, 0, measured_width, measured_height};
  const GValue* array = gst_structure_get_value(fields, "roi");
  if (array && GST_VALUE_HOLDS_ARRAY(array) && gst_value_array_get_size(array) == 4) {
    for (guint i = 0; i < 4; ++i) {
      const GValue* item = gst_value_array_get_value(array, i);
      if (G_VALUE_HOLDS_INT(item)) roi[i] = g_value_get_int(item);
    }
  }
  // The meter's clipping, then scaled to this image's size.
  const auto place = [](std::int64_t at, std::int64_t measured, std::int64_t here) {
    return static_cast<int>(std::clamp<std::int64_t>(at, 0, measured) * here / measured);
  };
  const int left = place(roi[0], measured_width, width), right = place(roi[0] + roi[2], measured_width, width);
  const int top = place(roi[1], measured_height, height), bottom = place(roi[1] + roi[3], measured_height, height);
  return {left, top, right - left, bottom - top};
}

void Painter::take_zones(const GstStructure* fields, std::uint64_t time) {
  guint columns = 0, rows = 0;
  const GValue* array = gst_structure_get_value(fields, "zones");
  const bool any = array && GST_VALUE_HOLDS_ARRAY(array) && gst_structure_get_uint(fields, "zone-columns", &columns) &&
                   gst_structure_get_uint(fields, "zone-rows", &rows) && columns > 0 && rows > 0 &&
                   std::uint64_t{columns} * rows == gst_value_array_get_size(array);
  if (!any && !gst_structure_has_field(fields, "roi")) {
    zones_.reset();
    return;
  }
  if (!zones_) zones_.emplace();
  zones_->region = region_of(fields);
  zones_->columns = any ? static_cast<int>(columns) : 1;
  zones_->rows = any ? static_cast<int>(rows) : 1;
  zones_->scores.clear();
  if (!any) return;
  for (guint i = 0; i < columns * rows; ++i) {
    const double score = number_of(gst_value_array_get_value(array, i));
    zones_->scores.push_back(std::isnan(score) ? 0 : score);
  }
  const auto [least, greatest] = std::minmax_element(zones_->scores.begin(), zones_->scores.end());
  zone_history_.add(time, *least);
  zone_history_.add(time, *greatest);
}

// --- Drawing --------------------------------------------------------------------------------------------------------

void Painter::paint_text(bool wanted, std::uint64_t time) {
  if (!wanted || layout_.text.empty() || history_.empty()) return text_layer_.hide();
  text_.stale = history_.paused(time);
  if (text_layer_.rectangle() && text_ == drawn_text_) return;
  text_layer_.show(layout_.text, [&](const Canvas& canvas) { pen_.draw_text(canvas, layout_, text_); });
  drawn_text_ = text_;
}

void Painter::paint_graph(bool wanted, std::uint64_t time) {
  if (!wanted || layout_.graph.empty() || history_.empty()) return graph_layer_.hide();
  columns_.clear();
  history_.visit(time, [&](const ScoreHistory::Column& column) { columns_.push_back(column); });
  graph_layer_.show(layout_.graph, [&](const Canvas& canvas) {
    pen_.draw_graph(canvas, layout_, {columns_, history_.range(time), time, history_.span()});
  });
}

void Painter::paint_zones(bool wanted, std::uint64_t time) {
  if (!wanted || !zones_ || zones_->region.empty() || history_.paused(time)) return zone_layer_.hide();
  zones_->range = zone_history_.range(time);
  zones_->kept_free = curve_layer_.rectangle() ? layout_.curve : Box{};
  if (zone_layer_.rectangle() && *zones_ == drawn_zones_) return;
  zone_layer_.show(zones_->region, [&](const Canvas& canvas) { pen_.draw_zones(canvas, layout_, *zones_); });
  drawn_zones_ = *zones_;
}

void Painter::paint_curve(bool wanted) {
  const bool has_result = !curve_.points.empty() || curve_.failed;
  if (!wanted || layout_.curve.empty() || !has_result) return curve_layer_.hide();
  if (curve_layer_.rectangle()) return;
  curve_layer_.show(layout_.curve, [&](const Canvas& canvas) { pen_.draw_curve(canvas, layout_, curve_); });
}

void Painter::paint_peaking(const Settings& settings, GstBuffer* buffer, bool blended) {
  if (!settings.peaking || cannot_read_) return peaking_layer_.hide();
  const auto layout = layout_of(*info_.finfo);
  const std::uint32_t colour = settings.peaking_colour, opacity = colour & 0xff000000;
  // Marks of one grey could vanish in a gray image; with alternating black and white, one is always visible.
  const cpu::Marks marks = blended && GST_VIDEO_INFO_IS_GRAY(&info_)
                               ? cpu::Marks{premultiplied(opacity | 0xffffff), opacity}
                               : cpu::Marks{premultiplied(colour), premultiplied(colour)};
  const auto draw = [&] {
    if (!layout) return false;
    if (!edges_ || settings.significant_bits != significant_bits_) {
      significant_bits_ = settings.significant_bits;
      edges_.emplace(Geometry{layout_.width, layout_.height, with_significant_bits(*layout, significant_bits_)});
      bits_check_ = {element_, info_, significant_bits_};
    }
    const MappedFrame mapped(info_, *layout, buffer);
    bits_check_.look(mapped.frame());
    peaking_layer_.show({0, 0, layout_.width, layout_.height}, [&](const Canvas& canvas) {
      return edges_->mark(mapped.frame(), settings.peaking_threshold, marks, canvas.pixels, canvas.stride);
    });
    return true;
  };
  if (guard(false, draw)) return;
  cannot_read_ = true;
  peaking_layer_.hide();
}

GstVideoOverlayComposition* Painter::paint(const Settings& settings, GstBuffer* buffer, std::uint64_t time,
                                           bool blended) {
  history_.set_span(settings.history);
  zone_history_.set_span(settings.history);
  take_scores(buffer, time);
  paint_peaking(settings, buffer, blended);
  paint_curve(settings.curve);  // before the zones, whose numbers avoid it
  paint_zones(settings.zones, time);
  paint_graph(settings.graph, time);
  paint_text(settings.text, time);

  // Reuse the composition while its contents are unchanged, so that a sink can keep its textures.
  const std::array shown{peaking_layer_.rectangle(), zone_layer_.rectangle(), curve_layer_.rectangle(),
                         graph_layer_.rectangle(), text_layer_.rectangle()};
  if (shown == shown_) return composition_.get();
  composition_.reset();
  for (GstVideoOverlayRectangle* rectangle : shown) {
    if (!rectangle) continue;
    if (composition_)
      gst_video_overlay_composition_add_rectangle(composition_.get(), rectangle);
    else
      composition_.reset(gst_video_overlay_composition_new(rectangle));
  }
  shown_ = shown;
  return composition_.get();
}

}  // namespace framequality::overlay
