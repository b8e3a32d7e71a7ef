// SPDX-License-Identifier: LGPL-2.1-or-later
// The latency of frames in flight: what is reported, when it changes, and that a live pipeline can live with it.
#include "tests/gst/latency.h"

#include "tests/gst/scripted.h"

#include <cmath>

namespace framequality::test {
namespace {

/// 64x48 at so many frames a second.
std::string caps_at(const char* rate) {
  return std::string("video/x-raw,format=GRAY8,width=64,height=48,framerate=") + rate;
}

class Latencies : public Scripted {};

TEST_F(Latencies, FramesInFlightAddTheirTimeToUpstreams) {
  constexpr GstClockTime ms = GST_MSECOND;
  for (const int behind : {0, 1, 3, 16}) {
    Rig rig{{"in-flight", std::to_string(behind).c_str()}};
    rig.caps(caps_at("25/1"));
    const GstClockTime own = static_cast<GstClockTime>(behind) * 40 * ms;
    for (const bool live : {false, true}) {
      EXPECT_EQ(latency(rig.harness(), {live, 0, GST_CLOCK_TIME_NONE}), (Latency{live, own, GST_CLOCK_TIME_NONE}));
      EXPECT_EQ(latency(rig.harness(), {live, 7 * ms, 90 * ms}), (Latency{live, 7 * ms + own, 90 * ms + own}));
    }
    EXPECT_EQ(rig.heard().latencies, behind > 0);
  }
  Rig rig{{"in-flight", "2"}};
  rig.caps(caps_at("30000/1001"));
  EXPECT_EQ(latency(rig.harness()).least, 2 * GST_SECOND * 1001 / 30000);
}

TEST_F(Latencies, NewRateIsANewLatencyAndIsTold) {
  Rig rig{{"in-flight", "3"}};
  rig.caps(caps_at("30/1"));
  EXPECT_EQ(rig.heard().latencies, 1);
  EXPECT_EQ(latency(rig.harness()).least, GST_SECOND / 10);
  rig.caps(caps_at("60/1"));
  EXPECT_EQ(rig.heard().latencies, 1);
  EXPECT_EQ(latency(rig.harness()).least, GST_SECOND / 20);
  rig.caps("video/x-raw,format=RGB,width=32,height=32,framerate=60/1");
  EXPECT_EQ(rig.heard().latencies, 0) << "the same latency again";
  rig.caps(caps_at("0/1"));
  EXPECT_EQ(rig.heard().latencies, 1);
  EXPECT_EQ(latency(rig.harness()).least, 0u);
  rig.caps(caps_at("30/1"));
  EXPECT_EQ(rig.heard().latencies, 1);
  gst_element_set_state(rig.element(), GST_STATE_READY);
  EXPECT_EQ(latency(rig.harness()).least, 0u) << "nothing is in flight";
}

TEST_F(Latencies, NoFrameIsHeldBackWhereNothingWouldBeGained) {
  const auto held_back = [](Rig& rig, const std::string& caps) {
    rig.caps(caps);
    for (std::uint64_t i = 0; i < 5; ++i) EXPECT_EQ(rig.push(watched_frame(caps, i)), GST_FLOW_OK);
    EXPECT_EQ(rig.heard().latencies, 0);
    EXPECT_EQ(latency(rig.harness()).least, 0u);
    return 5 - static_cast<int>(gst_harness_buffers_received(rig.harness()));
  };
  {
    Rig rig{{"in-flight", "3"}};
    EXPECT_EQ(held_back(rig, caps_at("0/1")), 0) << "nobody could say for how long";
  }
  {
    Rig rig{{"in-flight", "3"}};
    EXPECT_EQ(held_back(rig, "video/x-raw,format=GRAY8,width=64,height=48,framerate=0/1,max-framerate=30/1"), 0);
  }
  {
    Rig rig{{"in-flight", "3"}, {"device", "cpu"}};
    EXPECT_EQ(held_back(rig, caps_at("30/1")), 0);
  }
  script.present = false;
  Rig rig{{"in-flight", "3"}};
  EXPECT_EQ(held_back(rig, caps_at("30/1")), 0);
}

TEST_F(Latencies, FallingBackToTheCpuEndsIt) {
  for (const bool in_submit : {true, false}) {
    anew();
    (in_submit ? script.fail_submit_at : script.fail_collect_at) = 2;
    Rig rig{{"in-flight", "3"}};
    rig.caps(caps_at("30/1"));
    EXPECT_EQ(rig.heard().latencies, 1);
    for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(rig.push(watched_frame(caps_at("30/1"), i)), GST_FLOW_OK);
    EXPECT_EQ(rig.heard().latencies, 1);
    EXPECT_EQ(latency(rig.harness()).least, 0u);
  }
}

TEST_F(Latencies, LivePipelineIsNeverLate) {
  // 4 frames at 60 a second are 67 ms: without that much more latency each frame but the first would be dropped.
  const Heard heard = expect_never_late(
      "videotestsrc is-live=true num-buffers=40 ! video/x-raw,format=GRAY8,width=64,height=48,framerate=60/1 ! "
      "sharpnessmeter in-flight=4 ! fakesink name=s sync=true max-lateness=45000000",
      40);
  EXPECT_EQ(heard.results.size(), 40u);
}

}  // namespace
}  // namespace framequality::test
