// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of halftoning: which method runs on what.
#include "cpu/halftone/filter.h"

#include "algorithms/halftone/blue_noise.h"
#include "algorithms/halftone/floyd_steinberg.h"
#include "algorithms/halftone/tables.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/bands.h"
#include "cpu/halftone/swaths.h"
#include "host/cores.h"

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <vector>

namespace framequality::cpu {
namespace {

using namespace halftone;

/// Calls f with the number of levels as a constant: divisions become products.
template <class F>
void with_levels(int levels, F&& f) {
  if (levels == 2)
    f(std::integral_constant<int, 2>());
  else if (levels == 4)
    f(std::integral_constant<int, 4>());
  else
    f(std::integral_constant<int, 16>());
}

/// More would only wait: a row must be some way behind the one above.
constexpr int kMostThreads = 16;

class CpuHalftone final : public Filter {
 public:
  CpuHalftone(const Geometry& geometry, int threads, const HalftoneKernels& kernels)
      : g_(geometry),
        kernels_(kernels),
        adapts_(threads == 0),
        workers_(std::min(threads > 0 ? threads : host::usable_cores(), kMostThreads)),
        swaths_(geometry.width, kernels, workers_.count()),
        tones_(std::size_t{1} << geometry.layout.depth),
        thresholds_(std::size_t{kMaskSide} * kMaskSide),
        own_(static_cast<std::size_t>(workers_.count())) {
    const auto width = static_cast<std::size_t>(g_.width);
    if (kernels.lanes > 0) bands_.emplace(g_.width, kernels, workers_.count());
    for (Own& own : own_) {
      own.codes.resize(2 * width);
      own.tones.resize(width);
      own.out.resize(width);
    }
    kept_.resize(width + 2);
    fill_tones(tones_, g_.layout.depth, settings_.tone);
  }

  void submit(const Task& task) override {
    const auto& [frame, out, settings, fields] = task;
    if (pending_) throw std::logic_error("cpu halftone: a frame is pending");
    if (!valid(settings) || frame.on_device || out.on_device || (fields != 1 && fields != 2))
      throw std::invalid_argument("cpu halftone: not a frame or settings of this filter");
    if (settings.tone != settings_.tone) fill_tones(tones_, g_.layout.depth, settings.tone);
    frame_ = frame;
    out_ = out;
    settings_ = settings;
    fields_ = fields;
    pending_ = true;
  }

  void collect() override {
    if (!pending_) throw std::logic_error("cpu halftone: no frame is pending");
    pending_ = false;
    ToneSource source;
    source.layout = &g_.layout;
    source.width = g_.width;
    source.tones = tones_.data();
    if (g_.layout.depth == 8) source.formula = formula_of(tones_.data(), settings_.tone);
    for (int field = 0; field < fields_; ++field) {
      for (int p = 0; p < g_.layout.planes(); ++p) {
        source.plane[p] = frame_.plane[p] + frame_.stride[p] * field;
        source.stride[p] = frame_.stride[p] * fields_;
      }
      source.height = (g_.height - field + fields_ - 1) / fields_;
      const Target out{out_.row0 + out_.stride * field, out_.stride * fields_, false};
      if (source.width > 0 && source.height > 0) run(source, out);
    }
  }

 private:
  /// What a thread has for itself: one row.
  struct Own {
    std::vector<std::uint8_t> codes, out;
    std::vector<std::int16_t> tones;
  };

  /// Those that have enough to do to pay for being woken: near a millisecond of work each.
  int useful_threads(const ToneSource& source) const {
    if (!adapts_) return workers_.count();
    const bool swaths = settings_.method == Method::kToneDependent;
    const auto pixels = static_cast<std::int64_t>(source.width) * source.height;
    const std::int64_t paying = pixels / (swaths ? 200'000 : 2'000'000);
    // Rows of a swath follow each other closely, the swaths not at all.
    return static_cast<int>(std::clamp<std::int64_t>(
        swaths ? std::min<std::int64_t>(paying, settings_.swath_rows / 4) : paying, 1, workers_.count()));
  }

  void run(const ToneSource& source, const Target& out) {
    switch (settings_.method) {
      case Method::kFloydSteinberg:
        if (bands_ && !settings_.serpentine)
          return bands_->run(source, out, settings_, workers_, useful_threads(source));
        return run_floyd_steinberg(source, out);
      case Method::kToneDependent:
        return swaths_.run(source, out, settings_, workers_, useful_threads(source));
      case Method::kBlueNoise:
        return run_blue_noise(source, out);
    }
  }

  /// Calls diffuse(tones, put(x, level)) for row y and writes what it puts.
  template <class F>
  void run_row(const ToneSource& source, const Target& out, int y, Own& own, F&& diffuse) {
    read_tones(source, kernels_, y, own.codes.data(), own.tones.data());
    std::uint8_t* target = out.row0 + out.stride * y;
    std::uint8_t* codes = settings_.packed ? own.out.data() : target;
    const int unit = Levels{settings_.levels}.code(1);
    const std::int16_t* tones = own.tones.data();
    diffuse([tones](int x) { return int{tones[x]}; },
            [=](int x, int level) { codes[x] = static_cast<std::uint8_t>(level * unit); });
    if (settings_.packed) kernels_.pack(codes, source.width, target);
  }

  void run_floyd_steinberg(const ToneSource& source, const Target& out) {
    with_levels(settings_.levels, [&](auto count) {
      constexpr Levels kLevels{decltype(count)::value};
      std::fill(kept_.begin(), kept_.end(), static_cast<std::uint16_t>(kLevels.bias()));
      for (int y = 0; y < source.height; ++y)
        run_row(source, out, y, own_[0], [&](auto&& tone, auto&& put) {
          floyd_steinberg_row(source.width, y, settings_.serpentine, kLevels, settings_.strength, kept_.data() + 1,
                              tone, put);
        });
    });
  }

  void run_blue_noise(const ToneSource& source, const Target& out) {
    if (threshold_strength_ != settings_.strength) {
      threshold_strength_ = settings_.strength;
      for (std::size_t i = 0; i < thresholds_.size(); ++i)
        thresholds_[i] = static_cast<std::int16_t>(threshold_of(kBlueNoiseMask[i], threshold_strength_));
    }
    const int threads = useful_threads(source), width = source.width;
    with_levels(settings_.levels, [&](auto count) {
      workers_.run([&](int thread) {
        if (thread >= threads) return;
        for (int y = thread; y < source.height; y += threads) {
          const std::int16_t* thresholds = &thresholds_[static_cast<std::size_t>(y % kMaskSide) * kMaskSide];
          run_row(source, out, y, own_[static_cast<std::size_t>(thread)], [=](auto&& tone, auto&& put) {
            constexpr Levels kLevels{decltype(count)::value};
            for (int x0 = 0; x0 < width; x0 += kMaskSide)
              for (int i = 0; i < std::min(kMaskSide, width - x0); ++i)
                put(x0 + i, masked_level(tone(x0 + i), thresholds[i], kLevels));
          });
        }
      });
    });
  }

  const Geometry g_;
  const HalftoneKernels& kernels_;
  const bool adapts_;
  Workers workers_;
  std::optional<BandDiffusion> bands_;
  SwathDiffusion swaths_;
  std::vector<std::int16_t> tones_, thresholds_;
  std::vector<Own> own_;
  std::vector<std::uint16_t> kept_;
  int threshold_strength_ = -1;
  bool pending_ = false;
  Frame frame_;
  Target out_;
  Settings settings_;
  int fields_ = 1;
};

}  // namespace

std::unique_ptr<Filter> make_halftone(const Geometry& geometry, int threads, std::string_view isa) {
  constexpr KernelTables<HalftoneKernels> kTables = FQ_KERNEL_TABLES(halftone_kernels);
  return std::make_unique<CpuHalftone>(geometry, threads, find_kernels(kTables, isa));
}

}  // namespace framequality::cpu
