// SPDX-License-Identifier: LGPL-2.1-or-later
// Names, numbers and times as text that is safe in CSV, terminals and file systems.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace framequality::apps {

/// The bytes as UTF-8; each invalid one becomes U+FFFD.
std::string valid_utf8(std::string_view bytes);

/// One field of an RFC 4180 record, UTF-8; in double quotes if necessary.
std::string csv_field(std::string_view bytes);

/// One line that is safe on a terminal: control characters and broken UTF-8 as \n, \x1b ...
std::string printable(std::string_view bytes);

/// printable(), shortened in the middle to this many characters; at least 1.
std::string shortened(std::string_view bytes, std::size_t characters);

/// The shortest digits that read back as the same double; a decimal point in every locale. Finite numbers only.
std::string number(double value);

/// The number with this many significant digits; a decimal point in every locale.
std::string rounded(double value, int digits);

/// Seconds with nine decimals: exact.
std::string seconds(std::uint64_t ns);

/// 0:01.250 or 1:02:03.250, for people.
std::string clock_time(std::uint64_t ns);

/// The current local time; by default as "2026-01-31 13:05". `format`: of g_date_time_format().
std::string local_time(const char* format = "%Y-%m-%d %H:%M");

std::string base64(std::string_view bytes);

/// The last part of a path or URI without its extension, as the beginning of a file name: no separators, no control
/// characters, no leading dot or dash, at most 120 bytes, never empty.
std::string base_name(std::string_view path);

/// The last part of a path or URI, with control characters and broken UTF-8 replaced by `_`; never empty.
std::string file_name(std::string_view path);

}  // namespace framequality::apps
