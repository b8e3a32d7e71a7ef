// SPDX-License-Identifier: LGPL-2.1-or-later
// The known passwords, and texts without them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::watch {

class Secrets {
 public:
  /// It is hidden as it is here, percent-decoded, percent-encoded, and as printable() shows it. An empty one is none.
  void add(std::string_view password);
  /// The text without the known passwords and without those that without_url_passwords() finds. A short password of
  /// letters and digits only where none adjoins: each "a" would go else.
  std::string hide(std::string_view text) const;

 private:
  std::vector<std::string> known_;  ///< the longest first
};

}  // namespace framequality::apps::watch
