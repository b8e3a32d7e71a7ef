// SPDX-License-Identifier: LGPL-2.1-or-later
// A GPU that does what the test says: it measures on the CPU, holds frames as long as a real one, and fails on demand.
#pragma once

#include "algorithms/picture.h"
#include "cpu/sharpness/meter.h"
#include "cuda/device.h"
#include "device/backend.h"
#include "device/error.h"
#include "tests/gst/rig.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <type_traits>

namespace framequality::test {

/// What the "GPU" does and has seen. Frames and meters are numbered from 0 over its life.
struct Script {
  bool present = true;
  bool lazy = false;  ///< frames are read when they are collected, the latest that a real one may; else when submitted
  int fail_make_at = -1, fail_submit_at = -1, fail_collect_at = -1;
  Fault fault = Fault::kDeviceLost;
  bool bad_alloc = false;

  int wanted = -2;                     ///< of find_device
  int made = 0, alive = 0, depth = 0;  ///< meters; depth of the last
  int submitted = 0, collected = 0;    ///< calls
  std::size_t most_pending = 0;
  bool lost = false;                   ///< after kDeviceLost every call fails
  std::multiset<const void*> reading;  ///< first bytes of the frames pending
  int released = 0;                    ///< watched frames that are gone

  void fail(const char* call) {
    lost = lost || fault == Fault::kDeviceLost;
    throw Error(fault, std::string(call) + ": scripted");
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

// What of a task is read, and a number that changes with any of its bytes.

inline std::uint64_t hash_rows(std::uint64_t h, const std::uint8_t* plane, std::ptrdiff_t stride, int rows,
                               std::size_t row_bytes) {
  for (int y = 0; y < rows; ++y)
    for (std::size_t x = 0; x < row_bytes; ++x)
      h = (h ^ plane[y * stride + static_cast<std::ptrdiff_t>(x)]) * 0x100000001b3u;
  return h;
}
inline std::uint64_t hash(const Geometry& g, const Frame& frame) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (int p = 0; p < g.layout.planes(); ++p)
    h = hash_rows(h, frame.plane[p], frame.stride[p], g.height, g.layout.row_bytes(p, g.width));
  return h;
}
inline std::uint64_t hash(const PictureGeometry& g, const Frame& frame) {
  std::uint64_t h = 0xcbf29ce484222325u;
  for (int p = 0; p < g.layout.planes; ++p)
    h = hash_rows(h, frame.plane[p], frame.stride[p], g.rows(p), g.row_bytes(p));
  return h;
}
template <class Task>
std::vector<NumberedFrame> frames_of(const Task& task) {
  if constexpr (requires { task.window; })
    return {task.window.begin(), task.window.end()};
  else
    return {{task.frame, 0}};
}

/// Takes `depth` tasks before the first is collected, as device twins do, down to what they throw when called out of
/// turn and what is pending after a failure. W: a Worker or a class of them; Geo: what it is made for.
template <class W, class Geo>
class ScriptedWorker : public W {
 public:
  using Task = typename W::TaskType;
  using Result = typename W::ResultType;

  ScriptedWorker(const Geo& geometry, int depth, std::unique_ptr<W> real)
      : geometry_(geometry), depth_(static_cast<std::size_t>(depth)), real_(std::move(real)) {
    ++script.alive;
  }
  ~ScriptedWorker() override {
    while (!pending_.empty()) let_go();
    --script.alive;
  }

  void submit(const Task& task) override {
    const int number = script.submitted++;
    EXPECT_LT(pending_.size(), depth_);
    if (pending_.size() == depth_) throw std::logic_error("no slot is free");
    if (script.lost || number == script.fail_submit_at) script.fail("cudaMemcpyAsync");
    if (script.bad_alloc) throw std::bad_alloc();
    pending_.push_back({task, {}, {}});
    Pending& p = pending_.back();
    for (const NumberedFrame& read : frames_of(task)) {
      script.reading.insert(read.frame.plane[0]);
      p.hashes.push_back(hash(geometry_, read.frame));
      if constexpr (requires { task.window; }) {
        const auto known = serials_.emplace(read.serial, p.hashes.back()).first;
        EXPECT_EQ(known->second, p.hashes.back()) << "the same number, but other pixels";
      }
    }
    script.most_pending = std::max(script.most_pending, pending_.size());
    if (!script.lazy) work(p);
  }

  Result collect() override {
    const int number = script.collected++;
    if (pending_.empty()) throw std::logic_error("no frame is pending");
    if (script.lazy) work(pending_.front());
    last_ = let_go();
    if (script.lost || number == script.fail_collect_at) script.fail("cudaEventSynchronize");
    if constexpr (!std::is_void_v<Result>) return Result(last_);
  }

 protected:
  W& real() { return *real_; }

 private:
  /// A result that stays: of integers in memory of the worker, a copy.
  struct Nothing {};
  using Kept = std::conditional_t<
      std::is_void_v<Result>, Nothing,
      std::conditional_t<std::is_same_v<Result, std::span<const std::int64_t>>, std::vector<std::int64_t>, Result>>;
  struct Pending {
    Task task;
    std::vector<std::uint64_t> hashes;  ///< of the frames that are read
    Kept result;
  };

  void work(Pending& p) {
    real_->submit(p.task);
    if constexpr (std::is_void_v<Result>) {
      real_->collect();
    } else if constexpr (std::is_same_v<Kept, Result>) {
      p.result = real_->collect();
    } else {
      const auto result = real_->collect();
      p.result.assign(result.begin(), result.end());
    }
  }
  /// The end of the oldest task's stay, which its memory must have outlived unchanged.
  Kept let_go() {
    const Pending p = std::move(pending_.front());
    pending_.pop_front();
    const std::vector<NumberedFrame> read = frames_of(p.task);
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(hash(geometry_, read[i].frame), p.hashes[i]) << "a frame changed while it was pending";
      script.reading.erase(script.reading.find(read[i].frame.plane[0]));
    }
    // A sanitizer sees what is not there.
    if constexpr (requires { p.task.out.plane; }) p.task.out.plane[0][0] |= 0;
    if constexpr (requires { p.task.out.row0; }) p.task.out.row0[0] |= 0;
    return p.result;
  }

  Geo geometry_;
  std::size_t depth_;
  std::unique_ptr<W> real_;
  std::deque<Pending> pending_;
  std::map<std::uint64_t, std::uint64_t> serials_;
  Kept last_;
};

/// Counts a worker made on the scripted GPU, which may fail.
inline void make_scripted(const Where& where) {
  EXPECT_EQ(where.id, 5);
  script.depth = where.depth;
  if (script.made++ == script.fail_make_at || script.lost) script.fail("cudaMalloc");
}

/// The backends that tests write, on which elements work after use_tables().
struct Tables {
  Backend gpu{}, cpu{};
};
inline Tables tables;

/// Makes them what the product's are.
inline void use_tables() {
  static const Backend* const all[] = {&tables.gpu, &tables.cpu};
  use_backends({});
  tables = {cuda::kBackend, *backends().back()};
  use_backends(all);
}

/// Puts the scripted GPU in the real one's place, which rigs ask for by its number; it must be as it was when all
/// elements are gone.
class Scripted : public ::testing::Test {
 protected:
  void SetUp() override {
    anew();
    use_tables();
    named_device = {"cuda-device-id", "5"};
    tables.gpu.find = [](const Wanted& wanted) {
      script.wanted = wanted.id;
      return script.present ? Device{5, "Scripted GPU", ""}
                            : Device{-1, "", "the driver is too old: install 580 or newer"};
    };
    tables.gpu.sharpness = [](const Geometry& g, const Where& where) -> std::unique_ptr<sharpness::Meter> {
      make_scripted(where);
      return std::make_unique<ScriptedWorker<sharpness::Meter, Geometry>>(g, where.depth, cpu::make_meter(g));
    };
    tables.gpu.pin = [](void* data, std::size_t bytes, int id) noexcept {
      EXPECT_EQ(id, 5);
      return pins.pin(data, bytes);
    };
    tables.gpu.unpin = [](void* data, int id) noexcept {
      EXPECT_EQ(id, 5);
      pins.unpin(data);
    };
  }
  void TearDown() override {
    expect_clean();
    named_device = {};
    use_backends({});
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
