// SPDX-License-Identifier: LGPL-2.1-or-later
// Raw files of cameras, by name.
#pragma once

#include <string>
#include <string_view>

namespace framequality::apps {

/// The common extensions of raw files, in lower case and without a dot.
extern const std::string_view kRawExtensions[17];

/// Whether the name has one of them, in upper or lower case.
bool is_raw_name(const std::string& path);

}  // namespace framequality::apps
