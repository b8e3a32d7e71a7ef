// SPDX-License-Identifier: LGPL-2.1-or-later
// Which backend and device is chosen, and what is said where none or no better one is.
#include "engine/choose.h"

#include "tests/engine/backends.h"

#include <string>

namespace framequality::test {
namespace {

class Choosing : public Backends {
 protected:
  static std::string name(const std::optional<Place>& place) { return place ? place->backend->name : ""; }
};

TEST_F(Choosing, AutoTakesTheBestThatIsUsable) {
  Choice choice = choose({});
  EXPECT_EQ(name(choice.place), "first");
  EXPECT_EQ(choice.place->id, 4);
  EXPECT_EQ(choice.name, "A card");
  EXPECT_EQ(choice.reason, "");
  EXPECT_EQ(first.wanted, -1);
  EXPECT_EQ(second.wanted, -2) << "looked for in vain";

  first.usable = false;
  choice = choose({});
  EXPECT_EQ(name(choice.place), "second");
  EXPECT_EQ(choice.reason, "no driver");

  second.usable = false;
  choice = choose({});
  EXPECT_EQ(name(choice.place), "cpu");
  EXPECT_EQ(choice.reason, "no driver") << "the same words once";
}

TEST_F(Choosing, WhatIsNamedIsTakenOrNone) {
  EXPECT_EQ(name(choose({.number = 3, .id = 9}).place), "second");
  EXPECT_EQ(second.wanted, 9);
  EXPECT_EQ(first.wanted, -2);
  second.usable = false;
  const Choice none = choose({.number = 3});
  EXPECT_FALSE(none.place);
  EXPECT_EQ(none.reason, "no driver");
  EXPECT_EQ(name(choose({.number = 1}).place), "cpu");
  EXPECT_FALSE(choose({.number = 99}).place);
}

TEST_F(Choosing, WhatDevicesCannotDoIsLeftToTheCpu) {
  const Choice choice = choose({.unsupported = "one after the other"});
  EXPECT_EQ(name(choice.place), "cpu");
  EXPECT_EQ(choice.reason, "one after the other");
  EXPECT_EQ(first.wanted, -2);
  const Choice none = choose({.number = 7, .unsupported = "one after the other"});
  EXPECT_FALSE(none.place);
  EXPECT_EQ(none.reason, "one after the other");
}

TEST_F(Choosing, ABackendWithoutTheWorkerIsPassedOver) {
  const auto makes = [](const Backend& backend) { return backend.number != 7; };
  EXPECT_EQ(name(choose({.makes = makes}).place), "second");
  EXPECT_EQ(choose({.makes = makes}).reason, "the first does not support this: use device=auto");
  EXPECT_FALSE(choose({.number = 7, .makes = makes}).place);
}

TEST_F(Choosing, MayChooseLooksForNoDevice) {
  EXPECT_TRUE(may_choose({}, table_[0]));
  EXPECT_TRUE(may_choose({.number = 7}, table_[0]));
  EXPECT_FALSE(may_choose({.number = 3}, table_[0]));
  EXPECT_FALSE(may_choose({.unsupported = "no"}, table_[0]));
  EXPECT_TRUE(may_choose({.unsupported = "no"}, table_[2]));
  EXPECT_EQ(first.wanted, -2);
}

TEST_F(Choosing, AfterAFaultComesTheNextUsableOne) {
  EXPECT_EQ(name(next_place(table_[0])), "second");
  EXPECT_EQ(name(next_place(table_[0], [](const Backend& b) { return b.number != 3; })), "cpu");
  second.usable = false;
  EXPECT_EQ(name(next_place(table_[0])), "cpu");
  EXPECT_EQ(name(next_place(table_[1])), "cpu");
  EXPECT_FALSE(next_place(table_[2]));
}

}  // namespace
}  // namespace framequality::test
