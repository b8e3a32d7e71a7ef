// SPDX-License-Identifier: LGPL-2.1-or-later
// A bounded wait for what other threads do.
#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace framequality {

/// Waits until it holds; fails after a minute.
template <class F>
void eventually(F&& holds) {
  for (int i = 0; i < 6000; ++i) {
    if (holds()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  FAIL() << "it never held";
}

}  // namespace framequality
