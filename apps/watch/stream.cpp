// SPDX-License-Identifier: LGPL-2.1-or-later
// The pipeline of one camera: a replaceable source, and the elements that measure and learn behind it, which
// stays.
#include "apps/watch/stream.h"

#include "apps/common/contexts.h"
#include "apps/common/decoding.h"
#include "apps/common/element.h"
#include "apps/common/message.h"
#include "apps/common/meter.h"
#include "apps/common/reach.h"
#include "apps/common/threads.h"
#include "apps/watch/source.h"

#include <gst/pbutils/pbutils.h>

#include <cmath>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace framequality::apps::watch {

namespace {

constexpr char kElement[] = "camerawatch";
constexpr int kMostLingering = 3;
constexpr gint64 kLeaveTime = gint64{3} * G_USEC_PER_SEC;  // to say goodbye to a server
// Until then a server's replies have some kB, and GStreamer needs up to 20 times as much for their headers.
constexpr std::uint64_t kMostUndescribed = 1 << 20;

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

/// The event in a message of camerawatch.
Event event_of(GstMessage* message) {
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
  event.picture = gst_message_get_seqnum(message);
  return event;
}

/// The text of an error or a warning, in one line.
std::string text_of(const Complaint& complaint) {
  if (complaint.details.empty() || complaint.domain == GST_CORE_ERROR) return complaint.text;
  return complaint.text + " (" + complaint.details + ')';
}

}  // namespace

/// A source and the threads that start and stop it.
class Stream::Source {
 public:
  Source(Owned<GstElement> element, std::shared_ptr<Connections> connections)
      : element_(std::move(element)), connections_(std::move(connections)) {
    decoding_.watch(element_.get());
  }
  ~Source() { g_signal_handlers_disconnect_by_data(element_.get(), &decoding_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  GstElement* element() const { return element_.get(); }
  Decoding& decoding() { return decoding_; }
  /// True if that holds as it did at the last call: an error may have been on its way.
  bool has_given_up() {
    const bool before = std::exchange(gave_up_, decoding_.has_given_up());
    return before && gave_up_;
  }
  const std::shared_ptr<Connections>& connections() const { return connections_; }
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
  Decoding decoding_;
  const Owned<GstElement> element_;
  const std::shared_ptr<Connections> connections_;
  std::mutex mutex_;  ///< state changes may block, and happen in threads of their own
  bool stopped_ = false;
  bool gave_up_ = false;  ///< as it was at the last call
};

Stream::Stream(const CameraSettings& settings, const std::string& baseline, Chores& chores, std::shared_ptr<Tap> tap,
               Outlet outlet)
    : settings_(settings), baseline_(baseline), chores_(chores), tap_(std::move(tap)), outlet_(std::move(outlet)) {
  make_tail();
}

Stream::~Stream() {
  close();
  drop_tail();
}

void Stream::make_tail() {
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  const WatchSettings& watch = settings_.watch;
  convert_ = make_element("videoconvert");
  gst_bin_add(GST_BIN(pipeline_.get()), convert_);
  meter_ = make_meter(watch.meter);
  gst_bin_add(GST_BIN(pipeline_.get()), meter_);
  watcher_ = make_element(kElement);
  GstElement* sink = make_element("fakesink");
  gst_bin_add_many(GST_BIN(pipeline_.get()), watcher_, sink, nullptr);
  if (!gst_element_link_many(convert_, meter_, watcher_, sink, nullptr))
    throw std::runtime_error("cannot link the meter");
  const std::pair<const char*, std::optional<std::uint64_t>> times[] = {{"hold-time", watch.hold_time},
                                                                        {"recovery-time", watch.recovery_time},
                                                                        {"repeat-interval", watch.repeat_interval},
                                                                        {"learn-time", watch.learn_time}};
  for (const auto& [name, value] : times)
    if (value) g_object_set(watcher_, name, guint64{*value}, nullptr);
  if (watch.min_ratio) g_object_set(watcher_, "min-ratio", *watch.min_ratio, nullptr);
  if (watch.resume_ratio) g_object_set(watcher_, "resume-ratio", *watch.resume_ratio, nullptr);
  if (watch.watch_for) gst_util_set_object_arg(G_OBJECT(watcher_), "watch-for", watch.watch_for->c_str());
  if (!baseline_.empty()) g_object_set(watcher_, "baseline-location", baseline_.c_str(), nullptr);
  // Not async: it would wait for a first frame, which may never arrive.
  g_object_set(sink, "sync", gboolean{settings_.realtime && settings_.is_file}, "async", FALSE, "enable-last-sample",
               FALSE, nullptr);
  const Owned<GstPad> seen(gst_element_get_static_pad(watcher_, "src"));
  tap_->attach(seen.get());
  // A source's clock would vanish with the source.
  const Owned<GstClock> clock(gst_system_clock_obtain());
  gst_pipeline_use_clock(GST_PIPELINE(pipeline_.get()), clock.get());
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), on_sync_message, this, nullptr);
  bus_watch_ = gst_bus_add_watch(bus.get(), on_message, this);
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
  tail_is_broken_ = false;
}

void Stream::drop_tail() {
  if (bus_watch_ != 0) g_source_remove(std::exchange(bus_watch_, 0));
  if (!pipeline_) return;
  // This does not block: the source is gone.
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const Owned<GstBus> bus(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
  pipeline_.reset();
}

void Stream::open() {
  if (!chores_.has_room()) throw std::runtime_error(kNoThread);
  if (*lingering_ >= kMostLingering) throw std::runtime_error("earlier connections to it are still open");
  if (tail_is_broken_) {
    drop_tail();
    make_tail();
  }
  const auto connections = std::make_shared<Connections>();
  source_ = std::make_shared<Source>(make_source(settings_, connections), connections);
  gst_bin_add(GST_BIN(pipeline_.get()), source_->element());
  if (!gst_element_link(source_->element(), convert_)) throw std::runtime_error("cannot link the source");
  if (settings_.realtime && settings_.is_file) {
    // Its times begin at 0, the pipeline's began earlier.
    const Owned<GstPad> pad(gst_element_get_static_pad(source_->element(), "src"));
    gst_pad_set_offset(pad.get(), static_cast<gint64>(gst_element_get_current_running_time(pipeline_.get())));
  }
  if (chores_.try_run([source = source_] { source->start(); })) return;
  // A source that never began ends at once.
  gst_bin_remove(GST_BIN(pipeline_.get()), source_->element());
  std::exchange(source_, nullptr)->stop();
  throw std::runtime_error(kNoThread);
}

void Stream::close() {
  if (!source_) return;
  gst_bin_remove(GST_BIN(pipeline_.get()), source_->element());
  leaving_.push_back({g_get_monotonic_time(), source_->connections()});
  ++*lingering_;
  chores_.run([source = std::move(source_), lingering = lingering_] {
    source->stop();
    --*lingering;
  });
  source_.reset();
}

std::string Stream::tend() {
  const gint64 now = g_get_monotonic_time();
  std::erase_if(leaving_, [now](const Leaving& leaving) {
    const auto connections = leaving.connections.lock();
    if (!connections || now - leaving.since < kLeaveTime) return !connections;
    connections->end();
    return true;
  });
  if (!source_) return "";
  if (source_->has_given_up()) return source_->decoding().emptiness();
  if (source_->connections()->undescribed_bytes() <= kMostUndescribed) return "";
  source_->connections()->end();
  return "the server sent more than 1 MiB but no description of its streams; is it an RTSP server?";
}

std::pair<std::string, Figures> Stream::now() const {
  GstStructure* stats = nullptr;
  g_object_get(watcher_, "stats", &stats, nullptr);
  if (!stats) return {};
  std::pair<std::string, Figures> found(text_in(stats, "state"), figures_in(stats));
  gst_structure_free(stats);
  return found;
}

/// Called in the posting thread. The frame behind the message is still in the element, and passes next.
GstBusSyncReply Stream::on_sync_message(GstBus* bus, GstMessage* message, gpointer self) {
  const auto* stream = static_cast<Stream*>(self);
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT: {
      if (gst_is_missing_plugin_message(message)) return GST_BUS_PASS;
      if (!gst_message_has_name(message, kElement)) break;
      const Event event = event_of(message);
      if (!event.repeated && stream->outlet_.wants_pictures)
        stream->tap_->wish({event.picture, event.state, g_get_real_time()});
      return GST_BUS_PASS;
    }
    case GST_MESSAGE_ERROR:
      if (explain_unreachable(bus, message)) break;
      return GST_BUS_PASS;
    case GST_MESSAGE_APPLICATION:
    case GST_MESSAGE_WARNING:
      return GST_BUS_PASS;
    case GST_MESSAGE_PROGRESS:
      Connections::note(message);
      break;
    default:
      share_context(message);
      break;
  }
  // Do not wake the main loop for unread messages. Dropping a message means owning it.
  gst_message_unref(message);
  return GST_BUS_DROP;
}

gboolean Stream::on_message(GstBus*, GstMessage* message, gpointer self) {
  static_cast<Stream*>(self)->take(message);
  return G_SOURCE_CONTINUE;
}

void Stream::take(GstMessage* message) {
  GstObject* from = GST_MESSAGE_SRC(message);
  // From the current source, not an earlier one.
  const bool of_source = source_ && from && gst_object_has_as_ancestor(from, GST_OBJECT(source_->element()));
  const bool of_tail = from && !of_source && gst_object_has_as_ancestor(from, GST_OBJECT(pipeline_.get()));
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ELEMENT: {
      if (of_source) source_->decoding().hear(message);
      if (!of_tail) break;
      Event event = event_of(message);
      if (event.repeated || !outlet_.wants_pictures) event.picture = 0;
      outlet_.news(std::move(event));
      break;
    }
    case GST_MESSAGE_APPLICATION:
      if (of_source && gst_message_has_name(message, kEndMessage)) outlet_.ended();
      break;
    case GST_MESSAGE_WARNING:
      // Decoders warn about every damaged frame.
      if (from == GST_OBJECT(watcher_) || from == GST_OBJECT(meter_)) outlet_.warned(text_of(complaint_of(message)));
      break;
    case GST_MESSAGE_ERROR:
      tail_is_broken_ = tail_is_broken_ || of_tail;
      if (of_source || of_tail) {
        const Complaint complaint = complaint_of(message);
        const std::string cause = of_source ? source_->decoding().cause(complaint) : "";
        outlet_.failed(cause.empty() ? text_of(complaint) : cause);
      }
      break;
    default:
      break;
  }
}

}  // namespace framequality::apps::watch
