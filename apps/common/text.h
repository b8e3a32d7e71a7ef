// SPDX-License-Identifier: LGPL-2.1-or-later
// Names, numbers and times as text that CSV, terminals and file systems take as they are meant.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace framequality::apps {

/// The bytes as UTF-8; each that is none becomes U+FFFD.
std::string valid_utf8(std::string_view bytes);

/// One field of an RFC 4180 record, UTF-8; in double quotes where it has to be.
std::string csv_field(std::string_view bytes);

/// One line that a terminal shows as it is: control characters and broken UTF-8 as \n, \x1b ...
std::string printable(std::string_view bytes);

/// What printable() gives, shortened in the middle to so many characters; at least 1.
std::string shortened(std::string_view bytes, std::size_t characters);

/// The shortest digits that read back as this very double; in every locale with a point. Finite numbers only.
std::string number(double value);

/// The number with so many significant digits, in every locale with a point.
std::string rounded(double value, int digits);

/// Seconds with nine decimals: exact.
std::string seconds(std::uint64_t ns);

/// 0:01.250 or 1:02:03.250, for people.
std::string clock_time(std::uint64_t ns);

/// Now, where the machine is; by default as "2026-01-31 13:05". `format`: of g_date_time_format().
std::string local_time(const char* format = "%Y-%m-%d %H:%M");

std::string base64(std::string_view bytes);

/// The last part of a path or URI without its extension, as the beginning of a file name: no separators, no control
/// characters, no leading dot or dash, at most 120 bytes, never empty.
std::string base_name(std::string_view path);

/// The last part of a path or URI as it is, but for control characters and broken UTF-8, which become `_`; never empty.
std::string file_name(std::string_view path);

}  // namespace framequality::apps
