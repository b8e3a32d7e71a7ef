// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers as people read them, short enough for an image.
#pragma once

#include <cstdint>
#include <string>

namespace framequality::overlay {

/// A number with so many digits (1...4), but all of those left of the decimal point; at most 8 characters.
std::string number_text(double number, int digits);
/// The same of four digits, with no zeros at the end that say nothing.
std::string short_text(double number);
/// A position with as many decimals as two digits of its standard error have, and that one.
std::string position_text(double position, double error);
/// A time, ns, in seconds, minutes or hours.
std::string span_text(std::uint64_t ns);

}  // namespace framequality::overlay
