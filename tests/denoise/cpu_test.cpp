// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of the denoisers: every instruction set gives what the plain loops give, bit for bit, and what must
// hold for any denoiser.
#include "cpu/denoise/filter.h"
#include "cpu/dispatch.h"
#include "tests/denoise/pictures.h"
#include "tests/denoise/reference.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::test {

using namespace denoise_pictures;

namespace {

using denoise::Settings;

/// Frames of a window, all with room around their rows.
std::vector<Picture> make_window(const PictureGeometry& g, Texture texture, int count, std::uint64_t seed) {
  std::vector<Picture> window;
  for (int f = 0; f < count; ++f) window.emplace_back(g, texture, seed + static_cast<std::uint64_t>(f));
  return window;
}

Output filtered(denoise::Filter& filter, const PictureGeometry& g, const std::vector<Picture>& window,
                const Settings& s, int fields) {
  std::vector<denoise::Source> sources;
  for (const Picture& p : window) sources.push_back({p.frame(), sources.size()});
  Output out(g);
  filter.submit({sources, sources.size() / 2, out.canvas(), s, fields});
  filter.collect();
  return out;
}

struct Case {
  int width, height;
  PictureGeometry geometry;
  Settings settings;
  Texture texture = Texture::kPhoto;
  int frames = 1, fields = 1;

  std::string text() const {
    const auto& l = geometry.layout;
    return std::to_string(width) + "x" + std::to_string(height) + " patch " + std::to_string(settings.patch_radius) +
           " search " + std::to_string(settings.search_radius) + " depth " + std::to_string(l.depth) + " components " +
           std::to_string(l.components) + " texture " + std::to_string(static_cast<int>(texture)) + " border " +
           std::to_string(static_cast<int>(settings.border)) + " frames " + std::to_string(frames) + " fields " +
           std::to_string(fields) + " max " + std::to_string(settings.center == denoise::CenterWeight::kMax) +
           " sigma " + std::to_string(settings.sigma) + (settings.estimate_sigma ? " estimated" : "") + " range " +
           std::to_string(settings.range) + (settings.follows ? " follows" : "");
  }
};

/// The instruction sets, on 1 and 3 threads, against the reference.
void expect_reference(const Case& c, std::uint64_t seed) {
  SCOPED_TRACE(c.text() + " seed " + std::to_string(seed));
  const auto window = make_window(c.geometry, c.texture, c.frames, seed);
  DenoiseReference reference(c.geometry);
  const Output expected = filtered(reference, c.geometry, window, c.settings, c.fields);
  ASSERT_TRUE(expected.surroundings_untouched());
  for (const std::string_view isa : cpu::instruction_sets())
    for (const int threads : {1, 3}) {
      const auto filter = cpu::make_denoiser(c.geometry, threads, isa);
      const Output got = filtered(*filter, c.geometry, window, c.settings, c.fields);
      ASSERT_TRUE(same(expected, got)) << isa << ", threads: " << threads;
    }
}

Case random_case(Random& r) {
  constexpr int kSizes[][2] = {{1, 1}, {2, 2}, {40, 1}, {1, 23}, {7, 5}, {16, 16}, {33, 17}, {77, 55}};
  constexpr int kPatches[] = {0, 1, 2, 3, 4, 5, 6, 7}, kSearches[] = {0, 1, 2, 3, 4, 5, 7, 12};
  Case c{};
  const auto& size = kSizes[r.below(8)];
  c.width = size[0];
  c.height = size[1];
  c.settings.patch_radius = kPatches[r.below(8)];
  c.settings.search_radius = kSearches[r.below(8)];
  // The reference takes its time for each pixel, offset and sample of a patch.
  const auto work = [&] {
    const double p = 2 * c.settings.patch_radius + 1, s = 2 * c.settings.search_radius + 1;
    return c.width * c.height * p * p * s * s;
  };
  while (work() > 4e6) (r.one_in(2) ? c.settings.patch_radius : c.settings.search_radius) /= 2;
  c.geometry = geometry_of(static_cast<Format>(r.below(kFormats)), c.width, c.height);
  c.texture = static_cast<Texture>(r.below(kTextures));
  constexpr double kRanges[] = {1e-40, 0.1, 30, 324, 5000, 1e30};
  c.settings.range = kRanges[r.below(6)];
  c.settings.range_chroma = kRanges[1 + r.below(4)];
  c.settings.spatial = r.one_in(2) ? 0 : 0.01 * r.below(60);
  c.settings.sigma = r.one_in(2) ? 0 : r.below(40);
  c.settings.estimate_sigma = r.one_in(4);
  c.settings.follows = r.one_in(4);
  c.settings.follows_chroma = r.one_in(4);
  if (c.settings.follows) c.settings.range = 0.1 * (1 + r.below(20));
  if (c.settings.follows_chroma) c.settings.range_chroma = 0.1 * (1 + r.below(20));
  c.settings.center = static_cast<denoise::CenterWeight>(r.below(2));
  c.settings.border = static_cast<denoise::Border>(r.below(3));
  c.settings.chroma = static_cast<denoise::Chroma>(r.below(3));
  c.fields = 1 + r.one_in(4);
  if (work() < 1e6) c.frames = 1 + 2 * r.one_in(3);
  return c;
}

TEST(DenoiseWeight, OfGpusHasTheSameBits) {
  for (std::uint32_t bits = 0; bits <= static_cast<std::uint32_t>(denoise::bits_of(denoise::kLargestExponent));
       bits += 1021) {
    const float x = denoise::real_of(static_cast<std::int32_t>(bits));
    ASSERT_EQ(denoise::lifted_exp2_minus(x / denoise::kExponents), denoise::kLift * denoise::exp2_minus(x)) << x;
  }
  EXPECT_LT(denoise::lifted_exp2_minus(1.0f), 1e-36f);
  EXPECT_GT(denoise::lifted_exp2_minus(1.0f), 0);
}

TEST(Denoise, RandomCasesEqualThePlainLoops) {
  for (std::uint64_t seed = 1; seed <= 150 && !testing::Test::HasFatalFailure(); ++seed) {
    Random random(seed);
    expect_reference(random_case(random), seed);
  }
}

TEST(Denoise, AllPatchesOfAllFormatsEqualThePlainLoops) {
  // Black and white in squares makes the largest distances there are.
  for (int format = 0; format < kFormats; ++format)
    for (int patch = 0; patch <= denoise::kMaxPatchRadius; ++patch)
      for (const Texture texture : {Texture::kExtremes, Texture::kPhoto}) {
        Case c{};
        c.width = 19;
        c.height = 6;
        c.geometry = geometry_of(static_cast<Format>(format), c.width, c.height);
        c.settings.patch_radius = patch;
        c.settings.search_radius = 2;
        c.settings.range = texture == Texture::kExtremes ? 20000 : 100;
        c.settings.range_chroma = c.settings.range;
        c.settings.chroma = denoise::Chroma::kJoint;
        c.texture = texture;
        expect_reference(c, static_cast<std::uint64_t>(patch));
        if (HasFatalFailure()) return;
      }
}

TEST(Denoise, PicturesOfSeveralTilesEqualThePlainLoops) {
  for (const auto& [format, width, height] :
       {std::tuple(Format::kGray8, 1029, 150), {Format::kGray16Be, 1030, 67}, {Format::kNv12, 500, 131}}) {
    Case c{};
    c.width = width;
    c.height = height;
    c.geometry = geometry_of(format, width, height);
    c.settings.patch_radius = 1;
    c.settings.search_radius = 4;
    c.settings.chroma = denoise::Chroma::kJoint;
    expect_reference(c, 5);
  }
  Case c{};
  c.width = c.height = 41;
  c.geometry = geometry_of(Format::kGray8, 41, 41);
  c.settings.patch_radius = 1;
  c.settings.search_radius = denoise::kMaxSearchRadius;
  expect_reference(c, 6);
  // More weights than are kept at once.
  c.width = 500;
  c.height = 9;
  c.geometry = geometry_of(Format::kGray8, 500, 9);
  c.settings.patch_radius = 0;
  expect_reference(c, 7);
  c.frames = 3;
  expect_reference(c, 8);
}

class DenoiseEach : public testing::TestWithParam<int> {
 protected:
  PictureGeometry geometry(int width, int height) const {
    return geometry_of(static_cast<Format>(GetParam()), width, height);
  }
};
INSTANTIATE_TEST_SUITE_P(Format, DenoiseEach, testing::Range(0, kFormats),
                         [](const auto& info) { return std::string(name_of(static_cast<Format>(info.param))); });

TEST_P(DenoiseEach, FlatPictureStaysAsItIs) {
  const PictureGeometry g = geometry(45, 20);
  Settings s;
  s.chroma = denoise::Chroma::kJoint;
  const auto window = make_window(g, Texture::kFlat, 1, 3);
  const auto filter = cpu::make_denoiser(g);
  const Output out = filtered(*filter, g, window, s, 1);
  for (int c = 0; c < g.layout.components; ++c)
    for (int y = 0; y < g.height_of(c); ++y)
      for (int x = 0; x < g.width_of(c); ++x) ASSERT_EQ(out.code(c, x, y), window[0].code(c, x, y));
}

TEST_P(DenoiseEach, AlphaFillerAndUnfilteredComponentsAreCopied) {
  const PictureGeometry g = geometry(45, 20);
  const auto window = make_window(g, Texture::kPhoto, 1, 4);
  for (const auto chroma : {denoise::Chroma::kNone, denoise::Chroma::kSeparate}) {
    Settings s;
    s.search_radius = 2;
    s.range = s.range_chroma = 1000;
    s.chroma = chroma;
    const Output out = filtered(*cpu::make_denoiser(g, 2), g, window, s, 1);
    EXPECT_TRUE(out.surroundings_untouched());
    EXPECT_TRUE(out.unnamed_bytes_are_those_of(window[0]));
    bool changed = false;
    for (int c = 0; c < g.layout.components; ++c)
      for (int y = 0; y < g.height_of(c); ++y)
        for (int x = 0; x < g.width_of(c); ++x) {
          const bool same = out.code(c, x, y) == window[0].code(c, x, y);
          changed |= c == 0 && !same;
          if (chroma == denoise::Chroma::kNone && !g.layout.is_rgb && c > 0) {
            ASSERT_TRUE(same) << c << " " << x << " " << y;
          }
        }
    EXPECT_TRUE(changed);
  }
}

TEST(Denoise, MovedPictureGivesMovedResult) {
  const PictureGeometry g = geometry_of(Format::kGray8, 80, 60), part = geometry_of(Format::kGray8, 75, 53);
  const Picture whole(g, Texture::kPhoto, 9), moved = whole.cut(part, 5, 7);
  Settings s;
  s.patch_radius = 2;
  s.search_radius = 4;
  const Output a = filtered(*cpu::make_denoiser(g), g, {whole}, s, 1);
  const Output b = filtered(*cpu::make_denoiser(part), part, {moved}, s, 1);
  // Where no window meets a border.
  for (int y = 6; y < 53 - 6; ++y)
    for (int x = 6; x < 75 - 6; ++x) ASSERT_EQ(b.mean(0, x, y), a.mean(0, x + 5, y + 7)) << x << " " << y;
}

TEST(Denoise, FieldsArePicturesOfTheirOwn) {
  const PictureGeometry g = geometry_of(Format::kGray8, 50, 31);
  const auto window = make_window(g, Texture::kPhoto, 1, 11);
  Settings s;
  s.search_radius = 3;
  const Output both = filtered(*cpu::make_denoiser(g), g, window, s, 2);
  for (int field = 0; field < 2; ++field) {
    const PictureGeometry half = geometry_of(Format::kGray8, 50, field ? 15 : 16);
    Frame frame = window[0].frame();
    frame.plane[0] += field * frame.stride[0];
    frame.stride[0] *= 2;
    Output out(half);
    const auto filter = cpu::make_denoiser(half);
    const denoise::Source source{frame, 1};
    filter->submit({{&source, 1}, 0, out.canvas(), s, 1});
    filter->collect();
    for (int y = 0; y < half.height; ++y)
      for (int x = 0; x < 50; ++x) ASSERT_EQ(out.mean(0, x, y), both.mean(0, x, 2 * y + field));
  }
}

TEST(Denoise, FilterIsReusedWithOtherSettingsAndWindows) {
  const PictureGeometry g = geometry_of(Format::kNv12, 46, 22);
  const auto stream = make_window(g, Texture::kPhoto, 8, 21);
  const auto filter = cpu::make_denoiser(g, 2);
  Random random(1);
  for (int turn = 0; turn < 25; ++turn) {
    // Mostly the next window of a stream, so that frames prepared for the one before serve again.
    const int size = random.one_in(5) ? 1 : 3, first = turn % (8 - size + 1), fields = random.one_in(5) ? 2 : 1;
    Settings s;
    s.patch_radius = random.one_in(5) ? 2 : 1;
    s.search_radius = random.one_in(5) ? 3 : 2;
    s.chroma = static_cast<denoise::Chroma>(random.one_in(5) ? random.below(3) : 2);
    if (random.one_in(5)) s.border = denoise::Border::kReflect;
    std::vector<denoise::Source> sources;
    for (int f = first; f < first + size; ++f)
      sources.push_back({stream[static_cast<std::size_t>(f)].frame(), static_cast<std::uint64_t>(f)});
    Output expected(g), got(g);
    DenoiseReference reference(g);
    const auto center = static_cast<std::size_t>(random.below(size));
    for (auto& [who, out] : {std::pair<denoise::Filter*, Output*>(&reference, &expected), {filter.get(), &got}}) {
      who->submit({sources, center, out->canvas(), s, fields});
      who->collect();
    }
    ASSERT_TRUE(same(expected, got)) << "turn " << turn;
  }
}

TEST(Denoise, ChromaThatWasNotPreparedWithItsFrameIsPreparedLater) {
  const PictureGeometry g = geometry_of(Format::kI420, 30, 16);
  const auto stream = make_window(g, Texture::kPhoto, 4, 31);
  const auto filter = cpu::make_denoiser(g, 1);
  DenoiseReference reference(g);
  Settings s;
  s.patch_radius = s.search_radius = 2;
  s.range = s.range_chroma = 1000;
  for (const auto& [first, chroma] :
       {std::pair(0u, denoise::Chroma::kJoint), {2u, denoise::Chroma::kNone}, {2u, denoise::Chroma::kJoint}}) {
    s.chroma = chroma;
    const denoise::Source window[] = {{stream[first].frame(), first}, {stream[first + 1].frame(), first + 1}};
    Output expected(g), got(g);
    for (auto& [who, out] : {std::pair<denoise::Filter*, Output*>(&reference, &expected), {filter.get(), &got}}) {
      who->submit({window, 0, out->canvas(), s, 1});
      who->collect();
    }
    EXPECT_TRUE(same(expected, got)) << "from frame " << first;
  }
}

TEST(Denoise, MisuseIsRefused) {
  const PictureGeometry g = geometry_of(Format::kGray8, 8, 8);
  const Picture picture(g, Texture::kPhoto, 1);
  Output out(g);
  const auto filter = cpu::make_denoiser(g, 1);
  const denoise::Source source{picture.frame(), 1};
  Settings s;
  EXPECT_THROW(filter->collect(), std::logic_error);
  EXPECT_THROW(filter->submit({{}, 0, out.canvas(), s, 1}), std::invalid_argument);
  EXPECT_THROW(filter->submit({{&source, 1}, 0, out.canvas(), s, 3}), std::invalid_argument);
  s.patch_radius = denoise::kMaxPatchRadius + 1;
  EXPECT_THROW(filter->submit({{&source, 1}, 0, out.canvas(), s, 1}), std::invalid_argument);
  s.patch_radius = 1;
  filter->submit({{&source, 1}, 0, out.canvas(), s, 1});
  EXPECT_THROW(filter->submit({{&source, 1}, 0, out.canvas(), s, 1}), std::logic_error);
  filter->collect();
  EXPECT_THROW(cpu::make_denoiser(g, 1, "mmx"), std::invalid_argument);
}

}  // namespace
}  // namespace framequality::test
