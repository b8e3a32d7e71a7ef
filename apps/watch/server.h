// SPDX-License-Identifier: LGPL-2.1-or-later
// A small HTTP server.
#pragma once

#include "apps/watch/site.h"

#include <functional>
#include <memory>
#include <string>

namespace framequality::apps::watch {

/// Answers GET and HEAD in a thread of its own: few connections at once, and none for long.
class Server {
 public:
  using OnGet = std::function<Reply(const std::string& path)>;
  /// `listen`: ADDRESS:PORT, [ADDRESS]:PORT for IPv6; port 0 is any that is free. Throws std::runtime_error with the
  /// reason.
  Server(const std::string& listen, OnGet on_get);
  ~Server();  ///< waits for those who are being answered
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// http://127.0.0.1:9640/
  const std::string& url() const { return url_; }

  struct Daemon;

 private:
  std::string url_;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace framequality::apps::watch
