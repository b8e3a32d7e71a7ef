// SPDX-License-Identifier: LGPL-2.1-or-later
// URLs: their parts, and texts without the passwords in them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framequality::apps {

/// The parts of a URL as RFC 3986 splits them: the authority ends at the first / ? or #, the user info at the last @ in
/// it. They refer to the text.
struct Url {
  std::string_view scheme;
  bool has_user_info = false;
  std::string_view user_info;
  std::string_view host;  ///< an IPv6 address with its brackets
  std::string_view port;  ///< with its colon, or whatever else follows the host; may be empty
  std::string_view tail;  ///< path, query and fragment

  std::string_view server() const { return {host.data(), host.size() + port.size()}; }
  /// No port, an empty one, or one from 1 to 65535.
  bool has_valid_port() const;
  bool has_ip_address() const;
  /// An @ after the first / ? or #: part of the tail, unless that / ? or # belongs to a password that was not
  /// percent-encoded.
  bool has_late_at() const { return tail.find('@') != tail.npos; }
};

/// The parts; none if the text is not a URL with "://".
std::optional<Url> split_url(std::string_view text);

/// A number from 0 to 65535; none for any other text, even with a sign or a space.
std::optional<std::uint16_t> port_number(std::string_view text);

/// A text that is one URL, for display: *** for its password, or for all user info without a colon, and for values
/// of parameters called password and the like. In a URL made ambiguous by / ? # or @ that were not
/// percent-encoded, everything that may be a password is masked, perhaps with parts of host and path. A text that is
/// not a URL may be a mistyped one.
std::string shown_url(std::string_view url);

/// The same for all URLs in a text, and for values after names such as password= and user-pw=. The end of a URL
/// is guessed.
std::string without_url_passwords(std::string_view text);

/// All parts of an ambiguous URL that may belong to a password: code that shows parts of the URL must
/// mask these too.
std::vector<std::string> doubtful_parts(const Url& url);

/// %41 and the like decoded to bytes; anything else is kept.
std::string percent_decoded(std::string_view text);
/// All bytes except unreserved ones (RFC 3986) as %41 and the like.
std::string percent_encoded(std::string_view text);

}  // namespace framequality::apps
