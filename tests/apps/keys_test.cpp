// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of keys: what the setters accept, and what a command line makes of a table.
#include "apps/common/keys.h"

#include "apps/common/command_line.h"
#include "apps/common/program.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace framequality::apps {
namespace {

enum class Colour { kRed, kGreen };

struct Settings {
  Colour colour = Colour::kRed;
  std::optional<int> jobs;
  std::uint64_t wait = 0;
  std::string file, preset = "none";
  std::vector<std::string> hosts;
  bool fast = false, version = false;
};

std::vector<Key> keys(Settings& s) {
  Setter hosts = parsed("a host", [&s](const std::string& text) {
    if (!text.empty()) s.hosts.push_back(text);
    return !text.empty();
  });
  hosts.kind = Kind::kTexts;
  return {
      {"colour", 'c', "red|green", "Paint", word(s.colour, "red|green")},
      {"jobs", 'j', "N", "Run", count(s.jobs, 1, 8)},
      {"wait", 0, "SECONDS", "Wait", seconds_from(0, s.wait)},
      {"file", 0, "FILE", "Read", path(s.file)},
      {"preset", 0, "WORD", "Set", anything(s.preset)},
      {"host", 0, "HOST", "Answer", hosts},
      {"hosts", 0, "", "Answer all", hosts, Where::kFile},
      {"fast", 0, "", "Hurry", flag(s.fast, [&s] { s.preset = "fast"; })},
      {"version", 0, "", "Print", flag(s.version)},
  };
}

/// Sets what the words say; gives what was said of them, or empty.
std::string read(Settings& settings, std::vector<std::string> words, std::vector<std::string>* arguments = nullptr) {
  words.insert(words.begin(), "program");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  try {
    const std::vector<Key> table = keys(settings);
    const CommandLine line(static_cast<int>(words.size()), argv.data(), {"FILE...", "test", "Tests.", ""}, table,
                           Library::kNone);
    line.apply(table);
    if (arguments) *arguments = line.arguments();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(CommandLine, SetsWhatIsGiven) {
  Settings s;
  std::vector<std::string> arguments;
  EXPECT_EQ(
      read(s,
           {"a", "--colour=green", "-j", "3", "--wait", "0.5", "--file", "\xff", "--host=a", "--host", "b", "--", "-c"},
           &arguments),
      "");
  EXPECT_EQ(s.colour, Colour::kGreen);
  EXPECT_EQ(s.jobs, 3);
  EXPECT_EQ(s.wait, 500'000'000u);
  EXPECT_EQ(s.file, "\xff");
  EXPECT_EQ(s.hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(arguments, (std::vector<std::string>{"a", "-c"}));
}

TEST(CommandLine, SaysWhatEachKeyTakes) {
  Settings s;
  EXPECT_EQ(read(s, {"--colour", "gren"}), "--colour must be red or green, not 'gren'; did you mean 'green'?");
  for (const char* text : {"0", "9", "1.5", "x", "", "3 ", "99999999999999999999"})
    EXPECT_EQ(read(s, {"--jobs", text}), "--jobs must be a whole number from 1 to 8, not '" + std::string(text) + "'");
  for (const char* text : {"-1", "nan", "inf", "1e7", "1,5", ""})
    EXPECT_EQ(read(s, {"--wait", text}),
              "--wait must be a number of seconds from 0 to 1000000, not '" + std::string(text) + "'");
  EXPECT_EQ(read(s, {"--file", ""}), "--file must be a path, not ''");
  EXPECT_EQ(read(s, {"--host", "a", "--host="}), "--host must be a host, not ''");
  // Nothing of this was set.
  EXPECT_FALSE(s.jobs);
  EXPECT_EQ(s.wait, 0u);
}

TEST(CommandLine, SuggestsOptionsAndNoKeysOfTheFile) {
  Settings s;
  EXPECT_NE(read(s, {"--coulour=red"}).find("; did you mean '--colour'?"), std::string::npos);
  EXPECT_NE(read(s, {"--hosts=a"}).find("; did you mean '--host'?"), std::string::npos);
}

TEST(CommandLine, FlagsComeFirstAndTheLastOfTwoCounts) {
  Settings s;
  EXPECT_EQ(read(s, {"--preset", "own", "--fast", "--jobs", "x", "--jobs", "2"}), "");
  EXPECT_EQ(s.preset, "own");
  EXPECT_TRUE(s.fast);
  EXPECT_EQ(s.jobs, 2);
}

TEST(CommandLine, WithVersionNothingElseCounts) {
  Settings s;
  EXPECT_EQ(read(s, {"--version", "--jobs", "x"}), "");
  EXPECT_TRUE(s.version);
}

TEST(Keys, SayWhichOfAListIsWrong) {
  const Key key{"way", 0, "", "Go", Setter{Kind::kTexts, "", nullptr, {"left", "right"}}};
  EXPECT_EQ(suggested_word(key, std::vector<std::string>{"left", "rihgt"}), "; did you mean 'right'?");
  EXPECT_EQ(suggested_word(key, std::int64_t{3}), "");
}

}  // namespace
}  // namespace framequality::apps
