// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone on a GPU: frames in flight, faults, and what the GPU cannot do.
#include "tests/element/halftone_rig.h"

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 27, 16);
constexpr std::uint64_t kFrames = 8;

class HalftoneFlight : public ScriptedHalftones {
 protected:
  static void feed(Rig& rig, std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i <= last; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK) << i;
  }
  static void expect_leaves(Rig& rig, std::uint64_t first, std::uint64_t last, const halftone::Settings& settings) {
    for (std::uint64_t i = first; i <= last; ++i) {
      const BufferPtr out = rig.pull();
      ASSERT_TRUE(out) << i;
      EXPECT_EQ(GST_BUFFER_PTS(out.get()), time_of(i));
      const BufferPtr in = random_buffer(kCaps, i);
      EXPECT_TRUE(rows_of(out.get(), 27, 16, settings.packed) == halftoned(kCaps, in.get(), settings)) << i;
    }
    EXPECT_FALSE(rig.pull());
  }
  static void flush(HalftoneRig& rig) {
    rig.send(gst_event_new_flush_start());
    rig.send(gst_event_new_flush_stop(TRUE));
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    rig.send(gst_event_new_segment(&segment));
  }
};

TEST_F(HalftoneFlight, LeaveInOrderAtTheEnd) {
  for (const char* packed : {"false", "true"})
    for (const bool lazy : {false, true})
      for (const int behind : {0, 1, 3}) {
        anew();
        script.lazy = lazy;
        HalftoneRig rig{{"in-flight", std::to_string(behind).c_str()}, {"packed", packed}, {"method", "tdfed"}};
        rig.caps(kCaps);
        feed(rig, 0, kFrames - 1);
        EXPECT_EQ(gst_harness_buffers_received(rig.harness()), kFrames - static_cast<std::uint64_t>(behind));
        rig.send(gst_event_new_eos());
        halftone::Settings s;
        s.method = kTdfed;
        s.packed = packed == std::string("true");
        expect_leaves(rig, 0, kFrames - 1, s);
        EXPECT_EQ(rig.string("active-device"), "cuda");
        EXPECT_EQ(script.released, static_cast<int>(kFrames));
        EXPECT_EQ(script.most_pending, static_cast<std::size_t>(behind + 1));
      }
}

TEST_F(HalftoneFlight, FlushDropsThemWithoutAWord) {
  HalftoneRig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  feed(rig, 0, 2);
  flush(rig);
  EXPECT_EQ(script.released, 3);
  feed(rig, 5, 7);
  rig.send(gst_event_new_eos());
  expect_leaves(rig, 5, 7, {});
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
}

TEST_F(HalftoneFlight, NewCapsDriveThemOut) {
  // By the source, and by packed=true. What is in flight leaves with the settings it came with.
  HalftoneRig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  feed(rig, 0, 2);
  rig.set("packed", "true");
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 0u);
  feed(rig, 3, 3);
  EXPECT_EQ(gst_harness_buffers_received(rig.harness()), 3u);
  expect_leaves(rig, 0, 2, {});
  const std::string other = video_caps("I420", 16, 8);
  rig.caps(other);
  halftone::Settings s;
  s.packed = true;
  expect_leaves(rig, 3, 3, s);
  rig.push(random_buffer(other, 1));
  rig.send(gst_event_new_eos());
  EXPECT_TRUE(rig.pull());
}

TEST_F(HalftoneFlight, AutoLosesNoFrameToAFault) {
  for (const int behind : {0, 2})
    for (const bool lazy : {false, true})
      for (const auto& [step, at] : {std::pair{&script.fail_make_at, 0},
                                     {&script.fail_submit_at, 0},
                                     {&script.fail_submit_at, 4},
                                     {&script.fail_collect_at, 0},
                                     {&script.fail_collect_at, 4}}) {
        anew();
        script.lazy = lazy;
        *step = at;
        HalftoneRig rig{{"in-flight", std::to_string(behind).c_str()}, {"packed", "true"}};
        rig.caps(kCaps);
        feed(rig, 0, kFrames - 1);
        rig.send(gst_event_new_eos());
        halftone::Settings s;
        s.packed = true;
        expect_leaves(rig, 0, kFrames - 1, s);
        const Heard heard = rig.heard();
        EXPECT_TRUE(heard.errors.empty());
        EXPECT_EQ(heard.warnings.size(), 1u);
        EXPECT_EQ(rig.string("active-device"), "cpu");
        EXPECT_EQ(script.alive, 0);
      }
}

TEST_F(HalftoneFlight, CudaFaultIsOneError) {
  script.fail_submit_at = 2;
  HalftoneRig rig{{"in-flight", "1"}, {"device", "cuda"}};
  rig.caps(kCaps);
  GstFlowReturn flow = GST_FLOW_OK;
  for (std::uint64_t i = 0; i < 5 && flow == GST_FLOW_OK; ++i) flow = rig.push(watched_frame(kCaps, i));
  EXPECT_EQ(flow, GST_FLOW_ERROR);
  rig.send(gst_event_new_eos());
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED)) << heard.errors[0].text;
}

TEST_F(HalftoneFlight, SerpentineIsTheCpusAndSaysSo) {
  HalftoneRig rig{{"serpentine", "true"}, {"in-flight", "2"}};
  EXPECT_EQ(rig.string("active-device"), "cpu");
  rig.caps(kCaps);
  feed(rig, 0, 1);
  halftone::Settings s;
  s.serpentine = true;
  expect_leaves(rig, 0, 1, s);
  EXPECT_EQ(script.submitted, 0);
  EXPECT_TRUE(rig.heard().warnings.empty());
  // Asked for again, without it, the GPU works.
  gst_element_set_state(rig.element(), GST_STATE_READY);
  rig.set("serpentine", "false");
  gst_element_set_state(rig.element(), GST_STATE_PLAYING);
  EXPECT_EQ(rig.string("active-device"), "cuda");
}

TEST_F(HalftoneFlight, SerpentineWithCudaFailsToReady) {
  const BusPtr bus(gst_bus_new());
  const ElementPtr element(gst_element_factory_make("halftone", nullptr));
  gst_object_ref_sink(element.get());
  gst_element_set_bus(element.get(), bus.get());
  gst_util_set_object_arg(G_OBJECT(element.get()), "device", "cuda");
  g_object_set(element.get(), "serpentine", TRUE, nullptr);
  EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  Heard heard;
  while (MessagePtr message{gst_bus_pop(bus.get())}) heard.add(message.get());
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
  EXPECT_NE(heard.errors[0].text.find("serpentine"), std::string::npos) << heard.errors[0].text;
  gst_element_set_bus(element.get(), nullptr);
  gst_element_set_state(element.get(), GST_STATE_NULL);
}

}  // namespace
}  // namespace framequality::test
