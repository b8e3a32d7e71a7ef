// SPDX-License-Identifier: LGPL-2.1-or-later
// The parts of framequality-scan that need no video: text, lists, moments, rows, files, the bar.
#include "apps/common/draft_file.h"
#include "apps/common/program.h"
#include "apps/common/text.h"
#include "apps/scan/files.h"
#include "apps/scan/moments.h"
#include "apps/scan/progress.h"
#include "apps/scan/table.h"

#include <glib.h>
#include <glib/gstdio.h>

#include <array>
#include <cerrno>
#include <clocale>
#include <condition_variable>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <mutex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

namespace framequality::apps::scan {
namespace {

TEST(ScanText, CsvQuotesWhatRfc4180Asks) {
  EXPECT_EQ(csv_field("plain.mp4"), "plain.mp4");
  EXPECT_EQ(csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_field("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(csv_field("return\r"), "\"return\r\"");
  EXPECT_EQ(csv_field(" padded"), "\" padded\"");
  EXPECT_EQ(csv_field("\xff,"), "\"\uFFFD,\"");
}

TEST(ScanText, PrintableIsOneHarmlessLine) {
  EXPECT_EQ(printable("a\nb\x1b[31m\xff \u00e4"), "a\\nb\\x1b[31m\\xff \u00e4");
  EXPECT_EQ(printable("\u009b"), "\\x9b");
}

TEST(ScanText, ShortenedKeepsBothEnds) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghij", 5), "ab~ij");
  EXPECT_EQ(shortened("\u00e4\u00f6\u00fc\u00df\u00e9", 4), "\u00e4~\u00df\u00e9");
  EXPECT_EQ(shortened("abc", 1), "~");
}

TEST(ScanText, NumbersReadBackExactly) {
  for (const double v : {0.1, 1.0 / 3, 2148.1000423558553, 1e22, 5e-324, -0.0, std::numeric_limits<double>::max()}) {
    const std::string text = number(v);
    EXPECT_EQ(g_ascii_strtod(text.c_str(), nullptr), v) << text;
    EXPECT_EQ(text.find(','), std::string::npos);
  }
  EXPECT_EQ(rounded(1234.5678, 6), "1234.57");
}

TEST(ScanText, TimesAreExactForTablesAndShortForPeople) {
  EXPECT_EQ(seconds(0), "0.000000000");
  EXPECT_EQ(seconds(12'480'000'001), "12.480000001");
  EXPECT_EQ(clock_time(62'999'600'000), "1:03.000");
  EXPECT_EQ(clock_time(3'723'250'000'000), "1:02:03.250");
}

TEST(ScanText, BaseNamesStayInTheirFolder) {
  EXPECT_EQ(base_name("/videos/clip.mp4"), "clip");
  EXPECT_EQ(base_name("clip.tar.gz"), "clip.tar");
  EXPECT_EQ(base_name("../.."), "_");
  EXPECT_EQ(base_name(".hidden"), "_hidden");
  EXPECT_EQ(base_name("-rf.mp4"), "_rf");
  EXPECT_EQ(base_name("a\nb\xff$(x)`.mp4"), "a_b__(x)_");
  EXPECT_EQ(base_name("folder/"), "clip");
  const std::string longest = base_name(std::string(300, 'x') + "\u00e4.mp4");
  EXPECT_EQ(longest.size(), 120U);
  EXPECT_TRUE(g_utf8_validate(base_name(std::string(119, 'x') + "\u00e4\u00e4").c_str(), -1, nullptr));
}

TEST(ScanFiles, ListsMayEndInEither) {
  EXPECT_EQ(split_list("a\nb b\n\nc", false), (std::vector<std::string>{"a", "b b", "c"}));
  EXPECT_EQ(split_list(std::string_view("a\nb\0c\0", 6), true), (std::vector<std::string>{"a\nb", "c"}));
  EXPECT_TRUE(split_list("", false).empty());
}

TEST(FileList, WhatIsNoListIsRefusedEarly) {
  const auto said = [](const std::string& text, bool null) -> std::string {
    std::istringstream list(text);
    try {
      return "read " + std::to_string(read_list(list, null).size());
    } catch (const UsageError& e) {
      return e.what();
    }
  };
  const std::string longest(1 << 14, 'x');
  EXPECT_EQ(said("", false), "read 0");
  EXPECT_EQ(said("a\nb", false), "read 3");
  EXPECT_EQ(said("\xff\x01\n\n\n" + longest + "\n" + longest, false), "read 32774");
  EXPECT_EQ(said(std::string("a\nb\0c\0", 6), true), "read 6");
  EXPECT_EQ(
      said(std::string("a\n.\0c\n", 6), false),
      "line 2 of the list of --files-from contains a NUL byte: add --null, or check that it is a list of file names");
  EXPECT_EQ(said("a\nb\n" + longest + 'x', false),
            "line 3 of the list of --files-from is longer than 16384 bytes: check that it is a list of file names");
  EXPECT_EQ(
      said(std::string("a\0", 2) + longest + 'x', true),
      "name 2 of the list of --files-from is longer than 16384 bytes: check that it is a list of file names, or omit "
      "--null");
  // No longer than it takes.
  std::ifstream zeros("/dev/zero"), random("/dev/urandom");
  EXPECT_THROW(read_list(zeros, false), UsageError);
  EXPECT_THROW(read_list(random, false), UsageError);
}

TEST(ScanFiles, EveryFileIsInExactlyOneShard) {
  std::vector<std::string> names;
  for (int i = 0; i < 23; ++i) names.push_back("file " + std::to_string(i));
  for (const int count : {1, 2, 7, 23, 40}) {
    std::multiset<std::string> seen;
    std::size_t smallest = names.size(), largest = 0;
    for (int index = 1; index <= count; ++index) {
      const auto part = choose_inputs(names, {index, count});
      smallest = std::min(smallest, part.size());
      largest = std::max(largest, part.size());
      for (const Input& input : part) seen.insert(input.name);
    }
    EXPECT_EQ(seen, std::multiset<std::string>(names.begin(), names.end())) << count;
    EXPECT_LE(largest - smallest, 1U) << count;
  }
}

TEST(ScanFiles, EqualBaseNamesAreToldApartInAllShards) {
  const std::vector<std::string> names{"a/clip.mp4", "b/clip.mp4", "clip~2.mp4", "c/clip.avi"};
  std::set<std::string> bases;
  for (int index = 1; index <= 2; ++index)
    for (const Input& input : choose_inputs(names, {index, 2})) bases.insert(input.base);
  EXPECT_EQ(bases.size(), names.size());
  EXPECT_EQ(choose_inputs(names, {})[0].base, "clip");
}

TEST(ScanProgress, JsonIsOneObject) {
  const Standing standing{"clip.mp4", 3, 10, 0.25, 1234, 2, 1};
  EXPECT_EQ(progress_json(standing, 59.94, 12.5),
            "{\"files\":10,\"done\":2,\"failed\":1,\"frames\":1234,\"frames_per_second\":59.94,\"part\":0.25,"
            "\"left\":12.5}");
  EXPECT_TRUE(progress_json(standing, 0, -1).ends_with(",\"left\":null}"));
}

TEST(ScanMoments, WindowsSplitTheClipEvenly) {
  const Windows w{1000, 100, 4};
  EXPECT_EQ(w.of(0), 0U);
  EXPECT_EQ(w.of(1024), 0U);
  EXPECT_EQ(w.of(1025), 1U);
  EXPECT_EQ(w.of(1099), 3U);
  EXPECT_EQ(w.of(99999), 3U);
  EXPECT_EQ((Windows{0, 0, 4}.of(5)), 0U);
  EXPECT_EQ((Windows{1000, 100, 1, true}.of(99999)), 989U);
  // A day in ns times ten thousand windows is more than 64 bits.
  const std::uint64_t day = 86'400'000'000'000;
  EXPECT_EQ((Windows{0, day, 10'000}.of(day - 1)), 9'999U);
}

TEST(ScanMoments, PicksLieApartAndEarlierWins) {
  const std::vector<Moment> all{{0, 0, 5}, {1, 10, 9}, {2, 20, 9}, {3, 100, 7}, {4, 105, 8}};
  EXPECT_EQ(pick_moments(all, true, 3, 30), (std::vector<std::size_t>{1, 4}));
  EXPECT_EQ(pick_moments(all, true, 2, 0), (std::vector<std::size_t>{1, 2}));
  EXPECT_EQ(pick_moments(all, false, 2, 30), (std::vector<std::size_t>{0, 3}));
  EXPECT_TRUE(pick_moments({}, true, 2, 30).empty());
}

TEST(ScanMoments, StatisticsOfEvenOddAndOne) {
  const Statistics odd = statistics({3, 1, 2, 9, 9});
  EXPECT_EQ(odd.median, 3);
  EXPECT_EQ(odd.max_at, 3U);
  EXPECT_EQ(odd.min_at, 1U);
  EXPECT_EQ(statistics({4, 1, 3, 2}).median, 2.5);
  EXPECT_EQ(statistics({7}).median, 7);
}

TEST(ScanMoments, ZoneHistoryKeepsMeansInBoundedMemory) {
  ZoneHistory history(4);
  for (int i = 0; i < 4; ++i) history.add(std::array{1.0 * i, 10.0});
  EXPECT_EQ(history.frames_per_step(), 1U);
  EXPECT_EQ(history.steps(), 4U);
  for (int i = 4; i < 11; ++i) history.add(std::array{1.0 * i, 10.0});
  // 0...3, 4...7, 8...10
  EXPECT_EQ(history.frames_per_step(), 4U);
  ASSERT_EQ(history.steps(), 3U);
  EXPECT_EQ(history.means(), (std::vector<double>{1.5, 10, 5.5, 10, 9, 10}));
  EXPECT_EQ(history.overall(), (std::vector<double>{5, 10}));
}

MeterOptions two_zones() {
  MeterOptions meter;
  meter.zone_columns = 2;
  return meter;
}

TEST(ScanTable, RowsOfBothFormats) {
  const std::array zones{1.5, 2.25};
  const Row row{7, 33'333'334, 0.1, zones}, timeless{8, std::nullopt, 2, {}, 0, {}, 0, true};
  const Table csv(Format::kCsv, two_zones()), plain(Format::kCsv, {}), json(Format::kJsonLines, two_zones());
  std::string text;
  csv.append(text, csv.prefix("a,b"), row);
  EXPECT_EQ(csv.head() + text,
            "file,frame,time,metric,score,zone_0_0,zone_0_1,damaged\n\"a,b\",7,0.033333334,tenengrad,0.1,1.5,2.25,0\n");
  text.clear();
  plain.append(text, plain.prefix("a"), timeless);
  EXPECT_EQ(plain.head() + text, "file,frame,time,metric,score,damaged\na,8,,tenengrad,2,1\n");
  text.clear();
  json.append(text, json.prefix("a"), row);
  EXPECT_EQ(json.head() + text,
            "{\"file\":\"a\",\"frame\":7,\"time\":0.033333334,\"metric\":\"tenengrad\",\"score\":0.1,\"zones\":[[1.5,2."
            "25]],\"damaged\":false}\n");
}

/// A pipe whose reading end a thread empties into text().
class Reader {
 public:
  Reader() {
    if (pipe(ends_.data()) != 0) std::abort();
    thread_ = std::thread([this] {
      std::array<char, 4096> block;
      for (ssize_t n; (n = read(ends_[0], block.data(), block.size())) > 0;)
        text_.append(block.data(), static_cast<std::size_t>(n));
    });
  }
  ~Reader() {
    text();
    close(ends_[0]);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  int end() const { return ends_[1]; }
  /// All that came; no more can.
  const std::string& text() {
    if (thread_.joinable()) {
      close(ends_[1]);
      thread_.join();
    }
    return text_;
  }

 private:
  std::array<int, 2> ends_{};
  std::thread thread_;
  std::string text_;
};

TEST(ScanOutput, FilesStayTogetherInOrder) {
  Reader reader;
  {
    OrderedOutput output(reader.end(), 3, [] { FAIL(); });
    std::vector<std::thread> writers;
    for (std::size_t file = 3; file-- > 0;)
      writers.emplace_back([&output, file] {
        for (int i = 0; i < 100; ++i) output.add(file, std::string(1000, static_cast<char>('a' + file)));
        output.finish(file);
      });
    for (std::thread& writer : writers) writer.join();
    EXPECT_EQ(output.close(), 0);
  }
  const std::size_t each = 100'000;
  EXPECT_TRUE(reader.text() == std::string(each, 'a') + std::string(each, 'b') + std::string(each, 'c'));
}

TEST(ScanOutput, ClosingWritesWhatUnfinishedFilesHave) {
  Reader reader;
  OrderedOutput output(reader.end(), 3, [] { FAIL(); });
  output.add(1, "second\n");
  output.add(2, "third\n");
  EXPECT_EQ(output.close(), 0);
  EXPECT_EQ(reader.text(), "second\nthird\n");
}

TEST(ScanOutput, FailureIsReportedOnceAndFreesTheWaiting) {
  const int full = open("/dev/full", O_WRONLY);
  if (full < 0) GTEST_SKIP() << "no /dev/full";
  std::mutex mutex;
  std::condition_variable said;
  int failures = 0;
  OrderedOutput output(full, 1, [&] {
    const std::lock_guard lock(mutex);
    ++failures;
    said.notify_all();
  });
  output.add(0, "text");
  {
    std::unique_lock lock(mutex);
    said.wait(lock, [&] { return failures > 0; });
  }
  for (int i = 0; i < 4; ++i) output.add(0, std::string(1 << 20, 'x'));
  EXPECT_EQ(output.close(), ENOSPC);
  EXPECT_EQ(failures, 1);
  close(full);
}

TEST(ScanOutput, ReleaseEndsTheWaitForASlowReader) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  std::thread reader;
  {
    OrderedOutput output(ends[1], 1, [] {});
    std::thread writer([&] {
      for (int i = 0; i < 8; ++i) output.add(0, std::string(1 << 20, 'x'));
    });
    output.release();
    writer.join();
    reader = std::thread([&] {
      std::array<char, 65536> block;
      std::size_t count = 0;
      for (ssize_t n; (n = read(ends[0], block.data(), block.size())) > 0;) count += static_cast<std::size_t>(n);
      EXPECT_EQ(count, std::size_t{8} << 20);
    });
    EXPECT_EQ(output.close(), 0);
  }
  close(ends[1]);
  reader.join();
  close(ends[0]);
}

class ScanDraft : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(g_mkdtemp(folder_.data())); }
  void TearDown() override {
    g_unlink(path().c_str());
    g_rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/a file"; }
  /// Names in the folder.
  std::set<std::string> names() const {
    std::set<std::string> all;
    GDir* dir = g_dir_open(folder_.c_str(), 0, nullptr);
    while (const gchar* name = g_dir_read_name(dir)) all.insert(name);
    g_dir_close(dir);
    return all;
  }
  std::string folder_ = std::string(g_get_tmp_dir()) + "/draft-XXXXXX";
};

TEST_F(ScanDraft, AppearsWholeOrNotAtAll) {
  {
    DraftFile dropped(path(), "text");
    EXPECT_EQ(names().count("a file"), 0U);
    EXPECT_EQ(names().size(), 1U);
  }
  EXPECT_TRUE(names().empty());
  DraftFile draft(path(), "new");
  DraftFile moved(std::move(draft));
  moved.publish();
  EXPECT_EQ(names(), std::set<std::string>{"a file"});
  gchar* text = nullptr;
  ASSERT_TRUE(g_file_get_contents(path().c_str(), &text, nullptr, nullptr));
  EXPECT_STREQ(text, "new");
  g_free(text);
}

TEST_F(ScanDraft, SaysWhereAndWhyItCannot) {
  try {
    DraftFile draft(folder_ + "/none/x", "");
    FAIL();
  } catch (const std::runtime_error& e) {
    EXPECT_NE(std::string(e.what()).find("/none/x: No such file"), std::string::npos) << e.what();
  }
  EXPECT_THROW(DraftFile(folder_, ""), std::runtime_error);
}

TEST(ScanProgress, BarFitsEveryWidth) {
  const Standing standing{"a rather long name of a clip that goes on \u00e4\u00e4\u00e4.mp4", 3, 12, 0.455, 1000};
  for (std::size_t width = 1; width < 150; ++width) {
    const std::string text = bar_text(standing, 1234.4, 32, width, true);
    EXPECT_LE(static_cast<std::size_t>(g_utf8_strlen(text.c_str(), -1)), width) << text;
  }
  EXPECT_EQ(bar_text({"clip.mp4", 1, 1, 0.5, 10}, 100, 65, 60, false),
            "clip.mp4 ###########----------  50%  100 frames/s  1:05 left");
  EXPECT_EQ(bar_text({"clip.mp4", 2, 9, 0, 0}, 0, -1, 60, false).find("left"), std::string::npos);
}

}  // namespace
}  // namespace framequality::apps::scan
