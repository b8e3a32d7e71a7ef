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

/// Answers GET and HEAD in one thread of its own, in which nothing may block. Clients holds the limits.
class Server {
 public:
  /// None: there is no answer yet. It is asked for again when the bell rings, and a few times a second.
  using OnGet = std::function<std::optional<Reply>(const Request& request)>;
  /// `listen`: ADDRESS:PORT, [ADDRESS]:PORT for IPv6; port 0 is any that is free. `fresh` outlives this. Throws
  /// std::runtime_error with the reason.
  Server(const std::string& listen, const Bell& fresh, OnGet on_get, gint64 patience = Clients::kPatience);
  ~Server();  ///< connections that are open are closed
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
