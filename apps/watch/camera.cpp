// SPDX-License-Identifier: LGPL-2.1-or-later
// One camera: its pipeline, reconnection and reports.
#include "apps/watch/camera.h"

#include "apps/common/text.h"
#include "apps/watch/states.h"

#include <stdexcept>
#include <tuple>
#include <utility>

namespace framequality::apps::watch {

namespace {

// UDP may fail first, and the next keyframe may be seconds away.
constexpr gint64 kConnectTime = gint64{10} * G_USEC_PER_SEC;
constexpr gint64 kProven = gint64{30} * G_USEC_PER_SEC;  // of frames: after this, the delay starts over
constexpr std::size_t kHistory = 120, kCounts = 6;
constexpr int kTicksPerPoint = 2;
constexpr std::uint64_t kRepeat = 60 * GST_SECOND;

gint64 in_us(std::uint64_t ns) { return static_cast<gint64>(ns / 1000); }

}  // namespace

Camera::Camera(const CameraSettings& settings, const std::string& baseline, std::uint64_t seed, const Secrets& secrets,
               Chores& chores, Outlet outlet)
    : settings_(settings),
      secrets_(secrets),
      outlet_(std::move(outlet)),
      tap_(std::make_shared<Tap>(outlet_.picture)),
      backoff_(seed),
      since_(g_get_real_time()),
      stream_(settings_, baseline, chores, tap_,
              {[this](Event event) { take_news(std::move(event)); },
               [this](const std::string& text) {
                 Event event;
                 event.state = "error";
                 event.reason = text;
                 emit(std::move(event));
               },
               [this](const std::string& text) { fail(text); }, [this] { end(); }, outlet_.pictures_of_events}) {}

void Camera::start() { connect(); }

void Camera::connect() {
  begun_ = g_get_monotonic_time();
  frames_before_ = tap_->frames();
  try {
    stream_.open();
    phase_ = Phase::kConnecting;
  } catch (const std::runtime_error& e) {
    lose(e.what());
  }
}

void Camera::tick() {
  const gint64 now = g_get_monotonic_time(), stall = in_us(settings_.watch.stall_time);
  if (const std::string reason = stream_.tend(); !reason.empty()) lose(reason);
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
        lose("no frame within " + std::to_string((now - begun_) / G_USEC_PER_SEC) + " s after connecting");
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
  std::string state;
  std::tie(state, figures_) = stream_.now();
  if (!state.empty() && state != state_) enter(state, "", g_get_real_time());
  if (++ticks_ % kTicksPerPoint != 0 || !figures_.score) return;
  history_.emplace_back(g_get_real_time() / G_USEC_PER_SEC, *figures_.score);
  if (history_.size() > kHistory) history_.pop_front();
}

void Camera::fail(const std::string& reason) {
  if (phase_ != Phase::kConnecting && phase_ != Phase::kRunning) return;
  if (phase_ == Phase::kConnecting && tap_->frames() > frames_before_) begin_running();
  lose(reason);
}

void Camera::take_news(Event event) {
  if (phase_ == Phase::kConnecting) begin_running();
  if (phase_ != Phase::kRunning) return;
  figures_ = event.figures;
  const gint64 lasted = is_condition(event.state) ? in_us(event.duration.value_or(0)) : 0;
  condition_reason_ = event.reason;
  if (event.repeated)
    reason_ = secrets_.hide(event.reason);
  else
    enter(event.state == "recovered" ? "good" : event.state, event.reason, g_get_real_time() - lasted);
  emit(std::move(event));
}

void Camera::begin_running() {
  phase_ = Phase::kRunning;
  begun_ = g_get_monotonic_time();
  Event event;
  event.state = "connected";
  event.previous = was_lost_ ? "lost" : "connecting";
  if (was_lost_) event.duration = static_cast<std::uint64_t>(begun_ - lost_since_) * 1000;
  const bool was_lost = std::exchange(was_lost_, false);
  emit(std::move(event));
  counts_.clear();
  remember_figures();
  if (!was_lost || !is_condition(state_)) return;
  // A condition from before the loss still holds.
  reason_ = secrets_.hide(condition_reason_);
  Event still;
  still.state = state_;
  still.previous = "connected";
  still.reason = condition_reason_;
  still.repeated = true;
  still.figures = figures_;
  emit(std::move(still));
}

void Camera::lose(const std::string& reason) {
  const gint64 now = g_get_monotonic_time();
  const bool over = settings_.is_file;
  const bool was_running = phase_ == Phase::kRunning;
  stream_.close();
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
    lose("it has no video frame");
    return;
  }
  stream_.close();
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
