// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II from files, without GStreamer: what is read, and why another is refused.
#include "engine/bliinds_model.h"

#include "tests/engine/files.h"

namespace framequality::test {
namespace {

class ModelFiles : public Files {
 protected:
  static std::string refusal_of(const std::string& path) { return Files::refusal_of(load_model, path); }
};

TEST_F(ModelFiles, WithoutANameItIsThePublishedOne) {
  const bliinds::Model published = bliinds::published_model();
  EXPECT_EQ(load_model("")->constant, published.constant);
  EXPECT_EQ(load_model("")->weights, published.weights);
}

TEST_F(ModelFiles, WhatCannotBeReadSaysWhy) {
  EXPECT_EQ(refusal_of(folder() / "none.txt"), "cannot be read: No such file or directory");
  EXPECT_EQ(refusal_of(folder()), "cannot be read: Is a directory");
}

TEST_F(ModelFiles, WhatIsNoModelSaysWhere) {
  EXPECT_EQ(refusal_of(file("# nothing\n\nmodel of mine\n")).substr(0, 8), "line 3: ");
  EXPECT_EQ(refusal_of(file(std::string((1 << 20) + 1, '#'))), "longer than 1 MiB: not a model");
  EXPECT_NE(refusal_of(file(std::string(1 << 20, '#'))), "longer than 1 MiB: not a model");
}

}  // namespace
}  // namespace framequality::test
