// SPDX-License-Identifier: LGPL-2.1-or-later
// Files that a test writes, and why they are refused.
#pragma once

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace framequality::test {

/// A folder of this test's own, removed in the end.
class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "fq-files-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string file(const std::string& text) const {
    const std::string path = folder_ / "file.txt";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  template <class Load>
  static std::string refusal_of(Load&& load, const std::string& path) {
    try {
      load(path);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace framequality::test
