// SPDX-License-Identifier: LGPL-2.1-or-later
// Names in the order in which people count: IMG_9 before IMG_10.
#include "apps/common/natural_order.h"

#include <algorithm>
#include <cstddef>

namespace framequality::apps {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

int sign(std::size_t a, std::size_t b) { return a < b ? -1 : a > b ? 1 : 0; }

/// Removes the digits at the beginning of the text, and counts the leading zeros.
std::string_view take_number(std::string_view& text, std::size_t& zeros) {
  const auto end = static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
  // The last digit counts, even if it is a zero.
  zeros = std::min(text.find_first_not_of('0'), end - 1);
  const std::string_view digits = text.substr(zeros, end - zeros);
  text.remove_prefix(end);
  return digits;
}

/// Compares one part of two paths: negative, 0 or positive.
int compare(std::string_view a, std::string_view b) {
  int by_zeros = 0;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      std::size_t zeros_a = 0, zeros_b = 0;
      const std::string_view digits_a = take_number(a, zeros_a), digits_b = take_number(b, zeros_b);
      if (digits_a.size() != digits_b.size()) return sign(digits_a.size(), digits_b.size());
      if (const int by_value = digits_a.compare(digits_b); by_value != 0) return by_value;
      if (by_zeros == 0) by_zeros = sign(zeros_a, zeros_b);
      continue;
    }
    if (a.front() != b.front())
      return sign(static_cast<unsigned char>(a.front()), static_cast<unsigned char>(b.front()));
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (const int by_length = sign(a.size(), b.size()); by_length != 0) return by_length;
  return by_zeros;
}

}  // namespace

bool natural_less(std::string_view a, std::string_view b) {
  for (;;) {
    const std::size_t end_a = a.find('/'), end_b = b.find('/');
    if (const int order = compare(a.substr(0, end_a), b.substr(0, end_b)); order != 0) return order < 0;
    if (end_a == a.npos || end_b == b.npos) return end_a == a.npos && end_b != b.npos;
    a.remove_prefix(end_a + 1);
    b.remove_prefix(end_b + 1);
  }
}

}  // namespace framequality::apps
