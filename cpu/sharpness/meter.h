// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin: measures on one core, with the widest instructions the machine has.
#pragma once

#include "algorithms/sharpness/meter.h"

#include <memory>
#include <string_view>

namespace framequality::cpu {

/// A meter for frames of `geometry` in host memory. Measures in collect(); one frame may be pending at a time.
/// isa: one of instruction_sets(), or empty for the best; all give the same totals.
std::unique_ptr<sharpness::Meter> make_meter(const Geometry& geometry, std::string_view isa = {});

}  // namespace framequality::cpu
