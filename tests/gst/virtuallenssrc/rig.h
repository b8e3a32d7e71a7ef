// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for tests of the virtual lens and of autofocus: pipelines watched frame by frame, folders of images.
#pragma once

#include "tests/gst/rig.h"
#include "tests/gst/stepped_clock.h"
#include "tests/support/sanitizers.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>

namespace framequality::test {

/// A message of focuscontroller.
struct FocusEvent {
  std::string event, state;
  double position, score;
  GstClockTime timestamp, stream_time, running_time;

  static std::optional<FocusEvent> of(GstMessage* message) {
    if (!gst_message_has_name(message, "focuscontroller")) return {};
    const GstStructure* s = gst_message_get_structure(message);
    return FocusEvent{text(s, "event"),      text(s, "state"),        number(s, "position"),   number(s, "score"),
                      count(s, "timestamp"), count(s, "stream-time"), count(s, "running-time")};
  }
};

struct FocusHeard : Heard {
  std::vector<FocusEvent> events;
  std::vector<double> moves() const {
    std::vector<double> all;
    for (const auto& e : events)
      if (e.event == "move") all.push_back(e.position);
    return all;
  }
  std::vector<std::string> states() const {
    std::vector<std::string> all;
    for (const auto& e : events)
      if (e.event == "state") all.push_back(e.state);
    return all;
  }
  void listen(GstMessage* message) {
    add(message);
    if (auto e = FocusEvent::of(message)) events.push_back(*e);
  }
};

/// A folder that goes when the test is over.
class PictureFolder {
 public:
  explicit PictureFolder(const std::string& name = "pictures") {
    gchar* made = g_dir_make_tmp("framequality-XXXXXX", nullptr);
    root_ = made;
    g_free(made);
    path_ = root_ / name;
    std::filesystem::create_directory(path_);
  }
  PictureFolder(const PictureFolder&) = delete;
  PictureFolder& operator=(const PictureFolder&) = delete;
  ~PictureFolder() { std::filesystem::remove_all(root_); }

  std::string path() const { return path_.string(); }
  /// Adds a flat picture of this code.
  void add(const std::string& name, int code, int width = 8, int height = 6) const {
    const CapsPtr caps(gst_caps_from_string(video_caps("GRAY8", width, height).c_str()));
    BufferPtr buffer(gst_buffer_new_allocate(nullptr, static_cast<gsize>((width + 3) / 4 * 4 * height), nullptr));
    gst_buffer_memset(buffer.get(), 0, static_cast<guint8>(code), static_cast<gsize>(-1));
    GstSample* raw = gst_sample_new(buffer.get(), caps.get(), nullptr, nullptr);
    const CapsPtr png(gst_caps_from_string("image/png"));
    GstSample* coded = gst_video_convert_sample(raw, png.get(), 10 * GST_SECOND, nullptr);
    ASSERT_TRUE(coded) << "no PNG encoder";
    GstMapInfo map;
    gst_buffer_map(gst_sample_get_buffer(coded), &map, GST_MAP_READ);
    text(name, {reinterpret_cast<const char*>(map.data), map.size});
    gst_buffer_unmap(gst_sample_get_buffer(coded), &map);
    gst_sample_unref(coded);
    gst_sample_unref(raw);
  }
  void text(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path root_, path_;
};

/// Where the real focus sweeps are, or an empty path. None under ThreadSanitizer, where they take minutes and
/// bring no threads of their own.
inline std::filesystem::path sweep_folder([[maybe_unused]] const char* name) {
#if FQ_TSAN
  return {};
#else
  const char* root = g_getenv("FQ_SOURCE_ROOT");
  const auto path = std::filesystem::path(root ? root : ".") / "../shared/media" / name;
  return std::filesystem::exists(path) ? path : std::filesystem::path();
#endif
}

/// A pipeline whose last element is `fakesink name=sink`: a function sees every frame there, in the streaming thread.
class WatchedPipeline {
 public:
  using OnFrame = std::function<void(GstBuffer* buffer, int n)>;

  explicit WatchedPipeline(const std::string& launch) : pipeline_(pipeline_of(launch)) {
    const ElementPtr sink = get("sink");
    g_object_set(sink.get(), "signal-handoffs", TRUE, nullptr);
    g_signal_connect(sink.get(), "handoff",
                     G_CALLBACK(+[](GstElement*, GstBuffer* buffer, GstPad*, WatchedPipeline* self) {
                       if (self->on_frame) self->on_frame(buffer, self->frames_);
                       ++self->frames_;
                     }),
                     this);
  }
  WatchedPipeline(const WatchedPipeline&) = delete;
  WatchedPipeline& operator=(const WatchedPipeline&) = delete;
  ~WatchedPipeline() { gst_element_set_state(pipeline_.get(), GST_STATE_NULL); }

  OnFrame on_frame;
  std::function<void(GstMessage*)> on_message;  ///< in the thread of run_to_end()

  GstElement* pipeline() { return pipeline_.get(); }
  ElementPtr get(const char* name) { return ElementPtr(gst_bin_get_by_name(GST_BIN(pipeline_.get()), name)); }
  void set(const char* name, const char* property, double value) {
    const ElementPtr element = get(name);
    g_object_set(element.get(), property, value, nullptr);
  }
  /// Plays to EOS or an error, but no longer than `seconds` without a message; then stops.
  Heard run_to_end(unsigned seconds = kPatience) {
    return play(seconds, [&](GstBus* bus) { return gst_bus_timed_pop(bus, seconds * GST_SECOND); });
  }
  /// The same for a live pipeline, on a clock that depends neither on the real one nor on how fast its threads are. One
  /// thread waits for it or, with a `queue` and a sink behind it that shows frames late, two.
  Heard run_live_to_end(const char* queue = nullptr, unsigned seconds = kPatience) {
    SteppedClock clock(pipeline_.get());
    if (queue) count_waiters_at(queue);
    return play(seconds, [&](GstBus* bus) -> GstMessage* {
      const gint64 end = g_get_monotonic_time() + gint64{seconds} * G_USEC_PER_SEC;
      while (g_get_monotonic_time() < end) {
        if (GstMessage* message = gst_bus_pop(bus)) return message;
        clock.step([this] { return waiters_.load(); });
      }
      return nullptr;
    });
  }

 private:
  /// The sink's thread has something to wait with from the first frame in the queue on, the source's until the end.
  void count_waiters_at(const char* queue) {
    const ElementPtr element = get(queue);
    GstPad* pad = gst_element_get_static_pad(element.get(), "sink");
    gst_pad_add_probe(
        pad, static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM),
        [](GstPad*, GstPadProbeInfo* info, gpointer self) {
          if (info->type & GST_PAD_PROBE_TYPE_BUFFER)
            static_cast<WatchedPipeline*>(self)->waiters_ = 2;
          else if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) == GST_EVENT_EOS)
            static_cast<WatchedPipeline*>(self)->waiters_ = 1;
          return GST_PAD_PROBE_OK;
        },
        this, nullptr);
    gst_object_unref(pad);
  }
  template <class Next>
  Heard play(unsigned seconds, Next&& next) {
    Heard all;
    const BusPtr bus(gst_element_get_bus(pipeline_.get()));
    gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    while (!all.eos && all.errors.empty()) {
      const MessagePtr message(next(bus.get()));
      if (!message) {
        ADD_FAILURE() << "silence for " << seconds << " s";
        break;
      }
      if (on_message) on_message(message.get());
      all.add(message.get());
    }
    gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
    return all;
  }

  int frames_ = 0;
  std::atomic<guint> waiters_ = 1;  ///< threads that wait for the clock
  ElementPtr pipeline_;
};

/// First byte of a frame.
inline int code_of(GstBuffer* buffer) {
  guint8 code = 0;
  gst_buffer_extract(buffer, 0, &code, 1);
  return code;
}

}  // namespace framequality::test
