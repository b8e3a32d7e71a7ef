// SPDX-License-Identifier: LGPL-2.1-or-later
// The HTTP server's open connections, and the choice of those that must close.
#include "apps/watch/clients.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <netinet/in.h>
#include <utility>

namespace framequality::apps::watch {

std::string network_of(const sockaddr& address) {
  constexpr std::size_t kNetwork = 8;  // bytes of IPv6
  if (address.sa_family == AF_INET) {
    in_addr v4{};
    std::memcpy(&v4, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, sizeof(v4));
    return {reinterpret_cast<const char*>(&v4), sizeof(v4)};
  }
  if (address.sa_family != AF_INET6) return "";
  in6_addr v6{};
  std::memcpy(&v6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, sizeof(v6));
  const auto* bytes = reinterpret_cast<const char*>(&v6);
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return {bytes + sizeof(v6) - sizeof(in_addr), sizeof(in_addr)};
  return {bytes, kNetwork};
}

Client& Clients::add(int socket, const sockaddr* address, gint64 now) {
  Client& client = all_.emplace_back();
  client.socket = socket;
  client.network = address ? network_of(*address) : "";
  client.since = now;
  return client;
}

void Clients::remove(const Client& client) {
  all_.remove_if([&](const Client& other) { return &other == &client; });
}

Client* Clients::surplus() {
  std::map<std::string, std::size_t> counts;
  std::size_t count = 0, most = 0;
  for (const Client& client : all_) {
    if (client.closing) continue;
    most = std::max(most, ++counts[client.network]);
    ++count;
  }
  if (most <= kMostOfOne && count <= kMost) return nullptr;
  return stalest([&](const Client& client) { return counts[client.network] == most; });
}

Client* Clients::stalest(const std::function<bool(const Client&)>& among) {
  // Clients that wait for our answer are not to blame.
  const auto blame = [](const Client& client) { return std::pair(client.waiting != nullptr, client.since); };
  Client* found = nullptr;
  for (Client& client : all_)
    if (!client.closing && among(client) && (!found || blame(client) < blame(*found))) found = &client;
  return found;
}

Client* Clients::late(gint64 now) {
  const auto found = std::find_if(all_.begin(), all_.end(), [&](const Client& client) {
    return !client.closing && now - client.since >= patience_;
  });
  return found == all_.end() ? nullptr : &*found;
}

bool Clients::anyone_waits() const {
  return std::any_of(all_.begin(), all_.end(), [](const Client& client) { return client.waiting != nullptr; });
}

gint64 Clients::due() const {
  gint64 due = G_MAXINT64;
  for (const Client& client : all_)
    if (!client.closing) due = std::min(due, client.since + patience_);
  return due;
}

}  // namespace framequality::apps::watch
