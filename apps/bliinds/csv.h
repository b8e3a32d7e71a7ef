// SPDX-License-Identifier: LGPL-2.1-or-later
// Records of CSV files (RFC 4180) as text.
#pragma once

#include <string>
#include <vector>

namespace framequality::tools {

/// One record, ended by LF. Fields are quoted where they have to be.
std::string csv_record(const std::vector<std::string>& fields);

/// The shortest digits that read back as the same number.
std::string digits(double value);

}  // namespace framequality::tools
