// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames in DMA buffers that an OpenCL device reads by itself: with a driver that is scripted, because none here can.
#include "tests/gst/dma_buffers.h"
#include "tests/gst/pool.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/support/importing_opencl.h"
#include "tests/support/opencl.h"

#include <filesystem>
#include <optional>

namespace framequality::test {
namespace {

/// How a frame's planes lie in a buffer.
enum class Planes : std::uint8_t {
  kTogether,
  kOwnMemory,  ///< in a GstMemory each, of one DMA buffer, as libcamerasrc's
  kOwnBuffer,  ///< in a DMA buffer each, as those of V4L2's multi-planar formats
};

/// A pool of one buffer, whose memories come back with each frame.
class Recycled {
 public:
  explicit Recycled(const std::string& caps, gsize offset = 0, int wider = 0, Planes planes = Planes::kTogether)
      : info_(video_info(caps)), caps_(caps), offset_(offset), wider_(wider), planes_(planes) {
    gsize at = planes_ == Planes::kTogether ? 0 : offset_, size = offset_;
    for (guint p = 0; p < count(); ++p) size += bytes_of_plane(p);
    for (guint p = 0; p < count(); ++p) {
      const gsize bytes = bytes_of_plane(p);
      if (p == 0 || planes_ == Planes::kOwnBuffer)
        dma_.push_back(std::make_unique<DmaBuffer>(planes_ == Planes::kOwnBuffer ? offset_ + bytes : size));
      if (p == 0) kept_ = dma_.back()->buffer();
      if (planes_ == Planes::kTogether) break;
      GstMemory* const memory = planes_ == Planes::kOwnBuffer
                                    ? gst_memory_ref(gst_buffer_peek_memory(dma_.back()->buffer().get(), 0))
                                    : gst_dmabuf_allocator_alloc_with_flags(allocator_.get(), descriptor(), at + bytes,
                                                                            GST_FD_MEMORY_FLAG_DONT_CLOSE);
      gst_memory_resize(memory, static_cast<gssize>(at), bytes);
      gst_buffer_append_memory(split_.get(), memory);
      if (planes_ == Planes::kOwnMemory) at += bytes;
    }
  }

  /// The next frame.
  BufferPtr frame(std::uint64_t seed) { return frame(random_buffer(caps_, seed), seed); }
  BufferPtr frame(const BufferPtr& plain, std::uint64_t seed) {
    want_ = expected(caps_, plain.get()).score;
    const std::vector<std::uint8_t> from = bytes_of(plain.get());
    std::vector<std::uint8_t> to(offset_, 77);
    BufferPtr buffer(gst_buffer_new());
    GstBuffer* const memories = planes_ == Planes::kTogether ? kept_.get() : split_.get();
    for (guint i = 0; i < gst_buffer_n_memory(memories); ++i)
      gst_buffer_append_memory(buffer.get(), gst_memory_ref(gst_buffer_peek_memory(memories, i)));
    GST_BUFFER_PTS(buffer.get()) = seed * GST_SECOND;
    gsize offset[GST_VIDEO_MAX_PLANES] = {}, before = planes_ == Planes::kTogether ? offset_ : 0;
    gint stride[GST_VIDEO_MAX_PLANES] = {};
    for (guint p = 0; p < count(); ++p) {
      offset[p] = before;
      before += bytes_of_plane(p);
      stride[p] = info_.stride[p] + wider_;
      for (int y = 0; y < GST_VIDEO_INFO_COMP_HEIGHT(&info_, p); ++y) {
        const auto row =
            from.begin() + static_cast<std::ptrdiff_t>(info_.offset[p]) + std::ptrdiff_t{y} * info_.stride[p];
        to.insert(to.end(), row, row + info_.stride[p]);
        to.insert(to.end(), static_cast<std::size_t>(wider_), 99);
      }
      if (planes_ != Planes::kOwnBuffer) continue;
      dma_[p]->write(to);
      to.assign(offset_, 77);
    }
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info_),
                                   static_cast<guint>(info_.width), static_cast<guint>(info_.height), count(), offset,
                                   stride);
    if (planes_ != Planes::kOwnBuffer) dma().write(to);
    return buffer;
  }
  /// The score of the last one.
  double want() const { return want_; }
  DmaBuffer& dma() const { return *dma_.front(); }
  GstMemory* memory() const { return gst_buffer_peek_memory(kept_.get(), 0); }
  int descriptor() const { return gst_dmabuf_memory_get_fd(memory()); }

 private:
  guint count() const { return GST_VIDEO_INFO_N_PLANES(&info_); }
  gsize bytes_of_plane(guint p) const {
    return static_cast<gsize>(info_.stride[p] + wider_) *
           static_cast<gsize>(GST_VIDEO_INFO_COMP_HEIGHT(&info_, static_cast<gint>(p)));
  }

  GstVideoInfo info_;
  std::string caps_;
  gsize offset_;
  int wider_;
  Planes planes_;
  std::vector<std::unique_ptr<DmaBuffer>> dma_;
  AllocatorPtr allocator_{gst_dmabuf_allocator_new()};
  BufferPtr kept_, split_{gst_buffer_new()};  ///< what its memories are kept in
  double want_ = 0;
};

class DmaImports : public testing::Test {
 protected:
  void SetUp() override {
    require_opencl();
    if (IsSkipped() || HasFatalFailure()) return;
    // It reads host memory where it is, and what is new there without being told.
    const Device pocl = opencl::find_device({.name = "Portable Computing Language"});
    if (pocl.id < 0) GTEST_SKIP() << "the scripted driver needs pocl: " << pocl.reason;
    device_ = pocl.name;
    driver_.emplace();
  }
  void TearDown() override { driver_.reset(); }
  /// Another driver, for the next case of one test.
  void again(Importing::Way way) {
    driver_.reset();
    driver_.emplace();
    importing.way = way;
  }

  Rig rig(const char* in_flight = "0") const {
    return Rig({{"device", "opencl"}, {"opencl-device", device_.c_str()}, {"in-flight", in_flight}});
  }
  /// Starts a stream, with a frame in system memory for which the meter proves its programs.
  static void begin(Rig& rig, const std::string& caps) {
    rig.caps(caps);
    rig.push(random_buffer(caps, 1));
    // Whatever is in flight leaves before a serialised event.
    gst_harness_push_event(rig.harness(), gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, nullptr));
    EXPECT_TRUE(rig.pull());
    EXPECT_GT(importing.uploads, 0);
    importing.uploads = 0;
  }
  /// Passes a frame of this memory through and compares its score.
  static void pass(Rig& rig, Recycled& memory, std::uint64_t seed) {
    const double got = rig.score(memory.frame(seed));
    EXPECT_EQ(got, memory.want()) << seed;
  }
  static void pass_by_turns(Rig& rig, Recycled& first, Recycled& second, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      pass(rig, first, i);
      pass(rig, second, i + 100);
    }
  }

  std::string device_;
  const std::string caps_ = video_caps("GRAY8", 640, 48);
  std::optional<ImportingOpenCl> driver_;
};

constexpr Importing::Way kWays[] = {Importing::Way::kKhronos, Importing::Way::kArm};

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
