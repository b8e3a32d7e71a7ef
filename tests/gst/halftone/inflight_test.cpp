// SPDX-License-Identifier: LGPL-2.1-or-later
// halftone on a GPU: frames in flight, faults, and what the GPU cannot do.
#include "cuda/device.h"
#include "gst/halftone/filter.h"
#include "gst/memory/kinds.h"
#include "tests/gst/halftone/rig.h"
#include "tests/gst/pool.h"

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 27, 16);
constexpr std::uint64_t kFrames = 8;

class HalftoneInFlight : public ScriptedHalftones {
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
};

TEST_F(HalftoneInFlight, LeaveInOrderAtTheEnd) {
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

TEST_F(HalftoneInFlight, FlushDropsThemWithoutAWord) {
  HalftoneRig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  feed(rig, 0, 2);
  rig.flush();
  EXPECT_EQ(script.released, 3);
  feed(rig, 5, 7);
  rig.send(gst_event_new_eos());
  expect_leaves(rig, 5, 7, {});
  const Heard heard = rig.heard();
  EXPECT_TRUE(heard.errors.empty() && heard.warnings.empty());
}

TEST_F(HalftoneInFlight, NewCapsDriveThemOut) {
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

TEST_F(HalftoneInFlight, AutoLosesNoFrameToAFault) {
  constexpr int kLast = static_cast<int>(kFrames) - 1;
  for (const int behind : {0, 2})
    for (const bool lazy : {false, true})
      for (const char* method : {"floyd-steinberg", "tdfed", "blue-noise"})
        for (const auto& [step, at] : {std::pair{&script.fail_make_at, 0},
                                       {&script.fail_submit_at, 0},
                                       {&script.fail_submit_at, 4},
                                       {&script.fail_submit_at, kLast},
                                       {&script.fail_collect_at, 0},
                                       {&script.fail_collect_at, 4},
                                       {&script.fail_collect_at, kLast}}) {
          SCOPED_TRACE(std::to_string(behind) + " behind, " + method + ", frame " + std::to_string(at));
          anew();
          script.lazy = lazy;
          *step = at;
          HalftoneRig rig{{"in-flight", std::to_string(behind).c_str()}, {"packed", "true"}, {"method", method}};
          rig.caps(kCaps);
          feed(rig, 0, kFrames - 1);
          rig.send(gst_event_new_eos());
          halftone::Settings s;
          s.method = method_of(method);
          s.packed = true;
          expect_leaves(rig, 0, kFrames - 1, s);
          const Heard heard = rig.heard();
          EXPECT_TRUE(heard.errors.empty());
          ASSERT_EQ(heard.warnings.size(), 1u);
          EXPECT_TRUE(heard.warnings[0].is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED)) << heard.warnings[0].text;
          EXPECT_EQ(rig.string("active-device"), "cpu");
          EXPECT_EQ(rig.stat("filtered"), kFrames);
          EXPECT_EQ(rig.stat("replayed-on-cpu") > 0, step != &script.fail_make_at);
          EXPECT_EQ(script.alive, 0);
          EXPECT_EQ(script.released, static_cast<int>(kFrames));
          EXPECT_EQ(gst_harness_query_latency(rig.harness()), 0u);
        }
}

TEST_F(HalftoneInFlight, AfterAFaultWishesAndCapsChangeAsBefore) {
  // What was in flight is halftoned again as it was asked for then, what comes later as it is asked for now.
  script.fail_collect_at = 0;
  script.lazy = true;
  HalftoneRig rig{{"in-flight", "3"}};
  rig.caps(kCaps);
  feed(rig, 0, 1);
  rig.set("method", "tdfed");
  feed(rig, 2, 2);
  EXPECT_FALSE(rig.pull());
  rig.set("packed", "true");
  feed(rig, 3, 4);
  EXPECT_EQ(rig.heard().warnings.size(), 1u);
  halftone::Settings s;
  const auto leaves = [&](std::uint64_t i) {
    const BufferPtr out = rig.pull(), in = random_buffer(kCaps, i);
    ASSERT_TRUE(out) << i;
    EXPECT_TRUE(rows_of(out.get(), 27, 16, s.packed) == halftoned(kCaps, in.get(), s)) << i;
  };
  leaves(0);
  leaves(1);
  s.method = kTdfed;
  leaves(2);
  s.packed = true;
  leaves(3);
  leaves(4);
}

TEST_F(HalftoneInFlight, CudaFaultIsOneError) {
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

TEST_F(HalftoneInFlight, SerpentineIsTheCpusAndSaysSo) {
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

TEST_F(HalftoneInFlight, SerpentineWithCudaFailsToReady) {
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

TEST_F(HalftoneInFlight, PicturesArePinnedForTheWayBack) {
  // Small ones too: the pool is the element's own. Packed pictures have caps that do not tell their size.
  for (const char* packed : {"false", "true"})
    for (const bool strides : {false, true}) {
      SCOPED_TRACE(std::string(packed) + (strides ? ", strides" : ""));
      anew();
      PoolRigOf<HalftoneRig> rig({{"in-flight", "1"}, {"packed", packed}}, [&](GstQuery* query) {
        if (strides) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
      });
      rig.caps(kCaps);
      feed(rig, 0, 1);
      BufferPtr out = rig.pull();
      ASSERT_TRUE(out);
      EXPECT_TRUE(is_pinned(out.get()));
      const bool bits = packed == std::string("true");
      EXPECT_EQ(gst_buffer_get_video_meta(out.get()) != nullptr, strides && !bits);
      halftone::Settings s;
      s.packed = bits;
      const BufferPtr in = random_buffer(kCaps, 0);
      EXPECT_TRUE(rows_of(out.get(), 27, 16, bits) == halftoned(kCaps, in.get(), s));
      EXPECT_TRUE(rig.heard().errors.empty());
    }
}

TEST_F(HalftoneInFlight, PicturesComeFromDownstreamsPool) {
  for (const char* device : {"cpu", "cuda"})
    for (const bool strides : {false, true}) {
      SCOPED_TRACE(std::string(device) + (strides ? ", strides" : ""));
      anew();
      const PoolPtr theirs(strides ? gst_video_buffer_pool_new() : gst_buffer_pool_new());
      PoolRigOf<HalftoneRig> rig({{"device", device}, {"in-flight", "2"}, {"packed", "true"}}, [&](GstQuery* query) {
        gst_query_add_allocation_pool(query, theirs.get(), 1, 2, 4);
        if (strides) gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
      });
      rig.caps(kCaps);
      // Downstream holds as many as it said it needs, while the element writes its own.
      std::deque<BufferPtr> outs;
      for (std::uint64_t i = 0; i < 9; ++i) {
        feed(rig, i, i);
        while (BufferPtr out = rig.pull()) outs.push_back(std::move(out));
        while (outs.size() > 4) outs.pop_front();
      }
      ASSERT_EQ(outs.size(), 4u);
      for (const BufferPtr& out : outs) {
        EXPECT_EQ(out->pool, theirs.get());
        EXPECT_EQ(gst_buffer_get_size(out.get()), 4u * 16u);
      }
      EXPECT_TRUE(rig.heard().errors.empty());
    }
}

/// True if the element's sink pad takes frames in GPU memory, by its caps and when it is asked; its source pad has
/// none.
bool takes_frames_in_gpu_memory(HalftoneRig& rig) {
  const CapsPtr frames(
      gst_caps_from_string("video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,framerate=30/1"));
  const auto query = [&](const char* name, GstCaps* filter) {
    GstPad* pad = gst_element_get_static_pad(rig.element(), name);
    CapsPtr caps(gst_pad_query_caps(pad, filter));
    gst_object_unref(pad);
    return caps;
  };
  EXPECT_FALSE(gst_caps_can_intersect(query("src", nullptr).get(), frames.get()));
  GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
  const int yes = gst_caps_can_intersect(query("sink", nullptr).get(), frames.get()) +
                  !gst_caps_is_empty(query("sink", frames.get()).get()) + gst_pad_query_accept_caps(pad, frames.get());
  gst_object_unref(pad);
  EXPECT_TRUE(yes == 0 || yes == 3) << yes;
  return yes > 0;
}

TEST_F(HalftoneInFlight, FramesInGpuMemoryAreTakenWhereAGpuHalftones) {
  constexpr bool built = FQ_HAVE_GSTCUDA;
  for (const char* packed : {"false", "true"}) {
    const auto takes = [&](const char* name, const char* value) {
      HalftoneRig rig{{"packed", packed}, {name, value}};
      return takes_frames_in_gpu_memory(rig);
    };
    EXPECT_EQ(takes("device", "auto"), built);
    EXPECT_EQ(takes("device", "cuda"), built);
    EXPECT_FALSE(takes("device", "cpu"));
    EXPECT_FALSE(takes("serpentine", "true"));
  }
  HalftoneRig rig;
  script.fail_submit_at = 0;
  rig.caps(kCaps);
  EXPECT_TRUE(rig.pass(watched_frame(kCaps, 0)));
  EXPECT_FALSE(takes_frames_in_gpu_memory(rig)) << "after a fault";
}

/// As much of the element as Halftoning asks for.
struct Requesting {
  Shared<HalftoneRequest>* request;
};

TEST_F(HalftoneInFlight, PackedPicturesHaveTwoLevelsUntilOtherCapsCome) {
  // The frame that brings the caps of this request is still to come.
  Shared<HalftoneRequest> request;
  request.change([](HalftoneRequest& r) { r.settings.levels = 16; });
  Requesting element{&request};
  const CapsPtr in(gst_caps_from_string(kCaps.c_str()));
  for (const bool packed : {true, false}) {
    HalftoneRequest of_caps;
    of_caps.settings.packed = packed;
    const CapsPtr out(halftone_output_caps(in.get(), of_caps));
    FilterFormat format;
    ASSERT_TRUE(parse_halftone_caps(in.get(), out.get(), format));
    const halftone::Settings settings = Halftoning<Requesting>(&element, format, 1).settings();
    EXPECT_EQ(settings.packed, packed);
    EXPECT_EQ(settings.levels, packed ? 2 : 16);
  }
}

#if FQ_HAVE_GSTCUDA
TEST_F(HalftoneInFlight, FramesInGpuMemoryHaveTheirPicturesInSystemMemory) {
  for (const bool packed : {false, true}) {
    const CapsPtr in(gst_caps_from_string(video_caps("NV12", 64, 48).insert(11, "(memory:CUDAMemory)").c_str()));
    HalftoneRequest of_caps;
    of_caps.settings.packed = packed;
    const CapsPtr out(halftone_output_caps(in.get(), of_caps));
    EXPECT_EQ(memory_of(out.get()), Memory::kHost);
    FilterFormat format;
    ASSERT_TRUE(parse_halftone_caps(in.get(), out.get(), format));
    EXPECT_EQ(format.memory, Memory::kCuda);
    EXPECT_EQ(format.out_memory, Memory::kHost);
    Shared<HalftoneRequest> request;
    Requesting element{&request};
    const Halftoning<Requesting> halftoning(&element, format, 1);
    FilterWindow window;
    window.count = 1;
    window.frames[0].frame.memory = Memory::kCuda;
    const halftone::Task task = halftoning.task(window, halftoning.settings());
    EXPECT_EQ(task.frame.memory, Memory::kCuda);
    EXPECT_EQ(task.out.memory, Memory::kHost);
    EXPECT_EQ(task.settings.packed, packed);
  }
}

TEST_F(HalftoneInFlight, FramesInGpuMemoryWithoutAContextAreOneError) {
  if (cuda::find_device().id >= 0) GTEST_SKIP() << "there is a GPU, which gives a context";
  HalftoneRig rig;
  rig.caps(video_caps("NV12", 24, 16).insert(11, "(memory:CUDAMemory)"));
  EXPECT_EQ(rig.push(random_buffer(kCaps, 1)), GST_FLOW_NOT_NEGOTIATED);
  rig.send(gst_event_new_eos());
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) << heard.errors[0].text;
}
#endif

}  // namespace
}  // namespace framequality::test
