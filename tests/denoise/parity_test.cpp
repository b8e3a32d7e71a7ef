// SPDX-License-Identifier: LGPL-2.1-or-later
// The denoisers on the GPU against the host twin: kernels.
#include "tests/denoise/scene.h"
#include "tests/support/device_twins.h"

#include <cmath>
#include <span>

namespace framequality::test {
namespace {

TEST_F(DenoiseParity, EverySizeInEveryLayout) {
  std::uint64_t seed = 1;
  for (const NamedPicture& named : picture_layouts())
    for (const Size size : {Size{1, 1}, {2, 2}, {3, 3}, {40, 1}, {1, 40}, {77, 55}}) {
      Case c;
      c.layout = named.name;
      c.size = size;
      c.settings = small_settings(1 + static_cast<int>(seed % 3), 2);
      c.settings.chroma = static_cast<Chroma>(seed / 2 % 3);
      c.where = static_cast<MemoryKind>(seed % 3);
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
    for (const int search : {0, 1, 2, 3, 5, 13, kMaxSearchRadius})
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
    c.where = MemoryKind::kPinned;
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check_both(c));
  }
  for (const char* const layout : {"GRAY8", "depth10", "RGB", "NV12", "P010_10LE"}) {
    Case c;
    c.layout = layout;
    c.size = {131, 67};
    c.settings.range = c.settings.range_chroma = 2500;
    c.settings.chroma = Chroma::kJoint;
    if (is_quick()) continue;
    ASSERT_NO_FATAL_FAILURE(check_both(c));
  }
}

/// What the tensor cores' kernels are there for, in every layout, also of more bits than they take.
TEST_F(DenoiseParity, WideSearchesInEveryLayout) {
  std::uint64_t seed = 1;
  for (const NamedPicture& named : picture_layouts()) {
    for (const Size size : {Size{1, 1}, {5, 3}, {33, 35}}) {
      Case c;
      c.layout = named.name;
      c.size = size;
      c.settings = small_settings(static_cast<int>(seed % 4), size.width == 33 && seed % 3 ? 4 + seed % 5 : 10);
      c.settings.chroma = seed % 3 ? Chroma::kJoint : Chroma::kSeparate;
      c.settings.sigma = seed % 2 ? 0 : 6;
      c.fields = seed % 5 == 0 ? 2 : 1;
      c.where = static_cast<MemoryKind>(seed % 3);
      c.from = kPlacements[seed / 3 % kPlacements.size()];
      c.to = kPlacements[seed / 5 % kPlacements.size()];
      c.fill = seed % 2 ? Fill::kRandom : Fill::kNearLimits;
      c.seed = seed++;
      if (is_quick() && seed % 5) continue;
      ASSERT_NO_FATAL_FAILURE(check(c));
    }
  }
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

/// Means before they are rounded, which codes hide: how far the arithmetic is from the host's.
void expect_means(const Case& c, int device_id) {
  SCOPED_TRACE(c.words());
  const std::size_t count = static_cast<std::size_t>(c.size.width) * static_cast<std::size_t>(c.size.height);
  const Blocks blocks(c.geometry(), c.from, c.fill, c.seed);
  BlocksIn host(blocks, MemoryKind::kPageable, device_id), device(blocks, MemoryKind::kDevice, device_id);
  BlocksIn host_out(blocks, MemoryKind::kPageable, device_id), device_out(blocks, MemoryKind::kDevice, device_id);
  std::vector<float> expected(count), got(count);
  Canvas canvas = host_out.canvas();
  canvas.unrounded[0] = expected.data();
  const Source source{host.frame(), 0}, on_device{device.frame(), 0};
  const auto twin = cpu::make_denoiser(c.geometry());
  twin->submit({{&source, 1}, 0, canvas, c.settings, 1});
  twin->collect();
  for (const bool general : {false, true}) {
    cuda::DeviceBytes means(std::vector<std::uint8_t>(count * sizeof(float)), device_id);
    canvas = device_out.canvas();
    canvas.unrounded[0] = reinterpret_cast<float*>(means.data());
    const auto filter =
        general ? cuda::make_general_denoiser(c.geometry(), device_id) : cuda::make_denoiser(c.geometry(), device_id);
    filter->submit({{&on_device, 1}, 0, canvas, c.settings, 1});
    filter->collect();
    means.read({reinterpret_cast<std::uint8_t*>(got.data()), count * sizeof(float)});
    double most = 0;
    for (std::size_t i = 0; i < count; ++i) most = std::max(most, std::abs(double{got[i]} - expected[i]));
    EXPECT_LE(most, kTolerance * c.geometry().layout.largest() / 255) << (general ? "general kernel" : "usual kernel");
  }
}

TEST_F(DenoiseParity, MeansAreWithinTheTolerance) {
  for (const char* const layout : {"GRAY8", "depth10", "GRAY16_LE"})
    for (const int range : {50, 500, 5000, 500000})
      for (const double sigma : {0.0, 12.0}) {
        Case c;
        c.layout = layout;
        c.size = {150, 37};
        c.settings = small_settings(range == 500 ? 1 : 3, 5);
        c.settings.range = range;
        c.settings.sigma = sigma;
        c.where = MemoryKind::kDevice;
        expect_means(c, device_);
      }
}

}  // namespace
}  // namespace framequality::test
