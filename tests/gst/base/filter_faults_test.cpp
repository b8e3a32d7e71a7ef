// SPDX-License-Identifier: LGPL-2.1-or-later
// Pixel filters: CUDA faults at every point of a stream, devices that are not there, and frames that are not whole.
#include "cuda/device.h"
#include "tests/gst/base/filter_rig.h"

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 24, 16);
constexpr std::uint64_t kFrames = 10;

/// Where a fault strikes: as the filter is made, or at a frame's submit or collect.
struct Fault {
  enum Step { kMake, kSubmit, kCollect } step;
  int frame;
};

class FilterFaults : public ScriptedFilters {
 protected:
  static void tell(const Fault& fault) {
    (fault.step == Fault::kMake     ? script.fail_make_at
     : fault.step == Fault::kSubmit ? script.fail_submit_at
                                    : script.fail_collect_at) = fault.frame;
  }
  static std::vector<Fault> faults() {
    std::vector<Fault> all{{Fault::kMake, 0}};
    for (const int frame : {0, 1, 4, static_cast<int>(kFrames) - 1})
      for (const auto step : {Fault::kSubmit, Fault::kCollect}) all.push_back({step, frame});
    return all;
  }
  static std::vector<std::uint8_t> expected_frame(std::uint64_t n, std::uint64_t radius) {
    std::vector<BufferPtr> frames;
    std::vector<GstBuffer*> window;
    const std::uint64_t first = n - std::min(n, radius);
    for (std::uint64_t i = first; i <= std::min(n + radius, kFrames - 1); ++i) {
      frames.push_back(random_buffer(kCaps, i));
      window.push_back(frames.back().get());
    }
    return filtered(kCaps, window, n - first, quick()).rows;
  }
  /// From now on downstream takes frames with `answer`.
  static void answer_frames(Rig& rig) {
    gst_pad_set_chain_function(rig.harness()->sinkpad, [](GstPad*, GstObject*, GstBuffer* buffer) {
      gst_buffer_unref(buffer);
      return answer;
    });
  }
  inline static GstFlowReturn answer = GST_FLOW_OK;
};

TEST_F(FilterFaults, AutoLosesNoFrame) {
  for (const int behind : {0, 1, 3})
    for (const int radius : {0, 2})
      for (const bool lazy : {false, true})
        for (const Fault& fault : faults()) {
          SCOPED_TRACE(std::to_string(behind) + " behind, radius " + std::to_string(radius) + ", step " +
                       std::to_string(fault.step) + " of frame " + std::to_string(fault.frame));
          anew();
          script.lazy = lazy;
          tell(fault);
          FilterRig rig{{"in-flight", std::to_string(behind).c_str()},
                        {"temporal-radius", std::to_string(radius).c_str()}};
          rig.caps(kCaps);
          for (std::uint64_t i = 0; i < kFrames; ++i) ASSERT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK) << i;
          rig.send(gst_event_new_eos());
          for (std::uint64_t i = 0; i < kFrames; ++i) {
            const BufferPtr out = rig.pull();
            ASSERT_TRUE(out) << i;
            EXPECT_EQ(GST_BUFFER_PTS(out.get()), time_of(i));
            EXPECT_TRUE(rows_of(kCaps, out.get()) == expected_frame(i, static_cast<std::uint64_t>(radius))) << i;
          }
          const Heard heard = rig.heard();
          EXPECT_TRUE(heard.errors.empty());
          ASSERT_EQ(heard.warnings.size(), 1u);
          EXPECT_TRUE(heard.warnings[0].is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED)) << heard.warnings[0].text;
          EXPECT_EQ(rig.string("active-device"), "cpu");
          EXPECT_EQ(rig.stat("filtered"), kFrames);
          EXPECT_EQ(rig.stat("replayed-on-cpu") > 0, fault.step != Fault::kMake);
          EXPECT_EQ(script.alive, 0) << "nothing outlives the context";
          EXPECT_EQ(script.released, static_cast<int>(kFrames));
          EXPECT_EQ(gst_harness_query_latency(rig.harness()), time_of(static_cast<std::uint64_t>(radius)));
        }
}

TEST_F(FilterFaults, CudaIsOneError) {
  for (const int behind : {0, 3})
    for (const char* radius : {"0", "2"})
      for (const Fault& fault : faults()) {
        SCOPED_TRACE(std::to_string(behind) + " behind, step " + std::to_string(fault.step) + " of frame " +
                     std::to_string(fault.frame));
        anew();
        tell(fault);
        int pushed = 0;
        {
          FilterRig rig{{"device", "cuda"}, {"in-flight", std::to_string(behind).c_str()}, {"temporal-radius", radius}};
          rig.caps(kCaps);
          GstFlowReturn flow = GST_FLOW_OK;
          while (flow == GST_FLOW_OK && pushed < static_cast<int>(kFrames))
            flow = rig.push(watched_frame(kCaps, static_cast<std::uint64_t>(pushed++)));
          rig.send(gst_event_new_eos());
          const Heard heard = rig.heard();
          ASSERT_EQ(heard.errors.size(), 1u);
          EXPECT_TRUE(heard.errors[0].is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED)) << heard.errors[0].text;
          EXPECT_TRUE(heard.warnings.empty());
        }
        EXPECT_EQ(script.released, pushed);
      }
}

TEST_F(FilterFaults, CudaWithoutGpuFailsToReady) {
  script.present = false;
  for (const char* factory : {"nlmeans", "patchbilateral"}) {
    const BusPtr bus(gst_bus_new());
    const ElementPtr element(gst_element_factory_make(factory, nullptr));
    gst_object_ref_sink(element.get());
    gst_element_set_bus(element.get(), bus.get());
    gst_util_set_object_arg(G_OBJECT(element.get()), "device", "cuda");
    EXPECT_EQ(gst_element_set_state(element.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
    Heard heard;
    while (MessagePtr message{gst_bus_pop(bus.get())}) heard.add(message.get());
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    EXPECT_NE(heard.errors[0].text.find("install 580"), std::string::npos) << heard.errors[0].text;
    gst_element_set_bus(element.get(), nullptr);
    gst_element_set_state(element.get(), GST_STATE_NULL);
  }
}

TEST_F(FilterFaults, AutoWithoutGpuTakesTheCpuSilently) {
  script.present = false;
  FilterRig rig;
  rig.caps(kCaps);
  EXPECT_TRUE(rig.pass(watched_frame(kCaps, 0)));
  EXPECT_EQ(rig.string("active-device"), "cpu");
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
}

TEST_F(FilterFaults, FramesInGpuMemoryAreTakenWhereAGpuFilters) {
  constexpr bool built = FQ_HAVE_GSTCUDA;
  EXPECT_EQ(takes_gpu_memory(FilterRig().element()), built);
  EXPECT_FALSE(takes_gpu_memory(FilterRig({{"device", "cpu"}}).element()));
  FilterRig rig;
  script.fail_submit_at = 0;
  rig.caps(kCaps);
  EXPECT_TRUE(rig.pass(watched_frame(kCaps, 0)));
  EXPECT_FALSE(takes_gpu_memory(rig.element())) << "after a fault";
}

#if FQ_HAVE_GSTCUDA
TEST_F(FilterFaults, FramesInGpuMemoryWithoutAContextAreOneError) {
  if (cuda::find_device().id >= 0) GTEST_SKIP() << "there is a GPU, which gives a context";
  FilterRig rig;
  rig.caps(video_caps("NV12", 24, 16).insert(11, "(memory:CUDAMemory)"));
  EXPECT_EQ(rig.push(random_buffer(kCaps, 1)), GST_FLOW_NOT_NEGOTIATED);
  rig.send(gst_event_new_eos());
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) << heard.errors[0].text;
}
#endif

TEST_F(FilterFaults, FrameThatIsNotWholeIsOneErrorAndDropsTheOthers) {
  for (const char* device : {"cpu", "cuda"}) {
    anew();
    FilterRig rig{{"device", device}, {"in-flight", "2"}, {"temporal-radius", "1"}};
    rig.caps(kCaps);
    for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    BufferPtr part = watched_frame(kCaps, 2);
    gst_buffer_set_size(part.get(), 24 * 16 - 1);
    EXPECT_EQ(rig.push(std::move(part)), GST_FLOW_ERROR);
    EXPECT_EQ(script.released, 3) << "it is not kept either";
    rig.send(gst_event_new_eos());
    const Heard heard = rig.heard();
    ASSERT_EQ(heard.errors.size(), 1u);
    EXPECT_TRUE(heard.errors[0].is(GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT)) << heard.errors[0].text;
    EXPECT_NE(heard.errors[0].text.find("383"), std::string::npos) << heard.errors[0].text;
  }
}

TEST_F(FilterFaults, ChromaThatIsNotThereIsOneError) {
  const std::string caps = video_caps("I420", 16, 16);
  FilterRig rig;
  rig.caps(caps);
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, 256 + 64 + 63, nullptr));
  gsize offsets[GST_VIDEO_MAX_PLANES] = {0, 256, 320};
  gint strides[GST_VIDEO_MAX_PLANES] = {16, 8, 8};
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_I420, 16, 16, 3, offsets,
                                 strides);
  EXPECT_EQ(rig.push(std::move(buffer)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_NE(heard.errors[0].text.find("Plane 2"), std::string::npos) << heard.errors[0].text;
}

TEST_F(FilterFaults, DownstreamsAnswerIsPassedOn) {
  for (const GstFlowReturn flow : {GST_FLOW_FLUSHING, GST_FLOW_EOS, GST_FLOW_ERROR}) {
    anew();
    FilterRig rig{{"in-flight", "1"}, {"temporal-radius", "1"}};
    rig.caps(kCaps);
    answer = flow;
    answer_frames(rig);
    for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    EXPECT_EQ(rig.push(watched_frame(kCaps, 2)), flow);
    rig.send(gst_event_new_eos());
    EXPECT_TRUE(rig.heard().errors.empty()) << "the cause is downstream's to tell";
    EXPECT_EQ(script.released, 3);
  }
}

TEST_F(FilterFaults, DiscontinuityThatWasLostIsToldWithTheNextFrame) {
  for (const GstFlowReturn flow : {GST_FLOW_FLUSHING, GST_FLOW_EOS, GST_FLOW_NOT_LINKED, GST_FLOW_ERROR}) {
    SCOPED_TRACE(gst_flow_get_name(flow));
    anew();
    FilterRig rig{{"in-flight", "1"}, {"temporal-radius", "1"}};
    rig.caps(kCaps);
    answer = GST_FLOW_OK;
    answer_frames(rig);
    Listener listener(rig);
    for (std::uint64_t i = 0; i < 2; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    BufferPtr discont = watched_frame(kCaps, 2);
    GST_BUFFER_FLAG_SET(discont.get(), GST_BUFFER_FLAG_DISCONT);
    answer = flow;
    EXPECT_EQ(rig.push(std::move(discont)), flow) << "frame 0 is refused";
    answer = GST_FLOW_OK;
    for (std::uint64_t i = 3; i < 6; ++i) EXPECT_EQ(rig.push(watched_frame(kCaps, i)), GST_FLOW_OK);
    rig.send(gst_event_new_eos());
    EXPECT_EQ(listener.list, "0 3! 4 5 eos ");
    EXPECT_EQ(script.released, 6);
  }
}

}  // namespace
}  // namespace framequality::test
