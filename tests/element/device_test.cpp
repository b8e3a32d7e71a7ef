// SPDX-License-Identifier: LGPL-2.1-or-later
// Device choice and faults, with backends that fail as told in place of the real ones.
#include "gst/backends.h"
#include "tests/element/rig.h"

GST_ELEMENT_REGISTER_DECLARE(sharpnessmeter)

namespace framequality::test {
namespace {

const std::string kCaps = video_caps("GRAY8", 64, 48);

/// What the "GPU" does; frame numbers count from 0 over its life.
struct Script {
  bool present = true;
  int fail_make_after = -1;  ///< meters made before making fails
  int fail_submit_at = -1, fail_collect_at = -1;
  cuda::Fault fault = cuda::Fault::kDeviceLost;
  int made = 0, alive = 0, submitted = 0, collected = 0, wanted = -2;
  bool bad_alloc = false;
} script;

/// Measures on the CPU, and fails when the script says.
class ScriptedMeter final : public Meter {
 public:
  explicit ScriptedMeter(const Geometry& geometry) : real_(cpu::make_meter(geometry)) { ++script.alive; }
  ~ScriptedMeter() override { --script.alive; }
  void submit(const Frame& frame, std::shared_ptr<const Plan> plan) override {
    if (script.submitted++ == script.fail_submit_at) throw cuda::Error(script.fault, "cudaMemcpyAsync: scripted");
    if (script.bad_alloc) throw std::bad_alloc();
    real_->submit(frame, std::move(plan));
  }
  std::span<const std::int64_t> collect() override {
    if (script.collected++ == script.fail_collect_at) throw cuda::Error(script.fault, "cudaEventSynchronize: scripted");
    return real_->collect();
  }

 private:
  std::unique_ptr<Meter> real_;
};

class Device : public ::testing::Test {
 protected:
  void SetUp() override {
    static const bool registered = GST_ELEMENT_REGISTER(sharpnessmeter, nullptr);
    ASSERT_TRUE(registered);
    script = {};
    backends().find_device = [](int wanted) {
      script.wanted = wanted;
      return script.present ? cuda::Device{5, "Scripted GPU", ""}
                            : cuda::Device{-1, "", "the driver is too old: install 580 or newer"};
    };
    backends().make_cuda_meter = [](const Geometry& g, int id, int) -> std::unique_ptr<Meter> {
      EXPECT_EQ(id, 5);
      if (script.made++ == script.fail_make_after) throw cuda::Error(script.fault, "cudaMalloc: scripted");
      return std::make_unique<ScriptedMeter>(g);
    };
  }
  void TearDown() override { EXPECT_EQ(script.alive, 0); }

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

TEST_F(Device, AutoTakesTheGpu) {
  Rig rig;
  EXPECT_EQ(devices(five_frames(rig)), "cuda cuda cuda cuda cuda ");
  EXPECT_EQ(rig.string("active-device"), "cuda");
  EXPECT_EQ(script.submitted, 5);
}

TEST_F(Device, AutoWithoutGpuTakesTheCpuSilently) {
  script.present = false;
  Rig rig;
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

TEST_F(Device, FaultReplaysTheFrameOnTheCpu) {
  for (const bool in_submit : {true, false})
    for (const auto fault : {cuda::Fault::kDeviceLost, cuda::Fault::kOutOfMemory}) {
      script = {};
      (in_submit ? script.fail_submit_at : script.fail_collect_at) = 2;
      script.fault = fault;
      Rig rig;
      const Heard heard = five_frames(rig);
      EXPECT_EQ(devices(heard), "cuda cuda cpu cpu cpu ");
      ASSERT_EQ(heard.warnings.size(), 1u);
      EXPECT_NE(heard.warnings[0].text.find("scripted"), std::string::npos) << heard.warnings[0].text;
      EXPECT_TRUE(heard.errors.empty());
      EXPECT_EQ(rig.stat("replayed-on-cpu"), 1u);
      EXPECT_EQ(rig.stat("measured"), 5u);
      EXPECT_EQ(rig.string("active-device"), "cpu");
      EXPECT_EQ(script.alive, 0);
      // New caps stay on the CPU.
      rig.caps(video_caps("GRAY8", 32, 32));
      rig.pass(random_buffer(video_caps("GRAY8", 32, 32), 1));
      EXPECT_EQ(script.made, 1);
    }
}

TEST_F(Device, FaultWithCudaIsOneError) {
  for (const bool in_submit : {true, false})
    for (const auto fault : {cuda::Fault::kDeviceLost, cuda::Fault::kOutOfMemory}) {
      script = {};
      (in_submit ? script.fail_submit_at : script.fail_collect_at) = 0;
      script.fault = fault;
      Rig rig{{"device", "cuda"}};
      rig.caps(kCaps);
      EXPECT_EQ(rig.push(random_buffer(kCaps, 1)), GST_FLOW_ERROR);
      const Heard heard = rig.heard();
      ASSERT_EQ(heard.errors.size(), 1u);
      EXPECT_TRUE(fault == cuda::Fault::kDeviceLost
                      ? heard.errors[0].is(GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_FAILED)
                      : heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT));
      EXPECT_TRUE(heard.warnings.empty() && heard.results.empty());
    }
}

TEST_F(Device, GpuOutOfMemoryAtCaps) {
  script.fail_make_after = 0;
  script.fault = cuda::Fault::kOutOfMemory;
  {
    Rig rig;
    const Heard heard = five_frames(rig);
    EXPECT_EQ(devices(heard), "cpu cpu cpu cpu cpu ");
    EXPECT_EQ(heard.warnings.size(), 1u);
    EXPECT_EQ(rig.stat("replayed-on-cpu"), 0u);
  }
  script.made = 0;
  Rig rig{{"device", "cuda"}};
  rig.caps(kCaps);
  const Heard heard = rig.heard();
  ASSERT_EQ(heard.errors.size(), 1u);
  EXPECT_TRUE(heard.errors[0].is(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT));
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

}  // namespace
}  // namespace framequality::test
