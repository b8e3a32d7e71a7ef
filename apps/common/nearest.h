// SPDX-License-Identifier: LGPL-2.1-or-later
// The known name that is nearest to a mistyped one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framequality {

/// "; did you mean 'metric'?" for the known name with the fewest mistakes: letters added, left out, replaced, or
/// swapped with their neighbour; case is ignored. A name that starts with `text`, three letters at
/// least, counts like one with one mistake. Empty if all have more than a third of their letters wrong. Bytes are
/// letters.
std::string suggestion(std::string_view text, const std::vector<std::string>& known);

}  // namespace framequality
