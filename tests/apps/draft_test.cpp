// SPDX-License-Identifier: LGPL-2.1-or-later
// Drafts that stay open: what is in them, who holds them, what is left of them.
#include "apps/common/draft_file.h"

#include <glib.h>
#include <glib/gstdio.h>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/file.h>
#include <unistd.h>

namespace framequality::apps {

namespace {

class OpenDraft : public testing::Test {
 protected:
  void SetUp() override {
    gchar* folder = g_dir_make_tmp("draft-XXXXXX", nullptr);
    ASSERT_NE(folder, nullptr);
    folder_ = folder;
    g_free(folder);
  }
  void TearDown() override {
    for (const std::string& name : names()) g_unlink((folder_ + '/' + name).c_str());
    g_rmdir(folder_.c_str());
  }
  std::set<std::string> names() const {
    std::set<std::string> all;
    GDir* listing = g_dir_open(folder_.c_str(), 0, nullptr);
    while (const char* name = g_dir_read_name(listing)) all.insert(name);
    g_dir_close(listing);
    return all;
  }
  std::string text() const {
    gchar* content = nullptr;
    EXPECT_TRUE(g_file_get_contents(path().c_str(), &content, nullptr, nullptr));
    std::string copy = content ? content : "";
    g_free(content);
    return copy;
  }
  std::string path() const { return folder_ + "/table"; }

  std::string folder_;
};

}  // namespace

TEST_F(OpenDraft, HasItsNameOnlyWhenPublished) {
  DraftFile draft = DraftFile::open(path(), ".mark-");
  draft.append("one,");
  draft.append("two");
  ASSERT_EQ(names().size(), 1U);
  EXPECT_EQ(names().begin()->substr(0, 6), ".mark-");
  EXPECT_EQ(names().begin()->size(), 12U);
  draft.publish();
  EXPECT_EQ(names(), std::set<std::string>{"table"});
  EXPECT_EQ(text(), "one,two");
  DraftFile(path(), "three").publish_unsynced();
  EXPECT_EQ(text(), "three");
}

TEST_F(OpenDraft, IsLockedWhileItIsOne) {
  const auto lock = [](const std::string& name) {
    const int descriptor = open(name.c_str(), O_RDWR | O_CLOEXEC);
    const bool locked = descriptor >= 0 && flock(descriptor, LOCK_EX | LOCK_NB) == 0;
    close(descriptor);
    return locked;
  };
  DraftFile draft = DraftFile::open(path(), ".mark-");
  const std::string name = folder_ + '/' + *names().begin();
  EXPECT_FALSE(lock(name));
  DraftFile moved = std::move(draft);
  EXPECT_FALSE(lock(name));
  moved.publish();
  EXPECT_TRUE(lock(path()));
}

TEST_F(OpenDraft, LeavesNothingBehind) {
  { const DraftFile draft = DraftFile::open(path(), ".mark-"); }
  EXPECT_TRUE(names().empty());
  EXPECT_THROW(DraftFile::open(folder_ + "/none/table", ".mark-"), std::runtime_error);
}

TEST_F(OpenDraft, ReplacesNoDevice) {
  EXPECT_THROW(DraftFile("/dev/null", ""), std::runtime_error);
  EXPECT_THROW(DraftFile::open("/dev/null", ".mark-"), std::runtime_error);
}

}  // namespace framequality::apps
