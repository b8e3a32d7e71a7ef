// SPDX-License-Identifier: LGPL-2.1-or-later
// The answers of the HTTP server, by path.
#pragma once

#include "apps/watch/hosts.h"
#include "apps/watch/status.h"
#include "apps/watch/thumbnails.h"

#include <optional>
#include <string>
#include <string_view>

namespace framequality::apps::watch {

struct Request {
  std::string_view path;                 ///< percent-decoded
  std::optional<std::string_view> host;  ///< the Host header, if any
};

struct Reply {
  unsigned code = 200;
  std::string type = "text/plain; charset=utf-8", body;
};

/// The answer to a GET. Paths never name files. None: a thumbnail is being made. From any
/// thread; does not block.
std::optional<Reply> answer(const Request& request, const Hosts& hosts, const Board& board, Thumbnails& thumbnails);

}  // namespace framequality::apps::watch
