// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of an archive as one.
#pragma once

#include "apps/merge/archive.h"

#include <functional>
#include <string_view>

namespace framequality::apps::merge {

/// Every table is there and has the size that its record says. Throws std::runtime_error with the path if not.
void check_tables(const Archive& archive);

/// Gives all tables to `append`, bit by bit, with the header of the first only. Throws std::runtime_error if one cannot
/// be read, has changed or has another header, and what `append` throws.
void join_tables(const Archive& archive, const std::function<void(std::string_view)>& append);

}  // namespace framequality::apps::merge
