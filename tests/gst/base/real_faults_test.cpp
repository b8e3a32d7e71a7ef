// SPDX-License-Identifier: LGPL-2.1-or-later
// A GPU whose memory another process has taken, and a kernel of another part of the program that writes where there is
// no memory: elements with device=auto go on, on the CPU if need be, and nothing is lost. Needs a GPU that may be upset
// for seconds: other programs on it find no memory meanwhile.
#include "tests/cuda/real_faults.h"

#include "tests/gst/rig.h"
#include "tests/support/gpu.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

constexpr std::size_t kLeft = std::size_t{2} << 20;

/// What the elements make of the frames, on the CPU if they are told so.
class Chain {
 public:
  /// device: auto is on the GPU from the first frame on.
  Chain(const char* factory, const char* device, const char* in_flight, const std::string& caps)
      : rig_({{"device", device}, {"in-flight", in_flight}, {"cuda-device-id", "0"}}, factory), caps_(caps) {
    rig_.caps(caps);
  }
  /// Pushes so many frames more.
  GstFlowReturn push(int count) {
    GstFlowReturn flow = GST_FLOW_OK;
    for (int i = 0; i < count && flow == GST_FLOW_OK; ++i) flow = rig_.push(random_buffer(caps_, next_++));
    return flow;
  }
  /// Scores, or sums of the bytes, of all frames that came out, after the end.
  std::vector<double> results() {
    gst_harness_push_event(rig_.harness(), gst_event_new_eos());
    std::vector<double> all;
    while (const BufferPtr out = rig_.pull()) {
      double result = meta_score(out.get());
      if (std::isnan(result)) {
        GstMapInfo map;
        EXPECT_TRUE(gst_buffer_map(out.get(), &map, GST_MAP_READ));
        result = 0;
        for (gsize i = 0; i < map.size; ++i) result += map.data[i];
        gst_buffer_unmap(out.get(), &map);
      }
      all.push_back(result);
    }
    return all;
  }
  Rig& rig() { return rig_; }

 private:
  Rig rig_;
  std::string caps_;
  std::uint64_t next_ = 0;
};

/// A process that holds the GPU's memory for its life.
class Holder {
 public:
  Holder() {
    setenv("FQ_TAKE_GPU_MEMORY", "1", 1);
    const std::string self = "exec /proc/" + std::to_string(getpid()) +
                             "/exe --gtest_filter=RealFaults.AnotherProcessTakesTheMemory --gtest_brief=1";
    process_ = popen(self.c_str(), "w");
    unsetenv("FQ_TAKE_GPU_MEMORY");
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;
  ~Holder() {
    if (process_) pclose(process_);
  }

 private:
  std::FILE* process_ = nullptr;
};

std::string signal_file() { return std::string(g_get_tmp_dir()) + "/fq-gpu-memory-" + std::to_string(getppid()); }

class RealFaults : public testing::Test {
 protected:
  void SetUp() override { require_gpu(); }
};

/// Not a test but the other process: tells that it has the memory, and ends with its input.
TEST_F(RealFaults, AnotherProcessTakesTheMemory) {
  if (!is_set("FQ_TAKE_GPU_MEMORY")) GTEST_SKIP() << "run by the test below";
  const std::size_t taken = take_memory(kLeft);
  std::FILE* const file = std::fopen(signal_file().c_str(), "w");
  std::fprintf(file, "%zu", taken);
  std::fclose(file);
  while (std::getchar() != EOF) {
  }
}

TEST_F(RealFaults, WithoutFreeGpuMemoryNoFrameIsLost) {
  const std::string caps = video_caps("GRAY8", 4096, 2160);
  // popen() runs a shell, which the holder takes the place of: its parent is this process.
  const std::string signal = std::string(g_get_tmp_dir()) + "/fq-gpu-memory-" + std::to_string(getpid());
  std::remove(signal.c_str());
  {
    const Holder holder;
    for (int i = 0; i < 300 && !g_file_test(signal.c_str(), G_FILE_TEST_EXISTS); ++i) g_usleep(100000);
    ASSERT_TRUE(g_file_test(signal.c_str(), G_FILE_TEST_EXISTS)) << "the other process did not get the memory";
    for (const char* factory : {"sharpnessmeter", "halftone", "bliindsmeter"}) {
      SCOPED_TRACE(factory);
      Chain chain(factory, "auto", "1", caps), on_cpu(factory, "cpu", "0", caps);
      EXPECT_EQ(chain.push(4), GST_FLOW_OK);
      EXPECT_EQ(on_cpu.push(4), GST_FLOW_OK);
      const std::vector<double> got = chain.results(), wanted = on_cpu.results();
      EXPECT_EQ(got.size(), 4u);
      for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-9 * std::abs(wanted[i]));
      const Heard heard = chain.rig().heard();
      const std::string device = chain.rig().string("active-device");
      EXPECT_TRUE(heard.errors.empty()) << heard.errors[0].text;
      EXPECT_EQ(heard.warnings.size(), device == "cpu" ? 1u : 0u);
      std::printf("  %s: on %s%s%s\n", factory, device.c_str(), heard.warnings.empty() ? "" : ": ",
                  heard.warnings.empty() ? "" : heard.warnings[0].text.c_str());
    }
    std::remove(signal.c_str());
  }
  Chain again("sharpnessmeter", "cuda", "0", caps);
  EXPECT_EQ(again.push(2), GST_FLOW_OK) << "when it is free again";
  EXPECT_EQ(again.results().size(), 2u);
}

/// The last one: no CUDA call of this process succeeds after it.
TEST_F(RealFaults, WithTheContextLostNoFrameIsLost) {
  const std::string caps = video_caps("GRAY8", 320, 240);
  struct Running {
    const char *factory, *in_flight;
    std::unique_ptr<Chain> chain, on_cpu;
  };
  std::vector<Running> running;
  for (const char* factory : {"sharpnessmeter", "bliindsmeter", "halftone", "nlmeans", "patchbilateral"})
    for (const char* in_flight : {"0", "3"})
      running.push_back({factory, in_flight, std::make_unique<Chain>(factory, "auto", in_flight, caps),
                         std::make_unique<Chain>(factory, "cpu", "0", caps)});
  Chain must("sharpnessmeter", "cuda", "0", caps);
  for (Running& r : running) {
    EXPECT_EQ(r.chain->push(5), GST_FLOW_OK);
    EXPECT_EQ(r.chain->rig().string("active-device"), "cuda") << r.factory;
  }
  EXPECT_EQ(must.push(5), GST_FLOW_OK);
  ASSERT_TRUE(access_illegally());
  EXPECT_EQ(must.push(1), GST_FLOW_ERROR);
  EXPECT_EQ(must.rig().heard().errors.size(), 1u);
  for (Running& r : running) {
    SCOPED_TRACE(std::string(r.factory) + " " + r.in_flight);
    EXPECT_EQ(r.chain->push(5), GST_FLOW_OK);
    EXPECT_EQ(r.on_cpu->push(10), GST_FLOW_OK);
    const std::vector<double> got = r.chain->results(), wanted = r.on_cpu->results();
    EXPECT_EQ(got.size(), 10u);
    // A few pixels of denoisers may differ by one code.
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-6 * std::abs(wanted[i])) << i;
    const Heard heard = r.chain->rig().heard();
    EXPECT_TRUE(heard.errors.empty());
    ASSERT_EQ(heard.warnings.size(), 1u);
    EXPECT_EQ(r.chain->rig().string("active-device"), "cpu");
    if (&r == &running[0]) std::printf("  %s\n", heard.warnings[0].text.c_str());
  }
  Chain later("sharpnessmeter", "auto", "0", caps);
  EXPECT_EQ(later.push(3), GST_FLOW_OK);
  EXPECT_EQ(later.results().size(), 3u);
  // OpenCL, where it is installed, has a context of its own.
  EXPECT_NE(later.rig().string("active-device"), "cuda");
}

}  // namespace
}  // namespace framequality::test
