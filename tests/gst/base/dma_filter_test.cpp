// SPDX-License-Identifier: LGPL-2.1-or-later
// Filters whose OpenCL device reads frames in DMA buffers by itself.
#include "tests/gst/base/dma_rig.h"

#include <utility>

namespace framequality::test {
namespace {

/// A filter, and frames for it.
struct Filtering {
  const char *factory, *format;
  std::pair<const char*, const char*> first;  ///< a property that is set before the element starts
  std::vector<std::pair<const char*, const char*>> properties;
};

/// Filters frames in DMA buffers on the device, and the same frames in system memory on the CPU.
class DmaFilters : public DmaImports {
 protected:
  void expect_same(const Filtering& filtering, const char* in_flight, gsize offset, int wider,
                   Planes planes = Planes::kTogether, int imports = 1) {
    const std::string caps = video_caps(filtering.format, 96, 48);
    Rig cpu({{"device", "cpu"}, filtering.first}, filtering.factory);
    Rig gpu({{"device", "opencl"}, {"opencl-device", device_.c_str()}, {"in-flight", in_flight}, filtering.first},
            filtering.factory);
    std::vector<std::unique_ptr<Recycled>> pool;
    for (int i = 0; i < 8; ++i) pool.push_back(std::make_unique<Recycled>(caps, offset, wider, planes));
    for (Rig* rig : {&cpu, &gpu}) {
      for (const auto& [name, value] : filtering.properties) rig->set(name, value);
      rig->caps(caps);
      // For which programs are proved and, in each slot, tables are uploaded.
      for (std::uint64_t i = 0; i < kBefore; ++i) EXPECT_EQ(rig->push(random_buffer(caps, 99 + i)), GST_FLOW_OK);
      gst_harness_push_event(rig->harness(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, nullptr));
    }
    importing.uploads = 0;
    syncs();
    for (std::uint64_t i = 0; i < kFrames; ++i) {
      BufferPtr frame = pool[i % 8]->frame(i);
      if (i == 0) GST_BUFFER_FLAG_SET(frame.get(), GST_BUFFER_FLAG_DISCONT);  // its window has none from before
      EXPECT_EQ(cpu.push(BufferPtr(gst_buffer_copy_deep(frame.get()))), GST_FLOW_OK);
      if (i == 10) syncs();
      EXPECT_EQ(gpu.push(std::move(frame)), GST_FLOW_OK);
      EXPECT_TRUE(i != 10 || syncs().empty()) << "mapped";
    }
    for (Rig* rig : {&cpu, &gpu}) EXPECT_TRUE(gst_harness_push_event(rig->harness(), gst_event_new_eos()));
    EXPECT_EQ(importing.uploads, 0);
    EXPECT_EQ(importing.imported, 8 * imports);
    for (std::uint64_t i = 0; i < kBefore + kFrames; ++i) {
      const BufferPtr want = cpu.pull(), got = gpu.pull();
      ASSERT_TRUE(want && got) << i;
      EXPECT_TRUE(bytes_of(got.get()) == bytes_of(want.get())) << i;
    }
    EXPECT_TRUE(gpu.heard().warnings.empty());
  }

  static constexpr std::uint64_t kBefore = 3, kFrames = 20;
};

TEST_F(DmaFilters, ReadThemWithThePixelsOfTheCpu) {
  using Property = std::pair<const char*, const char*>;
  const Property none{"qos", "false"}, one{"temporal-radius", "1"}, two{"temporal-radius", "2"};
  const std::vector<Filtering> all{
      {"halftone", "GRAY8", none, {}},
      {"halftone", "RGB", none, {{"method", "blue-noise"}, {"palette", "bwr"}}},
      // The host does not see what the filter leaves as it is: chroma, alpha, or what lies between luma.
      {"nlmeans", "I420", none, {{"search-radius", "1"}, {"patch-radius", "1"}, {"chroma", "none"}}},
      {"nlmeans", "NV12", two, {{"search-radius", "1"}, {"patch-radius", "1"}, {"chroma", "joint"}}},
      {"nlmeans", "YUY2", one, {{"search-radius", "1"}, {"chroma", "none"}}},
      {"nlmeans", "P010_10LE", one, {{"search-radius", "1"}, {"strength", "-1"}}},
      {"patchbilateral", "BGRA", none, {{"window-radius", "1"}, {"patch-radius", "1"}}},
      {"patchbilateral", "NV12", none, {{"window-radius", "1"}, {"patch-radius", "1"}, {"chroma", "none"}}},
  };
  for (const Filtering& filtering : all)
    for (const Importing::Way way : kWays)
      for (const char* in_flight : {"0", "2"})
        for (const auto& [offset, wider] : {std::pair<gsize, int>{4096, 64}, {3, 5}}) {
          if (way == Importing::Way::kArm && wider == 5) continue;
          SCOPED_TRACE(std::string(filtering.factory) + " " + filtering.format + " in flight " + in_flight + " wider " +
                       std::to_string(wider));
          again(way);
          expect_same(filtering, in_flight, offset, wider);
        }
}

TEST_F(DmaFilters, ReadPlanesInMemoriesOfTheirOwn) {
  const std::pair<const char*, const char*> none{"qos", "false"}, one{"temporal-radius", "1"};
  const std::vector<Filtering> all{
      {"halftone", "NV12", none, {{"method", "blue-noise"}, {"palette", "bwr"}}},
      {"nlmeans", "I420", one, {{"search-radius", "1"}, {"patch-radius", "1"}, {"chroma", "none"}}},
      {"patchbilateral", "NV12", none, {{"window-radius", "1"}, {"patch-radius", "1"}, {"chroma", "joint"}}},
  };
  for (const Filtering& filtering : all)
    for (const Importing::Way way : kWays)
      for (const Planes planes : {Planes::kOwnMemory, Planes::kOwnBuffer})
        for (const auto& [offset, wider] : {std::pair<gsize, int>{4096, 0}, {100, 5}}) {
          SCOPED_TRACE(std::string(filtering.factory) + " " + filtering.format + " wider " + std::to_string(wider) +
                       (planes == Planes::kOwnMemory ? " in one buffer" : " in several"));
          again(way);
          const int several = filtering.format == std::string("NV12") ? 2 : 3;
          expect_same(filtering, "2", offset, wider, planes, planes == Planes::kOwnMemory ? 1 : several);
          const bool is_fit = planes == Planes::kOwnMemory && wider == 0 && several == 2;
          EXPECT_EQ(importing.device_copies > 0, !is_fit);
        }
}

}  // namespace
}  // namespace framequality::test
