// SPDX-License-Identifier: LGPL-2.1-or-later
// Host names that this server accepts.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::watch {

/// Rejects pages of other sites that point their name to this server (DNS rebinding): the browser then
/// treats its answers as the page's own, but sends the site's name in Host.
class Hosts {
 public:
  /// `names`: in addition to this machine's own; `listen`: ADDRESS:PORT, whose name is accepted, too.
  explicit Hosts(const std::vector<std::string>& names, std::string_view listen = {});

  /// Whether a Host header, with or without a port, names this server: any IP address, localhost and names below it,
  /// or one of the names.
  bool knows(std::string_view header) const;

 private:
  std::set<std::string, std::less<>> names_;
};

/// The name as it is compared: lower case, ASCII even if international, without a final dot.
/// None if it is not a host name.
std::optional<std::string> host_name(std::string_view text);

/// This machine's names, with and without domain: from gethostname(), with .local, and with the domains that the
/// resolver adds to short names. Does not query other machines.
std::vector<std::string> own_host_names();

}  // namespace framequality::apps::watch
