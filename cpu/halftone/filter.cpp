// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of halftoning: choice of method and threads.
#include "cpu/halftone/filter.h"

#include "algorithms/halftone/floyd_steinberg.h"
#include "algorithms/halftone/tables.h"
#include "cpu/dispatch.h"
#include "cpu/halftone/bands.h"
#include "cpu/halftone/mask.h"
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

/// More would only wait: a row must stay some way behind the one above.
constexpr int kMostThreads = 16;

class CpuHalftone final : public Filter {
 public:
  CpuHalftone(const Geometry& geometry, int threads, const HalftoneKernels& kernels)
      : g_(geometry),
        kernels_(kernels),
        adapts_(threads == 0),
        workers_(std::min(threads > 0 ? threads : host::usable_cores(), kMostThreads)),
        swaths_(geometry.width, kernels, workers_.count()),
        mask_(geometry.layout, geometry.width, kernels, workers_.count()),
        tones_(std::size_t{1} << geometry.layout.depth) {
    const auto width = static_cast<std::size_t>(g_.width);
    if (kernels.lanes > 0) bands_.emplace(g_.width, kernels, workers_.count());
    codes_.resize(2 * width);
    row_tones_.resize(width);
    greys_.resize(width);
    kept_.resize(width + 2);
    fill_tones(tones_, g_.layout.depth, settings_.tone);
  }

  void submit(const Task& task) override {
    const auto& [frame, out, settings, fields] = task;
    if (pending_) throw std::logic_error("cpu halftone: a frame is pending");
    if (!valid(settings) || frame.memory != Memory::kHost || out.memory != Memory::kHost ||
        (fields != 1 && fields != 2))
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
      const Target out{out_.row0 + out_.stride * field, out_.stride * fields_, Memory::kHost};
      if (source.width > 0 && source.height > 0) run(source, out);
    }
  }

 private:
  /// Threads with enough work to pay for waking them: nearly a millisecond each. Rows of the mask are
  /// independent, a tenth will do: two threads of an EPYC with AVX-512 took as long as one for 8 million pixels at few
  /// levels compared in place, and for 1 million with 16 levels or with luma to compute first.
  int useful_threads(const ToneSource& source) const {
    if (!adapts_) return workers_.count();
    const bool swaths = settings_.method == Method::kToneDependent, masked = settings_.method == Method::kBlueNoise;
    const std::int64_t mask_share = mask_.is_direct() && settings_.levels < 16 ? 4'000'000 : 1'000'000;
    const auto pixels = static_cast<std::int64_t>(source.width) * source.height;
    const std::int64_t paying = pixels / (swaths ? 200'000 : masked ? mask_share : 2'000'000);
    // Rows of a swath follow each other closely, swaths do not.
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
        return mask_.run(source, out, settings_, workers_, useful_threads(source));
    }
  }

  void run_floyd_steinberg(const ToneSource& source, const Target& out) {
    with_levels(settings_.levels, [&](auto count) {
      constexpr Levels kLevels{decltype(count)::value};
      const std::int16_t* tones = row_tones_.data();
      std::fill(kept_.begin(), kept_.end(), static_cast<std::uint16_t>(kLevels.bias()));
      for (int y = 0; y < source.height; ++y) {
        read_tones(source, kernels_, y, codes_.data(), row_tones_.data());
        std::uint8_t* target = out.row0 + out.stride * y;
        std::uint8_t* greys = settings_.packed ? greys_.data() : target;
        floyd_steinberg_row(
            source.width, y, settings_.serpentine, kLevels, settings_.strength, kept_.data() + 1,
            [=](int x) { return int{tones[x]}; },
            [=](int x, int level) { greys[x] = static_cast<std::uint8_t>(kLevels.code(level)); });
        if (settings_.packed) kernels_.pack(greys, source.width, target);
      }
    });
  }

  const Geometry g_;
  const HalftoneKernels& kernels_;
  const bool adapts_;
  Workers workers_;
  std::optional<BandDiffusion> bands_;
  SwathDiffusion swaths_;
  MaskComparison mask_;
  std::vector<std::int16_t> tones_;  ///< by luma value
  // Rows for scalar code.
  std::vector<std::uint8_t> codes_, greys_;
  std::vector<std::int16_t> row_tones_;
  std::vector<std::uint16_t> kept_;
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
