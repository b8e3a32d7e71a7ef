// SPDX-License-Identifier: LGPL-2.1-or-later
// Names in the order in which people count: IMG_9 before IMG_10.
#pragma once

#include <string_view>

namespace framequality::apps {

/// Orders paths part by part, as a folder's files would be listed. Within a part digits count by their value, of equal
/// values the one with fewer leading zeros comes first, everything else goes by its bytes. Different names are never
/// equal.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace framequality::apps
