// SPDX-License-Identifier: LGPL-2.1-or-later
// Image sets: natural order, what is chosen and why.
#include "apps/scan/set.h"

#include "apps/common/natural_order.h"
#include "apps/scan/files.h"
#include "apps/scan/selection.h"

#include <gst/gst.h>

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace framequality::apps::scan {
namespace {

using Names = std::vector<std::string>;
using Fate = Verdict::Fate;

TEST(NaturalOrder, DigitsCountByValue) {
  const Names sorted{"",
                     "IMG_1.jpg",
                     "IMG_01.jpg",
                     "IMG_001.jpg",
                     "IMG_2.jpg",
                     "IMG_2a.jpg",
                     "IMG_9.jpg",
                     "IMG_10.jpg",
                     "IMG_99999999999999999998.jpg",
                     "IMG_99999999999999999999.jpg",
                     "IMG_a.jpg",
                     "img_0.jpg",
                     "img_00.jpg",
                     "img_0a.jpg",
                     "\xff.jpg"};
  Names shuffled = sorted;
  std::mt19937 random(1);
  for (int i = 0; i < 20; ++i) {
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::sort(shuffled.begin(), shuffled.end(), natural_less);
    ASSERT_EQ(shuffled, sorted);
  }
}

TEST(NaturalOrder, AFoldersFilesStandTogether) {
  // Neither other characters nor zeros in a folder's name mix the files of two.
  Names names{"1/b", "a b/1", "01/a", "a/2", "1/a", "a/10", "01/b", "a"};
  std::sort(names.begin(), names.end(), natural_less);
  EXPECT_EQ(names, (Names{"1/a", "1/b", "01/a", "01/b", "a", "a/2", "a/10", "a b/1"}));
}

TEST(NaturalOrder, IsAnOrder) {
  std::mt19937 random(2);
  const std::string letters = "0019a/_\xe4";
  std::vector<std::string> names(60);
  for (std::string& name : names)
    for (unsigned length = random() % 7; length > 0; --length) name += letters[random() % letters.size()];
  for (const std::string& a : names)
    for (const std::string& b : names) {
      EXPECT_FALSE(natural_less(a, b) && natural_less(b, a)) << a << ' ' << b;
      EXPECT_EQ(a == b, !natural_less(a, b) && !natural_less(b, a)) << a << ' ' << b;
      for (const std::string& c : names)
        EXPECT_TRUE(!natural_less(a, b) || !natural_less(b, c) || natural_less(a, c)) << a << ' ' << b << ' ' << c;
    }
}

Names fates(const std::vector<Verdict>& verdicts) {
  Names all;
  for (const Verdict& v : verdicts)
    all.push_back(std::string(1, "+<=~"[static_cast<int>(v.fate)]) + std::to_string(v.other));
  return all;
}

TEST(ScanSelection, BestOfPicturesEarlierOfEquals) {
  const std::vector<Candidate> set{{0, 0, 0, 5}, {1, 1, 0, 9}, {2, 2, 0, 7}, {3, 3, 0, 9}, {4, 4, 0, 7}};
  const std::vector<std::uint64_t> apart(5, 0);
  EXPECT_EQ(fates(choose_best(set, 3, apart)), (Names{"<2", "+1", "+2", "+3", "=2"}));
  EXPECT_EQ(fates(choose_best(set, 1, apart)), (Names{"<1", "+1", "<1", "=1", "<1"}));
  EXPECT_EQ(fates(choose_best(set, 9, apart)), (Names{"+0", "+1", "+2", "+3", "+4"}));
  EXPECT_TRUE(choose_best({}, 2, {}).empty());
}

TEST(ScanSelection, FramesOfOneVideoKeepTheirDistance) {
  std::vector<Candidate> set;
  for (std::size_t i = 0; i < 6; ++i) set.push_back({0, i, i * 10, 10.0 - static_cast<double>(i)});
  set.push_back({1, 6, 0, 1});  // another video: no neighbour of the first
  EXPECT_EQ(fates(choose_best(set, 3, {20, 20})), (Names{"+0", "~0", "+2", "~2", "+4", "~4", "<4"}));
  set[6].score = 9.5;
  EXPECT_EQ(fates(choose_best(set, 2, {20, 20})), (Names{"+0", "~0", "<6", "<6", "<6", "<6", "+6"}));
}

TEST(ScanSelection, ThereIsRoomForAllThatWereAsked) {
  std::mt19937 random(3);
  for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{20}}) {
    std::vector<Candidate> set;
    for (std::uint64_t i = 0; i < 1000; ++i)
      set.push_back({i < 700 ? std::size_t{0} : std::size_t{1}, i, i * 40, static_cast<double>(random() % 1000)});
    const std::uint64_t apart = least_distance({28'000, 12'000}, count);
    const auto verdicts = choose_best(set, count, {apart, apart});
    EXPECT_EQ(std::count_if(verdicts.begin(), verdicts.end(), [](const Verdict& v) { return v.fate == Fate::kChosen; }),
              static_cast<std::ptrdiff_t>(count));
  }
}

TEST(ScanSelection, EveryKPlacesAndEverySecond) {
  // Place 2 is a picture that could not be read.
  const std::vector<Candidate> set{{0, 0, 0, 1}, {1, 1, 0, 2}, {3, 3, 0, 5}, {4, 4, 0, 5}, {5, 5, 0, 4}, {6, 6, 0, 0}};
  EXPECT_EQ(fates(choose_every(set, {3, 0})), (Names{"<1", "+1", "+2", "=2", "<2", "+5"}));
  const std::vector<Candidate> frames{{0, 0, 0, 1, 1},    {0, 1, 999, 2, 1}, {0, 2, 1000, 0, 1},
                                      {0, 3, 5000, 7, 1}, {1, 4, 0, 1, 2},   {2, 5, 500, 0, 2}};
  EXPECT_EQ(fates(choose_every(frames, {0, 1000})), (Names{"<1", "+1", "+2", "+3", "+4", "<4"}));
}

Options set_of(const Names& names) {
  Options options;
  options.set = true;
  options.inputs = choose_inputs(names, {});
  return options;
}

Member picture(double score) {
  Member member;
  member.picture = true;
  member.timed = false;
  member.decoded = 1;
  member.width = 40;
  member.height = 30;
  member.moments = {{0, 0, score}};
  return member;
}

TEST(ScanSet, SaysOfEveryPictureWhyItIsOut) {
  Options options = set_of({"a.jpg", "b.jpg", "c.jpg", "d.jpg"});
  options.best = 1;
  Set set(options);
  Member broken;
  broken.error = "damaged";
  set.add(3, picture(5));
  set.add(1, broken);
  set.add(0, picture(4));
  set.add(2, picture(5));
  const Selected selected = set.choose();
  ASSERT_EQ(selected.chosen.size(), 1U);
  EXPECT_EQ(selected.chosen[0].input, 2U);
  EXPECT_EQ(selected.candidates, 3U);
  EXPECT_EQ(selected.chosen[0].path, "c.jpg");
  EXPECT_EQ(selected.chosen[0].time, std::nullopt);
  Names reasons;
  for (const RejectedInput& r : selected.rejected) reasons.push_back(r.source + ": " + r.reason);
  EXPECT_EQ(reasons, (Names{"a.jpg: lower score than c.jpg", "b.jpg: damaged",
                            "d.jpg: same score as c.jpg, which comes first"}));
}

TEST(ScanSet, AVideoWithoutAChoiceIsOneEntry) {
  Options options = set_of({"a.mp4", "b.jpg"});
  options.best = 1;
  Set set(options);
  Member video;
  video.decoded = 4;
  video.length = 4'000'000'000;
  video.moments = {{0, 0, 1}, {2, 2'000'000'000, 3}, {3, 3'000'000'000, 2}};
  set.add(0, video);
  set.add(1, picture(4));
  Selected selected = set.choose();
  ASSERT_EQ(selected.rejected.size(), 1U);
  EXPECT_EQ(selected.rejected[0].frame, 2U);
  EXPECT_EQ(selected.rejected[0].time, 2'000'000'000U);
  EXPECT_EQ(selected.candidates, 4U);
  // Every 4 of the sequence: the video fills the first group, whatever of it was measured.
  options.best = 0;
  options.every = Every{4, 0};
  Set every(options);
  every.add(0, video);
  every.add(1, picture(1));
  selected = every.choose();
  ASSERT_EQ(selected.chosen.size(), 2U);
  EXPECT_EQ(selected.chosen[1].input, 1U);
  EXPECT_EQ(selected.chosen[0].frame, 2U);
}

TEST(ScanSet, PicturesOfOneSecondAreOneGroup) {
  gst_init(nullptr, nullptr);
  Options options = set_of({"a.jpg", "b.jpg", "c.jpg"});
  options.every = Every{0, 1'000'000'000};
  Set set(options);
  for (std::size_t i = 0; i < 3; ++i) {
    Result result;
    result.video.picture = true;
    result.video.tags.reset(
        gst_tag_list_new(GST_TAG_DATE_TIME, gst_date_time_new(0.0F, 2024, 5, 6, 7, 8, i < 2 ? 9.0 : 10.0), nullptr),
        [](GstTagList* list) { gst_tag_list_unref(list); });
    result.decoded = 1;
    result.moments = {{0, 0, static_cast<double>(i)}};
    set.add(i, Member(std::move(result)));
  }
  const Selected selected = set.choose();
  ASSERT_EQ(selected.chosen.size(), 2U);
  EXPECT_EQ(selected.chosen[0].source, "b.jpg");
  EXPECT_EQ(selected.chosen[0].time, std::nullopt);
  EXPECT_EQ(selected.chosen[1].source, "c.jpg");
}

TEST(ScanSet, RefusesWhatItCannotDo) {
  Options options = set_of({"a.jpg"});
  options.every = Every{0, 1'000'000'000};
  Set timed(options);
  EXPECT_THROW(timed.add(0, picture(1)), std::runtime_error);
}

}  // namespace
}  // namespace framequality::apps::scan
