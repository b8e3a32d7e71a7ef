// SPDX-License-Identifier: LGPL-2.1-or-later
// CUDA faults at every point of a stream: with device=auto no frame is lost, with device=cuda there is one error.
#include "tests/gst/scripted.h"
#include "tests/gst/sharpnessmeter/scores.h"

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);
constexpr int kFrames = 12;

/// Where a fault strikes.
struct Fault {
  enum Step { kMake, kSubmit, kCollect } step;
  int frame;  ///< kSubmit, kCollect
  framequality::Fault kind;
};

class Faults : public Scripted {
 protected:
  static void tell(const Fault& fault) {
    (fault.step == Fault::kMake     ? script.fail_make_at
     : fault.step == Fault::kSubmit ? script.fail_submit_at
                                    : script.fail_collect_at) = fault.frame;
    script.fault = fault.kind;
  }
  static bool is_right(const Heard::Fault& heard, framequality::Fault kind) {
    return kind == framequality::Fault::kDeviceLost ? heard.is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED)
                                                    : heard.is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT);
  }
  static std::vector<Fault> faults() {
    std::vector<Fault> all;
    for (const auto kind : {framequality::Fault::kDeviceLost, framequality::Fault::kOutOfMemory}) {
      all.push_back({Fault::kMake, 0, kind});
      // At first, before and after frames leave, in mid-stream, and on the way out at the end.
      for (const int frame : {0, 1, 3, 6, kFrames - 1})
        for (const auto step : {Fault::kSubmit, Fault::kCollect}) all.push_back({step, frame, kind});
    }
    return all;
  }
  static void end(Rig& rig) { gst_harness_push_event(rig.harness(), gst_event_new_eos()); }
};

TEST_F(Faults, AutoLosesNoFrame) {
  for (const int behind : {0, 1, 3})
    for (const bool lazy : {false, true})
      for (const Fault& fault : faults()) {
        SCOPED_TRACE(std::to_string(behind) + " behind, step " + std::to_string(fault.step) + " of frame " +
                     std::to_string(fault.frame));
        anew();
        script.lazy = lazy;
        tell(fault);
        Rig rig{{"in-flight", std::to_string(behind).c_str()}};
        rig.caps(kCaps);
        for (std::uint64_t i = 0; i < kFrames; ++i) ASSERT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK) << i;
        EXPECT_EQ(gst_harness_buffers_received(rig.harness()),
                  script.alive ? static_cast<guint>(kFrames - behind) : guint{kFrames});
        end(rig);
        // The first frame that the CPU measures, and how many were in the GPU's hands or on their way there.
        int first = 0, replayed = 0;
        if (fault.step == Fault::kSubmit) {
          first = std::max(fault.frame - behind, 0);
          replayed = fault.frame - first + 1;
        } else if (fault.step == Fault::kCollect) {
          first = fault.frame;
          replayed = std::min(behind + 1, kFrames - first);
        }
        for (int i = 0; i < kFrames; ++i) {
          const BufferPtr out = rig.pull();
          ASSERT_TRUE(out) << i;
          EXPECT_EQ(GST_BUFFER_PTS(out.get()), time_of(static_cast<std::uint64_t>(i)));
          EXPECT_EQ(meta_score(out.get()), expected(kCaps, out.get()).score) << i;
          EXPECT_EQ(text(meta_of(out.get()), "device"), i < first ? "cuda" : "cpu") << i;
        }
        const Heard heard = rig.heard();
        ASSERT_EQ(heard.results.size(), std::size_t{kFrames});
        for (std::size_t i = 0; i < kFrames; ++i) EXPECT_EQ(count(heard.results[i].get(), "frame"), i);
        EXPECT_TRUE(heard.errors.empty());
        ASSERT_EQ(heard.warnings.size(), 1u);
        EXPECT_TRUE(is_right(heard.warnings[0], fault.kind)) << heard.warnings[0].text;
        EXPECT_NE(heard.warnings[0].text.find("scripted"), std::string::npos) << heard.warnings[0].text;
        EXPECT_EQ(rig.stat("replayed-on-cpu"), static_cast<std::uint64_t>(replayed));
        EXPECT_EQ(rig.stat("measured"), std::uint64_t{kFrames});
        EXPECT_EQ(rig.string("active-device"), "cpu");
        EXPECT_EQ(script.alive, 0) << "nothing outlives the context";
        EXPECT_EQ(gst_harness_query_latency(rig.harness()), 0u);
        EXPECT_EQ(script.released, kFrames);
      }
}

TEST_F(Faults, AutoStaysOnTheCpuWithNewCaps) {
  const std::string next = video_caps("GRAY8", 32, 32);
  for (const int collect_at : {1, 4}) {
    anew();
    script.fail_collect_at = collect_at;  // 4: while new caps drive frames out
    Rig rig{{"in-flight", "3"}};
    rig.caps(kCaps);
    for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    rig.caps(next);
    for (std::uint64_t i = 5; i < 8; ++i) EXPECT_EQ(rig.push(watched_frame(next, i)), GST_FLOW_OK);
    for (std::uint64_t i = 0; i < 8; ++i) {
      const BufferPtr out = rig.pull();
      ASSERT_TRUE(out) << i << ": the CPU holds nothing back";
      EXPECT_EQ(meta_score(out.get()), expected(i < 5 ? kCaps : next, out.get()).score) << i;
    }
    EXPECT_EQ(rig.heard().warnings.size(), 1u);
    EXPECT_EQ(script.made, 1);
    EXPECT_EQ(rig.stat("replayed-on-cpu"), collect_at == 1 ? 4u : 1u);
  }
}

TEST_F(Faults, AutoMeetsFaultsAtLaterCaps) {
  script.fail_make_at = 1;
  script.fault = framequality::Fault::kOutOfMemory;
  const std::string next = video_caps("GRAY8", 2048, 32);
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
  rig.caps(next);
  EXPECT_EQ(gst_harness_query_latency(rig.harness()), 0u);
  EXPECT_EQ(rig.push(watched_frame(next, 5)), GST_FLOW_OK);
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 6u);
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
  EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
  EXPECT_EQ(rig.stat("measured"), 6u);
}

TEST_F(Faults, CudaIsOneErrorAlsoWhenTheStreamEnds) {
  for (const int behind : {0, 1, 3})
    for (const Fault& fault : faults()) {
      SCOPED_TRACE(std::to_string(behind) + " behind, step " + std::to_string(fault.step) + " of frame " +
                   std::to_string(fault.frame) +
                   (fault.kind == framequality::Fault::kDeviceLost ? " lost" : " memory"));
      anew();
      tell(fault);
      std::uint64_t pushed = 0;
      Heard heard;
      {
        Rig rig{{"device", "cuda"}, {"in-flight", std::to_string(behind).c_str()}};
        rig.caps(kCaps);
        GstFlowReturn flow = GST_FLOW_OK;
        while (flow == GST_FLOW_OK && pushed < kFrames) flow = rig.push(watched_frame(kCaps, pushed++));
        end(rig);
        heard = rig.heard();
        EXPECT_FALSE(flow == GST_FLOW_OK && fault.step == Fault::kSubmit);
        // What left before was right.
        std::size_t left = 0;
        for (; const BufferPtr out = rig.pull(); ++left)
          EXPECT_EQ(meta_score(out.get()), expected(kCaps, out.get()).score);
        EXPECT_EQ(heard.results.size(), left);
        EXPECT_EQ(gst_element_set_state(rig.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
        EXPECT_TRUE(rig.heard().errors.empty());
      }
      ASSERT_FALSE(heard.errors.empty());
      EXPECT_EQ(heard.errors.size(), 1u) << heard.errors.back().text;
      EXPECT_TRUE(is_right(heard.errors[0], fault.kind)) << heard.errors[0].text;
      EXPECT_TRUE(heard.warnings.empty());
      EXPECT_EQ(static_cast<std::uint64_t>(script.released), pushed);
    }
}

TEST_F(Faults, CudaIsOneErrorAlsoWhenAnEventMetItAndFramesFollow) {
  const std::string other = video_caps("GRAY8", 32, 32);
  for (const int kind : {0, 1, 2}) {
    anew();
    script.fail_collect_at = 0;
    Rig rig{{"device", "cuda"}, {"in-flight", "4"}};
    rig.caps(kCaps);
    for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    if (kind == 0) gst_harness_push_event(rig.harness(), gst_event_new_tag(gst_tag_list_new_empty()));
    if (kind == 1) rig.caps(other);
    if (kind == 2) {
      const CapsPtr caps(gst_caps_from_string(kCaps.c_str()));
      GstQuery* query = gst_query_new_allocation(caps.get(), TRUE);
      GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
      gst_pad_query(pad, query);
      gst_object_unref(pad);
      gst_query_unref(query);
    }
    EXPECT_NE(rig.push(watched_frame(kind == 1 ? other : kCaps, 2)), GST_FLOW_OK) << kind;
    const Heard heard = rig.heard();
    ASSERT_FALSE(heard.errors.empty()) << kind;
    EXPECT_EQ(heard.errors.size(), 1u) << kind << heard.errors.back().text;
    EXPECT_TRUE(heard.results.empty());
    EXPECT_EQ(script.released, 3) << kind;
  }
}

TEST_F(Faults, FrameThatFailedIsReleasedAtOnce) {
  script.fail_submit_at = 0;
  Rig rig{{"device", "cuda"}};
  rig.caps(kCaps);
  EXPECT_EQ(rig.push(watched_frame(kCaps, 0)), GST_FLOW_ERROR);
  EXPECT_EQ(script.released, 1);
}

TEST_F(Faults, FlushAfterTheDeviceIsLostSaysNothing) {
  for (const char* device : {"auto", "cuda"}) {
    anew();
    Rig rig{{"in-flight", "3"}, {"device", device}};
    rig.caps(kCaps);
    for (std::uint64_t i = 0; i < 3; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    script.lost = true;
    gst_harness_push_event(rig.harness(), gst_event_new_flush_start());
    gst_harness_push_event(rig.harness(), gst_event_new_flush_stop(TRUE));
    EXPECT_EQ(script.released, 3);
    const Heard heard = rig.heard();
    EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty() && heard.results.empty());
  }
}

TEST_F(Faults, BadFrameIsOneErrorAndDropsTheOthers) {
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
  EXPECT_EQ(rig.push(BufferPtr(gst_buffer_new_allocate(nullptr, 9, nullptr))), GST_FLOW_ERROR);
  EXPECT_EQ(script.released, 2);
  end(rig);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
}

TEST_F(Faults, HostOutOfMemoryOnTheWayToTheCpuIsOneError) {
  tables.cpu.sharpness = [](const Geometry&, const Where&) -> std::unique_ptr<sharpness::Meter> {
    throw std::bad_alloc();
  };
  script.fail_submit_at = 2;
  Rig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
  EXPECT_EQ(rig.push(watched_frame(kCaps, 2)), GST_FLOW_ERROR);
  end(rig);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT));
  EXPECT_TRUE(script.reading.empty());
}

}  // namespace
}  // namespace framequality::test
