// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled programs on disk: what is not whole, not ours or not this program's is never used.
#include "opencl/cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <string>
#include <vector>

namespace framequality::test {
namespace {

namespace fs = std::filesystem;

class OpenClCache : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = (fs::temp_directory_path() / "framequality-cache-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    root_ = folder;
    if (const char* const old = std::getenv("XDG_CACHE_HOME")) old_ = old;
    setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  }
  void TearDown() override {
    if (old_.empty())
      unsetenv("XDG_CACHE_HOME");
    else
      setenv("XDG_CACHE_HOME", old_.c_str(), 1);
    fs::remove_all(root_);
  }
  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(root_ / "framequality" / "opencl")) all.push_back(entry.path());
    return all;
  }

  fs::path root_;
  std::string old_;
};

TEST_F(OpenClCache, WhatIsStoredIsFound) {
  EXPECT_FALSE(opencl::cached("key"));
  opencl::cache("key", std::string("a\0b", 3));
  EXPECT_EQ(opencl::cached("key"), std::string("a\0b", 3));
  EXPECT_FALSE(opencl::cached("another key"));
  opencl::cache("key", "newer");
  EXPECT_EQ(opencl::cached("key"), "newer");
  EXPECT_EQ(files().size(), 1u) << "no part of a file stays";
  EXPECT_EQ(fs::status(files().front()).permissions() & fs::perms::others_all, fs::perms::none);
}

TEST_F(OpenClCache, ADamagedFileIsNotUsed) {
  opencl::cache("a key of some length", "a program of some length");
  const fs::path path = files().front();
  std::ifstream in(path, std::ios::binary);
  const std::string good{std::istreambuf_iterator<char>(in), {}};
  const auto write = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x40);
    write(bad);
    EXPECT_FALSE(opencl::cached("a key of some length")) << "byte " << i;
  }
  for (const std::size_t kept : {std::size_t{0}, std::size_t{10}, good.size() - 1}) {
    write(good.substr(0, kept));
    EXPECT_FALSE(opencl::cached("a key of some length")) << kept << " bytes";
  }
  write(good);
  EXPECT_TRUE(opencl::cached("a key of some length"));
}

TEST_F(OpenClCache, AFileThatOthersMayWriteIsNotUsed) {
  opencl::cache("key", "program");
  const fs::path path = files().front();
  fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(opencl::cached("key"));
  fs::permissions(path, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(opencl::cached("key"));
  const fs::path elsewhere = root_ / "elsewhere";
  fs::rename(path, elsewhere);
  fs::create_symlink(elsewhere, path);
  EXPECT_FALSE(opencl::cached("key"));
}

TEST_F(OpenClCache, AFolderThatIsALinkOrThatOthersMayWriteToIsNotUsed) {
  opencl::cache("key", "program");
  const fs::path folder = root_ / "framequality" / "opencl", elsewhere = root_ / "elsewhere";
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::add);
  EXPECT_FALSE(opencl::cached("key"));
  opencl::cache("another", "program");
  EXPECT_EQ(files().size(), 1u);
  fs::permissions(folder, fs::perms::others_write, fs::perm_options::remove);
  EXPECT_TRUE(opencl::cached("key"));
  fs::rename(folder, elsewhere);
  fs::create_directory_symlink(elsewhere, folder);
  EXPECT_FALSE(opencl::cached("key"));
}

TEST_F(OpenClCache, WhatCannotBeWrittenIsLeft) {
  std::ofstream(root_ / "file") << "no folder";
  setenv("XDG_CACHE_HOME", (root_ / "file").c_str(), 1);
  opencl::cache("key", "program");
  EXPECT_FALSE(opencl::cached("key"));
}

TEST_F(OpenClCache, TheFolderIsBounded) {
  opencl::cache("key", "program");
  std::ofstream(root_ / "framequality" / "opencl" / "not ours.bin") << "stays";
  for (int i = 0; i < 300; ++i) opencl::cache("key " + std::to_string(i), "program");
  EXPECT_EQ(files().size(), 257u);
  EXPECT_TRUE(fs::exists(root_ / "framequality" / "opencl" / "not ours.bin"));
  EXPECT_TRUE(opencl::cached("key 299"));
}

TEST_F(OpenClCache, TheFolderFollowsTheEnvironment) {
  EXPECT_EQ(opencl::cache_folder(), root_.string() + "/framequality/opencl");
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  const char* const home = std::getenv("HOME");
  const std::string old = home ? home : "";
  setenv("HOME", "/somewhere", 1);
  EXPECT_EQ(opencl::cache_folder(), "/somewhere/.cache/framequality/opencl");
  unsetenv("HOME");
  EXPECT_EQ(opencl::cache_folder(), "");
  if (home) setenv("HOME", old.c_str(), 1);
}

}  // namespace
}  // namespace framequality::test
