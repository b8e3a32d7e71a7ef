// SPDX-License-Identifier: LGPL-2.1-or-later
// Images as files: folders of them, originals in their places, the manifest.

#include "apps/scan/originals.h"

#include "apps/scan/files.h"
#include "apps/scan/folders.h"
#include "apps/scan/manifest.h"

#include <glib.h>
#include <gst/gst.h>

#include <algorithm>
#include <array>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <string>
#include <sys/stat.h>
#include <vector>

namespace framequality::apps::scan {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

/// A folder for a test.
class ScanFolder : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(g_mkdtemp(root_.data())); }
  void TearDown() override { fs::remove_all(root_); }
  std::string make(const std::string& name, const std::string& content = "x") const {
    const fs::path path = fs::path(root_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path;
  }
  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::string at(const std::string& name) const { return root_ + '/' + name; }
  Names names(const std::string& folder) const {
    Names all;
    for (const auto& entry : fs::directory_iterator(at(folder))) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }
  std::string root_ = std::string(g_get_tmp_dir()) + "/set-XXXXXX";
};

TEST_F(ScanFolder, StandsForItsPicturesAndVideos) {
  for (const char* name : {"p/IMG_10.JPG", "p/IMG_9.jpg", "p/b/1.mp4", "p/a/2.png", "p/a/notes.txt", "p/.hidden.jpg",
                           "p/.git/1.jpg", "p/jpg", "p/x.jpg.txt", "q/notes.txt", "outside/1.jpg"})
    make(name);
  fs::create_directory_symlink(at("outside"), at("p/link"));
  fs::create_symlink(at("outside/1.jpg"), at("p/linked.jpg"));
  fs::create_symlink(at("none"), at("p/broken.jpg"));
  ASSERT_EQ(mkfifo(at("p/fifo.jpg").c_str(), 0600), 0);
  const std::set<std::string, std::less<>> extensions{"jpg", "png", "mp4"};
  const std::string p = at("p/");
  EXPECT_EQ(without_folders({"z.mov", p, at("q"), "a.xyz", "http://host/p"}, extensions),
            (Names{"z.mov", p + "IMG_9.jpg", p + "IMG_10.JPG", p + "a/2.png", p + "b/1.mp4", p + "broken.jpg",
                   p + "linked.jpg", at("q"), "a.xyz", "http://host/p"}));
  EXPECT_EQ(folder_error(at("q")), "it has no images or videos");
  EXPECT_EQ(folder_error(at("p/jpg")), "");
  EXPECT_EQ(folder_error("http://host/p"), "");
}

TEST_F(ScanFolder, ExtensionsAreThoseOfPicturesAndVideos) {
  gst_init(nullptr, nullptr);
  const auto all = media_extensions();
  for (const char* name : {"jpg", "jpeg", "png", "mp4", "mov", "ogg", "mxf", "heic"})
    EXPECT_TRUE(all.contains(name)) << name;
  for (const char* name : {"txt", "mp3", "wav", "html", "zip", "pdf", "mka", "srt", "JPG", ""})
    EXPECT_FALSE(all.contains(name)) << name;
}

TEST_F(ScanFolder, PicturesKeepTheirNames) {
  const auto files_of = [](const Names& names, const std::string& folder = "") {
    Names files;
    for (const Input& input : choose_inputs(names, {}, folder)) files.push_back(input.file);
    return files;
  };
  EXPECT_EQ(files_of({"a/IMG_1.jpg", "b/IMG_1.jpg", "b/img_1.JPG", "b/IMG_1.png", "c/IMG_1~2.jpg"}),
            (Names{"IMG_1.jpg", "IMG_1~2.jpg", "img_1~3.JPG", "IMG_1.png", "IMG_1~2~2.jpg"}));
  EXPECT_EQ(files_of({"-rf.jpg", "two\nlines.jpg", "\xff.jpg", ".jpg", "a/.jpg", "x/", "none"}),
            (Names{"-rf.jpg", "two_lines.jpg", "_.jpg", ".jpg", ".jpg~2", "picture", "none"}));
  const std::string longest(251, 'x');
  EXPECT_EQ(files_of({"a/" + longest + ".jpg", "b/" + longest + ".jpg"})[1], std::string(249, 'x') + "~2.jpg");
  // An original in the export's folder is not in the way of another, whichever comes first.
  const std::string b = make("b/IMG_1.jpg"), a = make("a/IMG_1.jpg"), near = at("a/../b/./IMG_1.jpg");
  EXPECT_EQ(files_of({a, b}, at("b")), (Names{"IMG_1~2.jpg", "IMG_1.jpg"}));
  EXPECT_EQ(files_of({a, near}, at("b")), (Names{"IMG_1~2.jpg", "IMG_1.jpg"}));
}

TEST_F(ScanFolder, CopiesKeepTimesAndPermissions) {
  const std::string source = make("in/a.jpg", std::string(100'000, 'p')), copy = at("a.jpg");
  ASSERT_EQ(chmod(source.c_str(), 0440), 0);
  const std::array<struct timespec, 2> times{{{1'000'000'001, 5}, {1'234'567'890, 123'456'789}}};
  ASSERT_EQ(utimensat(AT_FDCWD, source.c_str(), times.data(), 0), 0);
  make("a.jpg", "old");
  place_original(source, copy, Originals::kCopy);
  EXPECT_EQ(content(copy), content(source));
  struct stat about = {};
  ASSERT_EQ(stat(copy.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0440U);
  EXPECT_EQ(about.st_mtim.tv_sec, 1'234'567'890);
  EXPECT_EQ(about.st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(about.st_nlink, 1U);
  EXPECT_EQ(names(""), (Names{"a.jpg", "in"}));
}

TEST_F(ScanFolder, LinksLeadToTheOriginal) {
  const std::string source = make("in/a.jpg", "picture"), link = at("a.jpg");
  fs::create_symlink(source, at("in/alias.jpg"));
  for (int again = 0; again < 2; ++again) {
    place_original(at("in/alias.jpg"), link, Originals::kHardLink);
    EXPECT_FALSE(fs::is_symlink(link));
    EXPECT_TRUE(fs::equivalent(link, source));
    EXPECT_EQ(names(""), (Names{"a.jpg", "in"}));
  }
  for (int again = 0; again < 2; ++again) {
    place_original(source, link, Originals::kSymbolicLink);
    EXPECT_EQ(fs::read_symlink(link), source);
  }
  // The link is replaced, not what it leads to.
  make("in/b.jpg", "other");
  place_original(at("in/b.jpg"), link, Originals::kCopy);
  EXPECT_FALSE(fs::is_symlink(link));
  EXPECT_EQ(content(link), "other");
  EXPECT_EQ(content(source), "picture");
  EXPECT_EQ(names(""), (Names{"a.jpg", "in"}));
}

TEST_F(ScanFolder, AnOriginalIsNotPutInItsOwnPlace) {
  const std::string source = make("in/a.jpg", "picture");
  fs::create_symlink("a.jpg", at("in/alias.jpg"));
  fs::create_directory_symlink(at("in"), at("in2"));
  for (const Originals how : {Originals::kCopy, Originals::kHardLink, Originals::kSymbolicLink}) {
    place_original(source, at("in/../in/a.jpg"), how);
    place_original(source, at("in2/a.jpg"), how);
    place_original(at("in/alias.jpg"), at("in/alias.jpg"), how);
    EXPECT_FALSE(fs::is_symlink(source));
    EXPECT_EQ(content(source), "picture");
    EXPECT_EQ(fs::hard_link_count(source), 1U);
    EXPECT_EQ(fs::read_symlink(at("in/alias.jpg")), "a.jpg");
    EXPECT_EQ(names("in"), (Names{"a.jpg", "alias.jpg"}));
  }
}

TEST_F(ScanFolder, WhatCannotBePlacedSaysWhyAndLeavesNothing) {
  make("a.jpg", "old");
  fs::create_directory(at("folder"));
  const std::string source = make("in/a.jpg");
  const auto failure = [&](const std::string& from, const std::string& to, Originals how) {
    try {
      place_original(from, to, how);
    } catch (const std::runtime_error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  for (const Originals how : {Originals::kCopy, Originals::kHardLink}) {
    const std::string text = failure(at("none"), at("a.jpg"), how);
    EXPECT_NE(text.find("/none to " + at("a.jpg") + ": No such file or directory"), std::string::npos) << text;
  }
  for (const Originals how : {Originals::kCopy, Originals::kHardLink, Originals::kSymbolicLink})
    EXPECT_NE(failure(source, at("folder"), how).find(": Is a directory"), std::string::npos);
  EXPECT_EQ(content(at("a.jpg")), "old");
  EXPECT_EQ(names(""), (Names{"a.jpg", "folder", "in"}));
  struct stat here = {}, there = {};
  if (stat("/dev/shm", &there) == 0 && stat(root_.c_str(), &here) == 0 && here.st_dev != there.st_dev) {
    EXPECT_NE(
        failure(source, "/dev/shm/framequality-set-test.jpg", Originals::kHardLink).find("different file systems"),
        std::string::npos);
    EXPECT_FALSE(fs::exists("/dev/shm/framequality-set-test.jpg"));
  }
}

TEST_F(ScanFolder, ManifestPathsBeginAtItsFolder) {
  make("out/x.jpg");
  make("real/deep/m.json");
  fs::create_directory_symlink(at("real/deep"), at("link"));
  Options options;
  options.best = 2;
  Selected selected;
  selected.chosen = {{0, true, at("out/x.jpg"), "x \"1\".jpg", 0, std::nullopt, 0.1, 40, 30},
                     {1, false, "", "v.mp4", 7, 33'333'334, 2, 4, 3}};
  selected.rejected = {{"y.jpg", 0, std::nullopt, 0.05, "lower score than x.jpg"}, {"z.jpg", {}, {}, {}, "damaged"}};
  selected.candidates = 3;
  RunFacts run;
  run.started = rfc3339_now();
  run.gpus = {0, 2};
  const std::string text = manifest(at("link/m.json"), options, {}, {"cpu", "1.0"}, selected, run);
  EXPECT_NE(
      text.find(
          R"({"file_path":"../../out/x.jpg","source":"x \"1\".jpg","frame":0,"time":null,"score":0.1,"w":40,"h":30})"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find(R"({"file_path":null,"source":"v.mp4","frame":7,"time":0.033333334,"score":2,"w":4,"h":3})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"({"source":"y.jpg","frame":0,"time":null,"score":0.05,"reason":"lower score than x.jpg"})"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(R"({"source":"z.jpg","reason":"damaged"})"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("gpus":[0,2])"), std::string::npos) << text;
  EXPECT_NE(text.find(R"("frames_per_second":null)"), std::string::npos) << text;
  GDateTime* started = g_date_time_new_from_iso8601(run.started.c_str(), nullptr);
  ASSERT_TRUE(started) << run.started;
  g_date_time_unref(started);
  EXPECT_NE(manifest(at("m.json"), options, {}, {}, {}, run).find("\"frames\":[],\n\"rejected\":[],\n"),
            std::string::npos);
}

}  // namespace
}  // namespace framequality::apps::scan
