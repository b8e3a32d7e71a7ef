// SPDX-License-Identifier: LGPL-2.1-or-later
// One camera: its pipeline, and what becomes of it.
#include "apps/watch/camera.h"

#include "apps/common/text.h"
#include "apps/watch/source.h"
#include "apps/watch/states.h"

#include <gst/pbutils/pbutils.h>

#include <cmath>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr char kElement[] = "camerawatch";
// UDP may be tried in vain first, and a keyframe may be seconds away.
constexpr gint64 kConnectTime = 10 * G_USEC_PER_SEC;
constexpr gint64 kProven = 30 * G_USEC_PER_SEC;  // of frames: the next failure begins at the shortest wait
constexpr int kMostLingering = 3;
constexpr std::size_t kHistory = 120, kCounts = 6;
constexpr int kTicksPerPoint = 2;
constexpr std::uint64_t kRepeat = 60 * GST_SECOND;

gint64 in_us(std::uint64_t ns) { return static_cast<gint64>(ns / 1000); }

GstElement* make(const char* factory) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (!element) throw std::runtime_error(std::string("GStreamer's element ") + factory + " is not installed");
  return element;
}

std::optional<double> figure(const GstStructure* fields, const char* name) {
  double value = 0;
  if (!gst_structure_get_double(fields, name, &value) || !std::isfinite(value)) return std::nullopt;
  return value;
}

Figures figures_in(const GstStructure* fields) {
  return {figure(fields, "score"), figure(fields, "baseline"), figure(fields, "ratio"), figure(fields, "noise"),
          figure(fields, "mean")};
}

std::string text_in(const GstStructure* fields, const char* name) {
  const gchar* text = gst_structure_get_string(fields, name);
  return text ? text : "";
}

bool is_news(GstMessage* message) { return gst_message_has_name(message, kElement); }

/// What an error or a warning says, in one line.
std::string text_of(GstMessage* message) {
  GError* error = nullptr;
  gchar* debug = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR)
    gst_message_parse_error(message, &error, &debug);
  else
    gst_message_parse_warning(message, &error, &debug);
  std::string text = error->message;
  std::string_view details = debug ? debug : "";
  // Their last line says more than a text that is the same for everything.
  while (details.ends_with('\n')) details.remove_suffix(1);
  if (const auto line = details.find_last_of('\n'); line != std::string_view::npos) details.remove_prefix(line + 1);
  while (text.ends_with('.')) text.pop_back();
  if (!details.empty() && error->domain != GST_CORE_ERROR) text += " (" + std::string(details) + ')';
  g_error_free(error);
  g_free(debug);
  return text;
}

}  // namespace

/// A source and the threads that start and stop it.
class Camera::Source {
 public:
  explicit Source(Owned<GstElement> element) : element_(std::move(element)) {}
  GstElement* element() const { return element_.get(); }
  void start() {
    const std::lock_guard lock(mutex_);
    if (!stopped_) gst_element_sync_state_with_parent(element_.get());
  }
  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    gst_element_set_state(element_.get(), GST_STATE_NULL);
  }

 private:
  const Owned<GstElement> element_;
  std::mutex mutex_;  ///< state changes may block, and come from threads of their own
  bool stopped_ = false;
};

Camera::Camera(const CameraSettings& settings, const std::string& baseline, std::uint64_t seed, const Secrets& secrets,
               Chores& chores, Outlet outlet)
    : settings_(settings),
      baseline_(baseline),
      secrets_(secrets),
      chores_(chores),
      outlet_(std::move(outlet)),
      tap_(std::make_shared<Tap>(outlet_.picture)),
      backoff_(seed),
      since_(g_get_real_time()) {
  make_tail();
}

Camera::~Camera() {
  disconnect();
  drop_tail();
}

void Camera::make_tail() {
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  const WatchSettings& watch = settings_.watch;
  convert_ = make("videoconvert");
  gst_bin_add(GST_BIN(pipeline_.get()), convert_);
  meter_ = make_meter(watch.meter);
  gst_bin_add(GST_BIN(pipeline_.get()), meter_);
  watch_element_ = make(kElement);
  GstElement* sink = make("fakesink");
  gst_bin_add_many(GST_BIN(pipeline_.get()), watch_element_, sink, nullptr);
  if (!gst_element_link_many(convert_, meter_, watch_element_, sink, nullptr))
    throw std::runtime_error("the meter cannot be linked");
  const std::pair<const char*, std::optional<std::uint64_t>> times[] = {{"hold-time", watch.hold_time},
                                                                        {"recovery-time", watch.recovery_time},
                                                                        {"repeat-interval", watch.repeat_interval},
                                                                        {"learn-time", watch.learn_time}};
  for (const auto& [name, value] : times)
    if (value) g_object_set(watch_element_, name, guint64{*value}, nullptr);
  if (watch.min_ratio) g_object_set(watch_element_, "min-ratio", *watch.min_ratio, nullptr);
  if (watch.resume_ratio) g_object_set(watch_element_, "resume-ratio", *watch.resume_ratio, nullptr);
  if (watch.watch_for) gst_util_set_object_arg(G_OBJECT(watch_element_), "watch-for", watch.watch_for->c_str());
  if (!baseline_.empty()) g_object_set(watch_element_, "baseline-location", baseline_.c_str(), nullptr);
  // Not async: it would wait for a first frame, which may never come.
  g_object_set(sink, "sync", gboolean{settings_.realtime}, "async", FALSE, "enable-last-sample", FALSE, nullptr);
  const Owned<GstPad> seen(gst_element_get_static_pad(watch_element_, "src"));
  tap_->attach(seen.get());
  // A source's clock would go with the source.
  const Owned<GstClock> clock(gst_system_clock_obtain());
  gst_pipeline_use_clock(GST_PIPELINE(pipeline_.get()), clock.get());
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), on_sync_message, this, nullptr);
  bus_watch_ = gst_bus_add_watch(bus.get(), on_message, this);
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  tail_is_broken_ = false;
}

void Camera::drop_tail() {
  if (bus_watch_ != 0) g_source_remove(std::exchange(bus_watch_, 0));
  if (!pipeline_) return;
  // Nothing in it blocks: the source is gone.
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  pipeline_.reset();
}

void Camera::start() { connect(); }

void Camera::connect() {
  begun_ = g_get_monotonic_time();
  if (*lingering_ >= kMostLingering) {
    lose("earlier connections to it do not end");
    return;
  }
  try {
    if (tail_is_broken_) {
      drop_tail();
      make_tail();
    }
    source_ = std::make_shared<Source>(make_source(settings_));
    gst_bin_add(GST_BIN(pipeline_.get()), source_->element());
    if (!gst_element_link(source_->element(), convert_)) throw std::runtime_error("the source cannot be linked");
  } catch (const std::runtime_error& e) {
    lose(e.what());
    return;
  }
  phase_ = Phase::kConnecting;
  frames_before_ = tap_->frames();
  if (settings_.realtime) {
    // Its times begin at 0, the pipeline's began earlier.
    const Owned<GstPad> pad(gst_element_get_static_pad(source_->element(), "src"));
    gst_pad_set_offset(pad.get(), static_cast<gint64>(gst_element_get_current_running_time(pipeline_.get())));
  }
  chores_.run([source = source_] { source->start(); });
}

void Camera::disconnect() {
  if (!source_) return;
  gst_bin_remove(GST_BIN(pipeline_.get()), source_->element());
  ++*lingering_;
  chores_.run([source = std::move(source_), lingering = lingering_] {
    source->stop();
    --*lingering;
  });
  source_.reset();
}

void Camera::tick() {
  const gint64 now = g_get_monotonic_time(), stall = in_us(settings_.watch.stall_time);
  switch (phase_) {
    case Phase::kWaiting:
      if (now >= due_) {
        ++reconnects_;
        connect();
      }
      break;
    case Phase::kConnecting:
      if (tap_->frames() > frames_before_)
        begin_running();
      else if (now - begun_ > stall + kConnectTime)
        lose("no frame within " + std::to_string((now - begun_) / G_USEC_PER_SEC) + " s of connecting");
      break;
    case Phase::kRunning:
      if (now - tap_->last_frame() > stall)
        lose("no frame for " + std::to_string((now - tap_->last_frame()) / G_USEC_PER_SEC) + " s");
      else if (now - begun_ > kProven)
        backoff_.reset();
      break;
    case Phase::kOver:
      break;
  }
  remember_figures();
}

void Camera::remember_figures() {
  const gint64 now = g_get_monotonic_time();
  counts_.push_back({now, tap_->frames()});
  if (counts_.size() > kCounts) counts_.pop_front();
  if (phase_ != Phase::kRunning) {
    figures_ = {};
    return;
  }
  GstStructure* stats = nullptr;
  g_object_get(watch_element_, "stats", &stats, nullptr);
  if (!stats) return;
  figures_ = figures_in(stats);
  const std::string state = text_in(stats, "state");
  gst_structure_free(stats);
  if (!state.empty() && state != state_) enter(state, "", g_get_real_time());
  if (++ticks_ % kTicksPerPoint != 0 || !figures_.score) return;
  history_.emplace_back(g_get_real_time() / G_USEC_PER_SEC, *figures_.score);
  if (history_.size() > kHistory) history_.pop_front();
}

// --- Messages -------------------------------------------------------------------------------------------------------

/// In the thread that posts. The frame that made the news is still in the element, and comes by next.
GstBusSyncReply Camera::on_sync_message(GstBus*, GstMessage* message, gpointer self) {
  const auto* camera = static_cast<Camera*>(self);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT: {
      if (gst_is_missing_plugin_message(message)) return GST_BUS_PASS;
      if (!is_news(message)) return GST_BUS_DROP;
      gboolean repeated = FALSE;
      const GstStructure* fields = gst_message_get_structure(message);
      gst_structure_get_boolean(fields, "repeated", &repeated);
      if (!repeated && camera->outlet_.pictures_of_events)
        camera->tap_->wish({gst_message_get_seqnum(message), text_in(fields, "state"), g_get_real_time()});
      return GST_BUS_PASS;
    }
    case GST_MESSAGE_APPLICATION:
    case GST_MESSAGE_ERROR:
    case GST_MESSAGE_WARNING:
      return GST_BUS_PASS;
    default:
      // Nobody is to be woken for what nobody reads.
      return GST_BUS_DROP;
  }
}

gboolean Camera::on_message(GstBus*, GstMessage* message, gpointer self) {
  auto* camera = static_cast<Camera*>(self);
  GstObject* from = GST_MESSAGE_SRC(message);
  GstElement* source = camera->source_ ? camera->source_->element() : nullptr;
  const bool of_source = source && from && gst_object_has_as_ancestor(from, GST_OBJECT(source));
  const bool of_tail = from && !of_source && gst_object_has_as_ancestor(from, GST_OBJECT(camera->pipeline_.get()));
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT:
      if (is_news(message) && of_tail) camera->take_news(message);
      break;
    case GST_MESSAGE_APPLICATION:
      if (of_source && gst_message_has_name(message, kEndMessage)) camera->end();
      break;
    case GST_MESSAGE_WARNING:
      // Decoders warn of every damaged frame.
      if (from == GST_OBJECT(camera->watch_element_) || from == GST_OBJECT(camera->meter_)) {
        Event event;
        event.state = "error";
        event.reason = text_of(message);
        camera->emit(std::move(event));
      }
      break;
    case GST_MESSAGE_ERROR:
      if (of_tail) camera->tail_is_broken_ = true;
      // Of the source that is there, not of one that is gone.
      if (of_source || of_tail) camera->take_error(message);
      break;
    default:
      break;
  }
  return G_SOURCE_CONTINUE;
}

void Camera::take_error(GstMessage* message) {
  if (phase_ != Phase::kConnecting && phase_ != Phase::kRunning) return;
  if (phase_ == Phase::kConnecting && tap_->frames() > frames_before_) begin_running();
  lose(text_of(message));
}

void Camera::take_news(GstMessage* message) {
  if (phase_ == Phase::kConnecting) begin_running();
  if (phase_ != Phase::kRunning) return;
  const GstStructure* fields = gst_message_get_structure(message);
  Event event;
  event.state = text_in(fields, "state");
  event.previous = text_in(fields, "previous");
  event.reason = text_in(fields, "reason");
  gboolean repeated = FALSE;
  gst_structure_get_boolean(fields, "repeated", &repeated);
  event.repeated = repeated;
  guint64 duration = 0;
  if (gst_structure_get_uint64(fields, "duration", &duration)) event.duration = duration;
  event.figures = figures_in(fields);
  figures_ = event.figures;
  if (!repeated && outlet_.pictures_of_events) event.picture = gst_message_get_seqnum(message);
  const bool began = is_condition(event.state);
  if (!repeated)
    enter(event.state == "recovered" ? "good" : event.state, event.reason,
          g_get_real_time() - (began ? in_us(duration) : 0));
  else
    reason_ = secrets_.hide(event.reason);
  emit(std::move(event));
}

void Camera::begin_running() {
  phase_ = Phase::kRunning;
  begun_ = g_get_monotonic_time();
  Event event;
  event.state = "connected";
  event.previous = was_lost_ ? "lost" : "connecting";
  if (was_lost_) event.duration = static_cast<std::uint64_t>(begun_ - lost_since_) * 1000;
  was_lost_ = false;
  emit(std::move(event));
  counts_.clear();
  remember_figures();
}

void Camera::lose(const std::string& reason) {
  const gint64 now = g_get_monotonic_time();
  const bool over = settings_.is_file;
  const bool was_running = phase_ == Phase::kRunning;
  disconnect();
  phase_ = over ? Phase::kOver : Phase::kWaiting;
  failed_ = failed_ || over;
  due_ = now + in_us(backoff_.next());
  const std::string hidden = secrets_.hide(printable(reason));
  const std::uint64_t repeat = settings_.watch.repeat_interval.value_or(kRepeat);
  const bool repeated = was_lost_ && hidden == reason_;
  if (repeated && (repeat == 0 || now - lost_told_ < in_us(repeat))) return;
  if (!was_lost_) lost_since_ = was_running && tap_->last_frame() != 0 ? tap_->last_frame() : begun_;
  was_lost_ = true;
  lost_told_ = now;
  Event event;
  event.state = over ? "error" : "lost";
  event.previous = state_;
  event.reason = hidden;
  event.repeated = repeated;
  event.duration = static_cast<std::uint64_t>(now - lost_since_) * 1000;
  if (state_ != event.state || reason_ != hidden)
    enter(event.state, hidden, state_ == event.state ? since_ : g_get_real_time() - (now - lost_since_));
  emit(std::move(event));
}

void Camera::end() {
  if (phase_ == Phase::kConnecting && tap_->frames() > frames_before_) begin_running();
  if (!settings_.is_file) {
    lose("the stream ended");
    return;
  }
  if (phase_ == Phase::kConnecting) {
    lose("it holds no video frame");
    return;
  }
  disconnect();
  phase_ = Phase::kOver;
  remember_figures();
  Event event;
  event.state = "ended";
  event.previous = state_;
  enter("ended", "", g_get_real_time());
  emit(std::move(event));
}

void Camera::emit(Event event) {
  event.time = g_get_real_time();
  event.camera = settings_.name;
  if (event.previous.empty()) event.previous = state_;
  event.reason = secrets_.hide(printable(event.reason));
  outlet_.happened(std::move(event));
}

void Camera::enter(const std::string& state, const std::string& reason, gint64 since) {
  state_ = state;
  reason_ = secrets_.hide(reason);
  since_ = since;
}

CameraStatus Camera::status() const {
  CameraStatus status;
  status.name = settings_.name;
  status.source = secrets_.hide(settings_.source);
  status.state = state_;
  status.reason = reason_;
  status.since = since_;
  status.figures = figures_;
  status.frames = tap_->frames();
  status.reconnects = reconnects_;
  status.width = tap_->width();
  status.height = tap_->height();
  if (const gint64 last = tap_->last_frame(); last != 0)
    status.last_frame_age = static_cast<double>(g_get_monotonic_time() - last) / G_USEC_PER_SEC;
  if (phase_ == Phase::kRunning && counts_.size() > 1 && counts_.back().time > counts_.front().time)
    status.frame_rate = static_cast<double>(counts_.back().frames - counts_.front().frames) * G_USEC_PER_SEC /
                        static_cast<double>(counts_.back().time - counts_.front().time);
  status.history.assign(history_.begin(), history_.end());
  return status;
}

}  // namespace framequality::apps::watch
