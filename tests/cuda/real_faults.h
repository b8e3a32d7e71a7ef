// SPDX-License-Identifier: LGPL-2.1-or-later
// Real faults of a GPU, made on purpose.
#pragma once

#include <cstddef>

namespace framequality::test {

/// Lets a kernel write where there is no memory. No CUDA call of this process succeeds any more. Returns whether CUDA
/// says so.
bool access_illegally();

/// Takes the current device's memory but for less than `left` bytes, until the process ends. Returns bytes taken.
std::size_t take_memory(std::size_t left);

}  // namespace framequality::test
