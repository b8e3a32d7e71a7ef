// SPDX-License-Identifier: LGPL-2.1-or-later
// Host names that this server accepts.
#include "apps/watch/hosts.h"

#include "apps/common/text.h"

#include <glib.h>

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <climits>
#include <netinet/in.h>
#include <resolv.h>
#include <unistd.h>

namespace framequality::apps::watch {

namespace {

constexpr std::size_t kLongestName = 253;

bool is_address(int family, const std::string& text) {
  in6_addr address{};
  return inet_pton(family, text.c_str(), &address) == 1;
}

bool is_port(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return g_ascii_isdigit(c); });
}

/// The host without its port; none if anything else follows. For [::1], the part in brackets, which must be
/// an IPv6 address.
std::optional<std::string> host_of(std::string_view header) {
  std::string_view host = header, rest;
  if (host.starts_with('[')) {
    const auto end = host.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    rest = host.substr(end + 1);
    host = host.substr(1, end - 1);
    // fe80::1%eth0: the zone only concerns the client.
    host = host.substr(0, host.find('%'));
    if (!is_address(AF_INET6, std::string(host))) return std::nullopt;
  } else if (const auto colon = host.rfind(':'); colon != std::string_view::npos) {
    rest = host.substr(colon);
    host = host.substr(0, colon);
  }
  if (!rest.empty() && (rest.front() != ':' || !is_port(rest.substr(1)))) return std::nullopt;
  return std::string(host);
}

}  // namespace

std::optional<std::string> host_name(std::string_view text) {
  if (text.empty() || valid_utf8(text) != text) return std::nullopt;
  gchar* ascii = g_hostname_to_ascii(std::string(text).c_str());
  if (!ascii) return std::nullopt;
  std::string name = ascii;
  g_free(ascii);
  std::transform(name.begin(), name.end(), name.begin(), g_ascii_tolower);
  if (name.ends_with('.')) name.pop_back();
  const bool is_name = std::all_of(name.begin(), name.end(),
                                   [](char c) { return g_ascii_isalnum(c) || c == '-' || c == '_' || c == '.'; });
  if (!is_name || name.empty() || name.size() > kLongestName || name.starts_with('.') ||
      name.find("..") != std::string::npos)
    return std::nullopt;
  return name;
}

std::vector<std::string> own_host_names() {
  std::array<char, HOST_NAME_MAX + 1> buffer{};
  if (gethostname(buffer.data(), buffer.size() - 1) != 0) return {};
  const std::string full = buffer.data(), label = full.substr(0, full.find('.'));
  std::vector<std::string> names = {full, label, label + ".local"};
  struct __res_state resolver {};
  if (res_ninit(&resolver) == 0) {
    for (char** domain = resolver.dnsrch; *domain; ++domain) names.push_back(label + '.' + *domain);
    res_nclose(&resolver);
  }
  return names;
}

Hosts::Hosts(const std::vector<std::string>& names, std::string_view listen) {
  std::vector<std::string> all = own_host_names();
  all.insert(all.end(), names.begin(), names.end());
  if (const auto host = host_of(listen)) all.push_back(*host);
  for (const std::string& name : all)
    if (auto known = host_name(name)) names_.insert(std::move(*known));
}

bool Hosts::knows(std::string_view header) const {
  const auto host = host_of(header);
  if (!host) return false;
  if (is_address(AF_INET6, *host)) return true;
  const auto name = host_name(*host);
  return name && (is_address(AF_INET, *name) || *name == "localhost" || name->ends_with(".localhost") ||
                  names_.contains(*name));
}

}  // namespace framequality::apps::watch
