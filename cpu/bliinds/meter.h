// SPDX-License-Identifier: LGPL-2.1-or-later
// The host twin of BLIINDS-II: measures on one core, with the widest instructions the machine has.
#pragma once

#include "algorithms/bliinds/meter.h"

#include <memory>
#include <string_view>

namespace framequality::cpu {

/// A meter for frames of `input` in host memory. Measures in collect(); one frame may be pending at a time.
/// isa: one of instruction_sets(), or empty for the best; all give the same bits.
/// Throws std::invalid_argument if the geometry is not measurable().
std::unique_ptr<bliinds::Meter> make_bliinds_meter(const bliinds::Input& input, std::string_view isa = {});

}  // namespace framequality::cpu
