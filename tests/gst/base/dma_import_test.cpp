// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers that sharpnessmeter's OpenCL device reads by itself.
#include "tests/gst/base/dma_rig.h"

#include <filesystem>

namespace framequality::test {
namespace {

TEST_F(DmaImports, FramesAreReadInPlaceWithTheScoresOfTheCpu) {
  for (const Importing::Way way : kWays)
    for (const char* format : {"GRAY8", "NV12", "YUY2", "P010_10LE", "RGB"})
      for (const auto& [offset, wider, is_fit] :
           {std::tuple{0, 0, true}, {4096, 64, true}, {3, 0, false}, {3, 5, false}}) {
        SCOPED_TRACE(std::string(format) + " at " + std::to_string(offset) + " wider by " + std::to_string(wider));
        again(way);
        {
          const std::string caps = video_caps(format, 640, 48);
          Recycled memory(caps, static_cast<gsize>(offset), wider);
          Rig meter({{"device", "opencl"}, {"opencl-device", device_.c_str()}});
          begin(meter, caps);
          pass(meter, memory, 1);  // compared with what the CPU reads
          pass(meter, memory, 2);
          syncs();
          importing.device_copies = 0;
          for (std::uint64_t i = 3; i < 8; ++i) pass(meter, memory, i);
          EXPECT_EQ(syncs().size(), 0u) << "mapped";
          EXPECT_EQ(importing.uploads, 0);
          EXPECT_EQ(importing.device_copies > 0, !is_fit) << "what kernels cannot read in place, the device copies";
          EXPECT_EQ(importing.imported, 1);
          EXPECT_EQ(meter.stat("measured"), 8u);
          EXPECT_TRUE(meter.heard().warnings.empty());
        }
        EXPECT_TRUE(importing.live.empty()) << "its memory is freed";
        EXPECT_TRUE(importing.held.empty());
      }
}

TEST_F(DmaImports, RecycledMemoryIsImportedOnce) {
  std::vector<std::unique_ptr<Recycled>> pool;
  for (int i = 0; i < 4; ++i) pool.push_back(std::make_unique<Recycled>(caps_));
  {
    Rig meter = rig();
    begin(meter, caps_);
    for (std::uint64_t i = 0; i < 40; ++i) pass(meter, *pool[i % 4], i);
    EXPECT_EQ(importing.asked, 4);
    EXPECT_EQ(importing.uploads, 0);
    EXPECT_EQ(importing.live.size(), 4u);
  }
  // Another stream goes on with them.
  Rig meter = rig();
  begin(meter, caps_);
  for (std::uint64_t i = 0; i < 8; ++i) pass(meter, *pool[i % 4], i);
  EXPECT_LE(importing.asked, 8) << "at most once per context";
}

TEST_F(DmaImports, FramesInFlightLeaveInOrderWithTheirScores) {
  for (const Importing::Way way : kWays)
    for (const std::size_t behind : {0u, 2u}) {
      again(way);
      std::vector<std::unique_ptr<Recycled>> pool;
      for (int i = 0; i < 4; ++i) pool.push_back(std::make_unique<Recycled>(caps_));
      Rig meter = rig(std::to_string(behind).c_str());
      begin(meter, caps_);
      std::vector<double> want, got;
      const auto take = [&] {
        while (const BufferPtr out = meter.pull()) got.push_back(meta_score(out.get()));
      };
      for (std::uint64_t i = 0; i < 20; ++i) {
        Recycled& memory = *pool[i % 4];
        EXPECT_EQ(meter.push(memory.frame(i)), GST_FLOW_OK);
        want.push_back(memory.want());
        take();
        EXPECT_EQ(got.size(), i < behind ? 0 : i + 1 - behind);
      }
      pool.clear();  // its descriptors are closed while the last frames are measured
      EXPECT_TRUE(gst_harness_push_event(meter.harness(), gst_event_new_eos()));
      take();
      EXPECT_EQ(got, want);
      EXPECT_EQ(importing.uploads, 0);
    }
  EXPECT_TRUE(importing.live.empty());
}

/// Lines of the category `framequality` while it lives.
class Lines {
 public:
  Lines() {
    gst_debug_set_threshold_for_name("framequality", GST_LEVEL_INFO);
    (gst_debug_add_log_function)(add, &lines_, nullptr);  // not the macro, which is no ISO C++
  }
  ~Lines() {
    gst_debug_remove_log_function_by_data(&lines_);
    gst_debug_unset_threshold_for_name("framequality");
  }
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;
  /// Those that contain this text.
  std::ptrdiff_t count(const char* text) const {
    return std::ranges::count_if(lines_, [&](const std::string& line) { return line.find(text) != std::string::npos; });
  }

 private:
  static void add(GstDebugCategory*, GstDebugLevel, const gchar*, const gchar*, gint, GObject*,
                  GstDebugMessage* message, gpointer lines) noexcept {
    static_cast<std::vector<std::string>*>(lines)->emplace_back(gst_debug_message_get(message));
  }
  std::vector<std::string> lines_;
};

/// Descriptors that this process has.
std::ptrdiff_t descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

TEST_F(DmaImports, NoDescriptorIsLost) {
  for (const bool closes : {true, false})
    for (const int fail_at : {-1, 1}) {
      again(Importing::Way::kKhronos);
      importing.closes = closes;
      importing.fail_at = fail_at;
      const std::ptrdiff_t before = descriptors();
      {
        Rig meter = rig();
        begin(meter, caps_);
        for (std::uint64_t i = 0; i < 6; ++i) {
          Recycled memory(caps_);
          pass(meter, memory, i);
          pass(meter, memory, i + 100);
        }
        EXPECT_GE(importing.imported, 6);
      }
      EXPECT_EQ(descriptors(), before) << closes << fail_at;
    }
}

TEST_F(DmaImports, ADescriptorThatTheDriverHasClosedIsNotClosedAgain) {
  Rig meter = rig();
  begin(meter, caps_);
  int other = -1;
  {
    Recycled memory(caps_);
    pass(meter, memory, 1);
    other = dup(memory.descriptor());  // of the same number
  }
  EXPECT_GE(fcntl(other, F_GETFD), 0);
  close(other);
}

TEST_F(DmaImports, AMemoryThatIsBeingReadIsCopied) {
  Recycled memory(caps_);
  Rig meter = rig("2");
  begin(meter, caps_);
  for (std::uint64_t i = 0; i < 3; ++i) meter.push(memory.frame(7));
  EXPECT_TRUE(gst_harness_push_event(meter.harness(), gst_event_new_eos()));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(meta_score(meter.pull().get()), memory.want());
  EXPECT_EQ(importing.uploads, 2);
}

TEST_F(DmaImports, ADriverThatReadsOtherMemoryIsRefusedOnce) {
  for (const Importing::Way way : kWays) {
    again(way);
    importing.fault = Importing::Fault::kZeros;
    Recycled first(caps_), second(caps_);
    Rig meter = rig();
    begin(meter, caps_);
    Lines lines;
    pass_by_turns(meter, first, second, 4);
    EXPECT_EQ(lines.count("does not read DMA buffers in place, so they are mapped and copied"), 1);
    EXPECT_EQ(importing.asked, 1);
    EXPECT_EQ(importing.uploads, 8);
    EXPECT_TRUE(importing.live.empty());
    const Heard heard = meter.heard();
    EXPECT_TRUE(heard.warnings.empty());
    EXPECT_TRUE(heard.errors.empty());
  }
}

TEST_F(DmaImports, WhereOneExtensionIsWrongTheOtherIsTried) {
  for (const bool is_snapshot : {false, true}) {
    again(Importing::Way::kBoth);
    if (is_snapshot) importing.fault = Importing::Fault::kSnapshot;
    Recycled first(caps_), second(caps_);
    Rig meter = rig();
    begin(meter, caps_);
    Lines lines;
    pass_by_turns(meter, first, second, 4);
    EXPECT_EQ(lines.count("so another extension is tried: cl_khr_external_memory_dma_buf"), 1);
    EXPECT_EQ(lines.count("reads DMA buffers in place (cl_arm_import_memory_dma_buf)"), 1);
    EXPECT_EQ(importing.asked, is_snapshot ? 4 : 3);
    EXPECT_EQ(importing.uploads, 1) << "the frame that was read wrong";
    EXPECT_EQ(importing.live.size(), 2u);
  }
}

TEST_F(DmaImports, ADriverThatCopiesWhenItImportsIsFoundOutBeforeItMatters) {
  importing.fault = Importing::Fault::kSnapshot;
  Recycled first(caps_), second(caps_);
  Rig meter = rig();
  begin(meter, caps_);
  pass(meter, first, 1);
  pass(meter, first, 1);  // the same contents prove nothing
  pass(meter, second, 2);
  EXPECT_EQ(importing.uploads, 0);
  for (std::uint64_t i = 3; i < 9; ++i) pass(meter, i % 2 ? first : second, i);
  EXPECT_EQ(importing.asked, 2);
  EXPECT_EQ(importing.uploads, 6);
}

TEST_F(DmaImports, AFrameThatCannotBeImportedIsCopied) {
  Recycled first(caps_), second(caps_), third(caps_);
  Rig meter = rig();
  begin(meter, caps_);
  pass(meter, first, 1);
  pass(meter, first, 2);
  importing.fail_at = 1;
  Lines lines;
  pass(meter, second, 3);
  EXPECT_EQ(lines.count("does not read a DMA buffer in place, so it is mapped and copied"), 1);
  EXPECT_EQ(importing.uploads, 1);
  pass(meter, third, 4);
  pass(meter, first, 5);
  pass(meter, second, 6);
  EXPECT_EQ(importing.uploads, 1);
  EXPECT_EQ(importing.imported, 3);
  importing.fail_at = importing.asked;
  Recycled fourth(caps_);
  pass(meter, fourth, 7);
  EXPECT_EQ(importing.uploads, 2);
  EXPECT_EQ(lines.count("in place"), 1) << "once";
}

TEST_F(DmaImports, WhereTheFirstImportFailsAllFramesAreCopied) {
  for (const bool is_acquisition : {false, true}) {
    again(Importing::Way::kKhronos);
    (is_acquisition ? importing.fail_acquire_at : importing.fail_at) = 0;
    Recycled first(caps_), second(caps_);
    Rig meter = rig();
    begin(meter, caps_);
    pass_by_turns(meter, first, second, 3);
    EXPECT_EQ(importing.asked, 1);
    EXPECT_EQ(importing.uploads, 6);
    EXPECT_TRUE(importing.live.empty());
    EXPECT_TRUE(meter.heard().warnings.empty());
  }
}

TEST_F(DmaImports, WithoutTheExtensionFramesAreCopied) {
  for (const Importing::Way way : {Importing::Way::kNone, Importing::Way::kOpaqueFd}) {
    again(way);
    Recycled memory(caps_);
    Rig meter = rig();
    begin(meter, caps_);
    syncs();
    for (std::uint64_t i = 0; i < 3; ++i) pass(meter, memory, i);
    expect_balanced(syncs(), memory.dma());
    EXPECT_EQ(importing.asked, 0);
    EXPECT_EQ(importing.uploads, 3);
  }
}

TEST_F(DmaImports, FramesWhoseBitsAreCheckedAreMapped) {
  const std::string caps = video_caps("GRAY16_LE", 320, 48);
  Recycled memory(caps);
  Rig meter = rig();
  meter.caps(caps);
  for (std::uint64_t i = 0; i < 40; ++i) {
    const BufferPtr plain = random_buffer(caps, i);
    GstMapInfo map;
    gst_buffer_map(plain.get(), &map, GST_MAP_READWRITE);
    for (gsize k = 1; k < map.size; k += 2) map.data[k] &= 0x0f;
    gst_buffer_unmap(plain.get(), &map);
    const double got = meter.score(memory.frame(plain, i));
    EXPECT_EQ(got, memory.want()) << i;
    if (i == 31) {
      EXPECT_EQ(importing.asked, 0);
      EXPECT_EQ(meter.heard().warnings.size(), 1u) << "of a camera with 12 bits";
      importing.uploads = 0;
    }
  }
  EXPECT_EQ(importing.imported, 1);
  EXPECT_EQ(importing.uploads, 0);
  EXPECT_TRUE(meter.heard().warnings.empty());
}

TEST_F(DmaImports, ElementsThatReadOtherPlanesShareAnImport) {
  const std::string caps = video_caps("NV12", 640, 48);
  Recycled memory(caps, 4096, 0, Planes::kOwnMemory);
  Rig meter = rig();
  Rig filter({{"device", "opencl"}, {"opencl-device", device_.c_str()}}, "patchbilateral");
  filter.set("window-radius", "1");
  filter.caps(caps);
  begin(meter, caps);
  for (std::uint64_t i = 0; i < 4; ++i) {
    pass(meter, memory, i);
    EXPECT_TRUE(filter.pass(memory.frame(i + 100)));
  }
  EXPECT_EQ(importing.imported, 1);
}

TEST_F(DmaImports, APlaneInTwoMemoriesIsMapped) {
  Recycled memory(caps_);
  Rig meter = rig();
  begin(meter, caps_);
  for (std::uint64_t i = 0; i < 3; ++i) {
    BufferPtr frame = memory.frame(i);
    GstMemory* const whole = gst_buffer_get_memory(frame.get(), 0);
    gst_buffer_remove_all_memory(frame.get());
    gst_buffer_remove_meta(frame.get(), reinterpret_cast<GstMeta*>(gst_buffer_get_video_meta(frame.get())));
    gst_buffer_append_memory(frame.get(), gst_memory_share(whole, 0, 4096));
    gst_buffer_append_memory(frame.get(), gst_memory_share(whole, 4096, -1));
    gst_memory_unref(whole);
    EXPECT_EQ(meter.score(std::move(frame)), memory.want());
  }
  EXPECT_EQ(importing.asked, 0);
  EXPECT_EQ(importing.uploads, 3);
}

TEST_F(DmaImports, ImportsOfEarlierCapsGoWithTheirMemory) {
  const std::string other = video_caps("NV12", 320, 48);
  Rig meter = rig();
  begin(meter, caps_);
  {
    Recycled memory(caps_);
    for (std::uint64_t i = 0; i < 4; ++i) pass(meter, memory, i);
  }
  EXPECT_TRUE(importing.live.empty());
  meter.change_caps(other);
  EXPECT_EQ(meter.push(random_buffer(other, 1)), GST_FLOW_OK);  // for which programs are proved
  EXPECT_TRUE(meter.pull());
  importing.uploads = 0;
  Recycled memory(other);
  for (std::uint64_t i = 0; i < 4; ++i) pass(meter, memory, i);
  EXPECT_EQ(importing.live.size(), 1u);
  EXPECT_EQ(importing.uploads, 0);
}

/// An allocator's own function for mapping, and its calls.
decltype(GstAllocator::mem_map) plain_map = nullptr;
int own_maps = 0;
bool own_map_fails = false;
gpointer own_map(GstMemory* memory, gsize size, GstMapFlags flags) {
  ++own_maps;
  return own_map_fails ? nullptr : plain_map(memory, size, flags);
}

TEST_F(DmaImports, WhatAnAllocatorDoesBeforeItMapsIsDone) {
  // VA-API's waits for the decoder, and refuses frames whose pixels do not lie in rows.
  for (const bool fails : {false, true}) {
    again(Importing::Way::kKhronos);
    Recycled memory(caps_);
    GstAllocator* const allocator = memory.memory()->allocator;
    plain_map = std::exchange(allocator->mem_map, own_map);
    own_map_fails = fails;
    Rig meter = rig();
    begin(meter, caps_);
    own_maps = 0;
    if (!fails) {
      for (std::uint64_t i = 0; i < 5; ++i) pass(meter, memory, i);
      EXPECT_EQ(own_maps, 5);
      EXPECT_EQ(importing.uploads, 0);
    } else {
      EXPECT_EQ(meter.push(memory.frame(1)), GST_FLOW_ERROR);
      EXPECT_EQ(meter.heard().errors.size(), 1u);
    }
    EXPECT_EQ(importing.imported, fails ? 0 : 1);
  }
}

TEST_F(DmaImports, AnImportThatWasNotReleasedIsNotUsedAgain) {
  Recycled memory(caps_);
  for (const int failed : {-1, 0}) {
    Rig meter = rig();
    begin(meter, caps_);
    pass(meter, memory, 1);
    pass(meter, memory, 2);
    importing.fail_kernel_at = failed;
    EXPECT_EQ(meter.push(memory.frame(3)), failed < 0 ? GST_FLOW_OK : GST_FLOW_ERROR);
    importing.fail_kernel_at = -1;
  }
  EXPECT_EQ(importing.held.size(), 1u);
  Rig meter = rig();
  begin(meter, caps_);
  for (std::uint64_t i = 4; i < 9; ++i) pass(meter, memory, i);
  EXPECT_EQ(importing.uploads, 0);
  EXPECT_TRUE(importing.held.empty());
}

#if GST_CHECK_VERSION(1, 24, 0)

TEST_F(DmaImports, FramesWithCapsOfTheirOwnAreReadInPlace) {
  for (const auto& [drm, format] : {std::pair{"NV12", "NV12"}, {"YUYV", "YUY2"}, {"XR24", "BGRx"}}) {
    SCOPED_TRACE(drm);
    again(Importing::Way::kKhronos);
    Recycled memory(video_caps(format, 640, 48), 4096, 64);
    Rig meter = rig();
    meter.caps(std::string("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=") + drm +
               ",width=640,height=48,framerate=30/1");
    for (std::uint64_t i = 0; i < 8; ++i) {
      if (i == 2) importing.uploads = 0;  // when programs are proved
      pass(meter, memory, i);
    }
    EXPECT_EQ(importing.uploads, 0);
    EXPECT_EQ(importing.imported, 1);
  }
}

#endif

TEST_F(DmaImports, MosaicsAreReadInPlace) {
  const std::string caps = "video/x-bayer,format=rggb,width=640,height=48,framerate=30/1";
  DmaBuffer dma(640 * 48 + 4096);
  const BufferPtr kept = dma.buffer();
  const auto frame = [&](std::uint64_t seed) {
    dma.write(bytes_of(random_buffer(caps_, seed).get()));
    BufferPtr buffer(gst_buffer_copy_region(kept.get(), GST_BUFFER_COPY_MEMORY, 0, 640 * 48));
    GST_BUFFER_PTS(buffer.get()) = seed * GST_SECOND;
    return buffer;
  };
  Rig cpu({{"device", "cpu"}}), meter = rig();
  for (Rig* each : {&cpu, &meter}) each->caps(caps);
  for (std::uint64_t i = 0; i < 6; ++i) {
    const BufferPtr buffer = frame(i);
    if (i == 1) importing.uploads = 0;  // when programs are proved
    EXPECT_EQ(meter.score(BufferPtr(gst_buffer_ref(buffer.get()))),
              cpu.score(BufferPtr(gst_buffer_copy_deep(buffer.get()))));
  }
  EXPECT_EQ(importing.uploads, 0);
  EXPECT_EQ(importing.imported, 1);
}

TEST_F(DmaImports, OtherMemoryIsNotImported) {
  const BufferPtr plain = random_buffer(caps_, 1);
  Rig meter = rig();
  begin(meter, caps_);
  EXPECT_EQ(meter.score(BufferPtr(gst_buffer_copy_deep(plain.get()))), expected(caps_, plain.get()).score);
  EXPECT_EQ(importing.asked, 0);
  EXPECT_EQ(importing.uploads, 1);
}

}  // namespace
}  // namespace framequality::test
