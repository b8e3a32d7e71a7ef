// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers, as cameras deliver them: read where they lie, between the calls that synchronise them.
#include "cpu/halftone/filter.h"
#include "cpu/sharpness/meter.h"
#include "tests/gst/base/filter_rig.h"
#include "tests/gst/dma_buffers.h"
#include "tests/gst/pool.h"
#include "tests/gst/sharpnessmeter/scores.h"

namespace framequality::test {
namespace {

/// First bytes of the frames that a worker got, and whether they lay in the DMA buffer then.
struct Seen {
  const DmaBuffer* dma = nullptr;
  int frames = 0, in_place = 0;
};
Seen seen;

/// A worker that notes what it gets.
template <class W>
class Noting : public W {
 public:
  using Task = typename W::TaskType;
  using Result = typename W::ResultType;
  explicit Noting(std::unique_ptr<W> real) : real_(std::move(real)) {}
  void submit(const Task& task) override {
    for (const NumberedFrame& read : frames_of(task)) {
      ++seen.frames;
      seen.in_place += seen.dma->is_mapped(read.frame.plane[0]);
    }
    real_->submit(task);
  }
  Result collect() override { return real_->collect(); }

 private:
  std::unique_ptr<W> real_;
};

class Dma : public ScriptedFilters {
 protected:
  void SetUp() override {
    ScriptedFilters::SetUp();
    script.present = false;
    tables.cpu.sharpness = [](const Geometry& g, const Where&) -> std::unique_ptr<sharpness::Meter> {
      return std::make_unique<Noting<sharpness::Meter>>(cpu::make_meter(g));
    };
    tables.cpu.denoise = [](const PictureGeometry& g, const Where&) -> std::unique_ptr<denoise::Filter> {
      return std::make_unique<Noting<denoise::Filter>>(cpu::make_denoiser(g, 1));
    };
    tables.cpu.halftone = [](const Geometry& g, const Where&) -> std::unique_ptr<halftone::Filter> {
      return std::make_unique<Noting<halftone::Filter>>(cpu::make_halftone(g, 1));
    };
  }
};

/// A frame's planes in rows that the driver made longer, and the GstVideoMeta that says so, as v4l2src adds it.
BufferPtr padded(const std::string& caps, GstBuffer* plain, DmaBuffer& dma, int wider) {
  const GstVideoInfo info = video_info(caps);
  const std::vector<std::uint8_t> from = bytes_of(plain);
  std::vector<std::uint8_t> to;
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  const PictureGeometry g = geometry_of(info);
  for (int p = 0; p < g.layout.planes; ++p) {
    offset[p] = to.size();
    stride[p] = info.stride[p] + wider;
    for (int y = 0; y < g.rows(p); ++y) {
      const auto row = from.begin() + static_cast<std::ptrdiff_t>(info.offset[p]) + std::ptrdiff_t{y} * info.stride[p];
      to.insert(to.end(), row, row + info.stride[p]);
      to.insert(to.end(), static_cast<std::size_t>(wider), 99);
    }
  }
  dma.write(to);
  BufferPtr buffer = dma.buffer();
  gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(info.width), static_cast<guint>(info.height),
                                 GST_VIDEO_INFO_N_PLANES(&info), offset, stride);
  return buffer;
}

TEST_F(Dma, AllElementsReadItInPlaceAndSynchronised) {
  for (const char* format : {"GRAY8", "I420", "NV12", "YUY2"})
    for (const int wider : {0, 64}) {
      const std::string caps = video_caps(format, 64, 48);
      const BufferPtr plain = random_buffer(caps, 3);
      for (const char* factory : {"sharpnessmeter", "nlmeans", "patchbilateral", "halftone"}) {
        SCOPED_TRACE(std::string(factory) + " " + caps + " " + std::to_string(wider));
        DmaBuffer dma(3 * 64 * 48 * 2);
        FilterRig usual({}, factory), rig({}, factory);
        usual.caps(caps);
        rig.caps(caps);
        const DmaBuffer other(4096);
        seen = {&other};
        const BufferPtr wanted = usual.pass(random_buffer(caps, 3));
        EXPECT_GT(seen.frames, 0);
        EXPECT_EQ(seen.in_place, 0) << "system memory is no DMA buffer";
        BufferPtr in;
        if (wider > 0) {
          in = padded(caps, plain.get(), dma, wider);
        } else {
          dma.write(bytes_of(plain.get()));
          in = dma.buffer();
        }
        const GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
        seen = {&dma};
        syncs();
        const BufferPtr got = rig.pass(std::move(in));
        EXPECT_GT(seen.frames, 0);
        EXPECT_EQ(seen.in_place, seen.frames) << "copied";
        expect_balanced(syncs(), dma);
        EXPECT_FALSE(dma.is_mapped()) << "still mapped when downstream has it";
        if (factory == std::string("sharpnessmeter")) {
          EXPECT_EQ(gst_buffer_peek_memory(got.get(), 0), memory);
          EXPECT_EQ(meta_score(got.get()), meta_score(wanted.get()));
        } else {
          EXPECT_EQ(bytes_of(got.get()), bytes_of(wanted.get()));
        }
      }
    }
}

TEST_F(Dma, OnCudaItIsReadInPlaceAndNeverPinned) {
  // It is mapped anew for each frame: what is pinned at one address would be something else the next time.
  script.present = true;
  const std::string caps = video_caps("GRAY8", 512, 512);
  DmaBuffer dma(512 * 512);
  dma.write(bytes_of(random_buffer(caps, 3).get()));
  const BufferPtr held = dma.buffer();
  Rig rig;
  rig.caps(caps);
  syncs();
  double score = 0;
  for (int i = 0; i < 6; ++i) score = rig.score(BufferPtr(gst_buffer_ref(held.get())));
  EXPECT_EQ(script.submitted, 6);
  EXPECT_EQ(score, expected(caps, held.get()).score);
  EXPECT_EQ(pins.asked(), 0);
  expect_balanced(syncs(), dma);
}

/// A device that reads DMA buffers by itself, until it is lost.
bool lost_when_submitted = false;
template <class W>
class Lost final : public W {
 public:
  void submit(const typename W::TaskType& task) override {
    for (const NumberedFrame& read : frames_of(task)) EXPECT_EQ(read.frame.memory, Memory::kDma);
    if (lost_when_submitted) throw Error(Fault::kDeviceLost, "scripted");
  }
  typename W::ResultType collect() override { throw Error(Fault::kDeviceLost, "scripted"); }
};

TEST_F(Dma, WhatALostDeviceWasToReadThereTheCpuMaps) {
  script.present = true;
  tables.gpu.import = [](int, std::size_t, const std::shared_ptr<void>& known, int) noexcept {
    return known ? known : std::make_shared<int>();
  };
  tables.gpu.sharpness = [](const Geometry&, const Where&) -> std::unique_ptr<sharpness::Meter> {
    return std::make_unique<Lost<sharpness::Meter>>();
  };
  tables.gpu.halftone = [](const Geometry&, const Where&) -> std::unique_ptr<halftone::Filter> {
    return std::make_unique<Lost<halftone::Filter>>();
  };
  tables.gpu.denoise = [](const PictureGeometry&, const Where&) -> std::unique_ptr<denoise::Filter> {
    return std::make_unique<Lost<denoise::Filter>>();
  };
  const std::string caps = video_caps("GRAY8", 64, 48);
  for (const auto& [factory, window] : {std::pair<std::string, const char*>{"sharpnessmeter", nullptr},
                                        {"halftone", nullptr},
                                        {"patchbilateral", nullptr},
                                        {"nlmeans", "0"},
                                        {"nlmeans", "2"}})
    for (const bool when_submitted : {false, true})
      for (const std::uint64_t behind : {0u, 2u}) {
        SCOPED_TRACE(factory + " " + std::to_string(behind) + (when_submitted ? " submitted" : " collected"));
        lost_when_submitted = when_submitted;
        const std::string in_flight = std::to_string(behind);
        const std::pair first{window ? "temporal-radius" : "qos", window ? window : "false"};
        FilterRig usual({{"device", "cpu"}, first}, factory.c_str());
        FilterRig rig({{"device", "auto"}, {"cuda-device-id", "5"}, {"in-flight", in_flight.c_str()}, first},
                      factory.c_str());
        std::vector<std::unique_ptr<DmaBuffer>> memories;
        std::vector<BufferPtr> want, got;
        const auto take = [&](FilterRig& from, std::vector<BufferPtr>& to) {
          while (BufferPtr out = from.pull()) to.push_back(std::move(out));
        };
        for (FilterRig* each : {&usual, &rig}) {
          each->caps(caps);
        }
        const DmaBuffer none(4096);
        for (std::uint64_t i = 0; i < 5; ++i) {
          const BufferPtr plain = random_buffer(caps, i);
          seen = {&none};
          EXPECT_EQ(usual.push(BufferPtr(gst_buffer_copy_deep(plain.get()))), GST_FLOW_OK);
          memories.push_back(std::make_unique<DmaBuffer>(64 * 48));
          memories.back()->write(bytes_of(plain.get()));
          EXPECT_EQ(rig.push(memories.back()->buffer()), GST_FLOW_OK);
          take(rig, got);
        }
        for (FilterRig* each : {&usual, &rig})
          EXPECT_TRUE(gst_harness_push_event(each->harness(), gst_event_new_eos()));
        take(usual, want);
        take(rig, got);
        ASSERT_EQ(got.size(), want.size());
        for (std::size_t i = 0; i < got.size(); ++i) {
          const bool is_meter = factory == "sharpnessmeter";
          EXPECT_TRUE(is_meter ? meta_score(got[i].get()) == meta_score(want[i].get())
                               : bytes_of(got[i].get()) == bytes_of(want[i].get()))
              << i;
        }
        EXPECT_EQ(rig.heard().warnings.size(), 1u);
        EXPECT_EQ(rig.stat("replayed-on-cpu"), when_submitted ? 1 : behind + 1);
        got.clear();
        for (const auto& memory : memories) EXPECT_FALSE(memory->is_mapped());
      }
}

#if GST_CHECK_VERSION(1, 24, 0)

std::string dma_caps(const char* drm_format, int width = 64, int height = 48) {
  return std::string("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=(string)\"") + drm_format +
         "\",width=" + std::to_string(width) + ",height=" + std::to_string(height) + ",framerate=30/1";
}

constexpr const char* kFactories[] = {"sharpnessmeter", "nlmeans", "patchbilateral", "halftone"};

TEST_F(Dma, LinearCapsAreThoseOfTheSameFormatInSystemMemory) {
  std::vector<std::pair<const char*, const char*>> formats{
      {"NV12", "NV12"}, {"YUYV", "YUY2"}, {"YU12", "I420"}, {"XR24", "BGRx"}};
  if (GST_CHECK_VERSION(1, 26, 0)) formats.insert(formats.end(), {{"R8  ", "GRAY8"}, {"R16 ", "GRAY16_LE"}});
  for (const auto& [drm, format] : formats)
    for (const char* factory : kFactories) {
      SCOPED_TRACE(std::string(factory) + " " + drm);
      const std::string caps = video_caps(format, 64, 48);
      const BufferPtr plain = random_buffer(caps, 3);
      const DmaBuffer none(4096);
      DmaBuffer dma(4 * 128 * 48);
      FilterRig usual({}, factory), rig({}, factory);
      usual.caps(caps);
      rig.caps(dma_caps(drm));
      seen = {&none};
      const BufferPtr wanted = usual.pass(random_buffer(caps, 3));
      seen = {&dma};
      syncs();
      const BufferPtr got = rig.pass(padded(caps, plain.get(), dma, 64));
      EXPECT_GT(seen.frames, 0);
      EXPECT_EQ(seen.in_place, seen.frames) << "copied";
      expect_balanced(syncs(), dma);
      const CapsPtr out(gst_pad_get_current_caps(rig.harness()->sinkpad));
      const bool is_meter = factory == std::string("sharpnessmeter");
      EXPECT_EQ(static_cast<bool>(gst_video_is_dma_drm_caps(out.get())), is_meter);
      if (is_meter)
        EXPECT_EQ(meta_score(got.get()), meta_score(wanted.get()));
      else
        EXPECT_EQ(bytes_of(got.get()), bytes_of(wanted.get()));
    }
}

/// What the sink pad says that it takes, if upstream can deliver `filter`; null: anything.
CapsPtr taken(Rig& rig, const char* filter) {
  const CapsPtr caps(filter ? gst_caps_from_string(filter) : nullptr);
  return CapsPtr(gst_pad_peer_query_caps(rig.harness()->srcpad, caps.get()));
}
bool has_dma(const CapsPtr& caps) {
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i)
    if (gst_caps_features_contains(gst_caps_get_features(caps.get(), i), "memory:DMABuf")) return true;
  return false;
}

TEST_F(Dma, CapsAreOfferedWhereUpstreamHasNoOthers) {
  // v4l2src and VA decoders put DMA buffers first, or prefer them, even where they would be slow to read.
  const std::string dma = "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format={ NV12, NV12:0x0100000000000002 }",
                    both = dma + ";video/x-raw,format={ NV12, I420 }";
  for (const char* factory : kFactories) {
    SCOPED_TRACE(factory);
    Rig rig({}, factory);
    EXPECT_TRUE(has_dma(taken(rig, nullptr)));
    const CapsPtr first(gst_caps_copy_nth(taken(rig, nullptr).get(), 0));
    EXPECT_FALSE(has_dma(first));
    const CapsPtr choice = taken(rig, both.c_str());
    EXPECT_FALSE(gst_caps_is_empty(choice.get()));
    EXPECT_FALSE(has_dma(choice));
    const CapsPtr only = taken(rig, dma.c_str());
    ASSERT_EQ(gst_caps_get_size(only.get()), 1u);
    EXPECT_TRUE(has_dma(only));
    EXPECT_STREQ(gst_structure_get_string(gst_caps_get_structure(only.get(), 0), "drm-format"), "NV12");
    EXPECT_TRUE(gst_caps_is_empty(taken(rig, "video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=NV12:0x1").get()));
  }
}

TEST_F(Dma, NoPoolOfSystemMemoryIsOfferedForThem) {
  script.present = true;
  const auto offered = [](auto&& rig, const std::string& caps) {
    rig.caps(caps);
    return pool_in(ask(rig, caps).get()) != nullptr;
  };
  const std::string usual = video_caps("NV12", 640, 480), dma = dma_caps("NV12", 640, 480);
  EXPECT_TRUE(offered(PoolRig{}, usual));
  EXPECT_FALSE(offered(PoolRig{}, dma));
  EXPECT_TRUE(offered(PoolRigOf<FilterRig>{}, usual));
  EXPECT_FALSE(offered(PoolRigOf<FilterRig>{}, dma));
}

#else

TEST_F(Dma, CapsOfTheirOwn) { GTEST_SKIP() << "GStreamer has such caps from 1.24 on"; }

#endif

/// Says which kind of memory the tests above had.
TEST(DmaKernel, MakesBuffersOfItsOwn) {
  if (!DmaBuffer(4096).is_kernels()) GTEST_SKIP() << "no /dev/udmabuf here: a memfd took the DMA buffer's place";
}

}  // namespace
}  // namespace framequality::test
