// SPDX-License-Identifier: LGPL-2.1-or-later
// What messages add for people: the name that was meant.
#include "apps/common/nearest.h"
#include "apps/common/program.h"

#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {
namespace {

std::string meant(std::string_view text, const std::vector<std::string>& known = {"metric", "manifest", "best", "roi",
                                                                                  "noise-correction", "hold-time"}) {
  return suggestion(text, known);
}

TEST(Suggestion, FindsLettersAddedLeftOutReplacedAndSwapped) {
  for (const char* text : {"metrics", "metrc", "mertic", "netric", "METRIC", "metrik"})
    EXPECT_EQ(meant(text), "; did you mean 'metric'?") << text;
  EXPECT_EQ(meant("hold_time"), "; did you mean 'hold-time'?");
  EXPECT_EQ(meant("rio"), "; did you mean 'roi'?");
}

TEST(Suggestion, TakesABeginningForTheWhole) {
  EXPECT_EQ(meant("noise"), "; did you mean 'noise-correction'?");
  EXPECT_EQ(meant("no"), "");
}

TEST(Suggestion, IsNoneWhereNothingIsNear) {
  for (const char* text : {"", "x", "zebra", "rxx", "mmmmmm"}) EXPECT_EQ(meant(text), "") << text;
  EXPECT_EQ(meant(std::string(100'000, 'm')), "");
  EXPECT_EQ(meant("best", {}), "");
}

TEST(Suggestion, PrefersTheNearestThenTheFirst) {
  EXPECT_EQ(meant("abcd", {"abxd", "abcde", "abc"}), "; did you mean 'abxd'?");
  EXPECT_EQ(meant("abcdef", {"abcxyf", "abcdxf"}), "; did you mean 'abcdxf'?");
}

TEST(Choice, GivesThePlaceOrSaysWhatWouldBeRight) {
  EXPECT_EQ(choice("--how", "b", {"a", "b"}), 1u);
  try {
    choice("--how", "coyp", {"copy", "hardlink", "symlink"});
    FAIL() << "no error";
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "--how takes copy, hardlink or symlink, not 'coyp'; did you mean 'copy'?");
  }
}

}  // namespace
}  // namespace framequality::apps
