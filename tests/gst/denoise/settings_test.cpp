// SPDX-License-Identifier: LGPL-2.1-or-later
// nlmeans and patchbilateral: what their properties ask for, and that what comes out is the reference's.
#include "gst/virtuallenssrc/picture_files.h"
#include "tests/gst/base/filter_rig.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace framequality::test {
namespace {

namespace fs = std::filesystem;

/// Frames of 40x31 through an element with these properties, against what the twin makes with these settings.
void expect_asks_for(const char* factory, std::initializer_list<std::pair<const char*, const char*>> properties,
                     const denoise::Settings& settings, const char* format = "GRAY8") {
  const std::string caps = video_caps(format, 40, 31);
  Rig rig(properties, factory);
  rig.caps(caps);
  BufferPtr buffer = random_buffer(caps, 9);
  const auto want = filtered(caps, buffer.get(), settings);
  const BufferPtr out = rig.pass(std::move(buffer));
  ASSERT_TRUE(out);
  EXPECT_TRUE(is_filtered(rig, want, rows_of(caps, out.get())))
      << properties.begin()->first << " " << properties.begin()->second;
}

TEST(Nlmeans, PropertiesAreSettings) {
  using P = std::pair<const char*, const char*>;
  denoise::Settings s;
  s.search_radius = 2;
  s.range = s.range_chroma = 6400;
  const P search{"search-radius", "2"}, strength{"strength", "80"};
  expect_asks_for("nlmeans", {search, strength}, s);
  auto other = s;
  other.patch_radius = 1;
  expect_asks_for("nlmeans", {{"patch-radius", "1"}, search, strength}, other);
  other = s;
  other.center = denoise::CenterWeight::kMax;
  expect_asks_for("nlmeans", {{"center-weight", "max"}, search, strength}, other);
  other = s;
  other.sigma = 65;
  expect_asks_for("nlmeans", {{"sigma", "65"}, search, strength}, other);
  other = s;
  other.estimate_sigma = true;
  expect_asks_for("nlmeans", {{"sigma", "-1"}, search, strength}, other);
  other = s;
  other.chroma = denoise::Chroma::kSeparate;
  expect_asks_for("nlmeans", {{"chroma", "separate"}, search, strength}, other, "I420");
  other.chroma = denoise::Chroma::kJoint;
  other.range_chroma = 10000;
  expect_asks_for("nlmeans", {{"chroma", "joint"}, search, strength, {"strength-chroma", "100"}}, other, "NV12");
  expect_asks_for("nlmeans", {search, strength}, s, "RGB");
  expect_asks_for("nlmeans", {{"search-radius", "1"}, {"patch-radius", "1"}, {"strength", "60"}}, quick(), "Y444_10LE");
}

TEST(Nlmeans, FollowsTheNoiseUnlessToldOtherwise) {
  using P = std::pair<const char*, const char*>;
  denoise::Settings s;
  s.search_radius = 2;
  s.follows = s.follows_chroma = true;
  s.range = s.range_chroma = 0.7 * 0.7;
  const P search{"search-radius", "2"};
  for (const char* format : {"GRAY8", "GRAY16_LE", "RGB", "I420_10LE"}) expect_asks_for("nlmeans", {search}, s, format);
  auto other = s;
  other.chroma = denoise::Chroma::kJoint;
  expect_asks_for("nlmeans", {search, {"chroma", "joint"}}, other, "NV12");
  expect_asks_for("nlmeans", {search, {"chroma", "joint"}, {"strength", "-1"}, {"sigma", "-1"}}, other, "NV12");
  // What it is to follow is given.
  other.follows = other.follows_chroma = false;
  other.sigma = 65;
  other.range = other.range_chroma = (0.7 * 65) * (0.7 * 65);
  expect_asks_for("nlmeans", {search, {"chroma", "joint"}, {"sigma", "65"}}, other, "NV12");
  // One of both is fixed.
  other = s;
  other.chroma = denoise::Chroma::kSeparate;
  other.follows_chroma = false;
  other.range_chroma = 6400;
  expect_asks_for("nlmeans", {search, {"chroma", "separate"}, {"strength-chroma", "80"}}, other, "NV12");
  other.follows = false;
  other.range = other.range_chroma = 6400;
  expect_asks_for("nlmeans", {search, {"chroma", "separate"}, {"strength", "80"}}, other, "NV12");
}

/// A frame of gentle shades with noise of up to +-amplitude.
BufferPtr shaded(const std::string& caps, int amplitude, std::uint64_t seed) {
  const GstVideoInfo info = video_info(caps);
  const PictureGeometry g = geometry_of(info);
  Random random(seed);
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  gst_buffer_memset(buffer.get(), 0, 0, info.size);
  const MappedCanvas canvas(info, g, buffer.get());
  for (int c = 0; c < g.layout.components; ++c)
    for (int y = 0; y < g.height_of(c); ++y)
      for (int x = 0; x < g.width_of(c); ++x) {
        const auto& at = g.layout.component[c];
        const int code = 100 + x / 2 + (x / 31 + y / 23) % 2 * 40 + random.below(2 * amplitude + 1) - amplitude;
        write_sample(g.layout,
                     canvas.canvas().plane[at.plane] + y * canvas.canvas().stride[at.plane] + at.offset +
                         std::ptrdiff_t{x} * at.pixel_stride,
                     static_cast<std::uint32_t>(code) << (g.layout.depth - 8));
      }
  return buffer;
}

TEST(Denoise, CleanFramesPassAsTheyAre) {
  for (const char* factory : {"nlmeans", "patchbilateral"})
    for (const char* format : {"GRAY8", "I420_10LE", "GRAY16_LE", "RGB", "NV12"}) {
      const std::string caps = video_caps(format, 96, 64);
      Rig rig({{"chroma", "joint"}}, factory);
      rig.caps(caps);
      for (const int amplitude : {0, 1}) {
        BufferPtr buffer = shaded(caps, amplitude, 3);
        const auto same = rows_of(caps, buffer.get());
        const BufferPtr out = rig.pass(std::move(buffer));
        ASSERT_TRUE(out);
        EXPECT_TRUE(rows_of(caps, out.get()) == same) << factory << " " << format << " " << amplitude;
      }
    }
}

TEST(Denoise, StrengthIsFixedAndFreedWhilePlaying) {
  for (const auto& [factory, property, fixed] :
       {std::tuple{"nlmeans", "strength", "10"}, {"patchbilateral", "sigma-range", "20"}}) {
    const std::string caps = video_caps("GRAY8", 96, 64);
    Rig rig({}, factory);
    rig.caps(caps);
    const auto changes = [&] {
      BufferPtr buffer = shaded(caps, 1, 3);
      const auto before = rows_of(caps, buffer.get());
      const BufferPtr out = rig.pass(std::move(buffer));
      return rows_of(caps, out.get()) != before;
    };
    EXPECT_FALSE(changes()) << factory;
    rig.set(property, fixed);
    EXPECT_TRUE(changes()) << factory;
    rig.set(property, "-1");
    EXPECT_FALSE(changes()) << factory;
  }
}

/// The noise is that of the frame which is filtered, not of its neighbours.
TEST(Nlmeans, NoiseIsThatOfTheFrameThatComesOut) {
  const std::string caps = video_caps("GRAY8", 96, 64);
  Rig rig({{"temporal-radius", "1"}, {"search-radius", "2"}}, "nlmeans");
  rig.caps(caps);
  std::vector<BufferPtr> frames;
  std::vector<GstBuffer*> window;
  for (const int amplitude : {1, 30, 1}) {
    frames.push_back(shaded(caps, amplitude, frames.size()));
    window.push_back(frames.back().get());
    BufferPtr copy(gst_buffer_copy_deep(window.back()));
    GST_BUFFER_PTS(copy.get()) = time_of(frames.size() - 1);
    EXPECT_EQ(rig.push(std::move(copy)), GST_FLOW_OK);
  }
  denoise::Settings s;
  s.search_radius = 2;
  s.follows = true;
  s.range = 0.7 * 0.7;
  const BufferPtr first = rig.pull(), middle = rig.pull();
  ASSERT_TRUE(first && middle);
  EXPECT_TRUE(rows_of(caps, first.get()) == rows_of(caps, window[0])) << "clean";
  EXPECT_TRUE(is_filtered(rig, filtered(caps, window, 1, s), rows_of(caps, middle.get())));
  EXPECT_FALSE(rows_of(caps, middle.get()) == rows_of(caps, window[1]));
}

TEST(PatchBilateral, PropertiesAreSettings) {
  denoise::Settings s;
  s.patch_radius = 1;
  s.search_radius = 3;
  s.follows = s.follows_chroma = true;
  s.range = s.range_chroma = 2 * 0.85 * 0.85;
  s.spatial = 1 / 200.0;
  expect_asks_for("patchbilateral", {{"device", "auto"}}, s);
  expect_asks_for("patchbilateral", {{"sigma-range", "-1"}}, s, "RGB");
  s.follows = s.follows_chroma = false;
  s.range = s.range_chroma = 2 * 20 * 20;
  expect_asks_for("patchbilateral", {{"sigma-range", "20"}}, s);
  auto other = s;
  other.range = other.range_chroma = 2 * 90 * 90;
  expect_asks_for("patchbilateral", {{"sigma-range", "90"}}, other);
  other.spatial = 1 / (2 * 1.5 * 1.5);
  expect_asks_for("patchbilateral", {{"sigma-spatial", "1.5"}, {"sigma-range", "90"}}, other);
  other.search_radius = 2;
  expect_asks_for("patchbilateral", {{"window-radius", "2"}, {"sigma-spatial", "1.5"}, {"sigma-range", "90"}}, other);
  other.patch_radius = 0;
  other.chroma = denoise::Chroma::kJoint;
  expect_asks_for("patchbilateral",
                  {{"chroma", "joint"},
                   {"patch-radius", "0"},
                   {"window-radius", "2"},
                   {"sigma-spatial", "1.5"},
                   {"sigma-range", "90"}},
                  other, "I420");
}

TEST(Denoise, StrengthZeroChangesNothing) {
  for (const auto& [factory, property] : {std::pair{"nlmeans", "strength"}, {"patchbilateral", "sigma-range"}})
    for (const char* format : {"GRAY8", "I420_10LE", "GRAY16_LE", "RGB"}) {
      const std::string caps = video_caps(format, 20, 13);
      Rig rig({{property, "0"}, {"chroma", "joint"}}, factory);
      if (factory == std::string("nlmeans")) rig.set("search-radius", "2");
      rig.caps(caps);
      BufferPtr buffer = random_buffer(caps, 9);
      // Padding bits come out as 0, so they have to be so for a comparison.
      const auto same = filtered(caps, buffer.get(), [] {
        denoise::Settings s;
        s.search_radius = 0;
        s.chroma = denoise::Chroma::kJoint;
        return s;
      }());
      const BufferPtr out = rig.pass(std::move(buffer));
      ASSERT_TRUE(out);
      EXPECT_TRUE(rows_of(caps, out.get()) == same.rows) << factory << " " << format;
    }
}

TEST(Denoise, ThreadsMakeTheSame) {
  const std::string caps = video_caps("I420", 61, 37);
  std::vector<std::uint8_t> first;
  for (const char* threads : {"1", "2", "0", "256"}) {
    FilterRig rig({{"n-threads", threads}, {"chroma", "separate"}});
    rig.caps(caps);
    const BufferPtr out = rig.pass(random_buffer(caps, 4));
    ASSERT_TRUE(out);
    const auto rows = rows_of(caps, out.get());
    if (first.empty()) first = rows;
    EXPECT_TRUE(rows == first) << threads;
  }
}

TEST(Denoise, PipelinesRunToTheirEnd) {
  for (const char* launch :
       {"videotestsrc pattern=snow num-buffers=4 ! video/x-raw,width=48,height=32 ! nlmeans search-radius=1 "
        "chroma=joint temporal-radius=1 ! videoconvert ! fakesink",
        "videotestsrc num-buffers=4 ! video/x-raw,format=RGB,width=48,height=32 ! patchbilateral ! queue ! "
        "nlmeans search-radius=1 ! videoscale ! video/x-raw,width=24 ! fakesink",
        "videotestsrc num-buffers=4 ! video/x-raw,format=Y444_12LE,width=48,height=32 ! patchbilateral ! "
        "nlmeans search-radius=2 center-weight=max sigma=-1 ! fakesink"}) {
    const Heard heard = run(launch);
    EXPECT_TRUE(heard.eos && heard.warnings.empty()) << launch;
  }
  const Heard scored =
      run("videotestsrc pattern=snow num-buffers=4 ! video/x-raw,format=GRAY8,width=48,height=32 ! nlmeans "
          "search-radius=1 patch-radius=1 strength=100 temporal-radius=2 ! sharpnessmeter ! fakesink");
  EXPECT_EQ(scored.results.size(), 4u);
}

// --- Oracle ---------------------------------------------------------------------------------------------------------

fs::path oracle_folder() {
  const char* root = g_getenv("FQ_SOURCE_ROOT");
  return fs::path(root ? root : ".") / "../shared/oracles/denoise";
}

/// A row of params.csv, its fields by name.
std::vector<std::map<std::string, std::string>> cases() {
  std::ifstream file(oracle_folder() / "params.csv");
  std::vector<std::map<std::string, std::string>> all;
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
    if (names.empty()) {
      names = fields;
      continue;
    }
    all.emplace_back();
    for (std::size_t i = 0; i < fields.size(); ++i) all.back()[names[i]] = fields[i];
  }
  return all;
}

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> codes;
};
Picture load(const std::string& name) {
  PictureSet set = load_pictures((oracle_folder() / (name + ".png")).string());
  return {set.width, set.height, set.pictures.begin()->second};
}

/// The numbers of a .npy file, as they lie there.
template <class T>
std::vector<T> load_array(const std::string& name) {
  std::ifstream file(oracle_folder() / (name + ".npy"), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  if (bytes.size() < 10) return {};
  const std::size_t begin = 10 + static_cast<std::uint8_t>(bytes[8]) + 256u * static_cast<std::uint8_t>(bytes[9]);
  std::vector<T> numbers((bytes.size() - begin) / sizeof(T));
  std::memcpy(numbers.data(), bytes.data() + begin, numbers.size() * sizeof(T));
  return numbers;
}

/// The frame's codes are the oracle's unrounded ones, rounded.
void expect_rounded(const std::string& caps, GstBuffer* buffer, const std::string& oracle) {
  const auto codes = rows_of(caps, buffer);
  const auto want = load_array<double>(oracle);
  ASSERT_EQ(codes.size(), want.size()) << oracle;
  double most = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) most = std::max(most, std::abs(codes[i] - want[i]));
  EXPECT_LE(most, 0.51) << oracle;
}

BufferPtr frame_of(const std::uint8_t* codes, int width, int height, std::uint64_t number) {
  const GstVideoInfo info = video_info(video_caps("GRAY8", width, height));
  BufferPtr buffer(gst_buffer_new_allocate(nullptr, info.size, nullptr));
  for (int y = 0; y < height; ++y)
    gst_buffer_fill(buffer.get(), static_cast<gsize>(y * info.stride[0]), codes + y * width, static_cast<gsize>(width));
  GST_BUFFER_PTS(buffer.get()) = time_of(number);
  return buffer;
}

TEST(Denoise, OracleCasesComeOutOfTheElements) {
  if (!fs::exists(oracle_folder())) GTEST_SKIP() << "no oracles in " << oracle_folder();
  int compared = 0;
  for (auto& c : cases()) {
    const bool nlm = c["algo"] == "nlm";
    if ((!nlm && (c["algo"] != "pbf" || c["form"] != "n")) || c["border"] != "symmetric") continue;
    const Picture in = load(c["input"]);
    Rig rig({}, nlm ? "nlmeans" : "patchbilateral");
    rig.set("patch-radius", c["ds"].c_str());
    rig.set(nlm ? "search-radius" : "window-radius", c["Ds"].c_str());
    if (nlm) {
      rig.set("strength", c["h"].c_str());
      rig.set("sigma", c["sigma"].c_str());
      rig.set("center-weight", c["center"] == "max" ? "max" : "one");
    } else {
      rig.set("sigma-spatial", c["sigma_d"].c_str());
      rig.set("sigma-range", c["sigma_r"].c_str());
    }
    const std::string caps = video_caps("GRAY8", in.width, in.height);
    rig.caps(caps);
    const BufferPtr out = rig.pass(frame_of(in.codes.data(), in.width, in.height, 0));
    ASSERT_TRUE(out);
    expect_rounded(caps, out.get(), c["output"]);
    ++compared;
  }
  EXPECT_GE(compared, 34);
}

TEST(Denoise, TemporalOracleComesOutOfTheElement) {
  if (!fs::exists(oracle_folder())) GTEST_SKIP() << "no oracles in " << oracle_folder();
  const auto codes = load_array<std::uint8_t>("in_temporal3_rain97x64");
  constexpr int kWidth = 97, kHeight = 64, kSize = kWidth * kHeight;
  ASSERT_EQ(codes.size(), std::size_t{3 * kSize});
  Rig rig({{"strength", "18"}, {"patch-radius", "3"}, {"search-radius", "5"}, {"temporal-radius", "1"}}, "nlmeans");
  const std::string caps = video_caps("GRAY8", kWidth, kHeight);
  rig.caps(caps);
  for (std::uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(rig.push(frame_of(codes.data() + i * kSize, kWidth, kHeight, i)), GST_FLOW_OK);
  rig.pull();
  const BufferPtr middle = rig.pull();
  ASSERT_TRUE(middle) << "the third frame completes the second's window";
  expect_rounded(caps, middle.get(), "out_nlmtemporal_00");
}

}  // namespace
}  // namespace framequality::test
