// SPDX-License-Identifier: LGPL-2.1-or-later
// Device choice, and what follows from it: which caps are taken, what a frame is measured with.
#include "cuda/device.h"

#include "gst/buffer/frame.h"
#include "tests/gst/scripted.h"
#include "tests/gst/sharpnessmeter/scores.h"

#include <initializer_list>
#include <utility>

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

class Device : public Scripted {
 protected:
  /// Scores five frames; each must be right, whatever happens on the way.
  static Heard five_frames(Rig& rig) {
    rig.caps(kCaps);
    for (std::uint64_t i = 0; i < 5; ++i) {
      BufferPtr buffer = random_buffer(kCaps, i, i * GST_SECOND);
      const double want = expected(kCaps, buffer.get()).score;
      EXPECT_EQ(rig.score(std::move(buffer)), want) << i;
    }
    return rig.heard();
  }
  static std::string devices(const Heard& heard) {
    std::string all;
    for (const auto& s : heard.results) all += text(s.get(), "device") + " ";
    return all;
  }
};

TEST_F(Device, AutoTakesTheGpuOfThisNumberAtOnce) {
  Rig rig{{"cuda-device-id", "5"}};
  EXPECT_EQ(devices(five_frames(rig)), "cuda cuda cuda cuda cuda ");
  EXPECT_EQ(rig.string("active-device"), "cuda");
  EXPECT_EQ(script.submitted, 5);
}

TEST_F(Device, AutoWithoutGpuTakesTheCpuSilently) {
  script.present = false;
  Rig rig{{"cuda-device-id", "-1"}};
  const Heard heard = five_frames(rig);
  EXPECT_EQ(devices(heard), "cpu cpu cpu cpu cpu ");
  EXPECT_TRUE(heard.warnings.empty() && heard.errors.empty());
  EXPECT_EQ(rig.string("active-device"), "cpu");
}

TEST_F(Device, CpuDoesNotLookForAGpu) {
  Rig rig{{"device", "cpu"}};
  EXPECT_EQ(devices(five_frames(rig)), "cpu cpu cpu cpu cpu ");
  EXPECT_EQ(script.wanted, -2);
  EXPECT_EQ(script.made, 0);
}

TEST_F(Device, IdIsAskedFor) {
  Rig rig{{"cuda-device-id", "5"}};
  EXPECT_EQ(script.wanted, 5);
}

/// What an element says on its way to PAUSED and back.
Heard started(const char* factory, std::initializer_list<std::pair<const char*, const char*>> properties) {
  const BusPtr bus(gst_bus_new());
  const ElementPtr element(gst_element_factory_make(factory, nullptr));
  gst_object_ref_sink(element.get());
  for (const auto& [property, value] : properties) gst_util_set_object_arg(G_OBJECT(element.get()), property, value);
  gst_element_set_bus(element.get(), bus.get());
  EXPECT_NE(gst_element_set_state(element.get(), GST_STATE_PAUSED), GST_STATE_CHANGE_FAILURE) << factory;
  Heard heard;
  while (const MessagePtr message{gst_bus_pop(bus.get())}) heard.add(message.get());
  gst_element_set_state(element.get(), GST_STATE_NULL);
  gst_element_set_bus(element.get(), nullptr);
  return heard;
}

TEST_F(Device, AutoWithoutTheDeviceNamedWarnsOnce) {
  for (const char* factory : {"sharpnessmeter", "bliindsmeter", "nlmeans", "patchbilateral", "halftone"}) {
    script.present = false;
    const Heard heard = started(factory, {{"cuda-device-id", "7"}});
    ASSERT_EQ(heard.warnings.size(), 1u) << factory;
    EXPECT_TRUE(heard.warnings[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    EXPECT_EQ(heard.warnings[0].text,
              "cuda-device-id=7 cannot be used: the driver is too old: install 580 or newer. The CPU is used instead");
    EXPECT_TRUE(heard.errors.empty() && started(factory, {{"cuda-device-id", "-1"}}).warnings.empty()) << factory;
    script.present = true;
    EXPECT_TRUE(started(factory, {{"cuda-device-id", "7"}}).warnings.empty()) << factory;
  }
}

/// The product's own backends but for CUDA, whose device would be chosen.
class NamedDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const Backend* backend : backends())
      if (std::string_view(backend->name) != "cuda") all_.push_back(backend);
    use_backends(all_);
  }
  void TearDown() override { use_backends({}); }

 private:
  std::vector<const Backend*> all_;
};

TEST_F(NamedDevice, OfOpenClThatCannotBeUsedIsWarnedOf) {
  constexpr const char* kNone = "no such device";
  for (const char* factory : {"sharpnessmeter", "nlmeans", "patchbilateral", "halftone"}) {
    const Heard heard = started(factory, {{"opencl-device", kNone}});
    ASSERT_EQ(heard.warnings.size(), 1u) << factory;
    EXPECT_TRUE(heard.warnings[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
    const std::string& text = heard.warnings[0].text;
    EXPECT_TRUE(text.starts_with("opencl-device=no such device cannot be used: ")) << text;
    EXPECT_TRUE(text.ends_with(". The CPU is used instead")) << text;
    EXPECT_TRUE(heard.errors.empty()) << factory;
  }
  EXPECT_TRUE(started("bliindsmeter", {{"opencl-device", kNone}}).warnings.empty());  // has no kernels in OpenCL
}

TEST(NamedDevices, ThatCannotBeUsedAreAllWarnedOf) {
  const Heard heard = started("sharpnessmeter", {{"cuda-device-id", "1000"}, {"opencl-device", "no such device"}});
  ASSERT_EQ(heard.warnings.size(), 1u);
  const std::string& text = heard.warnings[0].text;
  EXPECT_TRUE(text.starts_with("cuda-device-id=1000 cannot be used: ")) << text;
  EXPECT_NE(text.find("; opencl-device=no such device cannot be used: "), std::string::npos) << text;
}

TEST_F(Device, OneChoiceWarnsOnceHoweverManyCapsCome) {
  script.present = false;
  Rig rig{{"cuda-device-id", "7"}};
  EXPECT_EQ(five_frames(rig).warnings.size(), 1u);
  rig.caps(video_caps("GRAY8", 32, 32));
  EXPECT_TRUE(rig.heard().warnings.empty());
}

TEST_F(Device, CudaWithoutGpuFailsToReady) {
  script.present = false;
  const BusPtr bus(gst_bus_new());
  const ElementPtr meter(gst_element_factory_make("sharpnessmeter", nullptr));
  gst_object_ref_sink(meter.get());
  gst_util_set_object_arg(G_OBJECT(meter.get()), "device", "cuda");
  gst_element_set_bus(meter.get(), bus.get());
  EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_FAILURE);
  Heard heard;
  while (const MessagePtr message{gst_bus_pop(bus.get())}) heard.add(message.get());
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND));
  EXPECT_NE(heard.errors[0].text.find("install 580"), std::string::npos) << heard.errors[0].text;
  // Having read the reason, a user can still take the CPU.
  gst_util_set_object_arg(G_OBJECT(meter.get()), "device", "cpu");
  EXPECT_EQ(gst_element_set_state(meter.get(), GST_STATE_READY), GST_STATE_CHANGE_SUCCESS);
  gst_element_set_state(meter.get(), GST_STATE_NULL);
  gst_element_set_bus(meter.get(), nullptr);
}

TEST_F(Device, DeviceSetInReadyTakesEffect) {
  const ElementPtr meter(gst_element_factory_make("sharpnessmeter", nullptr));
  gst_object_ref_sink(meter.get());
  gst_util_set_object_arg(G_OBJECT(meter.get()), "device", "cuda");
  const auto active = [&] {
    gchar* value = nullptr;
    g_object_get(meter.get(), "active-device", &value, nullptr);
    const std::string s = value;
    g_free(value);
    return s;
  };
  EXPECT_EQ(active(), "");
  gst_element_set_state(meter.get(), GST_STATE_READY);
  EXPECT_EQ(active(), "cuda");
  gst_util_set_object_arg(G_OBJECT(meter.get()), "device", "cpu");
  gst_element_set_state(meter.get(), GST_STATE_PAUSED);
  EXPECT_EQ(active(), "cpu");
  gst_element_set_state(meter.get(), GST_STATE_NULL);
  EXPECT_EQ(active(), "");
}

TEST_F(Device, HostOutOfMemoryIsOneError) {
  script.bad_alloc = true;
  Rig rig;
  rig.caps(kCaps);
  EXPECT_EQ(rig.push(random_buffer(kCaps, 1)), GST_FLOW_ERROR);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT));
}

TEST_F(Device, FramesInGpuMemoryAreTakenWhereAGpuMeasures) {
  constexpr bool built = FQ_HAVE_GSTCUDA;
  EXPECT_EQ(takes_gpu_memory(Rig().element()), built);
  EXPECT_EQ(takes_gpu_memory(Rig{{"device", "cuda"}}.element()), built);
  EXPECT_FALSE(takes_gpu_memory(Rig{{"device", "cpu"}}.element()));
  script.present = false;
  EXPECT_FALSE(takes_gpu_memory(Rig().element()));
}

TEST_F(Device, FramesInGpuMemoryAreNotTakenAfterAFault) {
  script.fail_submit_at = 0;
  Rig rig;
  EXPECT_EQ(takes_gpu_memory(rig.element()), FQ_HAVE_GSTCUDA != 0);
  five_frames(rig);
  EXPECT_FALSE(takes_gpu_memory(rig.element()));
}

TEST_F(Device, SystemMemoryIsAlwaysTaken) {
  for (const char* device : {"auto", "cuda", "cpu"}) {
    Rig rig{{"device", device}};
    GstPad* pad = gst_element_get_static_pad(rig.element(), "sink");
    const CapsPtr frames(gst_caps_from_string(kCaps.c_str()));
    EXPECT_TRUE(gst_pad_query_accept_caps(pad, frames.get())) << device;
    gst_object_unref(pad);
  }
}

#if FQ_HAVE_GSTCUDA
TEST_F(Device, FramesInGpuMemoryWithoutAContextAreOneError) {
  if (cuda::find_device().id >= 0) GTEST_SKIP() << "there is a GPU, which gives a context";
  Rig rig;
  rig.caps(video_caps("NV12", 64, 48).insert(11, "(memory:CUDAMemory)"));
  EXPECT_EQ(rig.push(random_buffer(kCaps, 1)), GST_FLOW_NOT_NEGOTIATED);
  gst_harness_push_event(rig.harness(), gst_event_new_eos());
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND)) << heard.errors[0].text;
}
#endif

}  // namespace
}  // namespace framequality::test
