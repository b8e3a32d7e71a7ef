// SPDX-License-Identifier: LGPL-2.1-or-later
// JSON documents: values in the form the programs write, and the text of a document.
#include "apps/common/json.h"

#include "apps/common/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace framequality::apps {

namespace {

constexpr int kCurveDigits = 5;                // more than a plot can show
constexpr double kWhole = 9007199254740992.0;  // 2^53: whole numbers below it are doubles

double to_double(const std::string& digits) {
  double value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

/// Escapes characters that the library does not: DEL, and the control characters and line ends of Unicode.
std::string escaped(const std::string& json) {
  std::string text;
  text.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const auto byte = [&](std::size_t at) { return at < json.size() ? static_cast<unsigned char>(json[at]) : 0u; };
    unsigned code = 0;
    std::size_t length = 1;
    if (byte(i) == 0x7f) {
      code = 0x7f;
    } else if (byte(i) == 0xc2 && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0) {
      code = byte(i + 1);
      length = 2;
    } else if (byte(i) == 0xe2 && byte(i + 1) == 0x80 && (byte(i + 2) == 0xa8 || byte(i + 2) == 0xa9)) {
      code = 0x2000 + byte(i + 2) - 0x80;
      length = 3;
    }
    if (code == 0) {
      text += json[i];
      continue;
    }
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\u%04x", code);
    text += escape.data();
    i += length - 1;
  }
  return text;
}

}  // namespace

Json json_text(std::string_view bytes) { return valid_utf8(bytes); }

Json json_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  if (std::abs(value) < kWhole && value == std::floor(value) && !(value == 0 && std::signbit(value)))
    return static_cast<std::int64_t>(value);
  return value;
}

Json json_rounded(std::optional<double> value, int digits) {
  return value && std::isfinite(*value) ? json_number(to_double(rounded(*value, digits))) : Json();
}

Json json_seconds(std::optional<std::uint64_t> ns) { return ns ? Json(to_double(seconds(*ns))) : Json(); }

Json json_curve(const std::vector<std::array<double, 3>>& curve) {
  Json json = Json::array();
  for (const auto& step : curve) {
    Json values = Json::array();
    for (const double value : step) values.push_back(json_rounded(value, kCurveDigits));
    json.push_back(std::move(values));
  }
  return json;
}

std::string dump(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  const bool plain = std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x7f; });
  return plain ? text : escaped(text);
}

std::string json_for_html(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) c == '<' ? text.append("\\u003c") : text.append(1, c);
  return text;
}

void add_member(std::string& object, std::string_view name, std::string_view json) {
  object.pop_back();
  if (object.back() != '{') object += ",\n";
  object.append(dump(json_text(name))).append(":").append(json) += '}';
}

std::string array_of_lines(const std::vector<std::string>& items) {
  std::string text = "[";
  for (const std::string& item : items) text.append(&item == &items.front() ? "\n" : ",\n").append(item);
  return text + (items.empty() ? "]" : "\n]");
}

}  // namespace framequality::apps
