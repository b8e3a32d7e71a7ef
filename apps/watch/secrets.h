// SPDX-License-Identifier: LGPL-2.1-or-later
// The known passwords, and texts without them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::watch {

class Secrets {
 public:
  /// Hides it as given, percent-decoded, percent-encoded, and as printable() shows it. Empty ones are ignored.
  void add(std::string_view password);
  /// The text without the known passwords and those that without_url_passwords() finds. Short passwords of
  /// letters and digits are hidden only as whole words: otherwise each "a" could go.
  std::string hide(std::string_view text) const;

 private:
  std::vector<std::string> known_;  ///< the longest first
};

}  // namespace framequality::apps::watch
