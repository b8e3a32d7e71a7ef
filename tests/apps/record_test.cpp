// SPDX-License-Identifier: LGPL-2.1-or-later
// Records of scanned files: they come back as they were; anything else is refused with its path, and crashes nothing.
#include "apps/common/record.h"

#include <glib.h>
#include <glib/gstdio.h>

#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/stat.h>

namespace framequality::apps {

namespace {

Record example() {
  Record r;
  r.file = "a \"b\"\\\n\u00e4 <script>.mp4";
  r.size = 123456789012345;
  r.modified = 1700000000123456789;
  r.program = "1.2.3";
  r.options = {{"interval", "0"},
               {"metric", "\"tenengrad\""},
               {"noise_correction", "false"},
               {"roi", "[1,-2,30,40]"},
               {"zones", "null"}};
  r.unit = "codes\u00b2";
  r.table = "a-0123456789ab.csv";
  r.bytes = 5'000'000'000;
  r.rows = 100;
  r.frames = 200;
  r.error = "it ends at 0:01.000 of 0:02.000";
  r.seconds = 1.25;
  r.width = 1920;
  r.height = 1080;
  r.rate = 30000.0 / 1001;
  r.format = "I420_10LE";
  r.codec = "H.265";
  r.length = 12'345'678'901;
  r.timed = true;
  r.scores = {{{0.1, 3, 100'000'001}, {1e22, 7, 200'000'002}, 1.0 / 3}};
  r.curve = {{1, 0.5, 2}, {1e-7, 0, 3e10}};
  return r;
}

class RecordFile : public testing::Test {
 protected:
  void SetUp() override {
    gchar* folder = g_dir_make_tmp("record-XXXXXX", nullptr);
    ASSERT_NE(folder, nullptr);
    folder_ = folder;
    g_free(folder);
  }
  void TearDown() override {
    g_unlink(path().c_str());
    g_rmdir(folder_.c_str());
  }
  std::string path() const { return folder_ + "/x.json"; }
  void put(std::string_view text) const {
    // Not g_file_set_contents(): that waits for the disk, which thousands of files need not.
    ASSERT_TRUE(g_file_set_contents_full(path().c_str(), text.data(), static_cast<gssize>(text.size()),
                                         G_FILE_SET_CONTENTS_NONE, 0600, nullptr));
  }
  /// Empty if it is read, else what is said.
  std::string reason(bool curve) const {
    try {
      (void)read_record(path(), curve);
      return "";
    } catch (const std::runtime_error& e) {
      return e.what();
    }
  }
  void expect_refused(std::string_view text) const {
    put(text);
    for (const bool curve : {false, true})
      EXPECT_NE(reason(curve).find("cannot read the record " + path() + ": "), std::string::npos)
          << text.substr(0, 300) << "\n"
          << reason(curve);
  }

  std::string folder_;
};

std::string replaced(std::string text, std::string_view what, std::string_view by) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

}  // namespace

TEST_F(RecordFile, ComesBackAsItWas) {
  const Record a = example();
  put(record_json(a));
  const Record b = read_record(path());
  EXPECT_EQ(record_json(b), record_json(a));
  EXPECT_EQ(b.options, a.options);
  EXPECT_EQ(b.file, a.file);
  EXPECT_EQ(b.size, a.size);
  EXPECT_EQ(b.modified, a.modified);
  EXPECT_EQ(b.length, a.length);
  ASSERT_TRUE(b.scores);
  EXPECT_EQ(b.scores->max.score, 1e22);
  EXPECT_EQ(b.scores->min.time, 100'000'001U);
  EXPECT_EQ(b.scores->median, 1.0 / 3);
  EXPECT_EQ(b.curve, a.curve);
}

TEST_F(RecordFile, WithoutItsCurveHasAllElse) {
  Record a = example();
  put(record_json(a));
  const Record b = read_record(path(), false);
  EXPECT_TRUE(b.curve.empty());
  a.curve.clear();
  EXPECT_EQ(record_json(b), record_json(a));
}

TEST_F(RecordFile, OfAFileThatCouldNotBeRead) {
  Record a;
  a.error = "No such file or directory";
  put(record_json(a));
  const Record b = read_record(path());
  EXPECT_FALSE(b.size || b.modified || b.scores);
  EXPECT_EQ(b.error, a.error);
}

TEST_F(RecordFile, CutAnywhereIsRefused) {
  const std::string whole = record_json(example());
  // A cut that only takes the newline leaves all of it.
  for (std::size_t length = 0; length + 1 < whole.size(); ++length) {
    put(whole.substr(0, length));
    EXPECT_NE(reason(true), "") << length;
    EXPECT_NE(reason(false), "") << length;
  }
}

TEST_F(RecordFile, HostileIsRefused) {
  const std::string whole = record_json(example());
  for (const char* text : {"", "{}", "[]", "null", "7", "\"x\"", "{\"version\":1}", "\xff\xfe", "version: 1"})
    expect_refused(text);
  expect_refused(std::string("\0\0\0", 3));
  expect_refused(replaced(whole, "\"version\":1", "\"version\":2"));
  expect_refused(replaced(whole, "\"size\":123456789012345", "\"size\":-1"));
  expect_refused(replaced(whole, "\"bytes\":5000000000", "\"bytes\":5.5"));
  expect_refused(replaced(whole, "\"rows\":100", "\"rows\":\"100\""));
  expect_refused(replaced(whole, "\"width\":1920", "\"width\":4294967296"));
  expect_refused(replaced(whole, "\"seconds\":1.25", "\"seconds\":1e999"));
  expect_refused(replaced(whole, "\"length\":12.345678901", "\"length\":-1"));
  expect_refused(replaced(whole, "\"timed\":true", "\"timed\":1"));
  expect_refused(replaced(whole, "\"options\":{", "\"options\":7,\"x\":{"));
  expect_refused(replaced(whole, "\"max\":{", "\"max\":null,\"x\":{"));
  expect_refused(replaced(whole, "\"file\":\"", "\"file\":\"\xff"));
  expect_refused(std::string(1 << 20, '['));
  expect_refused(replaced(whole, "\"zones\":null", "\"zones\":" + std::string(100'000, '{')));
  expect_refused("{\"a\":" + std::string(8 << 20, ' ') + "1}");
}

TEST_F(RecordFile, CurveThatIsNoneIsRefused) {
  const std::string whole = record_json(example());
  for (const char* curve : {"[[1,2]]", "[1]", "[[1,2,\"3\"]]", "[[1,2,1e999]]", "7", "{}", "[null]"}) {
    put(whole.substr(0, whole.find("[[1,0.5,2]")) + curve + "}\n");
    EXPECT_NE(reason(true), "") << curve;
  }
  std::string many = "[[1,2,3]";
  for (std::size_t i = 0; i < kCurveSteps; ++i) many += ",[1,2,3]";
  put(whole.substr(0, whole.find("[[1,0.5,2]")) + many + "]}\n");
  EXPECT_NE(reason(true), "");
}

TEST_F(RecordFile, RandomDamageCrashesNothing) {
  const std::string whole = record_json(example());
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    std::string text = whole;
    for (int k = 0; k < 1 + i % 5; ++k) text[random() % text.size()] = static_cast<char>(random());
    put(text);
    (void)reason(true);
    (void)reason(false);
  }
}

TEST_F(RecordFile, WhatIsNoFileIsRefusedAtOnce) {
  EXPECT_NE(reason(true).find("No such file"), std::string::npos);
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_NE(reason(true).find("not a regular file"), std::string::npos);
  EXPECT_THROW(read_record(folder_), std::runtime_error);
}

TEST(RecordName, IsTheSameForANameAndNoOther) {
  // SHA-256 of the name, as sha256sum gives it.
  EXPECT_EQ(record_stem("/videos/clip.mp4"), "clip-c18d7f621047");
  EXPECT_NE(record_stem("clip.mp4"), record_stem("./clip.mp4"));
  EXPECT_NE(record_stem("a\xff.mp4"), record_stem("a\xfe.mp4"));
  EXPECT_TRUE(is_record_name(record_stem("../-x/\n") + kRecordEnding));
  EXPECT_LT(record_stem(std::string(5000, 'x')).size(), 140U);
  for (const char* name : {"x.json", "-0123456789ab.json", "x-0123456789aB.json", "x-0123456789ab.csv", ".json", ""})
    EXPECT_FALSE(is_record_name(name)) << name;
}

}  // namespace framequality::apps
