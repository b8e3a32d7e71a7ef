// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of the denoisers: per-frame preparation, and the work of each thread.
#include "cpu/denoise/filter.h"

#include "algorithms/denoise/noise.h"
#include "algorithms/denoise/variance.h"
#include "cpu/denoise/tile.h"
#include "cpu/dispatch.h"
#include "cpu/workers.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace framequality::cpu {
namespace {

using namespace denoise;

constexpr int kMaxFields = 2;
constexpr int kRowsAtOnce = 32;  // rows that a thread prepares or copies at once

/// The fastest sums that hold the distances of a pass.
Distances distances_of(const PictureLayout& layout, const Settings& s, const Pass& pass) {
  const double side = 2 * s.patch_radius + 1, samples = pass.count * side * side, largest = layout.largest();
  const double most = samples * largest * largest;
  if (layout.depth > 15 || most > std::numeric_limits<std::uint32_t>::max())
    return samples * 0xffff < 1 << 24 ? Distances::kSplit : Distances::kWide;
  if (most > std::numeric_limits<std::int32_t>::max()) return Distances::kUnsigned;
  return most < 1 << 23 ? Distances::kSmall : Distances::kInt;
}

class CpuDenoiser final : public Filter {
 public:
  CpuDenoiser(const PictureGeometry& geometry, int threads, const DenoiseKernels& kernels)
      : g_(geometry), kernels_(kernels), workers_(threads), own_(static_cast<std::size_t>(workers_.count())) {}

  void submit(const Task& task) override {
    const auto& [window, center, out, settings, fields] = task;
    if (pending_) throw std::logic_error("cpu denoiser: a frame is pending");
    if (center >= window.size() || fields < 1 || fields > kMaxFields || out.memory != Memory::kHost ||
        std::any_of(window.begin(), window.end(), [](const Source& s) { return s.frame.memory != Memory::kHost; }) ||
        std::clamp(settings.patch_radius, 0, kMaxPatchRadius) != settings.patch_radius ||
        std::clamp(settings.search_radius, 0, kMaxSearchRadius) != settings.search_radius)
      throw std::invalid_argument("cpu denoiser: not a window or settings of this filter");
    window_.assign(window.begin(), window.end());
    center_ = center;
    out_ = out;
    s_ = settings;
    fields_ = fields;
    passes_ = passes_of(g_.layout, s_);
    pending_ = true;
  }

  void collect() override {
    if (!pending_) throw std::logic_error("cpu denoiser: no frame is pending");
    pending_ = false;
    choose_slots();
    prepare();
    make_jobs();
    estimate();
    filter();
  }

 private:
  /// Components and fields of a frame, prepared.
  struct Slot {
    bool filled = false;
    std::uint64_t serial = 0;
    DenoisePlane plane[3][kMaxFields];
  };
  /// Buffers of one thread.
  struct Own {
    TileFilter tiles;
    std::vector<std::uint16_t> codes;
    std::vector<float> fine, coarse;
    std::vector<std::int32_t> clipped;
  };
  /// Rows of a component to prepare.
  struct Filling {
    std::size_t frame;
    int component, field, first, last;
  };
  /// A row of the noise's blocks in a plane.
  struct NoisePart {
    int pass, plane, field, row;
    std::size_t first;  ///< of its blocks in blocks_
  };

  /// Calls work(i, the thread's buffers) for i = 0...count-1, on all threads.
  template <class F>
  void share(std::size_t count, const F& work) {
    std::atomic<std::size_t> next = 0;
    workers_.run([&](int worker) {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;)
        work(i, own_[static_cast<std::size_t>(worker)]);
    });
  }

  int field_rows(int rows, int field) const { return (rows - field + fields_ - 1) / fields_; }

  DenoisePlane::Shape shape_of(int component, int field) const {
    return {g_.width_of(component), field_rows(g_.height_of(component), field), s_.search_radius, s_.patch_radius,
            s_.border};
  }

  template <class F>
  void each_plane(const F& visit) const {
    for (int i = 0; i < passes_.count; ++i)
      for (int k = 0; k < passes_.pass[i].count; ++k)
        for (int field = 0; field < fields_; ++field) visit(i, k, field);
  }

  bool fits(const Slot& slot) const {
    bool fits = slot.filled;
    each_plane([&](int i, int k, int field) {
      const int c = passes_.pass[i].component[k];
      fits = fits && slot.plane[c][field].shape() == shape_of(c, field);
    });
    return fits;
  }

  /// Gives each frame of the window a slot: the one already filled for it, or one that no frame of the window uses.
  void choose_slots() {
    if (slots_.size() < window_.size()) slots_.resize(window_.size());
    slot_of_.assign(window_.size(), nullptr);
    fillings_.clear();
    const auto taken = [&](const Slot& s) { return std::find(slot_of_.begin(), slot_of_.end(), &s) != slot_of_.end(); };
    if (window_.size() > 1) {
      for (std::size_t f = 0; f < window_.size(); ++f)
        for (Slot& slot : slots_)
          if (slot.serial == window_[f].serial && fits(slot)) slot_of_[f] = &slot;
    }
    for (std::size_t f = 0; f < window_.size(); ++f) {
      if (slot_of_[f]) continue;
      Slot& slot = *std::find_if(slots_.begin(), slots_.end(), [&](const Slot& s) { return !taken(s); });
      slot_of_[f] = &slot;
      slot.filled = true;
      slot.serial = window_[f].serial;
      for (auto& fields : slot.plane)
        for (DenoisePlane& plane : fields) plane.forget();
      each_plane([&](int i, int k, int field) {
        const int c = passes_.pass[i].component[k];
        DenoisePlane& plane = slot.plane[c][field];
        plane.reshape(shape_of(c, field));
        if (plane.shape().height > 0)
          for (int row = 0; row < plane.shape().rows(); row += kRowsAtOnce)
            fillings_.push_back({f, c, field, row, std::min(row + kRowsAtOnce, plane.shape().rows())});
      });
    }
    for (Own& own : own_) {
      const std::size_t size = DenoisePlane::scratch_size(slot_of_[0]->plane[0][0].shape());
      if (own.codes.size() < size) own.codes.resize(size);
    }
  }

  SampleRows rows_of(const Frame& frame, int c, int field) const {
    const auto& component = g_.layout.component[c];
    const std::ptrdiff_t stride = frame.stride[component.plane];
    return {frame.plane[component.plane] + component.offset + field * stride, fields_ * stride, component.pixel_stride};
  }

  /// Whether filtering writes every byte of plane p, so that it need not be copied.
  bool written_whole(int p) const {
    bool whole = false;
    each_plane([&](int i, int k, int) {
      const auto& component = g_.layout.component[passes_.pass[i].component[k]];
      whole = whole || (component.plane == p && component.pixel_stride == g_.layout.word_bytes);
    });
    return whole;
  }

  void prepare() {
    copies_.clear();
    for (int p = 0; p < g_.layout.planes; ++p)
      for (int row = 0; row < g_.rows(p) && !written_whole(p); row += kRowsAtOnce)
        copies_.push_back({0, p, 0, row, std::min(row + kRowsAtOnce, g_.rows(p))});
    share(fillings_.size() + copies_.size(), [&](std::size_t i, Own& own) {
      if (i < fillings_.size()) {
        const Filling& f = fillings_[i];
        slot_of_[f.frame]->plane[f.component][f.field].fill(kernels_, g_.layout,
                                                            rows_of(window_[f.frame].frame, f.component, f.field),
                                                            f.first, f.last, own.codes.data());
      } else {
        const Filling& copy = copies_[i - fillings_.size()];
        const Frame& in = window_[center_].frame;
        const int p = copy.component;
        for (std::ptrdiff_t y = copy.first; y < copy.last; ++y)
          std::memcpy(out_.plane[p] + y * out_.stride[p], in.plane[p] + y * in.stride[p], g_.row_bytes(p));
      }
    });
  }

  DenoisePlanes planes_of(const Slot& slot, const Pass& pass, int field) const {
    DenoisePlanes planes;
    for (int k = 0; k < pass.count; ++k) planes.plane[k] = &slot.plane[pass.component[k]][field];
    return planes;
  }

  void make_jobs() {
    jobs_.clear();
    const std::size_t others = window_.size() - 1;
    others_.resize(std::size_t{3} * kMaxFields * others);
    for (int i = 0; i < passes_.count; ++i)
      for (int field = 0; field < fields_; ++field) {
        const Pass& pass = passes_.pass[i];
        DenoisePlanes* const first = others_.data() + jobs_.size() * others;
        for (std::size_t f = 0, to = 0; f < window_.size(); ++f)
          if (f != center_) first[to++] = planes_of(*slot_of_[f], pass, field);
        DenoiseJob job;
        job.planes = pass.count;
        job.own = planes_of(*slot_of_[center_], pass, field);
        job.others = {first, others};
        job.weights = weights_of(rule_of(s_, pass, g_.layout.depth), s_.sigma * s_.sigma);
        job.center = s_.center;
        job.distances = distances_of(g_.layout, s_, pass);
        job.layout = &g_.layout;
        for (int k = 0; k < pass.count; ++k) job.out[k] = output(pass.component[k], field);
        jobs_.push_back(job);
      }
  }

  DenoiseJob::Output output(int c, int field) const {
    const auto& component = g_.layout.component[c];
    const std::ptrdiff_t stride = out_.stride[component.plane], width = g_.width_of(c);
    return {out_.plane[component.plane] + component.offset + field * stride, fields_ * stride, component.pixel_stride,
            out_.unrounded[c] ? out_.unrounded[c] + field * width : nullptr, fields_ * width};
  }

  const DenoisePlane& plane_of(int pass, int plane, int field) const {
    return slot_of_[center_]->plane[passes_.pass[pass].component[plane]][field];
  }

  NoiseGrid noise_grid(int pass, int plane, int field) const {
    const auto& shape = plane_of(pass, plane, field).shape();
    return {shape.width, shape.height};
  }

  /// Fills a row of blocks.
  void add_noise(const NoisePart& part, Own& own) {
    const DenoisePlane& plane = plane_of(part.pass, part.plane, part.field);
    const NoiseGrid grid = noise_grid(part.pass, part.plane, part.field);
    const int width = plane.shape().width, middle = 1 << (g_.layout.depth - 1);
    std::fill(own.fine.begin(), own.fine.end(), 0.0f);
    std::fill(own.coarse.begin(), own.coarse.end(), 0.0f);
    std::fill(own.clipped.begin(), own.clipped.end(), 0);
    static_assert(kNoiseBlock <= 16);
    for (int i = 0; i < grid.height; ++i) {
      const float* rows[2 * kNoiseReach + 1];
      for (int j = 0; j <= 2 * kNoiseReach; ++j) rows[j] = plane.values(0, part.row * grid.height + i + j);
      kernels_.noise(rows, width, static_cast<float>(-middle), static_cast<float>(g_.layout.largest() - middle),
                     {own.fine.data(), own.coarse.data(), own.clipped.data()});
    }
    for (int b = 0; b < grid.columns; ++b) {
      std::uint32_t fine = 0, coarse = 0;
      int clipped = 0;
      for (int i = b * grid.width; i < (b + 1) * grid.width; ++i) {
        const auto at = static_cast<std::size_t>(i);
        fine += static_cast<std::uint32_t>(own.fine[at]);
        coarse += static_cast<std::uint32_t>(own.coarse[at]);
        clipped += own.clipped[at];
      }
      blocks_[part.first + static_cast<std::size_t>(b)] = noise_block(fine, coarse, clipped, grid.pixels());
    }
  }

  /// Puts the noise of each job's planes into its weights, where required.
  void estimate() {
    parts_.clear();
    std::size_t blocks = 0;
    const auto asked = [&](int pass) { return estimates(s_, passes_.pass[pass]); };
    each_plane([&](int i, int k, int field) {
      const NoiseGrid grid = noise_grid(i, k, field);
      for (int row = 0; asked(i) && row < grid.rows; ++row, blocks += static_cast<std::size_t>(grid.columns))
        parts_.push_back({i, k, field, row, blocks});
    });
    if (blocks_.size() < blocks) blocks_.resize(blocks);
    ranked_.reserve(blocks);
    for (Own& own : own_) {
      const auto grow = [&](auto& sums) {
        const auto room = static_cast<std::size_t>(g_.width + kDenoiseSlack);
        if (!parts_.empty() && sums.size() < room) sums.resize(room);
      };
      grow(own.fine), grow(own.coarse), grow(own.clipped);
    }
    share(parts_.size(), [&](std::size_t i, Own& own) { add_noise(parts_[i], own); });
    double variance[3][kMaxFields] = {};  // of passes
    std::size_t first = 0;
    each_plane([&](int i, int k, int field) {
      if (!asked(i)) return;
      const NoiseGrid grid = noise_grid(i, k, field);
      const auto count = static_cast<std::size_t>(grid.count());
      variance[i][field] +=
          variance_of(std::span(blocks_).subspan(first, count), grid.pixels(), g_.layout.depth, ranked_);
      first += count;
    });
    for (std::size_t j = 0; j < jobs_.size(); ++j) {
      const int i = static_cast<int>(j) / fields_, field = static_cast<int>(j) % fields_;
      const Pass& pass = passes_.pass[i];
      if (asked(i)) jobs_[j].weights = weights_of(rule_of(s_, pass, g_.layout.depth), variance[i][field] / pass.count);
    }
  }

  void filter() {
    const auto tiling = [&](const DenoiseJob& job) {
      const auto& shape = job.own.plane[0]->shape();
      return Tiling(shape.width, shape.height, workers_.count());
    };
    int tiles = 0;
    for (const DenoiseJob& job : jobs_) {
      const Tiling t = tiling(job);
      tiles += t.count();
      if (t.count() == 0) continue;  // a field without rows
      for (Own& own : own_) own.tiles.reserve(kernels_, job, t);
    }
    share(static_cast<std::size_t>(tiles), [&](std::size_t i, Own& own) {
      int tile = static_cast<int>(i);
      for (const DenoiseJob& job : jobs_) {
        const Tiling t = tiling(job);
        if (tile < t.count()) return own.tiles.filter(kernels_, job, t.tile(tile));
        tile -= t.count();
      }
    });
  }

  const PictureGeometry g_;
  const DenoiseKernels& kernels_;
  Workers workers_;
  std::vector<Own> own_;

  bool pending_ = false;
  std::vector<Source> window_;
  std::size_t center_ = 0;
  Canvas out_;
  Settings s_;
  int fields_ = 1;
  Passes passes_;

  std::vector<Slot> slots_;
  std::vector<Slot*> slot_of_;  // of each frame in the window
  std::vector<Filling> fillings_, copies_;
  std::vector<DenoisePlanes> others_;  // of all jobs
  std::vector<DenoiseJob> jobs_;
  std::vector<NoisePart> parts_;
  std::vector<NoiseBlock> blocks_;  // of all parts
  std::vector<std::uint32_t> ranked_;
};

}  // namespace

std::unique_ptr<Filter> make_denoiser(const PictureGeometry& geometry, int threads, std::string_view isa) {
  constexpr KernelTables<DenoiseKernels> kTables = FQ_KERNEL_TABLES(denoise_kernels);
  return std::make_unique<CpuDenoiser>(geometry, threads, find_kernels(kTables, isa));
}

}  // namespace framequality::cpu
