// SPDX-License-Identifier: LGPL-2.1-or-later
// device=auto between the CPU and a GPU, by scripted costs: where each frame is measured, and what pipelines see of it.
#include "engine/weighing.h"
#include "tests/gst/pool.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/support/effort.h"
#include "tests/support/random.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace framequality::test {

using namespace sharpness;

namespace {

using namespace std::chrono_literals;
using Time = Weighing::Time;

const std::string kCaps = video_caps("GRAY8", 64, 48);
constexpr int kTrial = (Weighing::kWarmUp + 1) * static_cast<int>(Weighing::kWindow);

/// Time as the tests have it, and what a frame costs.
Time now{}, cpu_cost{}, gpu_cost{};
std::atomic<int> looked = 0;
std::atomic<bool> hold_find = false;

/// A meter that takes its time to give a result.
class SlowMeter final : public sharpness::Meter {
 public:
  SlowMeter(std::unique_ptr<sharpness::Meter> real, const Time& cost) : real_(std::move(real)), cost_(cost) {}
  void submit(const Task& task) override { real_->submit(task); }
  std::span<const std::int64_t> collect() override {
    now += cost_;
    return real_->collect();
  }

 private:
  std::unique_ptr<sharpness::Meter> real_;
  const Time& cost_;
};

class Moves : public Scripted {
 protected:
  void SetUp() override {
    Scripted::SetUp();
    named_device = {};
    now = {};
    cpu_cost = 1ms;
    gpu_cost = 100us;
    looked = 0;
    use_weighing_clock([] { return now; });
    tables.gpu.find = [](const Wanted&) {
      ++looked;
      while (hold_find) std::this_thread::yield();
      return script.present ? framequality::Device{5, "Scripted GPU", ""}
                            : framequality::Device{-1, "", "the driver is too old"};
    };
    tables.gpu.sharpness = [](const Geometry& g, const Where& where) -> std::unique_ptr<sharpness::Meter> {
      make_scripted(where);
      return std::make_unique<SlowMeter>(
          std::make_unique<ScriptedWorker<sharpness::Meter, Geometry>>(g, where.depth, cpu::make_meter(g)), gpu_cost);
    };
    tables.cpu.sharpness = [](const Geometry& g, const Where&) -> std::unique_ptr<sharpness::Meter> {
      return std::make_unique<SlowMeter>(cpu::make_meter(g), cpu_cost);
    };
  }
  void TearDown() override {
    use_weighing_clock(nullptr);
    Scripted::TearDown();
  }

  /// Frames pushed through a rig; each that leaves is the next one, with the right score.
  template <class AnyRig = Rig>
  class Stream {
   public:
    explicit Stream(std::initializer_list<std::pair<const char*, const char*>> properties = {}) : rig(properties) {
      rig.caps(kCaps);
    }
    void put(int count) {
      for (int i = 0; i < count; ++i) {
        ASSERT_EQ(rig.push(watched_frame(kCaps, pushed++)), GST_FLOW_OK);
        check();
      }
    }
    /// Until done() is true, which takes a thread a moment.
    template <class F>
    void put_until(F&& done) {
      for (int i = 0; i < 50000 && !done(); ++i) {
        put(1);
        std::this_thread::sleep_for(20us);
      }
      ASSERT_TRUE(done());
    }
    void put_until_on(const char* device) {
      put_until([&] { return rig.string("active-device") == device; });
    }
    /// Those that left, by where they were measured.
    void check() {
      while (const BufferPtr out = rig.pull()) {
        ASSERT_EQ(GST_BUFFER_PTS(out.get()), time_of(left)) << "in order";
        ASSERT_EQ(meta_score(out.get()), expected(kCaps, out.get()).score);
        ASSERT_EQ(count(meta_of(out.get()), "frame"), left++);
        on_gpu += text(meta_of(out.get()), "device") == "cuda";
      }
    }
    void end() {
      gst_harness_push_event(rig.harness(), gst_event_new_eos());
      check();
      EXPECT_EQ(left, pushed);
    }
    /// RECONFIGURE events that reached upstream since the last call.
    int reconfigured() {
      int events = 0;
      while (GstEvent* event = gst_harness_try_pull_upstream_event(rig.harness())) {
        events += GST_EVENT_TYPE(event) == GST_EVENT_RECONFIGURE;
        gst_event_unref(event);
      }
      return events;
    }

    AnyRig rig;
    std::uint64_t pushed = 0, left = 0, on_gpu = 0;
  };
};

TEST_F(Moves, BeginOnTheCpuAndNoDeviceIsLookedFor) {
  Stream stream;
  EXPECT_EQ(stream.rig.string("active-device"), "cpu");
  stream.put(299);
  EXPECT_EQ(looked, 0);
  EXPECT_EQ(stream.on_gpu, 0u);
  EXPECT_EQ(stream.rig.stat("moves"), 0u);
}

TEST_F(Moves, TheCheaperGpuIsTaken) {
  for (const char* behind : {"0", "2", "8"}) {
    SCOPED_TRACE(behind);
    anew();
    looked = 0;
    int notified = 0;  // also of the way to NULL
    Stream stream{{"in-flight", behind}};
    g_signal_connect(stream.rig.element(), "notify::active-device",
                     G_CALLBACK(+[](GObject*, GParamSpec*, gpointer n) { ++*static_cast<int*>(n); }), &notified);
    stream.put_until_on("cuda");
    const std::uint64_t before = stream.left;
    stream.put(kTrial + 1000);
    stream.end();
    EXPECT_GE(stream.on_gpu, stream.pushed - before - 1);
    EXPECT_EQ(stream.rig.stat("moves"), 1u);
    EXPECT_EQ(notified, 1);
    EXPECT_EQ(looked, 1);
    EXPECT_EQ(script.most_pending, std::size_t(std::atoi(behind) + 1));
    const Heard heard = stream.rig.heard();
    EXPECT_EQ(heard.results.size(), stream.pushed);
    EXPECT_TRUE(heard.warnings.empty() && heard.errors.empty());
    EXPECT_EQ(stream.rig.stat("replayed-on-cpu"), 0u);
  }
}

TEST_F(Moves, TheCheaperCpuIsReturnedTo) {
  gpu_cost = 3ms;
  for (const char* behind : {"0", "2", "8"}) {
    SCOPED_TRACE(behind);
    Stream stream{{"in-flight", behind}};
    stream.put_until_on("cuda");
    stream.put(kTrial + 9);
    EXPECT_EQ(stream.rig.string("active-device"), "cpu");
    EXPECT_EQ(stream.left, stream.pushed) << "the CPU holds nothing back";
    EXPECT_EQ(stream.on_gpu, std::uint64_t(kTrial + std::atoi(behind)));
    EXPECT_EQ(stream.rig.stat("moves"), 2u);
    stream.end();
  }
}

TEST_F(Moves, TheLatencyIsTheSameWhereverFramesAre) {
  gpu_cost = 3ms;
  Stream stream{{"in-flight", "3"}};
  EXPECT_EQ(gst_harness_query_latency(stream.rig.harness()), time_of(3));
  stream.rig.heard();
  stream.put_until_on("cuda");
  EXPECT_EQ(gst_harness_query_latency(stream.rig.harness()), time_of(3));
  stream.put(kTrial + 9);
  EXPECT_EQ(gst_harness_query_latency(stream.rig.harness()), time_of(3));
  EXPECT_EQ(stream.rig.heard().latencies, 0);
}

TEST_F(Moves, WithoutAGpuTheCpuStaysForGood) {
  script.present = false;
  Stream stream{{"in-flight", "3"}};
  stream.put_until([&] { return gst_harness_query_latency(stream.rig.harness()) == 0; });
  stream.put(5000);
  stream.rig.change_caps(video_caps("GRAY8", 32, 32));
  EXPECT_EQ(stream.rig.string("active-device"), "cpu");
  EXPECT_EQ(looked, 1);
  EXPECT_TRUE(stream.rig.heard().warnings.empty());
  EXPECT_FALSE(takes_gpu_memory(stream.rig.element()));
  for (int i = 0; i < 2000; ++i) stream.rig.push(random_buffer(video_caps("GRAY8", 32, 32), 1));
  EXPECT_EQ(looked, 1);
}

TEST_F(Moves, FramesInGpuMemoryAreTakenBeforeADeviceIsLookedFor) {
  Rig rig;
  EXPECT_EQ(takes_gpu_memory(rig.element()), FQ_HAVE_GSTCUDA != 0);
  EXPECT_EQ(looked, 0);
}

TEST_F(Moves, UpstreamIsAskedOnceToRenewItsPool) {
  gpu_cost = 1500us;
  Stream<PoolRig> stream;
  EXPECT_EQ(gst_query_get_n_allocation_pools(ask(stream.rig, kCaps).get()), 0u) << "the CPU needs none";
  stream.reconfigured();
  stream.put_until_on("cuda");
  EXPECT_EQ(stream.reconfigured(), 0) << "between frames";
  stream.put(1);
  EXPECT_EQ(stream.reconfigured(), 1);
  EXPECT_EQ(gst_query_get_n_allocation_pools(ask(stream.rig, kCaps).get()), 1u);
  stream.put_until_on("cpu");
  stream.put_until_on("cuda");
  EXPECT_EQ(stream.rig.stat("moves"), 3u);
  EXPECT_EQ(stream.reconfigured(), 0);
}

TEST_F(Moves, SourcesAndFiltersTakeThePoolInMidStream) {
  for (const char* source :
       {"videotestsrc num-buffers=3000 ! video/x-raw,format=GRAY8,width=322,height=242",
        "videotestsrc num-buffers=3000 ! video/x-raw,format=RGB,width=64,height=48 ! videoconvert ! "
        "video/x-raw,format=I420"})
    for (const char* behind : {"0", "3"}) {
      SCOPED_TRACE(std::string(source) + ", " + behind + " behind");
      const ElementPtr pipeline =
          pipeline_of(std::string(source) + " ! sharpnessmeter name=m in-flight=" + behind + " ! fakesink sync=false");
      const ElementPtr meter(gst_bin_get_by_name(GST_BIN(pipeline.get()), "m"));
      GstPad* pad = gst_element_get_static_pad(meter.get(), "sink");
      std::vector<bool> pinned;
      gst_pad_add_probe(
          pad, GST_PAD_PROBE_TYPE_BUFFER,
          [](GstPad*, GstPadProbeInfo* info, gpointer to) {
            static_cast<std::vector<bool>*>(to)->push_back(is_pinned(gst_pad_probe_info_get_buffer(info)));
            std::this_thread::sleep_for(10us);
            return GST_PAD_PROBE_OK;
          },
          &pinned, nullptr);
      gst_object_unref(pad);
      const BusPtr bus(gst_element_get_bus(pipeline.get()));
      gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
      const MessagePtr end = end_of(bus.get());
      EXPECT_TRUE(end && GST_MESSAGE_TYPE(end.get()) == GST_MESSAGE_EOS);
      ASSERT_EQ(pinned.size(), 3000u);
      EXPECT_FALSE(pinned.front());
      EXPECT_TRUE(pinned.back());
      EXPECT_TRUE(std::is_sorted(pinned.begin(), pinned.end())) << "once, and for good";
      gst_element_set_state(pipeline.get(), GST_STATE_NULL);
      EXPECT_EQ(pins.now(), 0);
    }
}

TEST_F(Moves, UpstreamThatWantsNoPoolIsLeftAlone) {
  Stream<PoolRig> stream;
  ask(stream.rig, kCaps, false);
  stream.reconfigured();
  stream.put_until_on("cuda");
  stream.put(1);
  EXPECT_EQ(stream.reconfigured(), 0);
}

TEST_F(Moves, MemoryThatCameBackIsPinnedAtItsFirstFrameOnTheGpu) {
  const std::string caps = video_caps("GRAY8", 640, 480);
  Rig rig;
  rig.caps(caps);
  std::vector<BufferPtr> recycled;
  for (std::uint64_t i = 0; i < 16; ++i) recycled.push_back(random_buffer(caps, i));
  int pushed = 0;
  const auto push = [&] {
    rig.push(BufferPtr(gst_buffer_ref(recycled[static_cast<std::size_t>(pushed++ % 16)].get())));
    rig.pull();
  };
  while (pushed < 20000 && rig.string("active-device") == "cpu") {
    EXPECT_EQ(pins.asked(), 0);
    push();
  }
  EXPECT_EQ(rig.string("active-device"), "cuda");
  for (int i = 0; i < 16; ++i) push();
  EXPECT_GE(pins.now(), 15) << "but for the one that was on its way when it moved";
  gst_element_set_state(rig.element(), GST_STATE_NULL);
}

TEST_F(Moves, PoolsAreLargeEnoughForTheFramesThatAGpuWillHold) {
  const PoolPtr theirs(gst_video_buffer_pool_new());
  PoolRig rig({{"in-flight", "4"}},
              [&](GstQuery* q) { gst_query_add_allocation_pool(q, theirs.get(), 64 * 48, 2, 4); });
  rig.caps(kCaps);
  guint min = 0, max = 0;
  gst_query_parse_nth_allocation_pool(ask(rig, kCaps).get(), 0, nullptr, nullptr, &min, &max);
  EXPECT_EQ(min, 6u);
  EXPECT_EQ(max, 8u);
}

TEST_F(Moves, NewCapsBeginOnTheCpuWithADeviceThatIsKnown) {
  Stream stream;
  stream.put_until_on("cuda");
  stream.put(kTrial);
  const std::string next = video_caps("GRAY8", 32, 32);
  stream.rig.change_caps(next);
  EXPECT_EQ(stream.rig.string("active-device"), "cpu");
  // Workers are made sooner than a context.
  for (int i = 0; i < 200 && stream.rig.string("active-device") == "cpu"; ++i) {
    stream.rig.push(random_buffer(next, 1));
    std::this_thread::sleep_for(100us);
  }
  EXPECT_EQ(stream.rig.string("active-device"), "cuda");
  EXPECT_EQ(looked, 1);
}

TEST_F(Moves, OtherOptionsAreWeighedAnew) {
  cpu_cost = 20ms;  // so much that it is not tried again
  gpu_cost = 1ms;
  Stream stream;
  stream.put_until_on("cuda");
  stream.put(2000);
  EXPECT_EQ(stream.rig.stat("moves"), 1u);
  cpu_cost = 10us;  // the GPU's cost is that of the copy, which stays
  stream.put(5000);
  EXPECT_EQ(stream.rig.stat("moves"), 1u) << "nobody can know";
  g_object_set(stream.rig.element(), "zone-columns", 2, nullptr);
  for (int i = 0; i < 2000; ++i) stream.rig.push(watched_frame(kCaps, 0));
  EXPECT_EQ(stream.rig.string("active-device"), "cpu");
}

TEST_F(Moves, AStopWhileTheGpuIsBeingOpenedWaitsForIt) {
  hold_find = true;
  Stream stream;
  stream.put_until([] { return looked > 0; });
  std::thread release([] {
    std::this_thread::sleep_for(5ms);
    hold_find = false;
  });
  EXPECT_EQ(gst_element_set_state(stream.rig.element(), GST_STATE_NULL), GST_STATE_CHANGE_SUCCESS);
  EXPECT_EQ(script.made, 1);
  EXPECT_EQ(script.alive, 0);
  EXPECT_EQ(stream.rig.string("active-device"), "");
  release.join();
}

TEST_F(Moves, AFaultLeavesTheGpuForGood) {
  for (const char* behind : {"0", "3"})
    for (const int at : {0, 10, kTrial + 5}) {
      if (is_quick() && (at == 0) != (behind[0] == '0')) continue;
      SCOPED_TRACE(std::string(behind) + " behind, fault at " + std::to_string(at));
      anew();
      looked = 0;
      script.fail_collect_at = at;
      Stream stream{{"in-flight", behind}};
      stream.put_until([&] { return stream.rig.stat("moves") > 0; });
      stream.put(is_quick() ? 1500 : 5000);
      EXPECT_EQ(stream.left, stream.pushed);
      EXPECT_EQ(stream.on_gpu, static_cast<std::uint64_t>(at));
      EXPECT_EQ(stream.rig.stat("replayed-on-cpu"), std::uint64_t(std::atoi(behind) + 1));
      EXPECT_EQ(stream.rig.heard().warnings.size(), 1u);
      EXPECT_EQ(looked, 1);
      EXPECT_EQ(stream.rig.string("active-device"), "cpu");
      EXPECT_EQ(gst_harness_query_latency(stream.rig.harness()), 0u);
    }
}

/// Costs that change, events, and flushes: frames leave in order, each with its score, or all of those held are
/// dropped.
TEST_F(Moves, FramesAreCompleteAndInOrderWhateverHappens) {
  for (std::uint64_t seed = 0; seed < (is_quick() ? 4 : 12); ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Stream stream{{"in-flight", random.one_in(2) ? "3" : "0"}};
    stream.put_until_on("cuda");
    for (int i = 0; i < 1500; ++i) {
      if (random.one_in(100)) gpu_cost = 10us * (1 + random.below(200));
      if (random.one_in(100)) cpu_cost = 10us * (1 + random.below(200));
      if (random.one_in(100)) gst_harness_push_event(stream.rig.harness(), gst_event_new_tag(gst_tag_list_new_empty()));
      stream.put(1);
    }
    stream.end();
  }
}

}  // namespace
}  // namespace framequality::test
