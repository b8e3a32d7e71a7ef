// SPDX-License-Identifier: LGPL-2.1-or-later
// Tests of camerawatch's baseline file: whole or not at all, and nothing but its own.
#include "gst/camerawatch/baseline_file.h"
#include "tests/gst/camerawatch/rig.h"
#include "tests/support/eventually.h"

#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace framequality::test {
namespace {

Baseline some_baseline() {
  Baseline b;
  LevelBaseline& l = b.levels()[5];
  l = {.seconds = 61.25,
       .score = 0.1 + 0.2,
       .low = -1.0 / 3,
       .noise = 1,
       .energy = -4.75,
       .restless = 0.01,
       .activity = 1e-7,
       .longest_still = 2.5,
       .pattern = {},
       .floor = -9,
       .view = {}};
  for (int i = 0; i < 48; ++i) l.pattern.push_back(i / 7.0 - 3);
  for (int i = 0; i < 48; ++i) l.view.usual.push_back(3 - i / 11.0), l.view.spread.push_back(i / 13.0);
  l.view.floor = -5.5;
  l.view.seconds = 47.5;
  b.levels()[2] = {.seconds = 100,
                   .score = 1,
                   .low = 0.5,
                   .noise = kUnknown,
                   .energy = kUnknown,
                   .restless = 0,
                   .activity = 0,
                   .longest_still = 0,
                   .pattern = {},
                   .floor = 0,
                   .view = {}};
  return b;
}
const ScoreKind kKind{"mean-square-frequency", "none", 640, 480, 8, 6};

TEST(CameraBaseline, TextReadsBackToTheLastBit) {
  const Baseline before = some_baseline();
  Baseline after;
  ScoreKind kind;
  from_text(to_text(before, kKind), after, kind);
  EXPECT_EQ(kind, kKind);
  for (std::size_t i = 0; i < before.levels().size(); ++i) {
    const LevelBaseline &a = before.levels()[i], &b = after.levels()[i];
    EXPECT_EQ(a.learned(), b.learned());
    EXPECT_EQ(a.score, b.score);
    EXPECT_EQ(a.low, b.low);
    EXPECT_EQ(std::isnan(a.noise), std::isnan(b.noise));
    EXPECT_EQ(a.activity, b.activity);
    EXPECT_EQ(a.pattern, b.pattern);
    EXPECT_EQ(a.view.usual, b.view.usual);
    EXPECT_EQ(a.view.spread, b.view.spread);
    EXPECT_EQ(a.view.floor, b.view.floor);
    EXPECT_EQ(a.view.seconds, b.view.seconds);
  }
}

/// The text with its checksum made right again.
std::string with_sum(std::string text) {
  text.erase(text.rfind("# sha256 "));
  gchar* sum =
      g_compute_checksum_for_data(G_CHECKSUM_SHA256, reinterpret_cast<const guchar*>(text.data()), text.size());
  text += std::string("# sha256 ") + sum + "\n";
  g_free(sum);
  return text;
}

// As files up to version 0.2 are: without a template, some with a `spread`.
TEST(CameraBaseline, FilesWithoutATemplateAreTaken) {
  Baseline before = some_baseline(), after;
  for (LevelBaseline& level : before.levels()) level.view = {};
  ScoreKind kind;
  for (const char* spread : {"", "spread=0;0.5;\n"}) {
    std::string text = to_text(before, kKind);
    text.insert(text.rfind("# sha256 "), spread);
    from_text(with_sum(text), after, kind);
    EXPECT_EQ(after.levels()[5].pattern, before.levels()[5].pattern);
    EXPECT_FALSE(after.levels()[5].view.learned());
  }
}

TEST(CameraBaseline, DamagedTextIsRefused) {
  const std::string good = to_text(some_baseline(), kKind);
  Baseline b;
  ScoreKind kind;
  // Each byte changed, and each beginning.
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    EXPECT_THROW(from_text(bad, b, kind), BadBaseline) << i;
    EXPECT_THROW(from_text(good.substr(0, i), b, kind), BadBaseline) << i;
  }
  EXPECT_THROW(from_text(good + "x", b, kind), BadBaseline);
  EXPECT_TRUE(b.empty());
}

TEST(CameraBaseline, ImpossibleFiguresAreRefused) {
  const std::string good = to_text(some_baseline(), kKind);
  Baseline b;
  ScoreKind kind;
  const std::pair<const char*, const char*> changes[] = {{"version=1", "version=2"},
                                                         {"zone-columns=8", "zone-columns=9"},
                                                         {"zone-rows=6", "zone-rows=99"},
                                                         {"width=640", "width=-1"},
                                                         {"metric=", "matric="},
                                                         {"seconds=61.25", "seconds=-1"},
                                                         {"seconds=61.25", "seconds=nan"},
                                                         {"low=-0.33", "low=1e400"},
                                                         {"longest-still=2.5", "longest-still=x"},
                                                         {"[level 5]", "[level 5]\nscore=999"},
                                                         {"restless=0.01", "restless=inf"},
                                                         {"floor=-9", "flaw=-9"},
                                                         {"view-floor=-5.5", "view-flaw=1"},
                                                         {"view=3;", "view=1e9;"},
                                                         {"view-spread=0;", "view-spread=-1;"},
                                                         {"view-spread=0;", "view-spread="}};
  for (const auto& [from, to] : changes) {
    std::string bad = good;
    const std::size_t at = bad.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    bad.replace(at, std::strlen(from), to);
    if (std::string(to).find("score=999") != std::string::npos) bad.replace(bad.find("score=0.3"), 7, "scoru=0");
    EXPECT_THROW(from_text(with_sum(bad), b, kind), BadBaseline) << to;
  }
}

TEST(CameraBaseline, AnyBytesAreRefusedWithAReason) {
  Random random(1);
  for (int run = 0; run < 500; ++run) {
    std::string bytes(random.next() % 400, ' ');
    for (char& c : bytes) c = static_cast<char>(random.next());
    if (run % 2) bytes = with_sum(bytes + "\n# sha256 ");
    Baseline b;
    ScoreKind kind;
    EXPECT_THROW(from_text(bytes, b, kind), BadBaseline);
  }
}

TEST(CameraBaseline, IsKeptAcrossRestarts) {
  const Folder folder;
  const std::string file = folder.file("gate.baseline");
  {
    CameraRig rig({{"baseline-location", file.c_str()}});
    rig.see(70);
  }
  EXPECT_EQ(folder.files(), 1U);
  CameraRig rig({{"baseline-location", file.c_str()}});
  EXPECT_EQ(rig.state(), "good");
  EXPECT_EQ(rig.see(12, {.score = 0.5}), "defocused good @10");
  EXPECT_EQ(rig.see(10), "recovered defocused @17");
  EXPECT_TRUE(rig.warnings.empty());
}

TEST(CameraBaseline, IsWrittenWhenItIsLearned) {
  const Folder folder;
  const std::string file = folder.file("gate.baseline");
  CameraRig rig({{"baseline-location", file.c_str()}});
  rig.see(50);
  EXPECT_EQ(folder.files(), 0U);
  rig.see(15);
  eventually([&] { return folder.files() > 0; });  // by another thread
  EXPECT_EQ(folder.files(), 1U);
}

TEST(CameraBaseline, FileOfOthersIsLeftAlone) {
  const Folder folder;
  const std::string file = folder.file("diary.txt");
  for (const std::string& content : {std::string("Dear diary"), std::string(), std::string(5 << 20, 'x')}) {
    write(file, content);
    {
      CameraRig rig({{"baseline-location", file.c_str()}});
      rig.see(70);
      EXPECT_EQ(rig.state(), "good");
      ASSERT_EQ(rig.warnings.size(), 1U);
      EXPECT_NE(rig.warnings[0].find(file), std::string::npos) << rig.warnings[0];
      EXPECT_NE(rig.warnings[0].find("leaving the file as it is"), std::string::npos) << rig.warnings[0];
    }
    EXPECT_EQ(content_of(file), content);
  }
  CameraRig folder_rig({{"baseline-location", folder.file("").c_str()}});
  folder_rig.see(1);
  EXPECT_EQ(folder_rig.warnings.size(), 1U);
}

TEST(CameraBaseline, WhatCannotBeWrittenIsSaidOnce) {
  const Folder folder;
  CameraRig rig({{"baseline-location", folder.file("no/such/folder").c_str()}});
  rig.see(70);
  eventually([&] {
    rig.said();
    return !rig.warnings.empty();
  });
  rig.see(1300);
  g_usleep(100'000);
  rig.said();
  ASSERT_EQ(rig.warnings.size(), 1U);
  EXPECT_NE(rig.warnings[0].find("Cannot write the baseline"), std::string::npos) << rig.warnings[0];
}

TEST(CameraBaseline, OfAnotherMeterIsLearnedAnew) {
  const Folder folder;
  const std::string file = folder.file("gate.baseline");
  {
    CameraRig rig({{"baseline-location", file.c_str()}});
    rig.see(70);
  }
  CameraRig rig({{"baseline-location", file.c_str()}});
  EXPECT_EQ(rig.see(70, {.metric = "tenengrad"}), "learning good @0, good learning @60");
  EXPECT_EQ(rig.warnings.size(), 1U);
}

}  // namespace
}  // namespace framequality::test
