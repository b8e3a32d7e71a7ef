// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of halftoning.
#pragma once

#include "algorithms/halftone/filter.h"

#include <memory>
#include <string_view>

namespace framequality::cpu {

/// A filter for frames of `geometry` in host memory. Works in collect(); one frame may be pending at a time.
/// threads: how many work on a frame at once, 0 for as many as the machine has cores and the frame is worth; results
/// do not depend on it.
/// isa: one of instruction_sets(), or empty for the best; all give the same bits.
std::unique_ptr<halftone::Filter> make_halftone(const Geometry& geometry, int threads = 0, std::string_view isa = {});

}  // namespace framequality::cpu
