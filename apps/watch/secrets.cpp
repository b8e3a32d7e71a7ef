// SPDX-License-Identifier: LGPL-2.1-or-later
// Passwords, and texts without them.
#include "apps/watch/secrets.h"

#include <glib.h>

#include <algorithm>
#include <array>

namespace framequality::apps::watch {

namespace {

constexpr char kMask[] = "***";
constexpr std::size_t kShort = 8;
// What ends a URL in a text. Not & or ;, which passwords that were not encoded have.
constexpr std::string_view kUrlEnds = " \t\r\n\"'<>";
constexpr std::array<std::string_view, 11> kNames = {"password", "passwd", "pass", "pwd",    "pw",        "user-pw",
                                                     "proxy-pw", "token",  "auth", "secret", "passphrase"};

bool is_word(char c) { return g_ascii_isalnum(c); }

/// The bytes of the user info at the beginning of what follows "://"; npos if there is none.
std::size_t user_info_length(std::string_view rest) {
  const auto authority = rest.substr(0, rest.find_first_of("/?#"));
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) return at;
  // "user:pa/ss@host": what looks like a port is none.
  const auto colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.back() == ']') return std::string_view::npos;
  const auto port = authority.substr(colon + 1);
  if (std::all_of(port.begin(), port.end(), [](char c) { return g_ascii_isdigit(c); })) return std::string_view::npos;
  return rest.rfind('@');
}

std::string without_user_info(std::string_view text) {
  std::string result;
  for (std::size_t begin; (begin = text.find("://")) != std::string_view::npos;) {
    begin += 3;
    result += text.substr(0, begin);
    text.remove_prefix(begin);
    const std::string_view url = text.substr(0, text.find_first_of(kUrlEnds));
    const auto length = user_info_length(url);
    if (length == std::string_view::npos || length == 0) continue;
    const auto colon = url.substr(0, length).find(':');
    if (colon != std::string_view::npos) result.append(url.substr(0, colon + 1));
    result += kMask;
    text.remove_prefix(length);
  }
  return result.append(text);
}

/// The end of the value that begins here: of a quoted one behind its quote.
std::size_t value_length(std::string_view value) {
  if (!value.empty() && (value.front() == '"' || value.front() == '\'')) {
    for (std::size_t i = 1; i < value.size(); ++i) {
      if (value[i] == '\\')
        ++i;
      else if (value[i] == value.front())
        return i + 1;
    }
    return value.size();
  }
  return std::min(value.find_first_of(" \t\r\n\"'<>&;#"), value.size());
}

std::string without_named_values(std::string_view text) {
  std::string result;
  for (std::size_t equals; (equals = text.find('=')) != std::string_view::npos;) {
    std::string_view name = text.substr(0, equals);
    result += text.substr(0, equals + 1);
    text.remove_prefix(equals + 1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const bool secret = std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
      if (name.size() < known.size()) return false;
      const auto tail = name.substr(name.size() - known.size());
      const bool same = g_ascii_strncasecmp(tail.data(), known.data(), known.size()) == 0;
      return same && (name.size() == known.size() || !is_word(name[name.size() - known.size() - 1]));
    });
    if (!secret) continue;
    const auto space = std::min(text.find_first_not_of(' '), text.size());
    const auto length = space + value_length(text.substr(space));
    if (length > space) result += kMask;
    text.remove_prefix(length);
  }
  return result.append(text);
}

}  // namespace

std::string without_url_passwords(std::string_view text) { return without_named_values(without_user_info(text)); }

std::string percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool code =
        text[i] == '%' && i + 2 < text.size() && g_ascii_isxdigit(text[i + 1]) && g_ascii_isxdigit(text[i + 2]);
    if (!code) {
      result += text[i];
      continue;
    }
    result += static_cast<char>(g_ascii_xdigit_value(text[i + 1]) * 16 + g_ascii_xdigit_value(text[i + 2]));
    i += 2;
  }
  return result;
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_word(c) || std::string_view("-._~").find(c) != std::string_view::npos)
      result += c;
    else
      result.append({'%', kDigits[byte / 16], kDigits[byte % 16]});
  }
  return result;
}

void Secrets::add(std::string_view password) {
  const std::string decoded = percent_decoded(password);
  for (std::string form : {std::string(password), decoded, percent_encoded(decoded)})
    if (!form.empty() && std::find(known_.begin(), known_.end(), form) == known_.end())
      known_.push_back(std::move(form));
  // One may hold another.
  std::stable_sort(known_.begin(), known_.end(),
                   [](const std::string& a, const std::string& b) { return a.size() > b.size(); });
}

std::string Secrets::hide(std::string_view text) const {
  // By place first: what stands in a URL goes whole, whatever it is made of.
  std::string result = without_url_passwords(text);
  for (const std::string& secret : known_) {
    const bool plain = secret.size() < kShort && std::all_of(secret.begin(), secret.end(), is_word);
    for (std::size_t at = 0; (at = result.find(secret, at)) != std::string::npos;) {
      const std::size_t end = at + secret.size();
      const bool inside = (at > 0 && is_word(result[at - 1])) || (end < result.size() && is_word(result[end]));
      if (plain && inside) {
        ++at;
        continue;
      }
      result.replace(at, secret.size(), kMask);
      at += sizeof(kMask) - 1;
    }
  }
  return result;
}

}  // namespace framequality::apps::watch
