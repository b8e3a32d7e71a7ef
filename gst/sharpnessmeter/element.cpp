// SPDX-License-Identifier: LGPL-2.1-or-later
// sharpnessmeter: measures the sharpness of each video frame.
#include "algorithms/sharpness/meter.h"
#include "algorithms/sharpness/score.h"
#include "gst/base/meter_stream.h"
#include "gst/buffer/frame.h"
#include "gst/object/guard.h"
#include "gst/object/log.h"
#include "gst/object/owned.h"
#include "gst/object/properties.h"
#include "gst/object/score_meta.h"
#include "gst/object/structure.h"
#include "gst/sharpnessmeter/detections.h"
#include "gst/sharpnessmeter/displacement.h"
#include "gst/sharpnessmeter/fields.h"
#include "gst/sharpnessmeter/loss_watch.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

/**
 * SECTION:element-sharpnessmeter
 * @title: sharpnessmeter
 * @short_description: measures the sharpness of each video frame
 *
 * Measures each frame without changing or copying its pixels. It posts the score as an element message named
 * `sharpnessmeter`, attaches it to the buffer as the custom metadata `GstSharpnessMeta`, and keeps it in the property
 * `last-score`. Message and metadata have the same fields: guint64 `timestamp`, `stream-time`, `running-time`,
 * `duration` (ns), `frame` (measured since start, from 0); string `metric`, `device`; double `score`; uint `width`,
 * `height`; with a `roi` the array `roi`; with more than one zone uint `zone-columns`, `zone-rows` and the array of
 * double `zones`, row by row.
 *
 * With `statistics` there are also double `noise` and `mean` (8-bit grey levels), `clipped-black` and `clipped-white`
 * (shares of the pixels), and string `normalize`, as set. With metric=mean-square-frequency too, double
 * `gradient-energy` (the score of tenengrad, minus the contribution of noise), `gradient-noise` (that contribution)
 * and, with zones, the array `zone-gradient-energies`.
 *
 * With metric=directional-frequency, and with `statistics`, string `blur` says how the roi or frame is blurred:
 * `sharp`, `defocus`, `motion`, or `flat` if it has no detail above the noise. If it is not flat, double `anisotropy`
 * (from 0, the same in all directions, to 1) and `blur-angle` (degrees, counterclockwise from the x axis, 0 to 180)
 * give the direction of the strongest blur. With zones there is also double `sharpest-zones`, the mean score of the
 * sharpest ones. Noise is subtracted if `statistics` or `noise-correction` measures it.
 *
 * With `displacement` there are also the array of double `displacement`, how far the content of the shot's first frame
 * has moved to the right and down, as shares of the frame's diagonal, and uint `shot`, the number of cuts before.
 *
 * With `detect-damage` there is also boolean `damaged`: the frame was decoded from incomplete data, or from other
 * frames that were. Its score says nothing about focus.
 *
 * Scores are in 8-bit grey levels (or their square) at any bit depth. They are exact: the same on CPU and GPU.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 -m videotestsrc pattern=ball num-buffers=30 ! video/x-raw,format=I420 ! sharpnessmeter ! fakesink
 * ]| prints one message for each frame.
 * |[
 * gst-launch-1.0 -m filesrc location=clip.mp4 ! decodebin ! sharpnessmeter metric=laplacian-variance
 *     prefilter=binomial3 roi="<100,100,320,240>" zone-columns=4 zone-rows=3 interval=100000000 ! fakesink
 * ]| scores twelve zones of a region, ten times per second.
 */

GST_DEBUG_CATEGORY(sharpnessmeter_debug);
#define GST_CAT_DEFAULT sharpnessmeter_debug

namespace framequality {

using namespace sharpness;

namespace {

constexpr char kRoiParam[] = "sharpness";
constexpr int kMaxZones = 64;
constexpr std::size_t kMaxRois = 64;

struct Settings {
  Request request;  ///< without values from the stream and each frame: range, fields and their own regions
  bool roi_meta = false;
  int sharpest_zones = 3;
  bool displacement = false;
  bool detect_damage = true;
};

enum Warning : unsigned { kRoiOutside, kTooManyRois };

}  // namespace

}  // namespace framequality

using namespace framequality;

/// Created and deleted with the element, so that streaming threads find it whatever the state.
struct SharpnessMeterParts {
  Shared<Settings> settings;
  LossWatch losses;
};
struct GstSharpnessMeter {
  FqMeterBase parent;
  SharpnessMeterParts* parts;
};
struct GstSharpnessMeterClass {
  FqMeterBaseClass parent_class;
};

GType gst_sharpness_meter_get_type();
G_DEFINE_TYPE(GstSharpnessMeter, gst_sharpness_meter, FQ_TYPE_METER_BASE)
GST_ELEMENT_REGISTER_DEFINE(sharpnessmeter, "sharpnessmeter", GST_RANK_NONE, gst_sharpness_meter_get_type())

// --- Measuring ------------------------------------------------------------------------------------------------------

namespace {

class Sharpness {
 public:
  using Task = sharpness::Task;
  using Result = std::span<const std::int64_t>;
  struct Notes {
    std::size_t rois = 0;               ///< of GstVideoRegionOfInterestMeta; the first of the plan's extra regions
    std::vector<Detection> detections;  ///< the regions after these
    int sharpest_zones = 1;             ///< number of zones in the mean of the sharpest
    std::optional<Displacement> displacement;
    std::optional<bool> damaged;
  };
  using Report = Scores;

  Sharpness(GstSharpnessMeter* element, const StreamFormat& format)
      : element_(element),
        format_(format),
        is_limited_(format.info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235) {}

  std::unique_ptr<Meter> make(const Place& place, int depth) const {
    return place.backend->sharpness(format_.geometry, {place.id, depth});
  }

  /// Most frames reuse the plan for their options and regions.
  bool prepare(GstBuffer* buffer, Task& task, Notes& notes) {
    const Settings settings = element_->parts->settings.get();
    wanted_ = settings.request;
    wanted_.interlaced = is_interlaced(format_.info, buffer);
    wanted_.limited = is_limited_;
    notes.detections.clear();
    notes.sharpest_zones = settings.sharpest_zones;
    notes.displacement = settings.displacement ? displacement_of(buffer) : std::nullopt;
    if (!settings.displacement) displacement_.reset();
    if (settings.detect_damage != is_watching_) watch(settings.detect_damage);
    notes.damaged = settings.detect_damage ? std::optional(is_damaged(buffer)) : std::nullopt;
    if (settings.roi_meta) add_rois(buffer);
    notes.rois = wanted_.extra.size();
    if (settings.roi_meta) add_detections(buffer, notes.detections);
    is_other_work_ = false;
    if (!plan_ || plan_->request != wanted_) make_plan();
    if (!plan_->refusal.empty()) throw ElementError(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, plan_->refusal);
    task.plan = plan_;
    return true;
  }

  bool is_other_work() const { return is_other_work_; }

  PlaneExtents extents(const Task&) const { return format_.geometry; }

  Scores report(const Task& task, const Notes&, Result totals) const { return finish(*task.plan, totals); }

  void describe(const Task& task, const Notes& notes, const Scores& scores, GstStructure* fields) const {
    set_fields(fields, *task.plan, scores, notes.sharpest_zones);
    if (notes.displacement) {
      const Displacement& d = *notes.displacement;
      set_array(fields, "displacement", G_TYPE_DOUBLE, g_value_set_double, std::array{d.x, d.y});
      gst_structure_set(fields, "shot", G_TYPE_UINT, d.shot, nullptr);
    }
    if (notes.damaged) gst_structure_set(fields, "damaged", G_TYPE_BOOLEAN, gboolean{*notes.damaged}, nullptr);
    if (!notes.detections.empty())
      set_detections(fields, notes.detections, std::span(scores.extra).subspan(notes.rois));
  }

  void annotate(const Task& task, const Notes& notes, const Scores& scores, GstBuffer* buffer) const {
    const char* metric = metric_info(task.plan->request.metric).name;
    gpointer at = nullptr;
    for (const double score : std::span(scores.extra).first(notes.rois)) {
      GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
      set_roi_param(
          reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta),
          gst_structure_new(kRoiParam, "metric", G_TYPE_STRING, metric, "score", G_TYPE_DOUBLE, score, nullptr));
    }
  }

 private:
  /// Computed on the CPU on any device: frames in GPU memory are copied for it.
  std::optional<Displacement> displacement_of(GstBuffer* buffer) {
    if (!DisplacementMeter::takes(format_.geometry)) return std::nullopt;
    if (!displacement_) displacement_.emplace(format_.geometry);
    const MappedFrame mapped(format_.info, format_.geometry.layout, buffer);
    return displacement_->next(mapped.frame());
  }

  /// Where pads are linked late, there was no decoder yet when the element started.
  void watch(bool begin) {
    is_watching_ = begin;
    if (begin)
      element_->parts->losses.begin();
    else
      element_->parts->losses.end();
  }

  void make_plan() {
    is_other_work_ = plan_ && without_extra(plan_->request) != without_extra(wanted_);
    plan_ = std::make_shared<const Plan>(sharpness::make_plan(format_.geometry, wanted_));
    bool empty = true;
    for (int i = 0; i < plan_->zones(); ++i) empty = empty && plan_->pixels[static_cast<std::size_t>(i)] == 0;
    if (empty && wanted_.roi)
      warn(kRoiOutside, "The roi " + text_of(*wanted_.roi) + " contains no measurable pixel of a frame of " +
                            std::to_string(GST_VIDEO_INFO_WIDTH(&format_.info)) + "x" +
                            std::to_string(GST_VIDEO_INFO_HEIGHT(&format_.info)) + ": the score is 0");
  }

  /// Drops regions of interest from frames, which change with each.
  static Request without_extra(Request request) {
    request.extra.clear();
    return request;
  }

  void add_rois(GstBuffer* buffer) {
    gpointer at = nullptr;
    while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &at, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
      if (wanted_.extra.size() == kMaxRois) return warn_of_too_many();
      const auto* roi = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
      wanted_.extra.push_back({roi->x, roi->y, roi->w, roi->h});
    }
  }

  void add_detections(GstBuffer* buffer, std::vector<Detection>& detections) {
    if (read_detections(buffer, kMaxRois - wanted_.extra.size(), detections) > detections.size()) warn_of_too_many();
    for (const Detection& d : detections) wanted_.extra.push_back(d.box);
  }

  void warn_of_too_many() {
    warn(kTooManyRois, "A buffer has more than 64 regions of interest: only the first 64 are scored");
  }
  void warn(Warning which, const std::string& text) { warnings_.once(&element_->parent, which, text); }

  static std::string text_of(const Rect& roi) {
    std::string text;
    for (const int v : numbers(roi)) text.append(text.empty() ? "<" : ",").append(std::to_string(v));
    return text + '>';
  }

  GstSharpnessMeter* element_;
  StreamFormat format_;
  bool is_limited_;
  Warnings warnings_;
  Request wanted_;                    ///< of the last frame prepared; reuses its memory
  std::shared_ptr<const Plan> plan_;  ///< its plan
  bool is_other_work_ = false;
  std::optional<DisplacementMeter> displacement_;
  bool is_watching_ = false;
};

std::unique_ptr<Stream> make_stream(FqMeterBase* self, const StreamFormat& format) {
  return std::make_unique<MeterStream<Sharpness>>(reinterpret_cast<GstSharpnessMeter*>(self), format);
}

}  // namespace

// --- Properties -----------------------------------------------------------------------------------------------------

/// Indices into Metrics, with their names as nicks.
static GType metric_get_type() {
  static const GType type = [] {
    EnumValue<int> values[kMetricCount];
    for (int i = 0; i < kMetricCount; ++i) {
      const MetricInfo& m = metric_info(i);
      const std::string text = std::string(m.formula) + " [" + m.unit + "]: " + m.summary;
      values[i] = {i, g_intern_string(text.c_str()), m.name};
    }
    return register_enum("FqSharpnessMetric", values);
  }();
  return type;
}

static GType prefilter_get_type() {
  static const GType type =
      register_enum<Prefilter>("FqPrefilter", {{Prefilter::kNone, "no filter", "none"},
                                               {Prefilter::kBinomial3, "3x3 binomial (1-2-1)", "binomial3"},
                                               {Prefilter::kBinomial5, "5x5 binomial (1-4-6-4-1)", "binomial5"}});
  return type;
}

/// Values of Request::mean.
static GType normalize_get_type() {
  static const GType type = register_enum("FqNormalize", kNormalize);
  return type;
}

static void get_roi(const Settings& settings, GValue* value) {
  if (!settings.request.roi) return;
  GValue item = G_VALUE_INIT;
  g_value_init(&item, G_TYPE_INT);
  for (const int v : numbers(*settings.request.roi)) {
    g_value_set_int(&item, v);
    gst_value_array_append_value(value, &item);
  }
}

static bool set_roi(GstSharpnessMeter* self, Settings& settings, const GValue* value) {
  const guint count = gst_value_array_get_size(value);
  if (count == 0) {
    settings.request.roi.reset();
    return true;
  }
  if (count != 4) {
    g_warning("%s: roi must be <x,y,width,height>, not %u numbers; keeping the old value", GST_OBJECT_NAME(self),
              count);
    return false;
  }
  const auto number = [&](guint i) { return g_value_get_int(gst_value_array_get_value(value, i)); };
  settings.request.roi = Rect{number(0), number(1), number(2), number(3)};
  return true;
}

static bool accepts(GstSharpnessMeter* self, const Settings& wanted) {
  if (wanted.request.downscale != 3) return true;
  g_warning("%s: downscale must be 0, 1, 2 or 4, not 3; keeping the old value", GST_OBJECT_NAME(self));
  return false;
}

static void install_properties(GstSharpnessMeterClass* klass) {
  constexpr GParamFlags kFlags = flags_of(Mutable::kPlaying);
  const In part{&Settings::request};
  using R = Request;
  Properties<GstSharpnessMeter, Settings>::install(
      klass, [](GstSharpnessMeter * self) -> auto& { return self->parts->settings; })
      .add(part(&R::metric), metric_get_type(), "metric", "Metric",
           "Score by this sharpness metric, in 8-bit grey levels at any bit depth. g(x,y): luma after downscale and "
           "prefilter; N: number of samples")
      .add(part(&R::prefilter), prefilter_get_type(), "prefilter", "Prefilter",
           "Smooth frames before measuring, which reduces the effect of noise and keyframes")
      .add(part(&R::downscale), "downscale", "Downscale",
           "Average blocks of this many pixels each way before measuring: 1, 2 or 4. 0 = measure at all three and "
           "report the lowest score, to compare images of different sizes or with grain. Incomplete rows and "
           "columns are ignored",
           0, 4)
      .add(part(&R::mean), normalize_get_type(), "normalize", "Normalize",
           "Divide the score by the mean, so that exposure cancels; no effect on entropy, mean-square-frequency and "
           "directional-frequency")
      .add(part(&R::noise_correction), "noise-correction", "Noise correction",
           "Subtract the contribution of white noise, estimated from each frame, from the scores of tenengrad, "
           "brenner, laplacian-variance, mean-square-frequency and directional-frequency; adds 'noise' to message and "
           "metadata. With normalize=mean, and by the last two metrics, frames of nothing but noise, as behind a lens "
           "cap, score 0")
      .add(part(&R::statistics), "statistics", "Statistics",
           "Add statistics of the ROI or frame to message and metadata: 'noise' (standard deviation) and 'mean' luma, "
           "both in 8-bit grey levels; 'clipped-black' and 'clipped-white' (shares of the pixels); the kind of blur "
           "('blur', 'anisotropy', 'blur-angle'); and 'normalize' as set")
      .add(Mutable::kPlaying,
           gst_param_spec_array(
               "roi", "Region of interest",
               "Measure only this region, <x,y,width,height> in pixels, clipped to the frame; empty = the whole frame",
               g_param_spec_int("edge", "Edge", "Pixels", G_MININT, G_MAXINT, 0, kFlags), kFlags),
           get_roi, set_roi)
      .add(part(&R::zone_columns), "zone-columns", "Zone columns",
           "Divide the ROI or frame into this many columns of zones; each zone has its own score", 1, kMaxZones)
      .add(part(&R::zone_rows), "zone-rows", "Zone rows",
           "Divide the ROI or frame into this many rows of zones; each zone has its own score", 1, kMaxZones)
      .add(&Settings::sharpest_zones, "sharpest-zones", "Sharpest zones",
           "Report the mean score of this many sharpest zones, as 'sharpest-zones', for the sharpness of a subject of "
           "that size. Needs more than one zone, and statistics=true or metric=directional-frequency",
           1, kMaxZones * kMaxZones)
      .add(&Settings::displacement, "displacement", "Displacement",
           "Add the displacement of the image since the start of the shot to message and metadata, as 'displacement' "
           "(right and down, as shares of the diagonal), and the number of cuts before, as 'shot'. Computed on the CPU")
      .add(&Settings::detect_damage, "detect-damage", "Detect damage",
           "Say in message and metadata whether each frame is damaged, as 'damaged': decoded from incomplete data, or "
           "from other frames that were. Reads flags of frames and the headers of the stream that enters the decoder "
           "upstream, no pixels")
      .add(&Settings::roi_meta, "roi-meta", "Score ROI metadata",
           "Score each GstVideoRegionOfInterestMeta of a buffer too (at most 64) and add a structure 'sharpness' with "
           "string 'metric' and double 'score' to its params; requires attach-meta. Score object detections "
           "(GstAnalytics, GStreamer 1.24) too, as 'detections' in message and metadata")
      .accept_if(accepts);
}

// --- Start and stop -------------------------------------------------------------------------------------------------

/// Decoders upstream that are there already are watched from their first frame on.
static gboolean start(GstBaseTransform* transform) {
  auto* parent = GST_BASE_TRANSFORM_CLASS(gst_sharpness_meter_parent_class);
  if (parent->start && !parent->start(transform)) return FALSE;
  return guard(GST_ELEMENT_CAST(transform), FALSE, [&]() -> gboolean {
    auto* self = reinterpret_cast<GstSharpnessMeter*>(transform);
    if (self->parts->settings.get().detect_damage) self->parts->losses.begin();
    return TRUE;
  });
}

static gboolean stop(GstBaseTransform* transform) {
  auto* parent = GST_BASE_TRANSFORM_CLASS(gst_sharpness_meter_parent_class);
  const gboolean stopped = !parent->stop || parent->stop(transform);
  auto* self = reinterpret_cast<GstSharpnessMeter*>(transform);
  self->parts->losses.end();
  return stopped;
}

static void gst_sharpness_meter_init(GstSharpnessMeter* self) {
  self->parts = new SharpnessMeterParts{{}, LossWatch(GST_BASE_TRANSFORM_SINK_PAD(self))};
}

static void gst_sharpness_meter_class_init(GstSharpnessMeterClass* klass) {
  sharpnessmeter_debug = debug_category("sharpnessmeter", "sharpness of video frames");
  register_score_meta(kSharpnessMeta);
  register_frame_loss_meta();
  delete_with_instance<&GstSharpnessMeter::parts>(klass);
  install_properties(klass);

  auto* element = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element, "Sharpness meter", "Filter/Analyzer/Video",
                                        "Measures the sharpness of each frame, on a GPU or the CPU; posts messages and "
                                        "attaches metadata, leaves pixels unchanged",
                                        "The framequality authors");

  GST_BASE_TRANSFORM_CLASS(klass)->start = start;
  GST_BASE_TRANSFORM_CLASS(klass)->stop = stop;
  auto* base = FQ_METER_BASE_CLASS(klass);
  base->parent_class.category = sharpnessmeter_debug;
  base->parent_class.makes = [](const Backend& backend) { return backend.sharpness != nullptr; };
  base->parent_class.weighs = true;
  base->message_name = "sharpnessmeter";
  base->meta_name = kSharpnessMeta;
  base->make_stream = make_stream;
}
