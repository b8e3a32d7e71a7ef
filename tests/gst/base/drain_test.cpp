// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of what makes frames in flight leave at once, what drops them, and that nothing else does either.
#include "tests/gst/scripted.h"
#include "tests/gst/sharpnessmeter/scores.h"

#include <functional>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

/// Downstream of the meter: notes in one list what arrives, and answers buffers as told.
class Sink {
 public:
  explicit Sink(Rig& rig) {
    pad_ = gst_element_get_static_pad(rig.element(), "src");
    constexpr auto kTypes =
        static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH |
                                     GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH);
    probe_ = gst_pad_add_probe(pad_, kTypes, note, this, nullptr);
    g_object_set_data(G_OBJECT(rig.harness()->sinkpad), "sink", this);
    gst_pad_set_chain_function(rig.harness()->sinkpad, chain);
  }
  ~Sink() {
    gst_pad_remove_probe(pad_, probe_);
    gst_object_unref(pad_);
  }
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;

  std::string list;  ///< frames by number (with a + if scored, a ! if DISCONT), events and queries by name
  GstFlowReturn flow = GST_FLOW_OK;  ///< answer to frame `refused` and all after it
  std::uint64_t refused = G_MAXUINT64;

 private:
  static GstPadProbeReturn note(GstPad*, GstPadProbeInfo* info, gpointer to) {
    auto* self = static_cast<Sink*>(to);
    if (info->type & (GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH)) {
      self->list += std::string(GST_EVENT_TYPE_NAME(gst_pad_probe_info_get_event(info))) + " ";
    } else if (info->type & GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM && info->type & GST_PAD_PROBE_TYPE_PUSH) {
      const GstQueryType type = GST_QUERY_TYPE(gst_pad_probe_info_get_query(info));
      if (type == GST_QUERY_ALLOCATION || type == GST_QUERY_DRAIN)
        self->list += std::string(gst_query_type_get_name(type)) + " ";
    }
    return GST_PAD_PROBE_OK;
  }
  static GstFlowReturn chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
    auto* self = static_cast<Sink*>(g_object_get_data(G_OBJECT(pad), "sink"));
    const BufferPtr owned(buffer);
    const std::uint64_t number = gst_util_uint64_scale_round(GST_BUFFER_PTS(buffer), 30, GST_SECOND);
    self->list += std::to_string(number);
    const double score = meta_score(buffer);
    if (!std::isnan(score)) {
      self->list += "+";
      GstCaps* caps = gst_pad_get_current_caps(pad);
      gchar* text = gst_caps_to_string(caps);
      EXPECT_EQ(score, expected(text, buffer).score) << number << " " << text;
      g_free(text);
      gst_caps_unref(caps);
    }
    if (GST_BUFFER_IS_DISCONT(buffer)) self->list += "!";
    self->list += " ";
    return number >= self->refused ? self->flow : GST_FLOW_OK;
  }

  GstPad* pad_;
  gulong probe_;
};

class Drain : public Scripted {
 protected:
  static void push(Rig& rig, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i <= last; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK) << i;
  }
  static bool send(Rig& rig, GstEvent* event) { return gst_harness_push_event(rig.harness(), event); }
  static GstEvent* segment(GstClockTime start = 0) {
    GstSegment s;
    gst_segment_init(&s, GST_FORMAT_TIME);
    s.start = s.time = start;
    return gst_event_new_segment(&s);
  }
  static void flush(Rig& rig) {
    send(rig, gst_event_new_flush_start());
    send(rig, gst_event_new_flush_stop(TRUE));
  }
  static bool ask(Rig& rig, GstQuery* query) {
    const bool answered = gst_pad_peer_query(rig.harness()->srcpad, query);
    gst_query_unref(query);
    return answered;
  }
};

TEST_F(Drain, SerialisedEventsComeAfterTheFramesBeforeThem) {
  const std::pair<const char*, std::function<GstEvent*()>> events[] = {
      {"eos", gst_event_new_eos},
      {"segment", [] { return segment(GST_SECOND); }},
      {"tag", [] { return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)); }},
      {"gap", [] { return gst_event_new_gap(GST_SECOND, GST_SECOND); }},
      {"stream-start", [] { return gst_event_new_stream_start("other"); }},
      {"custom-downstream",
       [] { return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("x")); }},
      {"custom-downstream-sticky",
       [] { return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, gst_structure_new_empty("x")); }}};
  for (const bool lazy : {false, true})
    for (const auto& [name, event] : events) {
      anew();
      script.lazy = lazy;
      Rig rig{{"in-flight", "3"}};
      rig.caps(kCaps);
      Sink sink(rig);
      push(rig, 0, 2);
      EXPECT_EQ(sink.list, "");
      send(rig, event());
      EXPECT_EQ(sink.list, "0+ 1+ 2+ " + std::string(name) + " ");
      const Heard heard = rig.heard();
      EXPECT_EQ(heard.results.size(), 3u);
      // In the segment that they came in, whatever the event says.
      for (const auto& result : heard.results)
        EXPECT_EQ(count(result.get(), "stream-time"), count(result.get(), "timestamp")) << name;
      EXPECT_EQ(script.released, 3);
    }
}

TEST_F(Drain, SerialisedQueriesComeAfterTheFramesBeforeThem) {
  const CapsPtr caps(gst_caps_from_string(kCaps.c_str()));
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  Sink sink(rig);
  push(rig, 0, 2);
  EXPECT_TRUE(ask(rig, gst_query_new_allocation(caps.get(), TRUE)));
  EXPECT_EQ(sink.list, "0+ 1+ 2+ allocation ");
  push(rig, 3, 7);
  ask(rig, gst_query_new_drain());
  EXPECT_EQ(sink.list, "0+ 1+ 2+ allocation 3+ 4+ 5+ 6+ 7+ drain ");
  EXPECT_EQ(script.released, 8);
}

TEST_F(Drain, OthersLeaveFramesInFlight) {
  const CapsPtr caps(gst_caps_from_string(kCaps.c_str()));
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  Sink sink(rig);
  push(rig, 0, 2);
  send(rig, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_OOB, gst_structure_new_empty("x")));
  gst_harness_push_upstream_event(rig.harness(), gst_event_new_latency(GST_SECOND));
  EXPECT_TRUE(ask(rig, gst_query_new_caps(nullptr)));
  EXPECT_TRUE(ask(rig, gst_query_new_accept_caps(caps.get())));
  ask(rig, gst_query_new_position(GST_FORMAT_TIME));
  gst_harness_query_latency(rig.harness());
  EXPECT_EQ(sink.list, "custom-downstream-oob ");
  push(rig, 3, 3);
  EXPECT_EQ(sink.list, "custom-downstream-oob 0+ ");
}

TEST_F(Drain, NewCapsComeAfterTheFramesOfTheOld) {
  for (const std::string& next : {video_caps("GRAY8", 32, 96), video_caps("RGB", 64, 48), video_caps("NV12", 640, 8)}) {
    anew();
    script.lazy = true;
    Rig rig{{"in-flight", "3"}};
    rig.caps(kCaps);
    Sink sink(rig);
    push(rig, 0, 2);
    rig.caps(next);
    EXPECT_EQ(sink.list.substr(0, 14), "0+ 1+ 2+ caps ") << sink.list;
    sink.list.clear();
    for (std::uint64_t i = 3; i < 8; ++i) EXPECT_EQ(rig.push(watched_frame(next, i)), GST_FLOW_OK);
    send(rig, gst_event_new_eos());
    EXPECT_EQ(sink.list, "3+ 4+ 5+ 6+ 7+ eos ");
    EXPECT_EQ(script.made, 2);
    EXPECT_EQ(script.alive, 1);
  }
}

TEST_F(Drain, ReconfiguringKeepsOrder) {
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  Sink sink(rig);
  push(rig, 0, 4);
  gst_harness_push_upstream_event(rig.harness(), gst_event_new_reconfigure());
  push(rig, 5, 6);
  send(rig, gst_event_new_eos());
  EXPECT_EQ(sink.list, "0+ 1+ 2+ 3+ 4+ 5+ 6+ eos ");
}

TEST_F(Drain, DiscontStaysOnItsFrame) {
  for (const char* behind : {"0", "1", "3"})
    for (const char* attach : {"true", "false"}) {
      anew();
      Rig rig{{"in-flight", behind}, {"attach-meta", attach}};
      rig.caps(kCaps);
      Sink sink(rig);
      const auto discont = [&](std::uint64_t i) {
        BufferPtr buffer = watched_frame(kCaps, i);
        GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
        EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK);
      };
      discont(0);
      push(rig, 1, 4);
      discont(5);
      push(rig, 6, 6);
      // Also when it leaves before an event, and not because another frame came.
      discont(7);
      send(rig, gst_event_new_gap(GST_SECOND, GST_SECOND));
      push(rig, 8, 11);
      send(rig, gst_event_new_eos());
      std::string list = sink.list;
      list.erase(std::remove(list.begin(), list.end(), '+'), list.end());
      EXPECT_EQ(list, "0! 1 2 3 4 5! 6 7! gap 8 9 10 11 eos ") << behind;
    }
}

TEST_F(Drain, FlushDropsFramesWithoutAWord) {
  for (const bool lazy : {false, true}) {
    anew();
    script.lazy = lazy;
    Rig rig{{"in-flight", "3"}};
    rig.caps(kCaps);
    Sink sink(rig);
    push(rig, 0, 3);
    EXPECT_EQ(rig.heard().results.size(), 1u);
    flush(rig);
    EXPECT_EQ(sink.list, "0+ flush-start flush-stop ");
    EXPECT_EQ(script.released, 4);
    EXPECT_TRUE(script.reading.empty());
    Heard heard = rig.heard();
    EXPECT_TRUE(heard.results.empty() && heard.errors.empty() && heard.warnings.empty());
    // Frames go on, counted as if those dropped had not been there.
    send(rig, segment());
    push(rig, 10, 14);
    send(rig, gst_event_new_eos());
    EXPECT_EQ(sink.list, "0+ flush-start flush-stop segment 10+ 11+ 12+ 13+ 14+ eos ");
    heard = rig.heard();
    ASSERT_EQ(heard.results.size(), 5u);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(count(heard.results[i].get(), "frame"), i + 1);
    EXPECT_EQ(script.made, 1);
    EXPECT_EQ(rig.stat("measured"), 6u);
  }
}

TEST_F(Drain, GoingToReadyDropsFramesWithoutAWord) {
  for (const bool lazy : {false, true}) {
    anew();
    script.lazy = lazy;
    Rig rig{{"in-flight", "3"}};
    rig.caps(kCaps);
    push(rig, 0, 2);
    EXPECT_EQ(gst_element_set_state(rig.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
    EXPECT_EQ(script.released, 3);
    EXPECT_EQ(script.alive, 0);
    const Heard heard = rig.heard();
    EXPECT_TRUE(heard.results.empty() && heard.errors.empty() && heard.warnings.empty());
  }
}

TEST_F(Drain, DownstreamsAnswerEndsIt) {
  for (const GstFlowReturn flow : {GST_FLOW_FLUSHING, GST_FLOW_EOS, GST_FLOW_ERROR, GST_FLOW_NOT_LINKED}) {
    SCOPED_TRACE(gst_flow_get_name(flow));
    anew();
    Rig rig{{"in-flight", "3"}};
    rig.caps(kCaps);
    Sink sink(rig);
    sink.flow = flow;
    sink.refused = 1;
    push(rig, 0, 2);
    send(rig, gst_event_new_gap(GST_SECOND, GST_SECOND));
    EXPECT_EQ(sink.list, "0+ 1+ gap ") << "frame 2 is gone, the event is not";
    EXPECT_EQ(script.released, 3);
    // On the way of a discontinuity the caller hears it.
    sink.list.clear();
    push(rig, 3, 5);
    BufferPtr discont = watched_frame(kCaps, 6);
    GST_BUFFER_FLAG_SET(discont.get(), GST_BUFFER_FLAG_DISCONT);
    EXPECT_EQ(rig.push(std::move(discont)), flow);
    EXPECT_EQ(sink.list, "3+ ");
    EXPECT_EQ(script.released, 7);
    EXPECT_TRUE(script.reading.empty());
    const Heard heard = rig.heard();
    EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty()) << "the cause is downstream's to tell";
    EXPECT_EQ(heard.results.size(), 3u);
    // Who goes on nevertheless is served; the discontinuity that was lost is told with the next frame.
    sink.list.clear();
    sink.refused = G_MAXUINT64;
    push(rig, 7, 10);
    EXPECT_EQ(sink.list, "7+! ");
  }
}

/// Sends a serialised event from within the first result's message, in the streaming thread.
struct SendsAnEvent {
  GstElement* meter;
  int results = 0;

  static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer data) {
    auto* self = static_cast<SendsAnEvent*>(data);
    if (gst_message_has_name(message, "sharpnessmeter") && self->results++ == 0) {
      GstPad* sink = gst_element_get_static_pad(self->meter, "sink");
      gst_pad_send_event(sink, gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "title", nullptr)));
      gst_object_unref(sink);
    }
    return GST_BUS_DROP;
  }
};

TEST(DrainReentry, AnEventFromAHandlerOfTheBus) {
  for (const char* in_flight : {"0", "2"}) {
    Rig rig{{"in-flight", in_flight}, {"device", "cpu"}};
    rig.caps(video_caps("GRAY8", 64, 48));
    SendsAnEvent handler{rig.element()};
    const BusPtr bus(gst_element_get_bus(rig.element()));
    gst_bus_set_sync_handler(bus.get(), &SendsAnEvent::on_message, &handler, nullptr);
    int out = 0;
    for (std::uint64_t i = 0; i < 4; ++i) {
      rig.push(random_buffer(video_caps("GRAY8", 64, 48), i, i * GST_SECOND / 30));
      while (rig.pull()) ++out;
    }
    gst_harness_push_event(rig.harness(), gst_event_new_eos());
    while (rig.pull()) ++out;
    gst_bus_set_sync_handler(bus.get(), nullptr, nullptr, nullptr);
    EXPECT_EQ(handler.results, 4) << in_flight;
    EXPECT_EQ(out, 4) << in_flight;
  }
}

}  // namespace
}  // namespace framequality::test
