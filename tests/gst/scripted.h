// SPDX-License-Identifier: LGPL-2.1-or-later
// A GPU that does what the test says: it measures on the CPU, holds frames as long as a real one, and fails on demand.
#pragma once

#include "gst/base/backends.h"
#include "tests/gst/rig.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>

GST_ELEMENT_REGISTER_DECLARE(sharpnessgate)
GST_ELEMENT_REGISTER_DECLARE(sharpnessmeter)

namespace framequality::test {

/// The elements of this program, not the plugin's: only their table of backends can be written.
class OwnElements : public ::testing::Environment {
 public:
  void SetUp() override {
    ASSERT_TRUE(GST_ELEMENT_REGISTER(sharpnessgate, nullptr));
    ASSERT_TRUE(GST_ELEMENT_REGISTER(sharpnessmeter, nullptr));
  }
};
inline ::testing::Environment* const own_elements = ::testing::AddGlobalTestEnvironment(new OwnElements);

/// What the "GPU" does and has seen. Frames and meters are numbered from 0 over its life.
struct Script {
  bool present = true;
  bool lazy = false;  ///< frames are read when they are collected, the latest that a real one may; else when submitted
  int fail_make_at = -1, fail_submit_at = -1, fail_collect_at = -1;
  cuda::Fault fault = cuda::Fault::kDeviceLost;
  bool bad_alloc = false;

  int wanted = -2;                     ///< of find_device
  int made = 0, alive = 0, depth = 0;  ///< meters; depth of the last
  int submitted = 0, collected = 0;    ///< calls
  std::size_t most_pending = 0;
  bool lost = false;                   ///< after kDeviceLost every call fails
  std::multiset<const void*> reading;  ///< first bytes of the frames pending
  int released = 0;                    ///< watched frames that are gone

  void fail(const char* call) {
    lost = lost || fault == cuda::Fault::kDeviceLost;
    throw cuda::Error(fault, std::string(call) + ": scripted");
  }
};
inline Script script;

/// Memory that is pinned now. As with the driver, what is pinned cannot be pinned again.
class Pins {
 public:
  bool pin(const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    ++asked_;
    const auto* first = static_cast<const volatile std::uint8_t*>(data);
    (void)(first[0] + first[bytes - 1]);  // a sanitizer sees what is not there
    if (refuses_ || holds(first, bytes)) return false;
    now_[const_cast<const std::uint8_t*>(first)] = bytes;
    ++pinned_;
    return true;
  }
  void unpin(const void* data) {
    const std::lock_guard lock(mutex_);
    const auto at = now_.find(static_cast<const std::uint8_t*>(data));
    ASSERT_NE(at, now_.end()) << "unpinned, but not pinned";
    (void)*static_cast<const volatile std::uint8_t*>(at->first);  // it must be there still
    now_.erase(at);
  }
  void reset() {
    const std::lock_guard lock(mutex_);
    now_.clear();
    asked_ = pinned_ = 0;
    refuses_ = false;
  }
  void refuse() { refuses_ = true; }
  int asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  /// Ever; and what is now.
  int pinned() const {
    const std::lock_guard lock(mutex_);
    return pinned_;
  }
  int now() const {
    const std::lock_guard lock(mutex_);
    return static_cast<int>(now_.size());
  }
  /// True if all of these bytes are pinned in one piece.
  bool covers(const void* data, std::size_t bytes) const {
    const std::lock_guard lock(mutex_);
    const auto* first = static_cast<const std::uint8_t*>(data);
    const auto next = now_.upper_bound(first);
    if (next == now_.begin()) return false;
    const auto& [start, size] = *std::prev(next);
    return first + bytes <= start + size;
  }

 private:
  bool holds(const volatile std::uint8_t* first, std::size_t bytes) const {
    return std::any_of(now_.begin(), now_.end(),
                       [&](const auto& p) { return first < p.first + p.second && p.first < first + bytes; });
  }
  mutable std::mutex mutex_;
  std::map<const std::uint8_t*, std::size_t> now_;
  int asked_ = 0, pinned_ = 0;
  bool refuses_ = false;
};
inline Pins pins;

/// Takes `depth` frames before the first is collected, as the device twin does, down to what it throws when called out
/// of turn and what is pending after a failure.
class ScriptedMeter final : public Meter {
 public:
  ScriptedMeter(const Geometry& geometry, int depth)
      : geometry_(geometry), depth_(static_cast<std::size_t>(depth)), real_(cpu::make_meter(geometry)) {
    ++script.alive;
  }
  ~ScriptedMeter() override {
    while (!pending_.empty()) let_go();
    --script.alive;
  }

  void submit(const Frame& frame, std::shared_ptr<const Plan> plan) override {
    const int number = script.submitted++;
    EXPECT_LT(pending_.size(), depth_);
    if (pending_.size() == depth_) throw std::logic_error("no slot is free");
    if (script.lost || number == script.fail_submit_at) script.fail("cudaMemcpyAsync");
    if (script.bad_alloc) throw std::bad_alloc();
    pending_.push_back({frame, std::move(plan), hash(frame), {}});
    script.reading.insert(frame.plane[0]);
    script.most_pending = std::max(script.most_pending, pending_.size());
    if (!script.lazy) measure(pending_.back());
  }

  std::span<const std::int64_t> collect() override {
    const int number = script.collected++;
    if (pending_.empty()) throw std::logic_error("no frame is pending");
    if (script.lazy) measure(pending_.front());
    last_ = let_go();
    if (script.lost || number == script.fail_collect_at) script.fail("cudaEventSynchronize");
    return last_.totals;
  }

 private:
  struct Pending {
    Frame frame;
    std::shared_ptr<const Plan> plan;
    std::uint64_t hash;
    std::vector<std::int64_t> totals;
  };

  void measure(Pending& p) {
    real_->submit(p.frame, p.plan);
    const auto totals = real_->collect();
    p.totals.assign(totals.begin(), totals.end());
  }
  /// The end of the oldest frame's stay, which its memory must have outlived unchanged.
  Pending let_go() {
    Pending p = std::move(pending_.front());
    pending_.pop_front();
    EXPECT_EQ(hash(p.frame), p.hash) << "the frame changed while it was pending";
    script.reading.erase(script.reading.find(p.frame.plane[0]));
    return p;
  }
  std::uint64_t hash(const Frame& frame) const {
    std::uint64_t h = 0xcbf29ce484222325u;
    for (int p = 0; p < geometry_.layout.planes(); ++p)
      for (int y = 0; y < geometry_.height; ++y) {
        const std::uint8_t* row = frame.plane[p] + y * frame.stride[p];
        for (std::size_t x = 0; x < geometry_.layout.row_bytes(p, geometry_.width); ++x)
          h = (h ^ row[x]) * 0x100000001b3u;
      }
    return h;
  }

  Geometry geometry_;
  std::size_t depth_;
  std::unique_ptr<Meter> real_;
  std::deque<Pending> pending_;
  Pending last_;
};

/// Puts the scripted GPU in the real one's place; it must be as it was when all elements are gone.
class Scripted : public ::testing::Test {
 protected:
  void SetUp() override {
    anew();
    backends().find_device = [](int wanted) {
      script.wanted = wanted;
      return script.present ? cuda::Device{5, "Scripted GPU", ""}
                            : cuda::Device{-1, "", "the driver is too old: install 580 or newer"};
    };
    backends().make_cuda_meter = [](const Geometry& g, int id, int depth) -> std::unique_ptr<Meter> {
      EXPECT_EQ(id, 5);
      script.depth = depth;
      if (script.made++ == script.fail_make_at || script.lost) script.fail("cudaMalloc");
      return std::make_unique<ScriptedMeter>(g, depth);
    };
    backends().pin = [](void* data, std::size_t bytes, int id) noexcept {
      EXPECT_EQ(id, 5);
      return pins.pin(data, bytes);
    };
    backends().unpin = [](void* data, int id) noexcept {
      EXPECT_EQ(id, 5);
      pins.unpin(data);
    };
  }
  void TearDown() override {
    expect_clean();
    backends() = {};
  }

  /// For the next case of one test, when no element is left.
  static void anew() {
    expect_clean();
    script = {};
    pins.reset();
  }
  static void expect_clean() {
    EXPECT_EQ(script.alive, 0);
    EXPECT_TRUE(script.reading.empty());
    EXPECT_EQ(pins.now(), 0);
  }
};

/// The time of frame i at 30 frames a second.
inline GstClockTime time_of(std::uint64_t i) { return gst_util_uint64_scale(i, GST_SECOND, 30); }

/// Frame i of a stream: random bytes, in memory that the "GPU" must have let go of before it is freed.
inline BufferPtr watched_frame(const std::string& caps, std::uint64_t i) {
  const BufferPtr plain = random_buffer(caps, i);
  gpointer bytes = nullptr;
  gsize size = 0;
  gst_buffer_extract_dup(plain.get(), 0, static_cast<gsize>(-1), &bytes, &size);
  BufferPtr buffer(
      gst_buffer_new_wrapped_full(static_cast<GstMemoryFlags>(0), bytes, size, 0, size, bytes, [](gpointer p) {
        EXPECT_FALSE(script.reading.contains(p)) << "freed while pending";
        ++script.released;
        g_free(p);
      }));
  GST_BUFFER_PTS(buffer.get()) = time_of(i);
  GST_BUFFER_DURATION(buffer.get()) = GST_SECOND / 30;
  return buffer;
}

/// The fields that a frame's GstSharpnessMeta holds; null if it has none.
inline const GstStructure* meta_of(GstBuffer* buffer) {
  GstCustomMeta* meta = gst_buffer_get_custom_meta(buffer, "GstSharpnessMeta");
  return meta ? gst_custom_meta_get_structure(meta) : nullptr;
}

/// True if both have the same fields with the same values, whatever their names.
inline bool same_fields(const GstStructure* a, const GstStructure* b) {
  const StructurePtr copy(gst_structure_copy(a));
  gst_structure_set_name(copy.get(), gst_structure_get_name(b));
  return gst_structure_is_equal(copy.get(), b);
}

/// True if frames in GPU memory are in the caps of both pads and are accepted there; fails if it is neither all nor
/// none.
inline bool takes_gpu_memory(GstElement* element) {
  const CapsPtr frames(
      gst_caps_from_string("video/x-raw(memory:CUDAMemory),format=NV12,width=64,height=48,"
                           "framerate=30/1"));
  int yes = 0;
  for (const char* name : {"sink", "src"}) {
    GstPad* pad = gst_element_get_static_pad(element, name);
    const CapsPtr caps(gst_pad_query_caps(pad, nullptr));
    const CapsPtr filtered(gst_pad_query_caps(pad, frames.get()));
    yes += gst_caps_can_intersect(caps.get(), frames.get()) + !gst_caps_is_empty(filtered.get()) +
           gst_pad_query_accept_caps(pad, frames.get());
    gst_object_unref(pad);
  }
  EXPECT_TRUE(yes == 0 || yes == 6) << yes;
  return yes > 0;
}

}  // namespace framequality::test
