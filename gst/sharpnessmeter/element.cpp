// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessmeter: scores the sharpness of every video frame.
#include "algorithms/sharpness/score.h"
#include "gst/base/backends.h"
#include "gst/base/flight.h"
#include "gst/base/meter_base.h"
#include "gst/buffer/frame.h"
#include "gst/object/enums.h"
#include "gst/object/guard.h"
#include "gst/object/score_meta.h"
#include "gst/object/structure.h"
#include "gst/sharpnessmeter/detections.h"

#include <array>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

/**
 * SECTION:element-sharpnessmeter
 * @title: sharpnessmeter
 * @short_description: scores the sharpness of every video frame
 *
 * Measures each frame and lets it pass untouched and uncopied. The score goes out as an element message named
 * `sharpnessmeter`, as a custom metadata `GstSharpnessMeta` on the buffer and in the property `last-score`. Both carry
 * the same fields: guint64 `timestamp`, `stream-time`, `running-time`, `duration` (ns), `frame` (measured since start,
 * from 0); string `metric`, `device`; double `score`; uint `width`, `height`; with a `roi` the array `roi`; with more
 * than one zone uint `zone-columns`, `zone-rows` and the array of double `zones`, row by row.
 *
 * Scores are in 8-bit codes (or their square) at every depth. They are exact: the same on CPU and GPU.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420 ! sharpnessmeter ! fakesink
 * ]| prints one message for each frame.
 * |[
 * gst-launch-1.0 -m filesrc location=clip.mp4 ! decodebin ! sharpnessmeter metric=laplacian-variance
 *     prefilter=binomial3 roi="<100,100,320,240>" zone-columns=4 zone-rows=3 interval=100000000 ! fakesink
 * ]| scores ten times a second twelve zones of a region.
 */

GST_DEBUG_CATEGORY_STATIC(sharpnessmeter_debug);
#define GST_CAT_DEFAULT sharpnessmeter_debug

namespace framequality {

namespace {

constexpr char kRoiParam[] = "sharpness";
constexpr int kMaxZones = 64;
constexpr std::size_t kMaxRois = 64;
constexpr int kLimitedBlack = 16;  // 8-bit code of black in video range

struct Settings {
  int metric = kDefaultMetric;
  Prefilter prefilter = Prefilter::kNone;
  int downscale = 1;
  Normalize normalize = Normalize::kNone;
  std::optional<std::array<int, 4>> roi;
  int zone_columns = 1, zone_rows = 1;
  bool roi_meta = false;
};

enum Warning : unsigned { kRoiOutside, kTooManyRois };

}  // namespace

struct SharpnessState {
  std::mutex mutex;
  Settings settings;
};

}  // namespace framequality

using namespace framequality;

struct GstSharpnessMeter {
  FqMeterBase parent;
  SharpnessState* state;
};
struct GstSharpnessMeterClass {
  FqMeterBaseClass parent_class;
};

GType gst_sharpness_meter_get_type();
G_DEFINE_TYPE(GstSharpnessMeter, gst_sharpness_meter, FQ_TYPE_METER_BASE)
GST_ELEMENT_REGISTER_DEFINE(sharpnessmeter, "sharpnessmeter", GST_RANK_NONE, gst_sharpness_meter_get_type())

// --- Measuring ------------------------------------------------------------------------------------------------------

namespace {

class SharpnessMeasurer final : public Measurer {
 public:
  SharpnessMeasurer(GstSharpnessMeter* element, const StreamFormat& format, const Place& place, int depth)
      : element_(element),
        format_(format),
        black_(format.info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235 ? kLimitedBlack : 0),
        flight_(place.cuda ? backends().make_cuda_meter(format.geometry, place.id, depth)
                           : backends().make_cpu_meter(format.geometry),
                place.cuda, depth) {}

  bool submit(const Frame& frame, GstBuffer* buffer) override {
    Pending& next = flight_.next();
    {
      const std::lock_guard lock(element_->state->mutex);
      next.settings = element_->state->settings;
    }
    resolve(next, buffer);
    if (!plan_->refusal.empty()) throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, plan_->refusal);
    next.frame = frame;
    next.plan = plan_;
    flight_.submit();
    return true;
  }

  double collect(GstStructure* result) override {
    const Pending& oldest = flight_.oldest();
    scores_ = finish(*oldest.plan, flight_.collect(), black_);
    const Settings& settings = oldest.settings;
    metric_ = metric_info(settings.metric).name;
    gst_structure_set(result, "metric", G_TYPE_STRING, metric_, "score", G_TYPE_DOUBLE, scores_.score, nullptr);
    if (settings.roi) set_array(result, "roi", G_TYPE_INT, g_value_set_int, *settings.roi);
    if (oldest.plan->zones() > 1) {
      gst_structure_set(result, "zone-columns", G_TYPE_UINT, static_cast<guint>(settings.zone_columns), "zone-rows",
                        G_TYPE_UINT, static_cast<guint>(settings.zone_rows), nullptr);
      set_array(result, "zones", G_TYPE_DOUBLE, g_value_set_double, scores_.zones);
    }
    rois_ = oldest.rois;
    if (!oldest.detections.empty())
      set_detections(result, oldest.detections, std::span(scores_.extra).subspan(oldest.rois));
    flight_.forget_oldest();
    return scores_.score;
  }

  void move_to_cpu() override { flight_.move_to(backends().make_cpu_meter(format_.geometry)); }

  void drop() override { flight_.drop(); }

  void annotate(GstBuffer* buffer) override {
    gpointer at = nullptr;
    for (const double score : std::span(scores_.extra).first(rois_)) {
      GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
      set_roi_param(
          reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta),
          gst_structure_new(kRoiParam, "metric", G_TYPE_STRING, metric_, "score", G_TYPE_DOUBLE, score, nullptr));
    }
  }

 private:
  /// A frame submitted and not collected.
  struct Pending {
    Frame frame;
    Settings settings;
    std::size_t rois = 0;               ///< of GstVideoRegionOfInterestMeta; the first of the plan's extra regions
    std::vector<Detection> detections;  ///< the regions after these
    std::shared_ptr<const Plan> plan;
    void submit_to(Meter& meter) const { meter.submit(frame, plan); }
  };

  /// Makes plan_ the plan for the options and regions of this frame; most frames find it made.
  void resolve(Pending& frame, GstBuffer* buffer) {
    const Settings& settings = frame.settings;
    wanted_.metric = settings.metric;
    wanted_.prefilter = settings.prefilter;
    wanted_.downscale = settings.downscale;
    wanted_.mean = settings.normalize == Normalize::kMean;
    wanted_.interlaced = is_interlaced(format_.info, buffer);
    wanted_.zone_columns = settings.zone_columns;
    wanted_.zone_rows = settings.zone_rows;
    wanted_.roi.reset();
    if (settings.roi) {
      const auto [x, y, w, h] = *settings.roi;
      wanted_.roi = Rect{x, y, w, h};
    }
    wanted_.extra.clear();
    frame.detections.clear();
    if (settings.roi_meta) add_rois(buffer);
    frame.rois = wanted_.extra.size();
    if (settings.roi_meta) add_detections(buffer, frame.detections);
    if (plan_ && plan_->request == wanted_) return;
    plan_ = std::make_shared<const Plan>(make_plan(format_.geometry, wanted_));
    bool empty = true;
    for (int i = 0; i < plan_->zones(); ++i) empty = empty && plan_->pixels[static_cast<std::size_t>(i)] == 0;
    if (empty && settings.roi)
      fq_meter_base_warn_once(
          &element_->parent, kRoiOutside,
          ("The roi " + text_of(*settings.roi) + " holds no pixel of a frame of " +
           std::to_string(format_.geometry.width) + "x" + std::to_string(format_.geometry.height) + ": the score is 0")
              .c_str());
  }

  void add_rois(GstBuffer* buffer) {
    gpointer at = nullptr;
    while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      if (wanted_.extra.size() == kMaxRois) {
        warn_of_too_many();
        return;
      }
      const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
      wanted_.extra.push_back({roi->x, roi->y, roi->w, roi->h});
    }
  }

  void add_detections(GstBuffer* buffer, std::vector<Detection>& detections) {
    if (read_detections(buffer, kMaxRois - wanted_.extra.size(), detections) > detections.size()) warn_of_too_many();
    for (const Detection& d : detections) wanted_.extra.push_back(d.box);
  }

  void warn_of_too_many() {
    fq_meter_base_warn_once(&element_->parent, kTooManyRois,
                            "A buffer has more than 64 regions of interest: the others are not scored");
  }

  static std::string text_of(const std::array<int, 4>& roi) {
    std::string text;
    for (const int v : roi) {
      text += text.empty() ? '<' : ',';
      text += std::to_string(v);
    }
    return text + '>';
  }

  GstSharpnessMeter* element_;
  StreamFormat format_;
  int black_;
  Flight<Meter, Pending> flight_;
  Request wanted_;                    ///< kept for its memory
  std::shared_ptr<const Plan> plan_;  ///< of the last frame submitted
  Scores scores_;                     ///< of the last frame collected
  std::size_t rois_ = 0;              ///< of it: how many of the extra scores are those of its ROI metas
  const char* metric_ = "";           ///< of it too
};

std::unique_ptr<Measurer> make_measurer(FqMeterBase* self, const StreamFormat& format, const Place& place, int depth) {
  return std::make_unique<SharpnessMeasurer>(reinterpret_cast<GstSharpnessMeter*>(self), format, place, depth);
}

}  // namespace

// --- Properties -----------------------------------------------------------------------------------------------------

enum {
  PROP_METRIC = 1,
  PROP_PREFILTER,
  PROP_DOWNSCALE,
  PROP_NORMALIZE,
  PROP_ROI,
  PROP_ZONE_COLUMNS,
  PROP_ZONE_ROWS,
  PROP_ROI_META
};

static void set_roi(GstSharpnessMeter* self, const GValue* value) {
  const guint count = gst_value_array_get_size(value);
  if (count == 0) {
    self->state->settings.roi.reset();
  } else if (count == 4) {
    std::array<int, 4> roi;
    for (guint i = 0; i < 4; ++i) roi[i] = g_value_get_int(gst_value_array_get_value(value, i));
    self->state->settings.roi = roi;
  } else {
    g_warning("%s: roi takes <x,y,width,height>, not %u numbers; value kept", GST_OBJECT_NAME(self), count);
  }
}

static void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  auto* self = reinterpret_cast<GstSharpnessMeter*>(object);
  const std::lock_guard lock(self->state->mutex);
  Settings& s = self->state->settings;
  switch (id) {
    case PROP_METRIC:
      s.metric = g_value_get_enum(value);
      break;
    case PROP_PREFILTER:
      s.prefilter = static_cast<Prefilter>(g_value_get_enum(value));
      break;
    case PROP_DOWNSCALE:
      if (g_value_get_int(value) == 3)
        g_warning("%s: downscale is 1, 2 or 4, not 3; value kept", GST_OBJECT_NAME(self));
      else
        s.downscale = g_value_get_int(value);
      break;
    case PROP_NORMALIZE:
      s.normalize = static_cast<Normalize>(g_value_get_enum(value));
      break;
    case PROP_ROI:
      set_roi(self, value);
      break;
    case PROP_ZONE_COLUMNS:
      s.zone_columns = g_value_get_int(value);
      break;
    case PROP_ZONE_ROWS:
      s.zone_rows = g_value_get_int(value);
      break;
    case PROP_ROI_META:
      s.roi_meta = g_value_get_boolean(value);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  auto* self = reinterpret_cast<GstSharpnessMeter*>(object);
  const std::lock_guard lock(self->state->mutex);
  const Settings& s = self->state->settings;
  switch (id) {
    case PROP_METRIC:
      g_value_set_enum(value, s.metric);
      break;
    case PROP_PREFILTER:
      g_value_set_enum(value, static_cast<int>(s.prefilter));
      break;
    case PROP_DOWNSCALE:
      g_value_set_int(value, s.downscale);
      break;
    case PROP_NORMALIZE:
      g_value_set_enum(value, static_cast<int>(s.normalize));
      break;
    case PROP_ROI:
      if (s.roi) {
        GValue item = G_VALUE_INIT;
        g_value_init(&item, G_TYPE_INT);
        for (const int v : *s.roi) {
          g_value_set_int(&item, v);
          gst_value_array_append_value(value, &item);
        }
      }
      break;
    case PROP_ZONE_COLUMNS:
      g_value_set_int(value, s.zone_columns);
      break;
    case PROP_ZONE_ROWS:
      g_value_set_int(value, s.zone_rows);
      break;
    case PROP_ROI_META:
      g_value_set_boolean(value, s.roi_meta);
      break;
    default:
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_sharpness_meter_init(GstSharpnessMeter* self) { self->state = new SharpnessState; }

static void finalize(GObject* object) {
  delete reinterpret_cast<GstSharpnessMeter*>(object)->state;
  G_OBJECT_CLASS(gst_sharpness_meter_parent_class)->finalize(object);
}

static void install_properties(GObjectClass* object) {
  constexpr auto kFlags =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  g_object_class_install_property(
      object, PROP_METRIC,
      g_param_spec_enum("metric", "Metric",
                        "What the score measures. g(x,y): working samples, N: their number; in 8-bit codes at every "
                        "depth",
                        metric_get_type(), kDefaultMetric, kFlags));
  g_object_class_install_property(
      object, PROP_PREFILTER,
      g_param_spec_enum("prefilter", "Prefilter",
                        "Smoothing before measuring; keeps noise and keyframes from looking sharp",
                        prefilter_get_type(), static_cast<int>(Prefilter::kNone), kFlags));
  g_object_class_install_property(
      object, PROP_DOWNSCALE,
      g_param_spec_int("downscale", "Downscale",
                       "1, 2 or 4: box average of so many pixels each way before measuring. A last incomplete row or "
                       "column is left out",
                       1, 4, 1, kFlags));
  g_object_class_install_property(
      object, PROP_NORMALIZE,
      g_param_spec_enum("normalize", "Normalize", "Takes the exposure out of the score; entropy stays as it is",
                        normalize_get_type(), static_cast<int>(Normalize::kNone), kFlags));
  g_object_class_install_property(
      object, PROP_ROI,
      gst_param_spec_array("roi", "Region of interest",
                           "Region to measure, <x,y,width,height> in pixels, clipped to the frame; empty = the frame",
                           g_param_spec_int("edge", "Edge", "Pixels", G_MININT, G_MAXINT, 0, kFlags), kFlags));
  g_object_class_install_property(
      object, PROP_ZONE_COLUMNS,
      g_param_spec_int("zone-columns", "Zone columns", "Columns of zones, each scored too, that the roi or frame has",
                       1, kMaxZones, 1, kFlags));
  g_object_class_install_property(
      object, PROP_ZONE_ROWS,
      g_param_spec_int("zone-rows", "Zone rows", "Rows of zones, each scored too, that the roi or frame has", 1,
                       kMaxZones, 1, kFlags));
  g_object_class_install_property(
      object, PROP_ROI_META,
      g_param_spec_boolean("roi-meta", "Score ROI metadata",
                           "Also score every GstVideoRegionOfInterestMeta of a buffer (at most 64) and add a structure "
                           "'sharpness' with string 'metric' and double 'score' to its params; needs attach-meta. "
                           "Object detections (GstAnalytics, GStreamer 1.24) come as 'detections' in message and meta",
                           FALSE, kFlags));
}

static void gst_sharpness_meter_class_init(GstSharpnessMeterClass* klass) {
  GST_DEBUG_CATEGORY_INIT(sharpnessmeter_debug, "sharpnessmeter", 0, "sharpness of every video frame");
  register_score_meta(kSharpnessMeta);
  auto* object = G_OBJECT_CLASS(klass);
  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  install_properties(object);

  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element, "Sharpness meter", "Filter/Analyzer/Video",
      "Scores the sharpness of every frame, on the GPU or the CPU; message and metadata, pixels untouched",
      "The framequality authors");

  auto* base = FQ_METER_BASE_CLASS(klass);
  base->parent_class.category = sharpnessmeter_debug;
  base->message_name = "sharpnessmeter";
  base->meta_name = kSharpnessMeta;
  base->make_measurer = make_measurer;
  for (const GType type : {metric_get_type(), prefilter_get_type(), normalize_get_type()})
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
}
