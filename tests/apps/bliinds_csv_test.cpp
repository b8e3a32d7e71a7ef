// SPDX-License-Identifier: LGPL-2.1-or-later
// The records that framequality-bliinds prints.
#include "apps/bliinds/csv.h"
#include "tests/support/random.h"

#include <cmath>
#include <gtest/gtest.h>
#include <string>

namespace framequality::test {
namespace {

using tools::csv_record, tools::digits;

TEST(Csv, FieldsAreQuotedWhereTheyHaveToBe) {
  EXPECT_EQ(csv_record({"plain", "", " x ", "\xff\xfe\x01"}), "plain,, x ,\xff\xfe\x01\n");
  EXPECT_EQ(csv_record({"a,b", "\"", "say \"hi\"", "two\nlines", "cr\rlf\r\n"}),
            "\"a,b\",\"\"\"\",\"say \"\"hi\"\"\",\"two\nlines\",\"cr\rlf\r\n\"\n");
  EXPECT_EQ(csv_record({std::string("nul\0x", 5)}), std::string("nul\0x\n", 6));
}

TEST(Csv, DigitsReadBack) {
  Random random(1);
  for (int i = 0; i < 1000; ++i) {
    const double v = std::ldexp(static_cast<double>(random.next() >> 11) * 0x1p-53 - 0.5, random.below(200) - 100);
    EXPECT_EQ(std::stod(digits(v)), v);
  }
}

}  // namespace
}  // namespace framequality::test
