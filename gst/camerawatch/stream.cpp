// SPDX-License-Identifier: LGPL-2.1-or-later
// The watch over one stream: metadata in, messages out, and the file that stores learned values.
#include "gst/camerawatch/stream.h"

#include "algorithms/saturate.h"
#include "gst/camerawatch/reason.h"
#include "gst/memory/dma.h"
#include "gst/object/guard.h"
#include "gst/object/score_meta.h"
#include "gst/object/segment.h"
#include "gst/object/structure.h"

#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <thread>
#include <utility>

GST_DEBUG_CATEGORY_EXTERN(camerawatch_debug);
#define GST_CAT_DEFAULT camerawatch_debug

namespace framequality {

namespace {

constexpr GstClockTime kSaveInterval = GstClockTime{600} * GST_SECOND;
constexpr std::uint64_t kPatience = 100;  ///< initial frames without a score before a warning

/// Reads the zones, an array of double. Other values are skipped.
void read_array(const GValue* array, std::vector<double>& to) {
  to.clear();
  if (!array || !GST_VALUE_HOLDS_ARRAY(array)) return;
  const guint n = gst_value_array_get_size(array);
  for (guint i = 0; i < n; ++i)
    if (const double v = number_of(gst_value_array_get_value(array, i)); !std::isnan(v)) to.push_back(v);
}

ZoneGrid grid_of(const GstStructure* fields) {
  guint columns = 0, rows = 0, width = 0, height = 0;
  gst_structure_get_uint(fields, "zone-columns", &columns);
  gst_structure_get_uint(fields, "zone-rows", &rows);
  gst_structure_get_uint(fields, "width", &width);
  gst_structure_get_uint(fields, "height", &height);
  if (columns == 0 || rows == 0 || width == 0 || height == 0) return {};
  return {static_cast<int>(columns), static_cast<double>(width) / columns / (static_cast<double>(height) / rows)};
}

int learned_levels(const Baseline& baseline) {
  const auto& levels = baseline.levels();
  return static_cast<int>(std::count_if(levels.begin(), levels.end(), [](const auto& l) { return l.learned(); }));
}

void set_known(GstStructure* s, const char* name, double v) {
  if (std::isfinite(v)) gst_structure_set(s, name, G_TYPE_DOUBLE, v, nullptr);
}

}  // namespace

void CameraWatchStream::start() {
  watch_ = {};
  frames_ = unscored_ = 0;
  warned_unscored_ = warned_missing_ = false;
  kind_ = {};
  saved_levels_ = 0;
  saved_ = GST_CLOCK_TIME_NONE;
  location_ = options_.get().baseline_location;
  status_.change([](CameraStatus& status) { status = {}; });
  if (location_.empty()) return;
  try {
    if (!load_baseline(location_, watch_.baseline(), kind_)) {
      GST_INFO_OBJECT(element_, "no baseline at %s yet: learning", location_.c_str());
      return;
    }
    watch_.know();
    saved_levels_ = learned_levels(watch_.baseline());
    GST_INFO_OBJECT(element_, "read %d brightness levels from %s", saved_levels_, location_.c_str());
    status_.change([this](CameraStatus& status) { status.state = watch_.state(); });
  } catch (const BadBaseline& e) {
    const std::string path = std::exchange(location_, {});
    warn("Cannot use the baseline " + path + ": " + e.what() +
         ". Learning from scratch, and leaving the file as it is; remove it to have a new baseline written there");
  }
}

void CameraWatchStream::stop() {
  if (frames_ > 0) save(true);
}

void CameraWatchStream::take_caps(GstCaps* caps) {
  GstVideoInfo info;
  const double black = std::exchange(black_, 0);
  range_ = 255;
  // Frames in any memory, even of unknown formats, declare their luma range.
  const GstStructure* s = gst_caps_get_structure(caps, 0);
  bool limited = false;
  GstVideoColorimetry colorimetry;
  if (const char* text = gst_structure_get_string(s, "colorimetry");
      text && gst_video_colorimetry_from_string(&colorimetry, text))
    limited = colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
  else if (read_info(info, caps))
    limited = info.colorimetry.range == GST_VIDEO_COLOR_RANGE_16_235;
  if (limited) black_ = 16, range_ = 235 - 16;
  GST_DEBUG_OBJECT(element_, "caps: luma from %g, over a range of %g%s", black_, range_,
                   black_ != black ? ": another range, learning from scratch" : "");
  if (black_ == black) return;
  // Luma of the two ranges is not comparable; for other sizes, the scores indicate it.
  watch_.begin_anew();
  watch_.baseline().forget_begun();
}

void CameraWatchStream::frame(GstBuffer* buffer, const GstSegment& segment) {
  now_ = options_.get();
  ++frames_;
  if (relearn_.exchange(false)) {
    learn_anew(segment, GST_BUFFER_PTS(buffer));
  }
  const GstStructure* fields = score_fields(buffer, kSharpnessMeta);
  std::optional<CameraNews> news;
  if (fields && read(fields, buffer, segment)) {
    mind_kind(fields, segment, GST_BUFFER_PTS(buffer));
    warn_of_missing(fields);
    news = watch_.frame(frame_, now_.watch);
    GST_LOG_OBJECT(element_, "score %g, mean %g: ratio %g to the baseline, %s", frame_.score, frame_.mean,
                   watch_.figures().ratio, nick_of(watch_.state()));
  } else {
    ++unscored_;
    if (unscored_ == kPatience && frames_ == kPatience && !std::exchange(warned_unscored_, true))
      warn("Frames have no score: put sharpnessmeter, with attach-meta=true, upstream of camerawatch");
  }
  status_.change([this](CameraStatus& s) {
    s.state = watch_.state();
    s.seconds = watch_.seconds();
    s.figures = watch_.figures();
    s.black = black_;
    s.frames = frames_;
    s.unscored = unscored_;
  });
  if (news)
    tell(*news, is_fault(news->previous) && !is_fault(news->state) ? "recovered" : nick_of(news->state),
         reason_of(*news, watch_, now_.watch), watch_.figures(), segment, GST_BUFFER_PTS(buffer));
  save_if_due();
}

bool CameraWatchStream::read(const GstStructure* fields, GstBuffer* buffer, const GstSegment& segment) {
  const double score = number_in(fields, "score");
  const GstClockTime running = running_time_of(segment, GST_BUFFER_PTS(buffer));
  if (std::isnan(score) || !GST_CLOCK_TIME_IS_VALID(running)) return false;
  const GValue* energies = gst_structure_get_value(fields, "zone-gradient-energies");
  read_array(energies ? energies : gst_structure_get_value(fields, "zones"), zones_);
  // After 292 years time stands still, so that its differences fit.
  frame_.time = static_cast<std::int64_t>(std::min<GstClockTime>(running, G_MAXINT64));
  frame_.score = score;
  frame_.noise = number_in(fields, "noise");
  frame_.mean = std::max(number_in(fields, "mean") - black_, 0.0);  // NaN stays
  frame_.clipped_black = number_in(fields, "clipped-black");
  frame_.clipped_white = number_in(fields, "clipped-white");
  frame_.energy = number_in(fields, "gradient-energy");
  frame_.energy_noise = number_in(fields, "gradient-noise");
  frame_.range = range_;
  frame_.zones = zones_;
  frame_.grid = grid_of(fields);
  return true;
}

void CameraWatchStream::learn_anew(const GstSegment& segment, GstClockTime pts) {
  const CameraNews news{CameraState::kLearning, watch_.state(), false, watch_.seconds()};
  watch_.relearn();
  saved_levels_ = 0;
  tell(news, "learning", "learning from scratch", watch_.figures(), segment, pts);
}

void CameraWatchStream::mind_kind(const GstStructure* fields, const GstSegment& segment, GstClockTime pts) {
  ScoreKind kind{.metric = string_in(fields, "metric"), .normalize = string_in(fields, "normalize")};
  gst_structure_get_uint(fields, "width", &kind.width);
  gst_structure_get_uint(fields, "height", &kind.height);
  gst_structure_get_uint(fields, "zone-columns", &kind.zone_columns);
  gst_structure_get_uint(fields, "zone-rows", &kind.zone_rows);
  if (kind == kind_) return;
  const bool other = !kind_.metric.empty();
  kind_ = std::move(kind);
  if (!other) return;
  learn_anew(segment, pts);
  warn(
      "The meter's scores are not comparable with the baseline (another metric, frame size, zones or normalize): "
      "learning from scratch");
}

void CameraWatchStream::warn_of_missing(const GstStructure* fields) {
  if (warned_missing_ || gst_structure_has_field(fields, "mean")) return;
  warned_missing_ = true;
  warn(
      "The meter attaches no statistics: set statistics=true and noise-correction=true on sharpnessmeter to detect "
      "dark, overexposed, flickering and noisy images, and covered ones in little light");
}

void CameraWatchStream::tell(const CameraNews& news, const std::string& state, const std::string& reason,
                             const CameraFigures& f, const GstSegment& segment, GstClockTime pts) {
  GstStructure* s = gst_structure_new("camerawatch", "state", G_TYPE_STRING, state.c_str(), "previous", G_TYPE_STRING,
                                      nick_of(news.previous), "reason", G_TYPE_STRING, reason.c_str(), "repeated",
                                      G_TYPE_BOOLEAN, gboolean{news.repeated}, "duration", G_TYPE_UINT64,
                                      saturated<guint64>(std::round(news.seconds * GST_SECOND)), nullptr);
  set_times(s, segment, pts);
  set_known(s, "score", f.score);
  set_known(s, "baseline", f.baseline);
  set_known(s, "ratio", f.ratio);
  set_known(s, "noise", f.noise);
  set_known(s, "mean", f.mean + black_);
  set_known(s, "clipped-black", f.clipped_black);
  set_known(s, "clipped-white", f.clipped_white);
  GST_INFO_OBJECT(element_, "%" GST_PTR_FORMAT, static_cast<void*>(s));
  gst_element_post_message(element_, gst_message_new_element(GST_OBJECT(element_), s));
}

void CameraWatchStream::warn(const std::string& text) {
  post(element_, GST_MESSAGE_WARNING, {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text});
}

void CameraWatchStream::save_if_due() {
  if (location_.empty()) return;
  const int levels = learned_levels(watch_.baseline());
  const auto now = static_cast<GstClockTime>(frame_.time);
  if (!GST_CLOCK_TIME_IS_VALID(saved_) || now < saved_) saved_ = now;
  if (levels == saved_levels_ && (levels == 0 || now < saved_ + kSaveInterval)) return;
  saved_levels_ = levels;
  saved_ = now;
  GST_DEBUG_OBJECT(element_, "writing the baseline, %d levels, to %s", levels, location_.c_str());
  save(false);
}

void CameraWatchStream::File::write(GstElement* element, const std::string& path, const std::string& text,
                                    std::uint64_t number) {
  const std::lock_guard lock(mutex);
  if (number <= written) return;
  written = number;
  const std::string failure = save_baseline(path, text);
  if (!failure.empty() && !std::exchange(has_warned, true))
    post(element, GST_MESSAGE_WARNING,
         {GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "Cannot write the baseline: " + failure});
}

/// A disk can be slow, and the stream does not wait for it, except at its end.
void CameraWatchStream::save(bool wait) {
  if (location_.empty() || watch_.baseline().empty()) return;
  const std::string text = to_text(watch_.baseline(), kind_);
  const std::uint64_t number = ++texts_;
  if (wait) return file_->write(element_, location_, text, number);
  gst_object_ref(element_);
  try {
    std::thread([element = element_, file = file_, path = location_, text, number] {
      guard(false, [&] {
        file->write(element, path, text, number);
        return true;
      });
      gst_object_unref(element);
    }).detach();
  } catch (const std::system_error&) {
    // No thread could be started. Next time it may.
    gst_object_unref(element_);
  }
}

}  // namespace framequality
