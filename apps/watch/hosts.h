// SPDX-License-Identifier: LGPL-2.1-or-later
// The names by which this server may be addressed.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::watch {

/// Keeps out web pages of strangers that make a name of theirs point to this server (DNS rebinding): the browser then
/// takes its answers for the page's own, but sends the stranger's name in Host.
class Hosts {
 public:
  /// `names` in addition to this machine's own; `listen`: ADDRESS:PORT, whose name is one, too.
  explicit Hosts(const std::vector<std::string>& names, std::string_view listen = {});

  /// Whether a Host header, with or without a port, names this server: any IP address, localhost and names below it,
  /// or one of the names.
  bool knows(std::string_view header) const;

 private:
  std::set<std::string, std::less<>> names_;
};

/// The name in the form that is compared: lower case, in ASCII also when international, without the dot at its end.
/// None if it is no host name.
std::optional<std::string> host_name(std::string_view text);

/// This machine's name, with and without domain: as gethostname() has it, with .local, and with the domains that the
/// resolver adds to short names. Asks no other machine.
std::vector<std::string> own_host_names();

}  // namespace framequality::apps::watch
