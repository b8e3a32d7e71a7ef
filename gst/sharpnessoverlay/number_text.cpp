// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers in readable form, short enough for an image.
#include "gst/sharpnessoverlay/number_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <utility>

namespace framequality::overlay {

std::string number_text(double score, int digits) {
  const double size = std::abs(score);
  char text[32];
  std::to_chars_result end{};
  if (size >= 1e7 || (size > 0 && size < 1e-3)) {
    end = std::to_chars(std::begin(text), std::end(text), score, std::chars_format::scientific, 1);
  } else {
    const int before = size < 10 ? 1 : size < 100 ? 2 : size < 1000 ? 3 : 4;
    end = std::to_chars(std::begin(text), std::end(text), score, std::chars_format::fixed,
                        size > 0 ? std::max(0, digits - before) : 0);
  }
  return {text, end.ptr};
}

std::string short_text(double number) {
  std::string text = number_text(number, 4);
  if (text.find('.') == std::string::npos || text.find('e') != std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string position_text(double position, double error) {
  if (!(error > 0)) return short_text(position);
  constexpr double kMostDecimals = 6;
  if (std::abs(position) >= 1e7 || error >= 1e7 || error < 1e-6)
    return number_text(position, 4) + " ±" + number_text(error, 2);
  const int decimals = static_cast<int>(std::clamp(1 - std::floor(std::log10(error)), 0.0, kMostDecimals));
  const auto fixed = [&](double value) {
    char text[32];
    return std::string(text,
                       std::to_chars(std::begin(text), std::end(text), value, std::chars_format::fixed, decimals).ptr);
  };
  return fixed(position) + " ±" + fixed(error);
}

std::string span_text(std::uint64_t ns) {
  const double seconds = static_cast<double>(ns) / 1e9;
  const auto [value, unit] = seconds < 120    ? std::pair{seconds, " s"}
                             : seconds < 7200 ? std::pair{seconds / 60, " min"}
                                              : std::pair{seconds / 3600, " h"};
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), value, std::chars_format::general, 3);
  return std::string(text, end.ptr).append(unit);
}

}  // namespace framequality::overlay
