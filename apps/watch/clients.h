// SPDX-License-Identifier: LGPL-2.1-or-later
// The HTTP server's open connections, and the choice of those that must close.
#pragma once

#include <glib.h>

#include <cstddef>
#include <functional>
#include <list>
#include <string>
#include <sys/socket.h>

struct MHD_Connection;

namespace framequality::apps::watch {

/// An open connection. Times are µs of g_get_monotonic_time().
struct Client {
  int socket = -1;
  std::string network;   ///< the client, as far as limits are concerned
  gint64 since = 0;      ///< when it connected, its request was read, or its answer was sent, whichever came last
  bool closing = false;  ///< shut down, and not counted any more
  MHD_Connection* waiting = nullptr;  ///< suspended until there is an answer; or null
};

/// A slow client, or many connections of one, must not lock out others: a new connection is always accepted, and
/// if there are too many, the one that has made no progress for longest goes. One thread.
class Clients {
 public:
  static constexpr std::size_t kMost = 128, kMostOfOne = 64;
  /// Time to send a whole request, and again to receive the whole answer; single bytes do not extend it.
  static constexpr gint64 kPatience = gint64{15} * G_USEC_PER_SEC;

  explicit Clients(gint64 patience = kPatience) : patience_(patience) {}

  Client& add(int socket, const sockaddr* address, gint64 now);
  void remove(const Client& client);

  /// A connection that has to close so that the limits hold; null if they hold.
  Client* surplus();
  /// The connection without progress for longest; null if there is none.
  Client* stalest() {
    return stalest([](const Client&) { return true; });
  }
  /// A connection whose time is over; null if there is none.
  Client* late(gint64 now);
  bool anyone_waits() const;
  /// Time when the next one must close; G_MAXINT64 if there is none.
  gint64 due() const;

  std::list<Client>& all() { return all_; }

 private:
  Client* stalest(const std::function<bool(const Client&)>& among);
  const gint64 patience_;
  std::list<Client> all_;
};

/// Addresses that one client can choose among count as one: an IPv4 address, even if mapped to IPv6, or the /64
/// network of an IPv6 address.
std::string network_of(const sockaddr& address);

}  // namespace framequality::apps::watch
