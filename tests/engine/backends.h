// SPDX-License-Identifier: LGPL-2.1-or-later
// Three backends for tests of the engine: two devices that are there or not, and a CPU.
#pragma once

#include "device/backend.h"

#include <gtest/gtest.h>

namespace framequality::test {

/// What tests say of a device, and see of it.
struct FakeDevice {
  bool usable = true;
  int wanted = -2;  ///< of find()
};

class Backends : public ::testing::Test {
 protected:
  void SetUp() override {
    first = second = {};
    table_[0] = backend("first", "the first", 7, Memory::kCuda, find<first>);
    table_[1] = backend("second", "the second", 3, Memory::kHost, find<second>);
    table_[2] = backend("cpu", "the CPU", 1, Memory::kHost, [](const Wanted&) { return Device{0, "", ""}; });
    use_backends(all_);
  }
  void TearDown() override { use_backends({}); }

  static inline FakeDevice first, second;
  static inline Backend table_[3]{};

 private:
  static Backend backend(const char* name, const char* title, int number, Memory memory,
                         Device (*find)(const Wanted&)) {
    Backend b{};
    b.name = name;
    b.title = title;
    b.number = number;
    b.memory = memory;
    b.find = find;
    return b;
  }
  template <FakeDevice& fake>
  static Device find(const Wanted& wanted) {
    fake.wanted = wanted.id;
    return fake.usable ? Device{4, "A card", ""} : Device{-1, "", "no driver"};
  }
  static constexpr const Backend* all_[] = {&table_[0], &table_[1], &table_[2]};
};

}  // namespace framequality::test
