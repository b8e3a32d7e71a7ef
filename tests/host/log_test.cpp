// SPDX-License-Identifier: LGPL-2.1-or-later
// The engine's log: who gets lines, their levels, and where they come from.
#include "host/log.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace framequality::host {

namespace {

struct Line {
  LogLevel level;
  std::string file, function, text;
};

std::vector<Line>& lines() {
  static std::vector<Line> all;
  return all;
}

constexpr LogSink kDebugSink{[](LogLevel level) noexcept { return level <= LogLevel::kDebug; },
                             [](LogLevel level, const Caller& from, const char* text) noexcept {
                               lines().push_back({level, from.file, from.function, text});
                             }};

class Log : public testing::Test {
 protected:
  void SetUp() override {
    lines().clear();
    set_log_sink(&kDebugSink);
  }
  void TearDown() override { set_log_sink(nullptr); }
};

TEST_F(Log, LinesNameTheirCaller) {
  log(LogLevel::kInfo, "%d of %s", 3, "four");
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_EQ(lines()[0].level, LogLevel::kInfo);
  EXPECT_EQ(lines()[0].text, "3 of four");
  EXPECT_NE(lines()[0].file.find("log_test.cpp"), std::string::npos);
  EXPECT_EQ(lines()[0].function, "TestBody");
}

TEST_F(Log, OnlyWhatIsWantedIsWritten) {
  EXPECT_TRUE(is_logged(LogLevel::kDebug));
  EXPECT_FALSE(is_logged(LogLevel::kLog));
  log(LogLevel::kLog, "of every frame");
  EXPECT_TRUE(lines().empty());
}

TEST_F(Log, NobodyListens) {
  set_log_sink(nullptr);
  EXPECT_FALSE(is_logged(LogLevel::kWarning));
  log(LogLevel::kWarning, "unheard");
  EXPECT_TRUE(lines().empty());
}

TEST_F(Log, LongLinesAreCut) {
  log(LogLevel::kDebug, "%s", std::string(2000, 'x').c_str());
  ASSERT_EQ(lines().size(), 1u);
  EXPECT_EQ(lines()[0].text, std::string(500, 'x'));
}

}  // namespace

}  // namespace framequality::host
