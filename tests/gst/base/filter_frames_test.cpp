// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel filters: what each frame is made of, in what order frames leave, and what drives them out or drops them.
#include "tests/gst/base/filter_rig.h"
#include "tests/gst/latency.h"

#include <functional>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 24, 16);

class FilterFrames : public ScriptedFilters {
 protected:
  void feed(Rig& rig, std::uint64_t first, std::uint64_t last, bool discont = false) {
    for (std::uint64_t i = first; i <= last; ++i) {
      BufferPtr buffer = watched_frame(kCaps, i);
      if (discont && i == first) GST_BUFFER_FLAG_SET(buffer.get(), GST_BUFFER_FLAG_DISCONT);
      EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_OK) << i;
    }
  }
  /// Frame n must come out, made of frames first...last.
  void expect_made_of(Rig& rig, std::uint64_t n, std::uint64_t first, std::uint64_t last,
                      const denoise::Settings& settings = quick()) {
    const BufferPtr out = rig.pull();
    ASSERT_TRUE(out) << n;
    EXPECT_EQ(GST_BUFFER_PTS(out.get()), time_of(n));
    EXPECT_EQ(GST_BUFFER_DURATION(out.get()), GST_SECOND / 30);
    std::vector<BufferPtr> frames;
    std::vector<GstBuffer*> window;
    for (std::uint64_t i = first; i <= last; ++i) {
      frames.push_back(random_buffer(kCaps, i));
      window.push_back(frames.back().get());
    }
    EXPECT_TRUE(is_filtered(rig, filtered(kCaps, window, n - first, settings), rows_of(kCaps, out.get()))) << n;
  }
  static void flush(FilterRig& rig) {
    rig.send(gst_event_new_flush_start());
    rig.send(gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig.send(gst_event_new_segment(&segment));
  }
};

TEST_F(FilterFrames, LeaveInOrderMadeOfTheirWindows) {
  for (const char* device : {"cuda", "cpu"})
    for (const bool lazy : {false, true})
      for (const std::uint64_t behind : {0u, 1u, 3u, 16u})
        for (const std::uint64_t radius : {0u, 1u, 4u}) {
          SCOPED_TRACE(std::string(device) + " " + std::to_string(behind) + " behind, radius " +
                       std::to_string(radius));
          anew();
          script.lazy = lazy;
          FilterRig rig{{"device", device},
                        {"in-flight", std::to_string(behind).c_str()},
                        {"temporal-radius", std::to_string(radius).c_str()}};
          rig.caps(kCaps);
          constexpr std::uint64_t kFrames = 30;
          const std::uint64_t late = radius + (device == std::string("cuda") ? behind : 0);
          for (std::uint64_t i = 0; i < kFrames; ++i) {
            feed(rig, i, i);
            EXPECT_EQ(gst_harness_buffers_received(rig.harness()), i < late ? 0 : i + 1 - late);
          }
          rig.send(gst_event_new_eos());
          for (std::uint64_t i = 0; i < kFrames; ++i)
            expect_made_of(rig, i, i - std::min(i, radius), std::min(i + radius, kFrames - 1));
          EXPECT_EQ(rig.stat("filtered"), kFrames);
          EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
          EXPECT_EQ(script.released, static_cast<int>(kFrames)) << "nothing is held after the end";
          EXPECT_EQ(script.most_pending, device == std::string("cuda") ? behind + 1 : 0);
        }
}

TEST_F(FilterFrames, InputIsLetGoWhenNoFrameNeedsIt) {
  FilterRig rig{{"in-flight", "2"}, {"temporal-radius", "3"}};
  rig.caps(kCaps);
  feed(rig, 0, 19);
  // Pending: 15 and 16, which need 12...19.
  EXPECT_EQ(script.released, 12);
}

TEST_F(FilterFrames, LeaveBeforeEventsAndWindowsGoOnWhereTheStreamDoes) {
  GstSegment later;
  gst_segment_init(&later, GST_FORMAT_TIME);
  const std::tuple<const char*, bool, std::function<GstEvent*()>> events[] = {
      {"tag", true, [] { return gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)); }},
      {"custom-downstream", true,
       [] { return gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_new_empty("x")); }},
      {"gap", false, [] { return gst_event_new_gap(GST_SECOND, GST_SECOND); }},
      {"segment", false, [&] { return gst_event_new_segment(&later); }}};
  for (const char* behind : {"0", "3"})
    for (const auto& [name, goes_on, event] : events) {
      SCOPED_TRACE(name);
      anew();
      FilterRig rig{{"in-flight", behind}, {"temporal-radius", "2"}};
      rig.caps(kCaps);
      Listener listener(rig);
      feed(rig, 0, 3);
      listener.taken();
      rig.send(event());
      const std::string left = behind == std::string("0") ? "2 3 " : "0 1 2 3 ";
      EXPECT_EQ(listener.taken(), left + name + " ");
      feed(rig, 4, 6);
      rig.send(gst_event_new_eos());
      const std::uint64_t first = goes_on ? 0 : 4;
      for (std::uint64_t i = 0; i < 4; ++i)
        expect_made_of(rig, i, i < 2 ? 0 : i - 2, std::min<std::uint64_t>(i + 2, 3));
      for (std::uint64_t i = 4; i < 7; ++i)
        expect_made_of(rig, i, std::max(first, i - 2), std::min<std::uint64_t>(i + 2, 6));
    }
}

TEST_F(FilterFrames, WhatHasLeftIsReadInPlaceWhileItsInputIsKept) {
  FilterRig rig{{"temporal-radius", "1"}};
  rig.caps(kCaps);
  feed(rig, 0, 1);
  const BufferPtr out = rig.pull();
  ASSERT_TRUE(out);
  GstMemory* memory = gst_buffer_peek_memory(out.get(), 0);
  GstMapInfo map;
  ASSERT_TRUE(gst_memory_map(memory, &map, GST_MAP_READ)) << "gst_buffer_map() would make a copy";
  gst_memory_unmap(memory, &map);
}

TEST_F(FilterFrames, QueriesForADrainGetAllBuffersBack) {
  FilterRig rig{{"in-flight", "2"}, {"temporal-radius", "2"}};
  rig.caps(kCaps);
  feed(rig, 0, 5);
  GstQuery* query = gst_query_new_drain();
  gst_pad_peer_query(rig.harness()->srcpad, query);
  gst_query_unref(query);
  EXPECT_EQ(script.released, 6);
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 6u);
}

TEST_F(FilterFrames, DiscontinuityPartsWindowsAndStaysOnItsFrame) {
  for (const char* behind : {"0", "1", "3"})
    for (const std::uint64_t radius : {0u, 1u, 2u}) {
      SCOPED_TRACE(std::string(behind) + " behind, radius " + std::to_string(radius));
      anew();
      FilterRig rig{{"in-flight", behind}, {"temporal-radius", std::to_string(radius).c_str()}};
      rig.caps(kCaps);
      Listener listener(rig);
      feed(rig, 0, 4, true);
      feed(rig, 5, 7, true);
      rig.send(gst_event_new_tag(gst_tag_list_new(GST_TAG_TITLE, "x", nullptr)));
      feed(rig, 8, 10);
      rig.send(gst_event_new_eos());
      EXPECT_EQ(listener.taken(), "0! 1 2 3 4 5! 6 7 tag 8 9 10 eos ");
      const auto at_most = [](std::uint64_t a, std::uint64_t b) { return std::min(a, b); };
      for (std::uint64_t i = 0; i < 5; ++i) expect_made_of(rig, i, i - at_most(i, radius), at_most(i + radius, 4));
      for (std::uint64_t i = 5; i < 11; ++i)
        expect_made_of(rig, i, std::max<std::uint64_t>(5, i - radius), at_most(i + radius, i < 8 ? 7 : 10));
    }
}

TEST_F(FilterFrames, LateFramesAreDroppedWithQosOnly) {
  for (const char* qos : {"false", "true"}) {
    anew();
    FilterRig rig{{"qos", qos}, {"temporal-radius", "1"}};
    rig.caps(kCaps);
    Listener listener(rig);
    feed(rig, 0, 2);
    gst_harness_push_upstream_event(rig.harness(), gst_event_new_qos(GST_QOS_TYPE_UNDERFLOW, 1.5, GST_SECOND / 30,
                                                                     static_cast<GstClockTime>(time_of(3))));
    feed(rig, 3, 8);
    rig.send(gst_event_new_eos());
    if (qos == std::string("true")) {
      const std::string list = listener.taken();
      EXPECT_EQ(list.substr(0, 6), "0 1 2 ") << list;
      EXPECT_EQ(std::count(list.begin(), list.end(), '!'), 1) << "one gap: " << list;
      EXPECT_EQ(list.find("3 "), std::string::npos) << list;
    } else {
      EXPECT_EQ(listener.taken(), "0 1 2 3 4 5 6 7 8 eos ");
    }
  }
}

TEST_F(FilterFrames, FlushDropsThemWithoutAWord) {
  for (const bool lazy : {false, true}) {
    anew();
    script.lazy = lazy;
    FilterRig rig{{"in-flight", "3"}, {"temporal-radius", "2"}};
    rig.caps(kCaps);
    Listener listener(rig);
    feed(rig, 0, 6);
    EXPECT_EQ(listener.taken(), "0 1 ");
    flush(rig);
    EXPECT_EQ(script.released, 7);
    EXPECT_EQ(listener.taken(), "flush-start flush-stop segment ");
    rig.pull();
    rig.pull();
    feed(rig, 10, 14);
    rig.send(gst_event_new_eos());
    for (std::uint64_t i = 10; i < 15; ++i)
      expect_made_of(rig, i, std::max<std::uint64_t>(10, i - 2), std::min<std::uint64_t>(14, i + 2));
    const Heard heard = rig.heard();
    EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
  }
}

TEST_F(FilterFrames, GoingToReadyDropsThemWithoutAWord) {
  FilterRig rig{{"in-flight", "3"}, {"temporal-radius", "2"}};
  rig.caps(kCaps);
  feed(rig, 0, 4);
  EXPECT_EQ(gst_element_set_state(rig.element(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(script.released, 5);
  EXPECT_EQ(script.alive, 0);
  EXPECT_TRUE(rig.heard().errors.empty());
}

TEST_F(FilterFrames, NewCapsComeAfterTheFramesOfTheOld) {
  FilterRig rig{{"in-flight", "2"}, {"temporal-radius", "1"}};
  rig.caps(kCaps);
  Listener listener(rig);
  feed(rig, 0, 2);
  const std::string next = video_caps("RGB", 9, 7);
  rig.caps(next);
  EXPECT_EQ(listener.taken().substr(0, 11), "0 1 2 caps ");
  for (std::uint64_t i = 0; i < 3; ++i) expect_made_of(rig, i, i ? i - 1 : 0, std::min<std::uint64_t>(i + 1, 2));
  EXPECT_EQ(rig.push(watched_frame(next, 3)), GST_FLOW_OK);
  rig.send(gst_event_new_eos());
  const BufferPtr out = rig.pull();
  ASSERT_TRUE(out);
  EXPECT_TRUE(is_filtered(rig, filtered(next, random_buffer(next, 3).get(), quick()), rows_of(next, out.get())));
}

TEST_F(FilterFrames, LatencyIsThatOfFramesInFlightAndOfTheWindow) {
  for (const auto& [device, behind, radius, frames] : {std::tuple{"cuda", "0", "0", 0},
                                                       {"cuda", "3", "0", 3},
                                                       {"cuda", "2", "4", 6},
                                                       {"cpu", "3", "0", 0},
                                                       {"cpu", "3", "2", 2}}) {
    FilterRig rig{{"device", device}, {"in-flight", behind}, {"temporal-radius", radius}};
    rig.caps(video_caps("GRAY8", 24, 16));
    EXPECT_EQ(rig.heard().latencies, frames > 0);
    EXPECT_EQ(latency(rig.harness(), {true, 5, 9}), (Latency{true, 5 + time_of(static_cast<std::uint64_t>(frames)),
                                                             9 + time_of(static_cast<std::uint64_t>(frames))}));
    rig.caps("video/x-raw,format=GRAY8,width=24,height=16,framerate=0/1");
    EXPECT_EQ(latency(rig.harness()).least, 0u) << "nobody can say";
  }
}

TEST_F(FilterFrames, PositionIsTheEndOfTheLastThatLeft) {
  for (const char* behind : {"0", "2"}) {
    FilterRig rig{{"in-flight", behind}};
    rig.caps(kCaps);
    const auto expect_position = [&](std::uint64_t i) {
      gint64 position = -1;
      GstPad* pad = gst_element_get_static_pad(rig.element(), "src");
      EXPECT_TRUE(gst_pad_query_position(pad, GST_FORMAT_TIME, &position));
      gst_object_unref(pad);
      EXPECT_EQ(static_cast<GstClockTime>(position), time_of(i) + GST_SECOND / 30);
    };
    feed(rig, 0, 5);
    expect_position(behind == std::string("0") ? 5 : 3);
    rig.send(gst_event_new_eos());
    expect_position(5);
  }
}

TEST_F(FilterFrames, LivePipelineIsNeverLate) {
  // 4 frames at 60 a second are 67 ms: without that much more latency each frame but the first would be dropped.
  expect_never_late(
      "videotestsrc is-live=true num-buffers=40 ! video/x-raw,format=GRAY8,width=24,height=16,framerate=60/1 ! "
      "nlmeans in-flight=2 temporal-radius=2 search-radius=0 ! fakesink name=s sync=true max-lateness=45000000",
      40);
}

TEST_F(FilterFrames, WithoutAFrameRateOnlyTheWindowHoldsFramesBack) {
  FilterRig rig{{"in-flight", "3"}, {"temporal-radius", "1"}};
  rig.caps("video/x-raw,format=GRAY8,width=24,height=16,framerate=0/1");
  feed(rig, 0, 4);
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 4u);
}

TEST_F(FilterFrames, PropertiesTakeEffectOnTheNextFrame) {
  for (const char* device : {"cuda", "cpu"}) {
    anew();
    FilterRig rig{{"device", device}, {"in-flight", "2"}};
    rig.caps(kCaps);
    denoise::Settings second = quick();
    second.range = 25;
    feed(rig, 0, 1);
    rig.set("strength", "5");
    feed(rig, 2, 3);
    rig.send(gst_event_new_eos());
    for (std::uint64_t i = 0; i < 4; ++i) expect_made_of(rig, i, i, i, i < 2 ? quick() : second);
  }
}

TEST_F(FilterFrames, TemporalRadiusIsFixedFromPaused) {
  FilterRig rig{{"temporal-radius", "2"}, {"n-threads", "3"}};
  rig.caps(kCaps);
  const auto before = g_log_set_default_handler([](const gchar*, GLogLevelFlags, const gchar*, gpointer) {}, nullptr);
  rig.set("temporal-radius", "0");
  rig.set("n-threads", "1");
  g_log_set_default_handler(before, nullptr);
  gint radius = -1, threads = -1;
  g_object_get(rig.element(), "temporal-radius", &radius, "n-threads", &threads, nullptr);
  EXPECT_EQ(radius, 2);
  EXPECT_EQ(threads, 3);
}

TEST_F(FilterFrames, FlagsPass) {
  FilterRig rig;
  rig.caps(kCaps);
  for (const GstBufferFlags flag : {GST_BUFFER_FLAG_GAP, GST_BUFFER_FLAG_DROPPABLE, GST_BUFFER_FLAG_CORRUPTED}) {
    BufferPtr buffer = watched_frame(kCaps, 1);
    GST_BUFFER_FLAG_SET(buffer.get(), flag);
    GST_BUFFER_OFFSET(buffer.get()) = 17;
    const BufferPtr out = rig.pass(std::move(buffer));
    ASSERT_TRUE(out);
    EXPECT_TRUE(GST_BUFFER_FLAG_IS_SET(out.get(), flag));
    EXPECT_EQ(GST_BUFFER_OFFSET(out.get()), 17u);
  }
}

TEST_F(FilterFrames, InterlacedFramesAreTwoPictures) {
  // Of the smallest ones a field of chroma, or of all, has no rows.
  for (const auto& [width, height] : {std::pair{17, 11}, {3, 2}, {5, 1}})
    for (const auto& [mode, flag, fields] :
         {std::tuple{"interleaved", false, 2}, {"mixed", true, 2}, {"mixed", false, 1}, {"progressive", false, 1}}) {
      const std::string caps = video_caps("I420", width, height, (std::string(",interlace-mode=") + mode).c_str());
      FilterRig rig{{"chroma", "joint"}, {"sigma", "-1"}};
      rig.caps(caps);
      BufferPtr buffer = watched_frame(caps, 4);
      if (flag) GST_BUFFER_FLAG_SET(buffer.get(), GST_VIDEO_BUFFER_FLAG_INTERLACED);
      denoise::Settings settings = quick();
      settings.chroma = denoise::Chroma::kJoint;
      settings.estimate_sigma = true;
      const auto want = filtered(caps, random_buffer(caps, 4).get(), settings, fields);
      const BufferPtr out = rig.pass(std::move(buffer));
      ASSERT_TRUE(out);
      EXPECT_TRUE(is_filtered(rig, want, rows_of(caps, out.get()))) << caps;
    }
}

}  // namespace
}  // namespace framequality::test
