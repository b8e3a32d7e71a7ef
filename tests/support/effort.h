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

/// True if tests cover a sample of their cases: with FQ_PARITY_QUICK=1, as for compute-sanitizer, which is slow. With
/// AddressSanitizer, which is slow too, this is the default, and FQ_PARITY_QUICK=0 covers all.
inline bool is_quick() { return std::getenv("FQ_PARITY_QUICK") ? is_set("FQ_PARITY_QUICK") : FQ_ASAN != 0; }

}  // namespace framequality::test
