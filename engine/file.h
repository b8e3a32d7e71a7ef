// SPDX-License-Identifier: LGPL-2.1-or-later
// Small files that users name, as text.
#pragma once

#include <cstddef>
#include <string>

namespace framequality {

/// All of a file, at most `most` bytes. Throws std::invalid_argument with the reason if it cannot be read, or with
/// `too_long` if it is longer, or never ends.
std::string read_small_file(const std::string& location, std::size_t most, const char* too_long);

}  // namespace framequality
