// SPDX-License-Identifier: LGPL-2.1-or-later
// A stream that nobody should send, with other threads at work on its elements.
#pragma once

#include "tests/fuzz/chain.h"
#include "tests/fuzz/dice.h"

namespace framequality::fuzz {

/// Odd caps, frames, events, queries, settings and state changes on a chain. Other threads end before it returns.
void storm(Dice& dice, Chain& chain);

}  // namespace framequality::fuzz
