// SPDX-License-Identifier: LGPL-2.1-or-later
// Kernels that no request chooses: there are none, on any GPU.
//
// A kernel without a use costs every build its time and every package its size. The device twins run here on a CUDA
// runtime that computes nothing, but knows all kernels in the program and notes each launch, and are asked for formats
// and values of properties that the elements offer. Where this fails, drop the kernel or add what it is for.
#include "algorithms/halftone/tables.h"
#include "algorithms/sharpness/metrics/all.h"
#include "cuda/bliinds/meter.h"
#include "cuda/denoise/filter.h"
#include "cuda/device.h"
#include "cuda/halftone/filter.h"
#include "cuda/sharpness/job.h"
#include "cuda/sharpness/meter.h"
#include "tests/cuda/fake_runtime.h"
#include "tests/denoise/pictures.h"
#include "tests/support/layouts.h"

#include <algorithm>
#include <cstdlib>
#include <cxxabi.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

// In place of cuda/architectures.cu: choices are those of a build for all architectures, whatever this one is for. Host
// code, and so the list of kernels, is the same in all of them.
namespace framequality::cuda {

constexpr int kArchitectures[] = {750, 800, 860, 890, 900, 1000, 1200};
const void* smallest_kernel() { return nullptr; }
bool has_kernels_for(int) { return true; }
int architecture_on(int capability) {
  int newest = 0;
  for (const int architecture : kArchitectures)
    if (architecture <= 10 * capability) newest = architecture;
  return newest;
}
}  // namespace framequality::cuda

namespace framequality::test {

using namespace denoise_pictures;
using namespace sharpness;

namespace {

constexpr int kWidth = 160, kHeight = 32;  // wide enough for strips of zones, high enough for the largest patch

/// Three planes that are large enough for any format; shift: of their first bytes.
struct Planes {
  static constexpr std::ptrdiff_t kStride = 2048;
  std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(3 * (kHeight + 1) * kStride);
  std::uint8_t* first(int plane, int shift) {
    const auto at = reinterpret_cast<std::uintptr_t>(bytes.data());
    return bytes.data() + (-at & 255u) + plane * kHeight * kStride + shift;
  }
  /// A frame in GPU memory.
  Frame frame(int shift = 0) {
    Frame f;
    for (int p = 0; p < 3; ++p) f.plane[p] = first(p, shift), f.stride[p] = kStride;
    f.memory = Memory::kCuda;
    return f;
  }
  /// A frame in host memory, which is pinned, its rows as close as DMA wants them.
  Frame frame(const Geometry& g) {
    Frame f = frame();
    for (int p = 0; p < 3; ++p)
      f.stride[p] = static_cast<std::ptrdiff_t>(g.layout.row_bytes(p, g.width) + 15) / 16 * 16;
    f.memory = Memory::kHost;
    return f;
  }
};

/// Where luma lies in formats that elements take, one of each kind.
const std::vector<NamedLayout>& luma_formats() {
  static const std::vector<NamedLayout> all{{"GRAY8", luma_layout(8, 1)},
                                            {"GRAY10_LE32", gray10_le32()},
                                            {"GRAY16_LE", luma_layout(16, 2)},
                                            {"GRAY16_BE", luma_layout(16, 2, 0, true)},
                                            {"P010_10LE", luma_layout(10, 2, 6)},
                                            {"I420_12LE", luma_layout(12, 2)},
                                            {"YUY2", luma_layout(8, 1, 0, false, 2)},
                                            {"AYUV", luma_layout(8, 1, 0, false, 4, 1)},
                                            {"Y212_LE", luma_layout(12, 2, 4, false, 4)},
                                            {"AYUV64", luma_layout(16, 2, 0, false, 8, 2)},
                                            {"RGB", packed_rgb(8, 3, 0, 1, 2)},
                                            {"BGRx", packed_rgb(8, 4, 2, 1, 0)},
                                            {"RGBA64_LE", packed_rgb(16, 8, 0, 2, 4)},
                                            {"GBR", planar_rgb(8, 2, 0, 1)},
                                            {"GBR_12LE", planar_rgb(12, 2, 0, 1)},
                                            {"rggb", bayer(8, 0, 0)},
                                            {"rggb16le", bayer(16, 0, 0)}};
  return all;
}

void measure_sharpness() {
  Planes planes;
  for (const NamedLayout& format : luma_formats())
    for (const int width : {kWidth, 2}) {
      const Geometry geometry{width, kHeight, format.layout};
      // Frames of GPU memory may begin anywhere.
      const Frame frames[] = {planes.frame(geometry), planes.frame(), planes.frame(1)};
      for (int metric = 0; metric < kMetricCount; ++metric) {
        // As many frames in flight as there are: nobody waits for results, which do not come.
        const auto meter = cuda::make_meter(geometry, 0, 2 * 3 * 3 * static_cast<int>(std::size(frames)));
        for (const int zones : {1, 8})
          for (const Prefilter prefilter : {Prefilter::kNone, Prefilter::kBinomial3, Prefilter::kBinomial5})
            for (const int downscale : {1, 2, 4}) {
              Request request;
              request.metric = metric;
              request.prefilter = prefilter;
              request.downscale = downscale;
              request.statistics = true;
              request.zone_columns = zones;
              const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
              for (const Frame& frame : frames) meter->submit({frame, plan});
            }
      }
    }
}

void measure_bliinds() {
  Planes planes;
  for (const NamedLayout& format : luma_formats()) {
    bliinds::Input input(Geometry{kWidth, kHeight, format.layout});
    if (!bliinds::has_red(format.layout) && format.name.substr(0, 4) != "GRAY") {
      input.red.v = format.layout;
      input.red.v.plane[0] = 1;
      input.red.y_gain = input.red.v_gain = 1 << bliinds::kRedBits;
    }
    const auto meter = cuda::make_bliinds_meter(input, 0);
    for (const bliinds::Channel channel : {bliinds::Channel::kLuma, bliinds::Channel::kRed}) {
      meter->submit({planes.frame(), channel});
      meter->collect();
    }
  }
}

/// What nlmeans and patchbilateral can be set to, but for radii and chroma.
std::vector<denoise::Settings> weights() {
  std::vector<denoise::Settings> all;
  const auto add = [&](double sigma, bool estimates, bool follows, double spatial, denoise::CenterWeight center) {
    denoise::Settings s;
    s.sigma = sigma;
    s.estimate_sigma = estimates;
    s.follows = s.follows_chroma = follows;
    s.spatial = spatial;
    s.center = center;
    all.push_back(s);
  };
  using enum denoise::CenterWeight;
  for (const denoise::CenterWeight center : {kOne, kMax}) {
    add(0, false, false, 0, center);
    add(5, false, false, 0, center);
    add(0, true, false, 0, center);
    add(0, true, true, 0, center);
  }
  for (const bool follows : {false, true}) add(0, false, follows, 0.005, kOne);
  return all;
}

void denoise_pictures() {
  Planes source, target;
  Canvas out;
  for (int p = 0; p < 3; ++p) out.plane[p] = target.first(p, 0), out.stride[p] = Planes::kStride;
  out.memory = Memory::kCuda;
  std::vector<PictureGeometry> geometries;
  for (int i = 0; i < kFormats; ++i) geometries.push_back(geometry_of(static_cast<Format>(i), kWidth, kHeight));
  geometries.push_back(geometry_of(Format::kGbr12, kWidth, kHeight));
  geometries.back().layout.depth = 10;  // GBR_10LE
  const denoise::Source window[] = {{source.frame(), 0}};
  for (const PictureGeometry& geometry : geometries) {
    const auto filter = cuda::make_denoiser(geometry, 0);
    for (denoise::Settings settings : weights())
      for (const int patch : {0, 1, 2, 3, 4, denoise::kMaxPatchRadius})
        for (const int search : {0, 1, 2, 3, 4, denoise::Settings{}.search_radius, denoise::kMaxSearchRadius})
          for (const denoise::Chroma chroma :
               {denoise::Chroma::kNone, denoise::Chroma::kSeparate, denoise::Chroma::kJoint}) {
            settings.patch_radius = patch;
            settings.search_radius = search;
            settings.chroma = chroma;
            filter->submit({window, 0, out, settings});
            filter->collect();
          }
  }
}

void halftone_pictures() {
  Planes source, target;
  const halftone::Target out{target.first(0, 0), Planes::kStride, Memory::kCuda};
  for (const NamedLayout& format : luma_formats()) {
    if (format.layout.kind == PixelLayout::Kind::kBayer) continue;
    const auto filter = cuda::make_halftone({kWidth, kHeight, format.layout}, 0);
    const auto make = [&](const halftone::Settings& settings) {
      for (const int shift : {0, 1}) {
        filter->submit({source.frame(shift), out, settings});
        filter->collect();
      }
    };
    for (const int levels : {2, 4, 16})
      for (const int strength : {halftone::kFullStrength, halftone::kFullStrength / 2}) {
        halftone::Settings settings;
        settings.levels = levels;
        settings.strength = strength;
        make(settings);
        settings.method = halftone::Method::kBlueNoise;
        make(settings);
        settings.method = halftone::Method::kToneDependent;
        for (const halftone::ToneTable* table : halftone::kToneTables) {
          settings.swath_rows = table->swath_rows;
          make(settings);
        }
      }
  }
}

void halftone_colours() {
  Planes source, target;
  const halftone::Target out{target.first(0, 0), Planes::kStride, Memory::kCuda};
  for (const Format format : {Format::kRgb, Format::kBgrx, Format::kI420}) {
    const auto filter = cuda::make_colour_halftone(geometry_of(format, kWidth, kHeight), 0);
    for (const char* const palette : {"#000000,#ffffff", "#000000,#ffffff=3", "#000000,#ffffff=4"})
      for (const auto output :
           {halftone::ColourOutput::kCodes, halftone::ColourOutput::kRgb, halftone::ColourOutput::kRgbx}) {
        halftone::ColourSettings settings;
        settings.palette = halftone::parse_palette(palette);
        settings.method = halftone::Method::kBlueNoise;
        settings.output = output;
        filter->submit({source.frame(), out, settings});
        filter->collect();
      }
  }
}

std::string readable(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                         &std::free);
  return status == 0 ? text.get() : name;
}

/// What a metric adds to its totals, as addresses: a metric that inherits it has the same ones.
struct Additions {
  const void *row = nullptr, *pixel = nullptr;
  bool operator==(const Additions&) const = default;
};
struct Neighbours {
  int l() const { return 0; }
  int c() const { return 0; }
  int r() const { return 0; }
  int r2() const { return 0; }
};
struct Sink {
  template <int>
  void add(int) {}
  template <int>
  void add_product(int, int) {}
};
Additions additions_of(int metric) {
  return with_metric(metric, [](auto m) -> Additions {
    using M = decltype(m);
    if constexpr (M::kHistogram) {
      return {};
    } else {
      return {reinterpret_cast<const void*>(&M::template row<int, Neighbours>),
              reinterpret_cast<const void*>(&M::template pixel<int, Sink>)};
    }
  });
}

TEST(Routes, MetricsThatAddTheSameShareKernels) {
  int shared = 0;
  for (int a = 0; a < kMetricCount; ++a)
    for (int b = 0; b < a; ++b) {
      const bool same = additions_of(a) == additions_of(b);
      shared += same;
      const auto expect = [&](auto kernel) {
        EXPECT_EQ(kernel(a).function == kernel(b).function, same || !(kernel(a).function || kernel(b).function))
            << metric_info(a).name << " and " << metric_info(b).name;
      };
      expect(cuda::tile_kernel);
      for (const auto measure :
           {cuda::Measure::kStreamBytes, cuda::Measure::kStreamShorts, cuda::Measure::kStreamWords})
        expect([&](int metric) { return cuda::stream_kernel(metric, measure); });
      expect(cuda::quadratic_kernel);
      for (const int radius : {1, 2}) {
        expect([&](int metric) { return cuda::prefilter_kernel(metric, radius); });
        expect([&](int metric) { return cuda::prefilter_words_kernel(metric, radius); });
      }
    }
  EXPECT_GT(shared, 0);
}

TEST(Routes, AMeterSaysWhichItTakes) {
  Planes planes;
  const Geometry geometry{kWidth, kHeight, packed_rgb(8, 3, 0, 1, 2)};
  Request request;
  request.prefilter = Prefilter::kBinomial3;
  const auto plan = std::make_shared<const Plan>(make_plan(geometry, request));
  // All blocks run at once, so that strips are as low as can be, of 3 rows: four in a block, or eight.
  const char* const expected[] = {"luma packed, samples in a plane, kernel stream-shorts, blocks 3",
                                  "luma packed, samples as measured, kernel prefilter, blocks 2"};
  for (const int capability : {75, 90}) {
    set_fake_capability(capability);
    const auto meter = cuda::make_meter(geometry, 0);
    meter->submit({planes.frame(), plan});
    EXPECT_EQ(meter->route(), expected[capability == 90]);
    meter->collect();
  }
}

/// Whether a kernel's code is for matrix products that Turing lacks: there it is compiled to nothing.
bool needs_ampere(const std::string& kernel) {
  const auto has = [&](const char* part) { return kernel.find(part) != std::string::npos; };
  return has("measure_prefiltered<") || (has("tile::filter<") && !has("tile::Halves, 1,"));
}

TEST(Routes, EveryGpuHasAUseForEveryKernel) {
  ASSERT_GT(fake_kernels().size(), 100u);
  for (const int architecture : cuda::kArchitectures) {
    set_fake_capability(architecture / 10);
    for (auto& [function, kernel] : fake_kernels()) kernel.launches = 0;
    measure_sharpness();
    measure_bliinds();
    denoise_pictures();
    halftone_pictures();
    halftone_colours();
    for (const auto& [function, kernel] : fake_kernels()) {
      const std::string name = readable(kernel.name);
      EXPECT_EQ(kernel.launches > 0, architecture >= 800 || !needs_ampere(name))
          << "sm_" << architecture / 10 << ", " << kernel.launches << " launches of " << name;
    }
  }
}

}  // namespace
}  // namespace framequality::test
