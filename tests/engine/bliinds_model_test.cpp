// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II from files, without GStreamer: what is read, and why another is refused.
#include "engine/bliinds_model.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <stdexcept>
#include <unistd.h>

namespace framequality::test {
namespace {

/// A folder of this test's own, removed in the end.
class ModelFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "fq-model-XXXXXX").string();
    ASSERT_TRUE(mkdtemp(pattern.data()));
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::string path = folder_ / "model.txt";
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  static std::string refusal_of(const std::string& path) {
    try {
      load_model(path);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "accepted";
  }
  std::filesystem::path folder_;
};

TEST_F(ModelFiles, WithoutANameItIsThePublishedOne) {
  const bliinds::Model published = bliinds::published_model();
  EXPECT_EQ(load_model("")->constant, published.constant);
  EXPECT_EQ(load_model("")->weights, published.weights);
}

TEST_F(ModelFiles, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(refusal_of(folder_ / "none.txt"), "cannot be read: No such file or directory");
  EXPECT_EQ(refusal_of(folder_), "cannot be read: Is a directory");
}

TEST_F(ModelFiles, WhatIsNoModelSaysWhere) {
  EXPECT_EQ(refusal_of(file("# nothing\n\nmodel of mine\n")).substr(0, 8), "line 3: ");
  EXPECT_EQ(refusal_of(file(std::string((1 << 20) + 1, '#'))), "longer than 1 MiB: not a model");
  EXPECT_NE(refusal_of(file(std::string(1 << 20, '#'))), "longer than 1 MiB: not a model");
}

}  // namespace
}  // namespace framequality::test
