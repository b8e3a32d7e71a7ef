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
  /// An @ behind the first / ? or #: part of the tail, unless that / ? or # is of a password that was not
  /// percent-encoded.
  bool has_late_at() const { return tail.find('@') != tail.npos; }
};

/// None if the text is no URL with "://".
std::optional<Url> split_url(std::string_view text);

/// A number from 0 to 65535; none if the text is anything else, if only by a sign or a space.
std::optional<std::uint16_t> port_number(std::string_view text);

/// A text that is one URL, for people: *** for its password, or for all of a user info without a colon, and for values
/// in its query called password and the like. Of a URL that is ambiguous, since / ? # or @ in it were not
/// percent-encoded, everything that may be a password, and so perhaps a part of the host and the path. A text that is
/// no URL may be one that was mistyped.
std::string shown_url(std::string_view url);

/// The same for all URLs in a text, and for values behind names such as password= and user-pw= in it. Where a URL ends
/// is guessed.
std::string without_url_passwords(std::string_view text);

/// What may be a password, or a part of one, of a URL that is ambiguous as above: what shows parts of the URL has to
/// mask these too.
std::vector<std::string> doubtful_parts(const Url& url);

/// %41 and the like as the bytes they stand for; anything else stays.
std::string percent_decoded(std::string_view text);
/// All bytes but unreserved ones (RFC 3986) as %41 and the like.
std::string percent_encoded(std::string_view text);

}  // namespace framequality::apps
