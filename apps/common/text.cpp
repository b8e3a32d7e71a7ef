// SPDX-License-Identifier: LGPL-2.1-or-later
// Names, numbers and times as text that is safe in CSV, terminals and file systems.
#include "apps/common/text.h"

#include <glib.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace framequality::apps {

namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::size_t kLongestBaseName = 120;

std::string formatted(const char* format, auto... arguments) {
  std::array<char, 64> text;
  const int length = std::snprintf(text.data(), text.size(), format, arguments...);
  return {text.data(), static_cast<std::size_t>(length)};
}

bool is_control(gunichar c) { return g_unichar_iscntrl(c) || c == 0x2028 || c == 0x2029; }

/// Calls character(c, its bytes) for every character, and broken(byte) for every byte that belongs to none.
template <class Character, class Broken>
void each_character(std::string_view bytes, Character&& character, Broken&& broken) {
  while (!bytes.empty()) {
    const gunichar c = g_utf8_get_char_validated(bytes.data(), static_cast<gssize>(bytes.size()));
    std::size_t length = 1;
    // GLib's result for a NUL within the length differs between versions.
    if (bytes.front() == '\0' || c == static_cast<gunichar>(-1) || c == static_cast<gunichar>(-2)) {
      broken(static_cast<unsigned char>(bytes.front()));
    } else {
      length = static_cast<std::size_t>(g_unichar_to_utf8(c, nullptr));
      character(c, bytes.substr(0, length));
    }
    bytes.remove_prefix(length);
  }
}

std::string_view last_part(std::string_view path) {
  const auto slash = path.find_last_of('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  const auto keep = [&](gunichar, std::string_view c) { text += c; };
  const auto replace = [&](unsigned char) { text += "\uFFFD"; };
  each_character(bytes, keep, replace);
  return text;
}

std::string csv_field(std::string_view bytes) {
  std::string text = valid_utf8(bytes);
  const bool outer_space = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  if (!outer_space && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string printable(std::string_view bytes) {
  std::string text;
  each_character(
      bytes,
      [&](gunichar c, std::string_view utf8) {
        if (c == '\n')
          text += "\\n";
        else if (is_control(c))
          text += formatted(c < 0x100 ? "\\x%02x" : "\\u%04x", c);
        else
          text += utf8;
      },
      [&](unsigned char byte) { text += formatted("\\x%02x", unsigned{byte}); });
  return text;
}

std::string shortened(std::string_view bytes, std::size_t characters) {
  std::string text = printable(bytes);
  const auto length = static_cast<std::size_t>(g_utf8_strlen(text.data(), static_cast<gssize>(text.size())));
  if (length <= characters) return text;
  const std::size_t head = (characters - 1) / 2, tail = characters - 1 - head;
  const char* head_end = g_utf8_offset_to_pointer(text.data(), static_cast<glong>(head));
  const char* tail_begin = g_utf8_offset_to_pointer(text.data(), static_cast<glong>(length - tail));
  return std::string(text.c_str(), head_end) + '~' + tail_begin;
}

std::string number(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return {text.data(), end};
}

std::string rounded(double value, int digits) {
  std::array<char, 64> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits).ptr;
  return {text.data(), end};
}

std::string seconds(std::uint64_t ns) {
  return formatted("%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT, guint64{ns / kSecond}, guint64{ns % kSecond});
}

std::string clock_time(std::uint64_t ns) {
  const guint64 ms = (ns + 500'000) / 1'000'000, minutes = ms / 60'000;
  const auto rest = static_cast<unsigned>(ms % 60'000);
  if (minutes < 60) return formatted("%" G_GUINT64_FORMAT ":%02u.%03u", minutes, rest / 1000, rest % 1000);
  return formatted("%" G_GUINT64_FORMAT ":%02u:%02u.%03u", minutes / 60, static_cast<unsigned>(minutes % 60),
                   rest / 1000, rest % 1000);
}

std::string local_time(const char* format) {
  GDateTime* now = g_date_time_new_now_local();
  gchar* text = g_date_time_format(now, format);
  std::string result = text;
  g_free(text);
  g_date_time_unref(now);
  return result;
}

std::string base64(std::string_view bytes) {
  gchar* text = g_base64_encode(reinterpret_cast<const guchar*>(bytes.data()), bytes.size());
  std::string result = text;
  g_free(text);
  return result;
}

std::string base_name(std::string_view path) {
  path = last_part(path);
  if (const auto dot = path.find_last_of('.'); dot != std::string_view::npos && dot > 0) path = path.substr(0, dot);
  std::string name;
  each_character(
      path,
      [&](gunichar c, std::string_view utf8) {
        const bool leading = name.empty() && (c == '.' || c == '-');
        // Besides separators, characters that other file systems refuse and shells would expand.
        const bool awkward =
            is_control(c) ||
            (c < 0x80 && std::string_view("\\:*?\"'<>|`$").find(static_cast<char>(c)) != std::string_view::npos);
        if (name.size() + utf8.size() <= kLongestBaseName) name += leading || awkward ? "_" : utf8;
      },
      [&](unsigned char) {
        if (name.size() < kLongestBaseName) name += '_';
      });
  return name.empty() ? "clip" : name;
}

std::string file_name(std::string_view path) {
  std::string name;
  each_character(
      last_part(path), [&](gunichar c, std::string_view utf8) { name += is_control(c) ? "_" : utf8; },
      [&](unsigned char) { name += '_'; });
  return name.empty() ? "picture" : name;
}

}  // namespace framequality::apps
