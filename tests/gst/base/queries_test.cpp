// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames and serialised queries while states change. Queries reach a pad also when it is being shut down, unlike frames
// and events.
#include "tests/gst/rig.h"

#include <atomic>
#include <functional>
#include <thread>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("I420", 32, 24);

/// An element between pads of ours, which stay linked and active whatever it does.
class Linked {
 public:
  explicit Linked(const char* factory) : element_(gst_element_factory_make(factory, nullptr)) {
    gst_object_ref_sink(element_.get());
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(element_.get()), "temporal-radius"))
      g_object_set(element_.get(), "temporal-radius", 1, "search-radius", 1, "patch-radius", 1, nullptr);
    if (factory == std::string("sharpnessmeter")) g_object_set(element_.get(), "detect-damage", TRUE, nullptr);
    if (factory == std::string("focuscontroller")) g_object_set(element_.get(), "min", 0.0, "max", 9.0, nullptr);
    gst_pad_set_chain_function(sink_, [](GstPad*, GstObject*, GstBuffer* buffer) {
      gst_buffer_unref(buffer);
      return GST_FLOW_OK;
    });
    gst_pad_set_event_function(sink_, [](GstPad*, GstObject*, GstEvent* event) -> gboolean {
      gst_event_unref(event);
      return TRUE;
    });
    gst_pad_set_query_function(sink_, [](GstPad* pad, GstObject* parent, GstQuery* query) -> gboolean {
      switch (GST_QUERY_TYPE(query)) {
        case GST_QUERY_ALLOCATION:
          g_usleep(200);  // who asks in the course of another query is busy with that for so long
          return TRUE;
        case GST_QUERY_ACCEPT_CAPS:
          gst_query_set_accept_caps_result(query, TRUE);
          return TRUE;
        default:
          return gst_pad_query_default(pad, parent, query);
      }
    });
    link(source_, "sink", true);
    link(sink_, "src", false);
    for (GstPad* pad : {source_, sink_}) gst_pad_set_active(pad, TRUE);
  }
  Linked(const Linked&) = delete;
  Linked& operator=(const Linked&) = delete;
  ~Linked() {
    state(GST_STATE_NULL);
    for (GstPad* pad : {source_, sink_}) {
      gst_pad_set_active(pad, FALSE);
      gst_object_unref(pad);
    }
    gst_caps_unref(caps_);
  }

  void state(GstState state) { gst_element_set_state(element_.get(), state); }
  /// Pushes a few frames. all: expects the element to take each of them, as it does when its state does not change.
  void stream(bool all = true) {
    gst_pad_push_event(source_, gst_event_new_stream_start("test"));
    gst_pad_push_event(source_, gst_event_new_caps(caps_));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    gst_pad_push_event(source_, gst_event_new_segment(&segment));
    for (std::uint64_t i = 0; i < 3; ++i)
      if (gst_pad_push(source_, random_buffer(kCaps, i, i * GST_SECOND / 30).release()) != GST_FLOW_OK && all)
        ADD_FAILURE() << "frame " << i;
  }
  void ask(GstQuery* query) {
    gst_pad_peer_query(source_, query);
    gst_query_unref(query);
  }
  GstCaps* caps() { return caps_; }

 private:
  void link(GstPad* pad, const char* name, bool from) {
    GstPad* other = gst_element_get_static_pad(element_.get(), name);
    ASSERT_EQ(from ? gst_pad_link(pad, other) : gst_pad_link(other, pad), GST_PAD_LINK_OK);
    gst_object_unref(other);
  }

  ElementPtr element_;
  GstPad *source_ = gst_pad_new("src", GST_PAD_SRC), *sink_ = gst_pad_new("sink", GST_PAD_SINK);
  GstCaps* caps_ = gst_caps_from_string(kCaps.c_str());
};

/// Calls `test` for each element that can be linked to a source and a sink.
void for_each_element(const std::function<void(Linked&)>& test) {
  for (const char* factory : {"sharpnessmeter", "bliindsmeter", "nlmeans", "patchbilateral", "halftone",
                              "sharpnessgate", "focuscontroller", "sharpnessoverlay", "camerawatch"}) {
    const ElementPtr is_built(gst_element_factory_make(factory, nullptr));
    if (!is_built) continue;  // the overlay needs Pango
    gst_object_ref_sink(is_built.get());
    SCOPED_TRACE(factory);
    Linked linked(factory);
    test(linked);
  }
}

TEST(Queries, MayMeetStateChanges) {
  for_each_element([](Linked& linked) {
    std::atomic<bool> done = false;
    std::thread asking([&] {
      while (!done) {
        linked.ask(gst_query_new_allocation(linked.caps(), TRUE));
        linked.ask(gst_query_new_drain());
      }
    });
    for (int i = 0; i < 100; ++i) {
      linked.state(GST_STATE_PAUSED);
      linked.stream();
      linked.state(GST_STATE_READY);
    }
    done = true;
    asking.join();
  });
}

/// A source that already runs pushes while the element that is linked to it starts and stops.
TEST(Frames, MayMeetStateChanges) {
  for_each_element([](Linked& linked) {
    std::atomic<bool> done = false;
    std::thread pushing([&] {
      while (!done) linked.stream(false);
    });
    for (int i = 0; i < 100; ++i) {
      linked.state(GST_STATE_PAUSED);
      g_usleep(100);
      linked.state(GST_STATE_READY);
    }
    done = true;
    pushing.join();
  });
}

}  // namespace
}  // namespace framequality::test
