// SPDX-License-Identifier: LGPL-2.1-or-later
// A third backend, to show that one is a folder and a line.
#pragma once

#include "device/backend.h"

#include <atomic>

namespace framequality::test::third {

extern const Backend kBackend;

/// Tasks collected, of all workers.
inline std::atomic<int> forwarded = 0;

}  // namespace framequality::test::third
