// SPDX-License-Identifier: LGPL-2.1-or-later
// The tables of an archive as one.
#pragma once

#include "apps/merge/archive.h"

#include <functional>
#include <string_view>

namespace framequality::apps::merge {

/// Checks that every table exists and has its record's size. Throws std::runtime_error with the path if not.
void check_tables(const Archive& archive);

/// Passes all tables to `append`, piece by piece, with the header of the first only. Throws std::runtime_error if one
/// cannot be read, has changed or has another header, and what `append` throws.
void join_tables(const Archive& archive, const std::function<void(std::string_view)>& append);

}  // namespace framequality::apps::merge
