// SPDX-License-Identifier: LGPL-2.1-or-later
// framequality-watch's folder of images: what is kept, what goes, what is never touched.
#include "apps/watch/snapshots.h"
#include "tests/apps/folder.h"

#include <glib/gstdio.h>

#include <gtest/gtest.h>
#include <stdexcept>
#include <unistd.h>

namespace framequality::apps::watch {
namespace {

namespace fs = std::filesystem;

const std::string kJpeg = "\xff\xd8\xff\xd9";
constexpr gint64 kTime = 1'795'402'862'003'999;
constexpr std::size_t kSize = 4 + 4 + 18 + 16;  // with its mark and its number

TEST(WatchSnapshots, KeepTheNewest) {
  const Folder folder;
  Snapshots snapshots(folder / "new/folder", 3, 1'000'000);
  for (int i = 0; i < 10; ++i) snapshots.save("gate", kTime + i * 1000, i % 2 ? "dark" : "good", kJpeg);
  EXPECT_EQ(folder.names(), std::vector<std::string>{"new"});
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder / "new/folder")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"gate-20261123T030102.010Z-dark.jpg", "gate-20261123T030102.011Z-good.jpg",
                                             "gate-20261123T030102.012Z-dark.jpg"}));
  const std::string picture = content(folder / "new/folder/" + names[0]);
  EXPECT_EQ(picture.size(), kSize);
  EXPECT_TRUE(picture.starts_with("\xff\xd8\xff\xfe")) << "still a JPEG";
}

TEST(WatchSnapshots, GoInTheOrderTheyWereWrittenWhateverTheClockSays) {
  const Folder folder;
  constexpr gint64 kYear = gint64{365} * 24 * 3600 * G_USEC_PER_SEC;
  const auto years = [&] {
    std::string all;
    for (const std::string& name : folder.names()) all += name.substr(name.find('-') + 1, 4) + ' ';
    return all;
  };
  {
    Snapshots ahead(folder.path(), 4, 1'000'000);
    for (int i = 0; i < 6; ++i) ahead.save("gate", kTime + kYear + i * 1000, "good", kJpeg);
    for (int i = 0; i < 2; ++i) ahead.save("gate", kTime + i * 1000, "good", kJpeg);
    EXPECT_EQ(years(), "2026 2026 2027 2027 ") << "set back in a run";
  }
  for (int run = 1; run <= 3; ++run) {
    // All at one time, as after a copy.
    for (const std::string& name : folder.names()) fs::last_write_time(folder / name, fs::file_time_type{});
    Snapshots again(folder.path(), 4, 1'000'000);
    again.save("gate", kTime - run * kYear, "good", kJpeg);
  }
  EXPECT_EQ(years(), "2023 2024 2025 2026 ") << "set back further before each start";
  EXPECT_TRUE(fs::exists(folder / "gate-20261123T030102.004Z-good.jpg"));
}

TEST(WatchSnapshots, OfVersionsWithoutNumbersGoFirst) {
  const Folder folder;
  const auto comment = [](const std::string& text) {
    return std::string("\xff\xd8\xff\xfe") + '\0' + static_cast<char>(2 + text.size()) + text + "\xff\xd9";
  };
  write(folder / "a-20300101T000000.000Z-good.jpg", comment("framequality-watch"));
  write(folder / "b-20290101T000000.000Z-good.jpg", comment("framequality-watch"));
  // Ours as well, but their numbers are none.
  write(folder / "c-20280101T000000.000Z-good.jpg", comment("framequality-watch9999999999999999"));
  write(folder / "d-20280101T000000.000Z-good.jpg", comment("framequality-watch00000000000x0001"));
  write(folder / "e-20280101T000000.000Z-good.jpg", comment("framequality-watch7"));
  write(folder / "f-20280101T000000.000Z-good.jpg", comment("framequality-watch").substr(0, 20));  // not ours
  write(folder / "g-20280101T000000.000Z-good.jpg", comment("framequality-watch0000000000000007"));
  Snapshots snapshots(folder.path(), 7, 1'000'000);
  std::vector<std::string> left = folder.names();
  const auto expect_gone = [&](const char* first, int millisecond) {
    snapshots.save("z", kTime + millisecond * 1000, "good", kJpeg);
    left.erase(left.begin() +
               (std::find_if(left.begin(), left.end(), [&](auto& n) { return n.starts_with(first); }) - left.begin()));
    std::vector<std::string> now = folder.names();
    std::erase_if(now, [](const std::string& name) { return name.starts_with("z"); });
    EXPECT_EQ(now, left) << first;
  };
  snapshots.save("z", kTime, "good", kJpeg);
  expect_gone("c", 1);
  expect_gone("d", 2);
  expect_gone("e", 3);
  expect_gone("b", 4);
  expect_gone("a", 5);
  expect_gone("g", 6);
}

TEST(WatchSnapshots, AreBoundedInBytes) {
  const Folder folder;
  Snapshots snapshots(folder.path(), 1000, 2 * kSize);
  for (int i = 0; i < 5; ++i) snapshots.save("a", kTime + i * 1000, "good", kJpeg);
  EXPECT_EQ(folder.names().size(), 2u);
  EXPECT_THROW(snapshots.save("a", kTime + 9000, "good", kJpeg + std::string(100, 'x')), std::runtime_error);
  EXPECT_EQ(folder.names().size(), 2u) << "what is too large for the folder removes nothing";
}

TEST(WatchSnapshots, ForeignFilesStay) {
  const Folder folder;
  const std::vector<std::string> foreign = {
      "gate-20200101T000000.000Z-good.jpg",  // called so, but not ours
      "gate-20200101T000000.000Z-good.png",       "holiday.jpg", "notes.txt", "-20200101T000000.000Z-good.jpg",
      "gate-20200101T000000.000Z-good.jpg.abcdef"};
  for (const std::string& name : foreign) write(folder / name, "mine");
  g_mkdir((folder / "gate-20200101T000001.000Z-good.jpg").c_str(), 0777);
  ASSERT_EQ(symlink("notes.txt", (folder / "gate-20200101T000002.000Z-good.jpg").c_str()), 0);
  {
    Snapshots first(folder.path(), 5, 1'000'000);
    first.save("gate", kTime, "good", kJpeg);
    first.save("gate", kTime + 1000, "good", kJpeg);
  }
  const std::string mine = folder / "gate-20261123T030102.003Z-good.jpg";
  ASSERT_TRUE(fs::exists(mine));
  // What an earlier run wrote counts, and goes; a draft of a run that was killed goes at once.
  fs::copy_file(mine, mine + ".AbC123");
  Snapshots second(folder.path(), 1, 1'000'000);
  second.save("gate", kTime + 2000, "good", kJpeg);
  std::vector<std::string> expected = foreign;
  expected.insert(expected.end(), {"gate-20200101T000001.000Z-good.jpg", "gate-20200101T000002.000Z-good.jpg",
                                   "gate-20261123T030102.005Z-good.jpg"});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(folder.names(), expected);
  // Somebody's file in the place of one of ours.
  write(folder / "gate-20261123T030102.005Z-good.jpg", "mine");
  second.save("gate", kTime + 3000, "good", kJpeg);
  EXPECT_EQ(content(folder / "gate-20261123T030102.005Z-good.jpg"), "mine");
  write(folder / "gate-20261123T030102.007Z-good.jpg", "mine");
  EXPECT_THROW(second.save("gate", kTime + 4000, "good", kJpeg), std::runtime_error);
  EXPECT_EQ(content(folder / "gate-20261123T030102.007Z-good.jpg"), "mine");
}

TEST(WatchSnapshots, HostileNamesStayInTheFolder) {
  const Folder folder;
  Snapshots snapshots(folder / "in", 100, 1'000'000);
  for (const char* name : {"../../up", "/etc/passwd", "a\nb", "..", "", "-rf", "\xff", "a b;$(x)"})
    EXPECT_TRUE(snapshots.save(name, kTime, "good", kJpeg).starts_with(folder / "in/")) << name;
  EXPECT_EQ(folder.names(), std::vector<std::string>{"in"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder / "in"), {}), 8);
}

}  // namespace
}  // namespace framequality::apps::watch
