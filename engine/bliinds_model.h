// SPDX-License-Identifier: LGPL-2.1-or-later
// Models of BLIINDS-II as files.
#pragma once

#include "algorithms/bliinds/model.h"

#include <memory>
#include <string>

namespace framequality {

using ModelPtr = std::shared_ptr<const bliinds::Model>;

/// The model in a file, in the text form of bliinds::parse_model(); the published one for an empty name. Throws
/// std::invalid_argument with line and reason, which may contain any bytes of the file.
ModelPtr load_model(const std::string& location);

}  // namespace framequality
