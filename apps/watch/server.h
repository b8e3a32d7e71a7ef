// SPDX-License-Identifier: LGPL-2.1-or-later
// The HTTP server.
#pragma once

#include "apps/watch/bell.h"
#include "apps/watch/clients.h"
#include "apps/watch/site.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace framequality::apps::watch {

/// Answers GET and HEAD in a thread of its own, in which nothing may block. Clients enforces the limits.
class Server {
 public:
  /// None: not ready. The server asks again when the bell rings, and a few times a second.
  using OnGet = std::function<std::optional<Reply>(const Request& request)>;
  /// `listen`: ADDRESS:PORT, [ADDRESS]:PORT for IPv6; port 0 means any free one. `fresh` outlives this. Throws
  /// std::runtime_error with the reason.
  Server(const std::string& listen, const Bell& fresh, OnGet on_get, gint64 patience = Clients::kPatience);
  ~Server();  ///< closes open connections
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// http://127.0.0.1:9640/
  const std::string& url() const { return url_; }

  class Loop;

 private:
  std::string url_;
  std::unique_ptr<Loop> loop_;
};

}  // namespace framequality::apps::watch
