// SPDX-License-Identifier: LGPL-2.1-or-later
// Rig for tests of DMA buffers that an OpenCL device reads by itself, with a scripted driver, because none here can.
#pragma once

#include "tests/gst/dma_buffers.h"
#include "tests/gst/pool.h"
#include "tests/gst/sharpnessmeter/scores.h"
#include "tests/support/importing_opencl.h"
#include "tests/support/opencl.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace framequality::test {

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

inline constexpr Importing::Way kWays[] = {Importing::Way::kKhronos, Importing::Way::kArm};

}  // namespace framequality::test
