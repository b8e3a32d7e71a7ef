// SPDX-License-Identifier: LGPL-2.1-or-later
// States of a camera, and conditions that can be watched for.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace framequality::apps::watch {

/// Conditions that element camerawatch detects; the flags of its property watch-for.
inline constexpr std::array<std::string_view, 8> kConditions = {"defocused", "covered", "dark",       "overexposed",
                                                                "frozen",    "moved",   "flickering", "noisy"};
/// Its other states, and those that the program adds. `connecting`: before the first frame, not an event.
inline constexpr std::array<std::string_view, 6> kOtherStates = {"learning", "good",  "connecting",
                                                                 "lost",     "ended", "error"};
/// States used in events only.
inline constexpr std::array<std::string_view, 2> kEventStates = {"connected", "recovered"};

inline bool is_condition(std::string_view name) {
  return std::find(kConditions.begin(), kConditions.end(), name) != kConditions.end();
}

}  // namespace framequality::apps::watch
