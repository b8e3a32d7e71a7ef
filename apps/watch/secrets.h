// SPDX-License-Identifier: LGPL-2.1-or-later
// Passwords, and texts without them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps::watch {

/// The text with *** for what is a password by its place: in the user info of URLs (all of it, if it has no colon), and
/// after names such as password= and user-pw=. Characters that should have been percent-encoded may be in it.
std::string without_url_passwords(std::string_view text);

/// %41 and the like as the bytes they stand for; anything else stays.
std::string percent_decoded(std::string_view text);
/// All bytes but unreserved ones (RFC 3986) as %41 and the like.
std::string percent_encoded(std::string_view text);

/// The passwords that are known.
class Secrets {
 public:
  /// It is hidden as it is here, percent-decoded and percent-encoded. An empty one is none.
  void add(std::string_view password);
  /// The text without the known passwords and without those that without_url_passwords() finds. A short password of
  /// letters and digits only where none adjoins: each "a" would go else.
  std::string hide(std::string_view text) const;

 private:
  std::vector<std::string> known_;  ///< the longest first
};

}  // namespace framequality::apps::watch
