// SPDX-License-Identifier: LGPL-2.1-or-later
// Names in the order in which people count: IMG_9 before IMG_10.
#pragma once

#include <string_view>

namespace framequality::apps {

/// Orders paths part by part, as a folder's files would be listed. Digits in a part are compared by value, for equal
/// values the one with fewer leading zeros comes first, everything else by bytes. Different names are never
/// equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace framequality::apps
