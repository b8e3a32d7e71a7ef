// SPDX-License-Identifier: LGPL-2.1-or-later
// URLs: their parts, and texts without the passwords in them.
#include "apps/common/url.h"

#include <glib.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <limits>

namespace framequality::apps {

namespace {

constexpr auto kNone = std::string_view::npos;
constexpr std::string_view kMask = "***", kScheme = "://", kTailBegins = "/?#";
// The characters that end a URL in a text. Not & or ;, which unencoded passwords contain.
constexpr std::string_view kUrlEnds = " \t\r\n\"'<>";
// The punctuation that may follow a URL in a sentence.
constexpr std::string_view kPunctuation = ".,;:!)]}";
constexpr std::array<std::string_view, 20> kNames = {
    "password", "passwd", "pass", "pwd",    "pw",      "psw", "loginpas", "user-pw",   "proxy-pw",   "passphrase",
    "token",    "auth",   "key",  "apikey", "api_key", "sig", "secret",   "signature", "credential", "credentials"};

bool all_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return g_ascii_isdigit(c); });
}

bool is_scheme_character(char c) { return g_ascii_isalnum(c) || c == '+' || c == '-' || c == '.'; }

/// Splits the part after "://".
Url split_rest(std::string_view rest) {
  Url url;
  const auto authority = rest.substr(0, rest.find_first_of(kTailBegins));
  url.tail = rest.substr(authority.size());
  auto server = authority;
  if (const auto at = authority.rfind('@'); at != kNone) {
    url.has_user_info = true;
    url.user_info = authority.substr(0, at);
    server = authority.substr(at + 1);
  }
  const auto bracket = server.starts_with('[') ? server.find(']') : kNone;
  const auto host_end = std::min(bracket == kNone ? server.find(':') : bracket + 1, server.size());
  url.host = server.substr(0, host_end);
  url.port = server.substr(host_end);
  return url;
}

/// Whether the text after an @ may be a host. Short numbers, as in path names (ch@1), are not: they
/// would be addresses of a network without hosts.
bool may_be_host(std::string_view text) {
  const auto name = text.substr(0, text.find_first_of("/?#&"));
  return name.size() > 3 || !all_digits(name) || name.find_first_not_of('0') == kNone;
}

/// Whether user info may end at an @ in here, after `colon`.
bool may_end_user_info(std::string_view text, std::size_t colon) {
  for (auto at = text.find('@', colon); at != kNone; at = text.find('@', at + 1))
    if (may_be_host(text.substr(at + 1))) return true;
  return false;
}

/// End of the user info after "://", if the / ? or # that ends the authority may belong to a password.
std::size_t late_user_info_end(std::string_view rest, const Url& url) {
  const auto colon = rest.find(':'), last = rest.rfind('@');
  // A user name never looks like an address. Without a colon there is no password.
  if (!url.has_late_at() || (url.has_ip_address() && url.has_valid_port())) return kNone;
  if (!url.has_user_info && colon > last) return kNone;
  return may_end_user_info(url.tail, 0) ? last : kNone;
}

std::string without_password(std::string_view user_info) {
  if (user_info.empty()) return "";
  const auto colon = user_info.find(':');
  return std::string(user_info.substr(0, colon == kNone ? 0 : colon + 1)).append(kMask);
}

/// The part after "://", without its password.
std::string masked(std::string_view rest) {
  const Url url = split_rest(rest);
  std::string result;
  auto behind = rest;
  if (const auto end = late_user_info_end(rest, url); end != kNone) {
    result = without_password(rest.substr(0, end)) + '@';
    behind = rest.substr(end + 1);
  } else if (url.has_user_info) {
    result = without_password(url.user_info) + '@';
    behind = rest.substr(url.user_info.size() + 1);
  }
  const Url server = split_rest(behind);
  // "user:password", the host forgotten.
  if (!server.has_valid_port()) return result.append(server.host).append(":").append(kMask);
  const auto colon = server.tail.find(':'), last = server.tail.rfind('@');
  if (!server.has_ip_address() || last == kNone || colon > last || !may_end_user_info(server.tail, colon))
    return result.append(behind);
  return result.append(server.server())
      .append(server.tail.substr(0, colon + 1))
      .append(kMask)
      .append(server.tail.substr(last));
}

/// Length of the URL at the beginning of a text, excluding its part before "://"; `before`: the character before the
/// URL.
std::size_t url_length(std::string_view text, char before) {
  auto length = std::min(text.find_first_of(kUrlEnds), text.size());
  if (before == '"' || before == '\'') {
    auto quote = text.find(before);
    while (quote != kNone && quote > 0 && text[quote - 1] == '\\') quote = text.find(before, quote + 1);
    if (quote != kNone) length = quote;
  }
  const auto word = text.substr(0, length);
  if (word.find('@') != kNone || split_rest(word).has_valid_port()) return length;
  // The colon belongs to user info with a space in it.
  const auto line = text.substr(0, std::min(text.find('\n'), text.find(kScheme)));
  const auto at = line.rfind('@');
  return at == kNone ? length : std::min(line.find_first_of(kUrlEnds, at), line.size());
}

std::string without_user_info(std::string_view text) {
  std::string result;
  for (std::size_t begin; (begin = text.find(kScheme)) != kNone;) {
    auto first = begin;
    while (first > 0 && is_scheme_character(text[first - 1])) --first;
    const char before = first > 0 ? text[first - 1] : '\0';
    result += text.substr(0, begin + kScheme.size());
    text.remove_prefix(begin + kScheme.size());
    auto url = text.substr(0, url_length(text, before));
    // "rtsp://host:554: refused"
    const auto trimmed = url.substr(0, url.find_last_not_of(kPunctuation) + 1);
    if (split_rest(trimmed).has_valid_port()) url = trimmed;
    result += masked(url);
    text.remove_prefix(url.size());
  }
  return result.append(text);
}

/// Whether a text starts with "&name=", which ends the value before.
bool begins_parameter(std::string_view text) {
  const auto end =
      std::find_if_not(text.begin() + 1, text.end(), [](char c) { return is_scheme_character(c) || c == '_'; });
  return end != text.end() && end != text.begin() + 1 && *end == '=';
}

/// Length of the value at the beginning, including the quotes of a quoted one.
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
  const auto end = std::min(value.find_first_of(kUrlEnds), value.size());
  for (auto next = value.find('&'); next < end; next = value.find('&', next + 1))
    if (begins_parameter(value.substr(next))) return next;
  return end;
}

bool names_secret(std::string_view name) {
  while (name.ends_with(' ')) name.remove_suffix(1);
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view known) {
    if (name.size() < known.size()) return false;
    const auto tail = name.substr(name.size() - known.size());
    const bool same = g_ascii_strncasecmp(tail.data(), known.data(), known.size()) == 0;
    return same && (name.size() == known.size() || !g_ascii_isalnum(name[name.size() - known.size() - 1]));
  });
}

std::string without_named_values(std::string_view text) {
  std::string result;
  for (std::size_t equals; (equals = text.find('=')) != kNone;) {
    const std::string_view name = text.substr(0, equals);
    result += text.substr(0, equals + 1);
    text.remove_prefix(equals + 1);
    if (!names_secret(name)) continue;
    const auto space = std::min(text.find_first_not_of(' '), text.size());
    const auto length = space + value_length(text.substr(space));
    if (length > space) result += kMask;
    text.remove_prefix(length);
  }
  return result.append(text);
}

}  // namespace

bool Url::has_valid_port() const {
  if (port.empty() || port == ":") return true;
  return port.front() == ':' && port_number(port.substr(1)).value_or(0) > 0;
}

bool Url::has_ip_address() const {
  std::string address(host);
  in6_addr binary;
  if (!address.starts_with('[')) return inet_pton(AF_INET, address.c_str(), &binary) == 1;
  if (!address.ends_with(']')) return false;
  // "fe80::1%eth0", or %25eth0.
  address = address.substr(1, std::min(address.find('%'), address.size() - 1) - 1);
  return inet_pton(AF_INET6, address.c_str(), &binary) == 1;
}

std::optional<Url> split_url(std::string_view text) {
  const auto end = text.find(kScheme);
  if (end == kNone || end == 0 || !g_ascii_isalpha(text.front())) return std::nullopt;
  if (!std::all_of(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), is_scheme_character))
    return std::nullopt;
  Url url = split_rest(text.substr(end + kScheme.size()));
  url.scheme = text.substr(0, end);
  return url;
}

std::optional<std::uint16_t> port_number(std::string_view text) {
  unsigned number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > std::numeric_limits<std::uint16_t>::max())
    return std::nullopt;
  return static_cast<std::uint16_t>(number);
}

std::string shown_url(std::string_view text) {
  const auto url = split_url(text);
  if (url && g_ascii_strcasecmp(std::string(url->scheme).c_str(), "file") == 0) return std::string(text);
  const auto begin = url ? url->scheme.size() + kScheme.size() : 0;
  const auto rest = text.substr(begin);
  // "user:password@host" without a scheme, or "rtsp:/user:password@host".
  if (!url && (rest.find('@') == kNone || rest.find(':') > rest.rfind('@'))) return without_url_passwords(text);
  return without_named_values(std::string(text.substr(0, begin)) + masked(rest));
}

std::string without_url_passwords(std::string_view text) { return without_named_values(without_user_info(text)); }

std::vector<std::string> doubtful_parts(const Url& url) {
  const char* begin = url.has_user_info ? url.user_info.data() : url.host.data();
  const std::string_view rest(begin, static_cast<std::size_t>(url.tail.data() + url.tail.size() - begin));
  const auto end = late_user_info_end(rest, url);
  if (end == kNone) return {};
  const auto user_info = rest.substr(0, end);
  const auto colon = user_info.find(':');
  return {std::string(user_info.substr(colon == kNone ? 0 : colon + 1)), std::string(url.server()),
          std::string(url.tail.substr(0, url.tail.rfind('@') + 1))};
}

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
    if (g_ascii_isalnum(c) || std::string_view("-._~").find(c) != kNone)
      result += c;
    else
      result.append({'%', kDigits[byte / 16], kDigits[byte % 16]});
  }
  return result;
}

}  // namespace framequality::apps
