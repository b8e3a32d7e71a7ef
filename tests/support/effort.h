// SPDX-License-Identifier: LGPL-2.1-or-later
// How many of its cases a test covers.
#pragma once

#include "tests/support/sanitizers.h"

#include <cstdlib>
#include <string_view>

namespace framequality::test {

/// True if the environment variable is set to something other than "" and "0".
inline bool is_set(const char* variable) {
  const char* value = std::getenv(variable);
  return value && *value && std::string_view(value) != "0";
}

/// True where a sample of the cases has to do: under AddressSanitizer, which looks at how memory is used and makes all
/// else slow, and, for compute-sanitizer and its like, with FQ_PARITY_QUICK=1.
inline bool is_quick() { return FQ_ASAN || is_set("FQ_PARITY_QUICK"); }

}  // namespace framequality::test
