// SPDX-License-Identifier: LGPL-2.1-or-later
// What is served, by path.
#pragma once

#include "apps/watch/status.h"
#include "apps/watch/thumbnails.h"

#include <string>
#include <string_view>

namespace framequality::apps::watch {

struct Reply {
  unsigned code = 200;
  std::string type = "text/plain; charset=utf-8", body;
};

/// The answer to a GET of this path, percent-decoded. Paths are names of what there is, never of files. May wait for a
/// thumbnail. From any thread.
Reply answer(std::string_view path, const Board& board, Thumbnails& thumbnails);

}  // namespace framequality::apps::watch
