// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON as the programs write it: bytes, numbers, and documents that are put together from parts.
#include "apps/common/json.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {
namespace {

std::string text(std::string_view bytes) { return dump(json_text(bytes)); }
std::string number(double value) { return dump(json_number(value)); }

TEST(Json, EscapesControlsAndMendsBytes) {
  EXPECT_EQ(text("a\"b\\c\n\x01\x7f"), R"("a\"b\\c\n\u0001\u007f")");
  EXPECT_EQ(text("\u00e4\u20ac\u2027"), "\"\u00e4\u20ac\u2027\"");
  // A lone continuation, a cut sequence, an overlong one, a surrogate.
  EXPECT_EQ(text("\x80|\xe2\x82|\xc0\xaf|\xed\xa0\x80"), "\"\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD\uFFFD\"");
  EXPECT_EQ(text("\u2028 \u009b2J \u00a0"), "\"\\u2028 \\u009b2J \u00a0\"");
  EXPECT_EQ(text(std::string_view("a\0b", 3)), "\"a\uFFFDb\"");
}

TEST(Json, OfBytesThatNobodyMendedIsWrittenAllTheSame) { EXPECT_EQ(dump(Json("a\xff")), "\"a\uFFFD\""); }

TEST(Json, NumbersReadBackExactly) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-300, 300), mantissa(-1, 1);
  for (int i = 0; i < 20'000; ++i) {
    const double value = mantissa(random) * std::pow(10, i % 2 == 0 ? exponent(random) : exponent(random) / 100);
    ASSERT_EQ(Json::parse(number(value)).get<double>(), value) << number(value);
  }
  for (const double value : {5e-324, std::numeric_limits<double>::max(), -0.0, 9007199254740992.0}) {
    EXPECT_EQ(Json::parse(number(value)).get<double>(), value);
    EXPECT_EQ(std::signbit(Json::parse(number(value)).get<double>()), std::signbit(value));
  }
}

TEST(Json, NumbersAreShort) {
  EXPECT_EQ(number(60), "60");
  EXPECT_EQ(number(-3), "-3");
  EXPECT_EQ(number(0.1), "0.1");
  EXPECT_EQ(dump(json_rounded(1234567.0, 6)), "1234570");
  EXPECT_EQ(dump(json_rounded(2.0 / 3, 4)), "0.6667");
  EXPECT_EQ(dump(json_seconds(1'040'000'000)), "1.04");
  EXPECT_EQ(dump(json_seconds(2'000'000'000)), "2.0");
  EXPECT_EQ(dump(json_seconds(18'446'744'073'709'551'615u)), "18446744073.709553");
}

TEST(Json, WhatIsNoNumberIsNull) {
  EXPECT_EQ(number(std::nan("")), "null");
  EXPECT_EQ(number(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(dump(json_rounded(std::nan(""), 6)), "null");
  EXPECT_EQ(dump(json_rounded(std::nullopt, 6)), "null");
  EXPECT_EQ(dump(json_seconds(std::nullopt)), "null");
}

TEST(Json, ForHtmlHoldsNoTag) { EXPECT_EQ(json_for_html(text("</script><!--")), R"("\u003c/script>\u003c!--")"); }

TEST(Json, PartsMakeADocument) {
  std::string object = dump(Json::object());
  add_member(object, "none", array_of_lines({}));
  add_member(object, "two\n", array_of_lines({"1", "{\"a\":2}"}));
  const Json whole = {{"none", Json::array()}, {"two\n", Json::array({1, Json{{"a", 2}}})}};
  EXPECT_EQ(Json::parse(object), whole) << object;
  EXPECT_NE(object.find("\n{\"a\":2}\n"), std::string::npos) << object;
}

}  // namespace
}  // namespace framequality::apps
