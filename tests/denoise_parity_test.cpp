// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers on the GPU against the host twin: above 8 bits the same bytes, with 8 bits rarely a code beside them.
#include "cpu/denoise.h"
#include "cuda/backend.h"
#include "cuda/bench.h"
#include "cuda/denoise.h"
#include "tests/blocks.h"
#include "tests/gpu.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <gtest/gtest.h>
#include <memory>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

using namespace denoise;

bool is_quick() {
#if defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return is_set("FQ_PARITY_QUICK");
#endif
}

PictureGeometry picture_geometry(const std::string& layout, Size size) {
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
  Where where = Where::kPageable;
  Placement from = Placement::kTight, to = Placement::kTight;
  Fill fill = Fill::kRandom;
  std::uint64_t seed = 1;

  PictureGeometry geometry() const { return picture_geometry(layout, size); }
  std::string words() const {
    const auto name = [](const auto& names, auto i) { return names[static_cast<std::size_t>(i)]; };
    std::ostringstream out;
    out << layout << " " << size.width << "x" << size.height << " patch " << settings.patch_radius << " search "
        << settings.search_radius << " range " << settings.range << " " << settings.range_chroma << " spatial "
        << settings.spatial << " sigma " << settings.sigma << (settings.estimate_sigma ? " estimated" : "")
        << " center " << static_cast<int>(settings.center) << " border " << static_cast<int>(settings.border)
        << " chroma " << static_cast<int>(settings.chroma) << ", frame " << center << " of " << frames << ", fields "
        << fields << ", " << name(kWhereNames, where) << " " << name(kPlacementNames, from) << " to "
        << name(kPlacementNames, to) << ", " << name(kFillNames, fill) << " seed " << seed;
    return out.str();
  }
  /// Samples of patches that are compared, about: what the host twin's time goes with.
  double work() const {
    const double side = 2 * settings.search_radius + 1, patch = 2 * settings.patch_radius + 1;
    return static_cast<double>(size.width) * size.height * side * side * patch * patch * frames *
           geometry().layout.components;
  }
};

/// Whether the bytes are those that the host twin gave. 8 bits: but for codes one beside, as many as tolerance allows.
testing::AssertionResult same(Blocks& expected, Blocks& got, const Settings& settings, int& differing) {
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
          if (g.layout.depth > 8 || std::abs(wanted - is) > 1)
            return testing::AssertionFailure()
                   << "component " << c << " at " << x << ", " << y << ": expected " << wanted << ", got " << is;
          *b = *a;  // the rest is compared as bytes
        }
      differing += count;
      if (count > 1 + g.width_of(c) * g.height_of(c) / 10000)
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
      host_.emplace_back(blocks, Where::kPageable, device);
      device_.emplace_back(blocks, c.where, device);
    }
    const Blocks canvas(g, c.to, Random(c.seed));
    expected_ = std::make_unique<PlacedBlocks>(canvas, Where::kPageable, device);
    got_ = std::make_unique<PlacedBlocks>(canvas, c.where, device);
  }

  /// first_serial: of the window's oldest frame.
  void submit(Filter& filter, bool on_host, std::uint64_t first_serial = 0) {
    window_.clear();
    for (auto& placed : on_host ? host_ : device_) window_.push_back({placed.frame(), first_serial++});
    filter.submit(window_, static_cast<std::size_t>(case_.center), (on_host ? expected_ : got_)->canvas(),
                  case_.settings, case_.fields);
  }
  void expect() {
    const auto filter = cpu::make_denoiser(case_.geometry());
    submit(*filter, true);
    filter->collect();
  }
  Blocks& expected() { return expected_->now(); }
  Blocks& got() { return got_->now(); }
  PlacedBlocks& source(int f) { return device_[static_cast<std::size_t>(f)]; }

 private:
  Case case_;
  std::deque<PlacedBlocks> host_, device_;
  std::unique_ptr<PlacedBlocks> expected_, got_;
  std::vector<Source> window_;
};

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
    EXPECT_TRUE(same(scene.expected(), scene.got(), c.settings, differing_));
    if (HasFailure()) ++failures_;
    ASSERT_LT(failures_, 10) << "enough";
  }
  /// By the tensor cores' kernel, if it suits, and without.
  void check_both(const Case& c) {
    check(c);
    if (!HasFatalFailure()) check(c, true);
  }

  int device_ = -1, differing_ = 0, failures_ = 0;
};

Settings small_settings(int patch, int search) {
  Settings s;
  s.patch_radius = patch;
  s.search_radius = search;
  s.range = s.range_chroma = 900;
  return s;
}

TEST_F(DenoiseParity, EverySizeInEveryLayout) {
  std::uint64_t seed = 1;
  for (const NamedPicture& named : picture_layouts())
    for (const Size size : {Size{1, 1}, {2, 2}, {3, 3}, {40, 1}, {1, 40}, {77, 55}}) {
      Case c;
      c.layout = named.name;
      c.size = size;
      c.settings = small_settings(1 + static_cast<int>(seed % 3), 2);
      c.settings.chroma = static_cast<Chroma>(seed / 2 % 3);
      c.where = static_cast<Where>(seed % 3);
      c.from = kPlacements[seed / 3 % kPlacements.size()];
      c.to = kPlacements[seed / 5 % kPlacements.size()];
      c.seed = seed++;
      if (is_quick() && seed % 5) continue;
      ASSERT_NO_FATAL_FAILURE(check_both(c));
    }
}

TEST_F(DenoiseParity, EveryPatchAndSearch) {
  for (const char* const layout : {"GRAY8", "depth10", "GRAY16_LE", "P010_10LE", "NV12", "RGB", "GBR_12LE", "ARGB64"})
    for (int patch = 0; patch <= kMaxPatchRadius; ++patch) {
      Case c;
      c.layout = layout;
      c.size = {33 + patch, 21};
      c.settings = small_settings(patch, 2);
      c.settings.chroma = Chroma::kJoint;
      c.seed = static_cast<std::uint64_t>(patch) + 1;
      c.fill = patch % 2 ? Fill::kRandom : Fill::kNearLimits;
      if (is_quick() && patch % 3) continue;
      ASSERT_NO_FATAL_FAILURE(check_both(c));
    }
  for (const char* const layout : {"GRAY8", "depth10", "GRAY16_LE", "RGB", "ARGB64"})
    for (const int search : {0, 1, 5, 13, kMaxSearchRadius})
      for (const int patch : {0, 1, 3, 4}) {
        Case c;
        c.layout = layout;
        c.size = {19, 14};
        c.settings = small_settings(patch, search);
        c.seed = static_cast<std::uint64_t>(search) + 1;
        if (is_quick() && (search + patch) % 5) continue;
        ASSERT_NO_FATAL_FAILURE(check_both(c));
      }
  for (const char* const layout : {"GRAY8", "RGB", "ARGB64"}) {  // the most memory that there can be
    Case c;
    c.layout = layout;
    c.size = {20, 9};
    c.settings = small_settings(kMaxPatchRadius, kMaxSearchRadius);
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check_both(c));
  }
}

TEST_F(DenoiseParity, LargerPictures) {
  for (const char* const layout : {"GRAY8", "GRAY16_LE", "NV12", "RGBx"}) {
    Case c;
    c.layout = layout;
    c.size = {641, 361};
    c.settings = small_settings(1, 2);
    c.settings.range = c.settings.range_chroma = 3000;
    c.settings.chroma = Chroma::kJoint;
    c.where = Where::kPinned;
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check_both(c));
  }
  for (const char* const layout : {"GRAY8", "depth10"}) {
    Case c;
    c.layout = layout;
    c.size = {131, 67};
    c.settings.range = 2500;
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check_both(c));
  }
}

/// A case at random that is not much work.
Case random_case(Random& random) {
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
    s.center = static_cast<CenterWeight>(random.one_in(4));
    s.border = static_cast<Border>(random.below(3));
    s.chroma = static_cast<Chroma>(random.below(3));
    c.frames = random.one_in(3) ? 1 + random.below(2 * kMaxTemporalRadius + 1) : 1;
    c.center = random.below(c.frames);
    c.fields = 1 + random.one_in(4);
    c.where = static_cast<Where>(random.below(3));
    c.from = kPlacements[static_cast<std::size_t>(random.below(4))];
    c.to = kPlacements[static_cast<std::size_t>(random.below(4))];
    c.fill = kFills[static_cast<std::size_t>(random.below(static_cast<int>(kFills.size())))];
    c.seed = random.next() % 1000000;
  } while (c.work() > 4e6);
  return c;
}

TEST_F(DenoiseParity, RandomCases) {
  Random random(2026);
  for (int n = is_quick() ? 30 : 400; n > 0; --n) ASSERT_NO_FATAL_FAILURE(check_both(random_case(random)));
}

TEST_F(DenoiseParity, FlatPicturesStayAsTheyAre) {
  for (const char* const layout : {"GRAY8", "GRAY16_LE", "RGB"})
    for (const Fill fill : {Fill::kZero, Fill::kMax}) {
      Case c;
      c.layout = layout;
      c.fill = fill;
      c.settings = small_settings(3, 4);
      ASSERT_NO_FATAL_FAILURE(check_both(c));
      Scene scene(c, device_);
      const auto filter = cuda::make_denoiser(c.geometry(), device_);
      scene.submit(*filter, false);
      filter->collect();
      for (int p = 0; p < c.geometry().layout.planes; ++p)
        EXPECT_EQ(scene.source(0).now().bytes[static_cast<std::size_t>(p)],
                  scene.got().bytes[static_cast<std::size_t>(p)]);
    }
}

/// Means before they are rounded, which codes hide: how far 8-bit arithmetic is from the host's.
TEST_F(DenoiseParity, MeansAreWithinTheTolerance) {
  for (const int range : {50, 500, 5000, 500000})
    for (const double sigma : {0.0, 12.0}) {
      Case c;
      c.size = {150, 37};
      c.settings = small_settings(range == 500 ? 1 : 3, 5);
      c.settings.range = range;
      c.settings.sigma = sigma;
      c.where = Where::kDevice;
      SCOPED_TRACE(c.words());
      const std::size_t count = 150 * 37;
      const Blocks blocks(c.geometry(), c.from, c.fill, c.seed);
      PlacedBlocks host(blocks, Where::kPageable, device_), device(blocks, Where::kDevice, device_);
      PlacedBlocks host_out(blocks, Where::kPageable, device_), device_out(blocks, Where::kDevice, device_);
      std::vector<float> expected(count), got(count);
      Canvas canvas = host_out.canvas();
      canvas.unrounded[0] = expected.data();
      const Source source{host.frame(), 0}, placed{device.frame(), 0};
      const auto twin = cpu::make_denoiser(c.geometry());
      twin->submit({&source, 1}, 0, canvas, c.settings, 1);
      twin->collect();
      for (const bool general : {false, true}) {
        cuda::DeviceBytes means(std::vector<std::uint8_t>(count * sizeof(float)), device_);
        canvas = device_out.canvas();
        canvas.unrounded[0] = reinterpret_cast<float*>(means.data());
        const auto filter =
            general ? cuda::make_general_denoiser(c.geometry(), device_) : cuda::make_denoiser(c.geometry(), device_);
        filter->submit({&placed, 1}, 0, canvas, c.settings, 1);
        filter->collect();
        means.read({reinterpret_cast<std::uint8_t*>(got.data()), count * sizeof(float)});
        double most = 0;
        for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::abs(double{got[i]} - expected[i]));
        EXPECT_LE(most, kTolerance) << (general ? "general kernel" : "usual kernel");
      }
    }
}

/// A stream: windows that share frames, so that each is uploaded once, with frames in flight.
TEST_F(DenoiseParity, WindowsOfAStreamInFlight) {
  for (const char* const layout : {"GRAY8", "P010_10LE"})
    for (const Where where : {Where::kPageable, Where::kPinned, Where::kDevice})
      for (int depth = 1; depth <= 4; ++depth)
        for (const int radius : {0, 2}) {
          Case c;
          c.layout = layout;
          c.settings = small_settings(1, 2);
          c.settings.chroma = Chroma::kSeparate;
          SCOPED_TRACE(c.words() + ", radius " + std::to_string(radius) + ", depth " + std::to_string(depth) + " " +
                       kWhereNames[static_cast<std::size_t>(where)]);
          const int frames = 10, ahead = depth;
          std::deque<PlacedBlocks> host, device, expected, got;
          const PictureGeometry g = c.geometry();
          for (int f = 0; f < frames; ++f) {
            const Placement placement = kPlacements[static_cast<std::size_t>(f) % kPlacements.size()];
            const Blocks blocks(g, placement, c.fill, static_cast<std::uint64_t>(f) + 1),
                canvas(g, placement, Random(1));
            host.emplace_back(blocks, Where::kPageable, device_);
            device.emplace_back(blocks, where, device_);
            expected.emplace_back(canvas, Where::kPageable, device_);
            got.emplace_back(canvas, where, device_);
          }
          const auto window = [&](std::deque<PlacedBlocks>& all, int f, std::vector<Source>& to) {
            const int first = std::max(f - radius, 0);
            for (int i = first; i <= std::min(f + radius, frames - 1); ++i)
              to.push_back({all[static_cast<std::size_t>(i)].frame(), static_cast<std::uint64_t>(i) + 100});
            return static_cast<std::size_t>(f - first);
          };
          // Chroma comes and goes, so that frames are there without it.
          const auto settings = [&](int f) {
            Settings s = c.settings;
            if (f % 4 == 1) s.chroma = Chroma::kNone;
            return s;
          };
          const auto twin = cpu::make_denoiser(g);
          const auto filter = cuda::make_denoiser(g, device_, depth);
          for (int f = 0; f < frames + ahead; ++f) {
            if (f >= ahead) {
              filter->collect();
              const int done = f - ahead;
              std::vector<Source> sources;
              const std::size_t center = window(host, done, sources);
              const auto at = static_cast<std::size_t>(done);
              twin->submit(sources, center, expected[at].canvas(), settings(done), 1);
              twin->collect();
              EXPECT_TRUE(same(expected[at].now(), got[at].now(), settings(done), differing_)) << "frame " << done;
            }
            if (f >= frames) continue;
            std::vector<Source> sources;
            const std::size_t center = window(device, f, sources);
            filter->submit(sources, center, got[static_cast<std::size_t>(f)].canvas(), settings(f), 1);
          }
          if (HasFailure()) return;
        }
}

/// What the same serial number is worth: the second window's frame is not read again.
TEST_F(DenoiseParity, AFrameOfTwoWindowsIsUploadedOnce) {
  Case c;
  c.frames = 3;
  c.center = 1;
  c.settings = small_settings(1, 2);
  c.where = Where::kPinned;
  Scene scene(c, device_);
  scene.expect();
  const auto filter = cuda::make_denoiser(c.geometry(), device_);
  scene.submit(*filter, false, 5);
  filter->collect();
  ASSERT_TRUE(same(scene.expected(), scene.got(), c.settings, differing_));
  for (int f = 0; f < 3; ++f) {
    const Canvas spoiled = scene.source(f).canvas();
    std::memset(spoiled.plane[0], 0, c.geometry().row_bytes(0));
  }
  scene.submit(*filter, false, 5);
  filter->collect();
  EXPECT_TRUE(same(scene.expected(), scene.got(), c.settings, differing_)) << "the same frames again";
  scene.submit(*filter, false, 50);
  filter->collect();
  EXPECT_FALSE(same(scene.expected(), scene.got(), c.settings, differing_)) << "other frames";
}

TEST_F(DenoiseParity, PendingFramesMayBeAbandoned) {
  Case c;
  c.size = {641, 361};
  c.where = Where::kPinned;
  c.layout = "NV12";
  Scene scene(c, device_);
  for (int turn = 0; turn < 3; ++turn) {
    const auto filter = cuda::make_denoiser(c.geometry(), device_, 3);
    for (int i = 0; i < 3; ++i) scene.submit(*filter, false);
  }
}

TEST_F(DenoiseParity, MisuseThrows) {
  Case c;
  Scene scene(c, device_);
  const auto filter = cuda::make_denoiser(c.geometry(), device_);
  EXPECT_THROW(filter->collect(), std::logic_error);
  EXPECT_THROW(filter->submit({}, 0, {}, c.settings, 1), std::logic_error);
  scene.submit(*filter, false);
  EXPECT_THROW(scene.submit(*filter, false), std::logic_error);
  filter->collect();
}

}  // namespace
}  // namespace framequality::test
