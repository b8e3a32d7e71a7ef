// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of halftoning to the colours of a palette. Each thread processes every n-th group of rows and stays
// behind the one above, whose progress it follows; rows of the mask are independent.
#include "cpu/halftone/colour.h"

#include "algorithms/halftone/colour_codes.h"
#include "algorithms/halftone/colour_tables.h"
#include "algorithms/halftone/tables.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/colour_rows.h"
#include "cpu/halftone/colour_source.h"
#include "cpu/halftone/kernels.h"
#include "cpu/halftone/wavefront.h"
#include "cpu/workers.h"
#include "host/cores.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <vector>

namespace framequality::cpu {
namespace {

using namespace halftone;

constexpr int kMostThreads = 16;
/// Steps between two checks of the group above.
constexpr int kChunkSteps = 256;

class CpuColourHalftone final : public ColourFilter {
 public:
  CpuColourHalftone(const PictureGeometry& geometry, int threads, const HalftoneKernels& kernels)
      : g_(geometry),
        kernels_(kernels),
        adapts_(threads == 0),
        workers_(std::min(threads > 0 ? threads : host::usable_cores(), kMostThreads)),
        wavefront_(workers_.count()),
        codes_(geometry.layout),
        pitch_(static_cast<std::size_t>(std::max(geometry.width, 0)) + 2),
        kept_(pitch_ * wavefront_.places()),
        scratch_(static_cast<std::size_t>(workers_.count())) {
    for (Scratch& s : scratch_) {
      s.tones.resize(kColourRows * pitch_);
      s.kept.resize((kColourRows - 1) * pitch_);
      s.colours.resize(kColourRows * pitch_);
    }
  }

  void submit(const ColourTask& task) override {
    if (task_) throw std::logic_error("cpu halftone: a frame is pending");
    if (!valid(task.settings) || task.frame.memory != Memory::kHost || task.out.memory != Memory::kHost ||
        (task.fields != 1 && task.fields != 2))
      throw std::invalid_argument("cpu halftone: not a frame or settings of this filter");
    task_ = task;
  }

  void collect() override {
    if (!task_) throw std::logic_error("cpu halftone: no frame is pending");
    const ColourTask task = *task_;
    task_.reset();
    prepare(task.settings);
    for (int field = 0; field < task.fields; ++field) {
      Field f{task, field, (g_.height - field + task.fields - 1) / task.fields};
      f.out = {task.out.row0 + task.out.stride * field, task.out.stride * task.fields, Memory::kHost};
      if (g_.width > 0 && f.height > 0) run(f);
    }
  }

 private:
  /// Buffers of one thread: rows, with a column before and after them.
  struct Scratch {
    std::vector<Triple> tones, kept;
    std::vector<std::uint8_t> colours;
  };
  struct Field {
    const ColourTask& task;
    int field, height;
    Target out{};
  };

  void prepare(const ColourSettings& settings) {
    codes_.prepare(settings);
    const ColourBasis basis{settings.palette, settings.linear, settings.relative};
    if (basis_ != basis) choice_.reset(), gamut_.reset();
    basis_ = basis;
    const bool masks = settings.method == Method::kBlueNoise;
    if (!masks && !choice_) choice_ = make_choice(basis);
    if ((masks || settings.relative) && !gamut_) gamut_ = make_gamut(basis);
    if (!masks || mask_strength_ == settings.strength) return;
    rounding_.clear();
    thresholds_.clear();
    for (int y = 0; y < kMaskSide; ++y)
      for (int x = 0; x < kMaskSide; ++x) {
        const MaskedPixel pixel = masked_pixel(kBlueNoiseMask, x, y, settings.strength);
        rounding_.push_back(pixel.rounding);
        thresholds_.push_back(pixel.threshold * std::uint64_t{0x0001000100010000});
      }
    mask_strength_ = settings.strength;
  }

  void run(const Field& f) {
    const ColourSettings& settings = f.task.settings;
    if (settings.method == Method::kBlueNoise) return run_mask(f);
    if (settings.serpentine) return run_serpentine(f);
    run_diffusion(f);
  }

  int useful_threads(int height, int pixels_each) const {
    if (!adapts_) return workers_.count();
    return static_cast<int>(
        std::clamp<std::int64_t>(std::int64_t{g_.width} * height / pixels_each, 1, workers_.count()));
  }

  void read(const Field& f, int y, Triple* tones) const {
    const std::uint8_t* rows[3] = {};
    const int in_frame = y * f.task.fields + f.field;
    for (int c = 0; c < g_.layout.components; ++c) {
      const PictureLayout::Component& at = g_.layout.component[c];
      const int row = component_row(in_frame, g_.height, f.task.fields, at.y_shift);
      rows[c] = f.task.frame.plane[at.plane] + f.task.frame.stride[at.plane] * row + at.offset;
    }
    codes_.read(rows, g_.width, tones);
  }
  /// Tones mapped to mixable ones, for error diffusion.
  void read_mapped(const Field& f, int y, Triple* tones) const {
    read(f, y, tones);
    if (!f.task.settings.relative) return;
    for (int x = 0; x < g_.width; ++x) tones[x] = mapped_tone(tones[x], gamut_->mapped.data());
  }
  void write(const Field& f, int y, const std::uint8_t* colours) const {
    write_colours(colours, g_.width, f.task.settings, f.out.row0 + f.out.stride * y);
  }

  void run_mask(const Field& f) {
    const int threads = useful_threads(f.height, 300'000);
    workers_.run(threads, [&](int thread) {
      Scratch& s = scratch_[static_cast<std::size_t>(thread)];
      const auto first = [&](int i) { return static_cast<int>(std::int64_t{f.height} * i / threads); };
      for (int y = first(thread); y < first(thread + 1); ++y) {
        read(f, y, s.tones.data());
        const std::size_t row = static_cast<std::size_t>(y % kMaskSide) * kMaskSide;
        kernels_.mask_colours({s.tones.data(), g_.width, &rounding_[row], &thresholds_[row], gamut_->mixed.data()},
                              s.colours.data());
        write(f, y, s.colours.data());
      }
    });
  }

  void run_serpentine(const Field& f) {
    Scratch& s = scratch_[0];
    std::fill(kept_.begin(), kept_.end(), triple(kErrorBias));
    for (int y = 0; y < f.height; ++y) {
      read_mapped(f, y, s.tones.data());
      diffuse_serpentine(s.tones.data(), g_.width, y, choice_->view(), f.task.settings.strength, kept_.data() + 1,
                         s.colours.data());
      write(f, y, s.colours.data());
    }
  }

  void run_diffusion(const Field& f) {
    const int threads = useful_threads(f.height, 200'000), groups = (f.height + kColourRows - 1) / kColourRows;
    const int steps = g_.width + kColourSkew * (kColourRows - 1), chunks = (steps + kChunkSteps - 1) / kChunkSteps;
    std::fill(kept_.begin(), kept_.end(), triple(kErrorBias));
    wavefront_.begin(threads, chunks);
    workers_.run(threads, [&](int thread) {
      Scratch& s = scratch_[static_cast<std::size_t>(thread)];
      std::fill(s.kept.begin(), s.kept.end(), triple(kErrorBias));
      for (int i = thread; i < groups; i += threads) run_group(f, i, steps, s);
    });
  }

  void run_group(const Field& f, int index, int steps, Scratch& s) {
    const int y0 = index * kColourRows;
    ColourGroup group{};
    group.rows = std::min(kColourRows, f.height - y0);
    group.width = g_.width;
    group.kept[0] = kept_row(index - 1);
    for (int r = 0; r < group.rows; ++r) {
      const auto at = static_cast<std::size_t>(r) * pitch_;
      read_mapped(f, y0 + r, &s.tones[at]);
      group.tones[r] = &s.tones[at];
      group.colours[r] = &s.colours[at];
      group.kept[r + 1] = r + 1 < group.rows ? &s.kept[at + 1] : kept_row(index);
    }
    for (int chunk = 0; chunk * kChunkSteps < steps; ++chunk) {
      const int t0 = chunk * kChunkSteps, t1 = std::min(t0 + kChunkSteps, steps);
      // Column t1 of the row above is complete once its group has advanced by that row's delay.
      const int needed = std::min(t1 + 1 + kColourSkew * (kColourRows - 1), steps);
      if (index > 0) wavefront_.await(index - 1, (needed + kChunkSteps - 1) / kChunkSteps);
      diffuse_colours(group, choice_->view(), f.task.settings.strength, t0, t1);
      wavefront_.complete(index, chunk);
    }
    for (int r = 0; r < group.rows; ++r) write(f, y0 + r, group.colours[r]);
  }
  /// Kept errors of the last row of a group.
  Triple* kept_row(int group) { return &kept_[wavefront_.place(group) * pitch_] + 1; }

  const PictureGeometry g_;
  const HalftoneKernels& kernels_;
  const bool adapts_;
  Workers workers_;
  Wavefront wavefront_;
  ColourCodes codes_;
  std::optional<ColourBasis> basis_;
  std::optional<ChoiceTables> choice_;
  std::optional<GamutTables> gamut_;
  std::vector<std::uint64_t> rounding_, thresholds_;  ///< of the mask, row by row
  int mask_strength_ = -1;
  std::size_t pitch_;
  std::vector<Triple> kept_;  ///< by place
  std::vector<Scratch> scratch_;
  std::optional<ColourTask> task_;
};

}  // namespace

std::unique_ptr<ColourFilter> make_colour_halftone(const PictureGeometry& geometry, int threads, std::string_view isa) {
  constexpr KernelTables<HalftoneKernels> kTables = FQ_KERNEL_TABLES(halftone_kernels);
  return std::make_unique<CpuColourHalftone>(geometry, threads, find_kernels(kTables, isa));
}

}  // namespace framequality::cpu
