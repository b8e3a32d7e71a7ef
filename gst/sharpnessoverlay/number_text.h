// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers in readable form, short enough for an image.
#pragma once

#include <cstdint>
#include <string>

namespace framequality::overlay {

/// A number with this many digits (1...4), but all of those left of the decimal point; at most 8 characters.
std::string number_text(double number, int digits);
/// The same with four digits, without trailing zeros.
std::string short_text(double number);
/// A position rounded to two digits of its standard error, followed by the error.
std::string position_text(double position, double error);
/// A time, ns, in seconds, minutes or hours.
std::string span_text(std::uint64_t ns);

}  // namespace framequality::overlay
