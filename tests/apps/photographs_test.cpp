// SPDX-License-Identifier: LGPL-2.1-or-later
// Photographs of a set: when they were taken, which show the same, and their ratings.
#include "apps/common/perceptual_hash.h"
#include "apps/common/taken.h"
#include "apps/scan/groups.h"
#include "apps/scan/selection.h"
#include "apps/scan/sidecars.h"
#include "tests/apps/folder.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace framequality::apps::scan {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000, kMillisecond = 1'000'000;
constexpr std::uint64_t kNewYear2024 = 1'704'067'200 * kSecond;

/// An EXIF block of texts, all in the first directory.
std::string exif(const std::vector<std::pair<std::uint16_t, std::string>>& texts, bool big = false) {
  const auto number = [big](std::size_t value, int size) {
    std::string bytes;
    for (int i = 0; i < size; ++i) bytes += static_cast<char>(value >> (8 * (big ? size - 1 - i : i)));
    return bytes;
  };
  std::string head = (big ? "MM" : "II") + number(42, 2) + number(8, 4) + number(texts.size(), 2), data;
  const std::size_t from = head.size() + 12 * texts.size() + 4;
  for (const auto& [tag, text] : texts) {
    const std::string bytes = text + '\0';
    head += number(tag, 2) + number(2, 2) + number(bytes.size(), 4);
    if (bytes.size() <= 4) {
      head += bytes + std::string(4 - bytes.size(), '\0');
    } else {
      head += number(from + data.size(), 4);
      data += bytes;
    }
  }
  return head + number(0, 4) + data;
}

TEST(Taken, IsToThePartOfASecondInBothByteOrders) {
  for (const bool big : {false, true}) {
    const Taken taken =
        taken_of(exif({{0x0110, "Camera "}, {0x9003, "2024:01:01 00:00:02"}, {0x9291, "05"}}, big), 2 * kNewYear2024);
    ASSERT_TRUE(taken.time) << taken.fault;
    EXPECT_EQ(*taken.time, kNewYear2024 + 2 * kSecond + 50 * kMillisecond);
    EXPECT_EQ(taken.camera, "/Camera/");
  }
}

TEST(Taken, SaysWhyThereIsNoTime) {
  const auto fault = [](const std::string& date) {
    return taken_of(exif({{0x9003, date}}), kNewYear2024 + kSecond).fault;
  };
  EXPECT_EQ(fault("2024:01:01 00:00:01"), "");
  EXPECT_EQ(fault("0000:00:00 00:00:00"), "an EXIF time of zero, or none that there is");
  EXPECT_EQ(fault("1970:01:01 00:00:00"), "an EXIF time of zero, or none that there is");
  EXPECT_EQ(fault("    :  :     :  :  "), "an EXIF time of zero, or none that there is");
  EXPECT_EQ(fault("2024:02:30 00:00:00"), "an EXIF time of zero, or none that there is");
  EXPECT_EQ(fault("2024:01:01 00:00:02"), "an EXIF time in the future");
  EXPECT_EQ(taken_of("").fault, "no EXIF time");
  // The next best date counts.
  EXPECT_TRUE(taken_of(exif({{0x0132, "2023:01:01 00:00:00"}, {0x9003, "0000:00:00 00:00:00"}})).time);
}

TEST(Taken, ReadsNothingBehindTheEndOfADamagedBlock) {
  const std::string whole = exif({{0x0110, "Camera"}, {0x9003, "2024:01:01 00:00:02"}});
  for (std::size_t size = 0; size < whole.size(); ++size) (void)taken_of(whole.substr(0, size));
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = '\xff';
    (void)taken_of(damaged);
  }
}

Likeness photograph(std::optional<double> seconds, std::optional<std::uint64_t> look = {}, const char* camera = "") {
  Likeness one;
  one.picture = true;
  if (seconds) one.taken.time = kNewYear2024 + static_cast<std::uint64_t>(std::llround(*seconds * 1e9));
  one.taken.camera = camera;
  one.look = look;
  return one;
}

using Groups = std::vector<std::size_t>;

TEST(Groups, BurstsAreByTimeOfEachCamera) {
  Options options;
  options.burst_gap = 3 * kSecond;
  EXPECT_EQ(groups_of({photograph(0), photograph(3), photograph(6.001), photograph(8)}, options), (Groups{0, 0, 1, 1}));
  // In whatever order they are listed, and whoever else was there.
  EXPECT_EQ(groups_of({photograph(7), photograph(0), photograph(1, {}, "b"), photograph(5)}, options),
            (Groups{0, 1, 2, 0}));
  EXPECT_EQ(groups_of({}, options), Groups{});
}

TEST(Groups, WithoutATimeTheListDecides) {
  Options options;
  options.burst_gap = 3 * kSecond;
  const Likeness timeless = photograph({});
  EXPECT_EQ(groups_of({timeless, photograph(0), timeless, timeless, photograph(1), timeless, photograph(9), timeless},
                      options),
            (Groups{0, 1, 1, 1, 1, 2, 3, 4}));
  EXPECT_EQ(groups_of({photograph(0), timeless, Likeness{}, photograph(1)}, options), (Groups{0, 1, 2, 0}));
}

TEST(Groups, NearDuplicatesAreNoChain) {
  Options options;
  options.similar = true;
  options.similar_distance = 2;
  // Each differs in two bits from the one before.
  EXPECT_EQ(groups_of({photograph({}, 0), photograph({}, 3), photograph({}, 15), photograph({}, 63)}, options),
            (Groups{0, 0, 1, 1}));
  // Either is enough where both are asked for.
  options.burst_gap = kSecond;
  EXPECT_EQ(groups_of({photograph(0, 0), photograph(1, 255), photograph(60, 1), Likeness{}}, options),
            (Groups{0, 0, 0, 1}));
}

TEST(Groups, TheBestOfEachAndOfThemTheBest) {
  using Fate = Verdict::Fate;
  const std::vector<Candidate> set{{0, 0, 0, 5}, {1, 1, 0, 9}, {2, 2, 0, 7}, {3, 3, 0, 9}, {4, 4, 0, 1}};
  auto verdicts = choose_of_groups(set, {0, 0, 1, 0, 2}, 0);
  EXPECT_EQ(verdicts[1].fate, Fate::kChosen);
  EXPECT_EQ(verdicts[2].fate, Fate::kChosen);
  EXPECT_EQ(verdicts[4].fate, Fate::kChosen);
  EXPECT_EQ(verdicts[0].fate, Fate::kLower);
  EXPECT_EQ(verdicts[3].fate, Fate::kLater);
  EXPECT_EQ(verdicts[3].other, 1U);
  verdicts = choose_of_groups(set, {0, 0, 1, 0, 2}, 2);
  EXPECT_EQ(verdicts[2].fate, Fate::kChosen);
  EXPECT_EQ(verdicts[4].fate, Fate::kLower);
  EXPECT_EQ(verdicts[4].other, 2U);
}

/// A scene of soft blobs.
Raster scene(int width, int height, double phase, double light = 1, double offset = 0) {
  Raster raster;
  raster.format = GST_VIDEO_FORMAT_GRAY8;
  raster.width = raster.stride = width;
  raster.height = height;
  raster.pixel = 1;
  raster.data = std::make_unique<std::uint8_t[]>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const double u = static_cast<double>(x) / width, v = static_cast<double>(y) / height;
      const double wave = std::sin(9 * u + phase) * std::cos(7 * v - phase) + std::sin(17 * u * v + 3 * phase);
      raster.row(y)[x] = static_cast<std::uint8_t>(100 + offset + 40 * light * wave);
    }
  return raster;
}

TEST(PerceptualHash, StaysWithSizeAndLightAndDiffersBetweenScenes) {
  const int usual = Options{}.similar_distance;
  const std::uint64_t hash = perceptual_hash(scene(256, 170, 0.3));
  EXPECT_LE(hash_distance(hash, perceptual_hash(scene(120, 80, 0.3))), usual / 2);
  EXPECT_LE(hash_distance(hash, perceptual_hash(scene(256, 170, 0.3, 0.7, 20))), usual / 2);
  EXPECT_LE(hash_distance(hash, perceptual_hash(scene(256, 170, 0.33))), usual);
  EXPECT_GT(hash_distance(hash, perceptual_hash(scene(256, 170, 2.2))), usual);
}

TEST(PerceptualHash, OfFlatAndTinyImagesIsTheSame) {
  EXPECT_EQ(perceptual_hash(scene(64, 64, 0, 0)), 0U);
  EXPECT_EQ(perceptual_hash(scene(1, 1, 0, 0, 90)), 0U);
  EXPECT_EQ(perceptual_hash(scene(3, 200, 1, 0, -90)), 0U);
}

Selected chosen_one(const std::string& chosen, const std::string& other) {
  Selected selected;
  ChosenFrame frame;
  frame.picture = true;
  frame.source = chosen;
  selected.chosen.push_back(frame);
  selected.rejected.push_back({other, 0, {}, 1.0, "lower", true, {}});
  return selected;
}

TEST(Sidecars, HaveTheNamesThatOthersLookFor) {
  EXPECT_EQ(sidecar_path("a/IMG_1.JPG"), "a/IMG_1.JPG.xmp");
  EXPECT_EQ(sidecar_path("a/IMG_1.NEF"), "a/IMG_1.xmp");
  EXPECT_EQ(sidecar_path("a.nef/IMG_1"), "a.nef/IMG_1.xmp");
}

TEST(Sidecars, ReplaceOnlyTheirOwn) {
  const Folder folder;
  const std::string a = folder.path() + "/a.jpg", b = folder.path() + "/b.jpg";
  SidecarCounts counts = write_sidecars(chosen_one(a, b));
  EXPECT_EQ(counts.written, 2U);
  EXPECT_EQ(content(a + ".xmp"), sidecar(5));
  EXPECT_EQ(content(b + ".xmp"), sidecar(1));
  EXPECT_EQ(write_sidecars(chosen_one(a, b)).same, 2U);
  // One star more by hand or another program, a link and a folder: not ours any more.
  std::ofstream(a + ".xmp", std::ios::app) << ' ';
  counts = write_sidecars(chosen_one(b, a));
  EXPECT_EQ(counts.written, 1U);
  EXPECT_EQ(counts.kept, std::vector<std::string>{a + ".xmp"});
  EXPECT_EQ(content(a + ".xmp"), sidecar(5) + ' ');
  EXPECT_EQ(content(b + ".xmp"), sidecar(5));
  unlink((a + ".xmp").c_str());
  ASSERT_EQ(symlink((b + ".xmp").c_str(), (a + ".xmp").c_str()), 0);
  unlink((b + ".xmp").c_str());
  ASSERT_EQ(mkdir((b + ".xmp").c_str(), 0777), 0);
  counts = write_sidecars(chosen_one(a, b));
  EXPECT_EQ(counts.kept.size(), 2U);
  EXPECT_EQ(counts.written, 0U);
}

TEST(Sidecars, OfWhatCannotBeReadThereIsNone) {
  const Folder folder;
  Selected selected;
  selected.rejected.push_back({folder.path() + "/a.jpg", {}, {}, {}, "damaged", false, {}});
  EXPECT_EQ(write_sidecars(selected).written, 0U);
  EXPECT_THROW(write_sidecars(chosen_one(folder.path() + "/gone/a.jpg", "b.jpg")), std::runtime_error);
}

}  // namespace
}  // namespace framequality::apps::scan
