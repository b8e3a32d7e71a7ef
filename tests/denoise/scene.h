// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames that the denoisers' twins filter both, and what may differ: rarely a code, by one.
#pragma once

#include "cpu/denoise/filter.h"
#include "cuda/denoise/filter.h"
#include "cuda/denoise/lanes.h"
#include "cuda/device.h"
#include "cuda/sharpness/meter.h"
#include "tests/support/blocks.h"
#include "tests/support/device.h"
#include "tests/support/device_twins.h"
#include "tests/support/effort.h"
#include "tests/support/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {

using namespace denoise;

inline PictureGeometry picture_geometry(const std::string& layout, Size size) {
  for (const NamedPicture& named : picture_layouts())
    if (named.name == layout) return {size.width, size.height, named.layout};
  throw std::invalid_argument(layout);
}

/// One frame to be filtered, and how.
struct Case {
  std::string layout = "GRAY8";
  Size size{40, 30};
  Settings settings;
  int frames = 1, center = 0, fields = 1;
  MemoryKind where = MemoryKind::kPageable;
  Placement from = Placement::kTight, to = Placement::kTight;
  Fill fill = Fill::kRandom;
  std::uint64_t seed = 1;

  PictureGeometry geometry() const { return picture_geometry(layout, size); }
  std::string words() const {
    const auto name = [](const auto& names, auto i) { return names[static_cast<std::size_t>(i)]; };
    std::ostringstream out;
    out << layout << " " << size.width << "x" << size.height << " patch " << settings.patch_radius << " search "
        << settings.search_radius << " range " << settings.range << (settings.follows ? " follows " : " ")
        << settings.range_chroma << (settings.follows_chroma ? " follows" : "") << " spatial " << settings.spatial
        << " sigma " << settings.sigma << (settings.estimate_sigma ? " estimated" : "") << " center "
        << static_cast<int>(settings.center) << " border " << static_cast<int>(settings.border) << " chroma "
        << static_cast<int>(settings.chroma) << ", frame " << center << " of " << frames << ", fields " << fields
        << ", " << name(kWhereNames, where) << " " << name(kPlacementNames, from) << " to " << name(kPlacementNames, to)
        << ", " << name(kFillNames, fill) << " seed " << seed;
    return out.str();
  }
  /// Samples of patches that are compared, about: what the host twin's time goes with.
  double work() const {
    const double side = 2 * settings.search_radius + 1, patch = 2 * settings.patch_radius + 1;
    return static_cast<double>(size.width) * size.height * side * side * patch * patch * frames *
           geometry().layout.components;
  }
};

/// A case at random that is not much work.
inline Case random_case(Random& random) {
  Case c;
  do {
    const auto& all = picture_layouts();
    c.layout = all[static_cast<std::size_t>(random.below(static_cast<int>(all.size())))].name;
    c.size = {1 + random.below(random.one_in(3) ? 300 : 60), 1 + random.below(60)};
    Settings& s = c.settings;
    s.patch_radius = random.one_in(4) ? random.below(kMaxPatchRadius + 1) : random.below(4);
    s.search_radius = random.one_in(4) ? random.below(kMaxSearchRadius + 1) : random.below(5);
    s.range = std::exp2(random.below(14));
    s.range_chroma = std::exp2(random.below(14));
    s.spatial = random.one_in(2) ? 0 : 0.01 * random.below(40);
    s.sigma = random.one_in(2) ? 0 : random.below(300) / 10.0;
    s.estimate_sigma = random.one_in(4);
    s.follows = random.one_in(4);
    s.follows_chroma = random.one_in(4);
    if (s.follows) s.range = 0.1 * (1 + random.below(20));
    if (s.follows_chroma) s.range_chroma = 0.1 * (1 + random.below(20));
    s.center = static_cast<CenterWeight>(random.one_in(4));
    s.border = static_cast<Border>(random.below(3));
    s.chroma = static_cast<Chroma>(random.below(3));
    c.frames = random.one_in(3) ? 1 + random.below(2 * kMaxTemporalRadius + 1) : 1;
    c.center = random.below(c.frames);
    c.fields = 1 + random.one_in(4);
    c.where = static_cast<MemoryKind>(random.below(3));
    c.from = kPlacements[static_cast<std::size_t>(random.below(4))];
    c.to = kPlacements[static_cast<std::size_t>(random.below(4))];
    c.fill = kFills[static_cast<std::size_t>(random.below(static_cast<int>(kFills.size())))];
    c.seed = random.next() % 1000000;
  } while (c.work() > 4e6);
  return c;
}

/// Whether the bytes are those that the host twin gave. Unless exact: but for codes one beside, one and one of `one_in`
/// more, and so many times as many as a grey level has codes.
inline testing::AssertionResult same(Blocks& expected, Blocks& got, const Settings& settings, int& differing,
                                     int one_in = 10000, bool exact = false) {
  const PictureGeometry& g = expected.geometry;
  const Passes passes = passes_of(g.layout, settings);
  for (int i = 0; i < passes.count; ++i)
    for (int k = 0; k < passes.pass[i].count; ++k) {
      const int c = passes.pass[i].component[k];
      int count = 0;
      for (int y = 0; y < g.height_of(c); ++y)
        for (int x = 0; x < g.width_of(c); ++x) {
          std::uint8_t *const a = expected.sample(c, x, y), *const b = got.sample(c, x, y);
          const int wanted = static_cast<int>(read_sample(g.layout, a)),
                    is = static_cast<int>(read_sample(g.layout, b));
          if (wanted == is) continue;
          ++count;
          if (exact || std::abs(wanted - is) > 1)
            return testing::AssertionFailure()
                   << "component " << c << " at " << x << ", " << y << ": expected " << wanted << ", got " << is;
          std::copy_n(a, g.layout.word_bytes, b);  // the rest is compared as bytes
        }
      differing += count;
      if (count > 1 + ((g.width_of(c) * g.height_of(c)) << (g.layout.depth - 8)) / one_in)
        return testing::AssertionFailure() << "component " << c << ": " << count << " codes differ by one";
    }
  for (int p = 0; p < g.layout.planes; ++p) {
    const auto at = static_cast<std::size_t>(p);
    const auto [a, b] = std::mismatch(expected.bytes[at].begin(), expected.bytes[at].end(), got.bytes[at].begin());
    if (a != expected.bytes[at].end())
      return testing::AssertionFailure() << "plane " << p << ", byte " << a - expected.bytes[at].begin()
                                         << " from the start, row 0 at " << expected.origin[at] << ", stride "
                                         << expected.stride[at] << ": expected " << int{*a} << ", got " << int{*b};
  }
  return testing::AssertionSuccess();
}

/// A case's frames, in memory as the host twin and as the device meets them, and their result.
class Scene {
 public:
  Scene(const Case& c, int device) : case_(c) {
    const PictureGeometry g = c.geometry();
    for (int f = 0; f < c.frames; ++f) {
      const Blocks blocks(g, c.from, c.fill, c.seed + static_cast<std::uint64_t>(f) * 7919);
      host_.emplace_back(blocks, MemoryKind::kPageable, device);
      device_.emplace_back(blocks, c.where, device);
    }
    const Blocks canvas(g, c.to, Random(c.seed));
    expected_ = std::make_unique<BlocksIn>(canvas, MemoryKind::kPageable, device);
    got_ = std::make_unique<BlocksIn>(canvas, c.where, device);
  }

  /// first_serial: of the window's oldest frame.
  void submit(Filter& filter, bool on_host, std::uint64_t first_serial = 0) {
    window_.clear();
    for (auto& source : on_host ? host_ : device_) window_.push_back({source.frame(), first_serial++});
    filter.submit({window_, static_cast<std::size_t>(case_.center), (on_host ? expected_ : got_)->canvas(),
                   case_.settings, case_.fields});
  }
  void expect() {
    const auto filter = cpu::make_denoiser(case_.geometry());
    submit(*filter, true);
    filter->collect();
  }
  Blocks& expected() { return expected_->now(); }
  Blocks& got() { return got_->now(); }
  BlocksIn& source(int f) { return device_[static_cast<std::size_t>(f)]; }

 private:
  Case case_;
  std::deque<BlocksIn> host_, device_;
  std::unique_ptr<BlocksIn> expected_, got_;
  std::vector<Source> window_;
};

/// Jobs for which CUDA has the host twin's operations alone.
inline bool is_exact(const Case& c, bool general) {
  return (c.settings.center == CenterWeight::kMax || c.settings.patch_radius > 3) &&
         c.geometry().layout.depth > (general ? 8 : cuda::tile::Halves::kMostBits);
}

class DenoiseParity : public testing::Test {
 protected:
  void SetUp() override {
    require_gpu();
    device_ = cuda::find_device().id;
  }
  void TearDown() override { RecordProperty("codes_that_differ", differing_); }

  void check(const Case& c, bool general = false) {
    SCOPED_TRACE(c.words());
    Scene scene(c, device_);
    scene.expect();
    const auto filter =
        general ? cuda::make_general_denoiser(c.geometry(), device_) : cuda::make_denoiser(c.geometry(), device_);
    scene.submit(*filter, false);
    filter->collect();
    // Means over a ramp lie halfway between two codes as often as not, where the last bit decides.
    const auto result = same(scene.expected(), scene.got(), c.settings, differing_, c.fill == Fill::kRamp ? 500 : 10000,
                             is_exact(c, general));
    EXPECT_TRUE(result);
    failures_ += !result;
    ASSERT_LT(failures_, 10) << "enough";
  }
  /// By the tensor cores' kernel, if it suits, and without.
  void check_both(const Case& c) {
    check(c);
    if (!HasFatalFailure()) check(c, true);
  }

  int device_ = -1, differing_ = 0, failures_ = 0;
};

inline Settings small_settings(int patch, int search) {
  Settings s;
  s.patch_radius = patch;
  s.search_radius = search;
  s.range = s.range_chroma = 900;
  return s;
}

}  // namespace framequality::test
