// SPDX-License-Identifier: LGPL-2.1-or-later
// Events as elements of others may send them.
#pragma once

#include "tests/fuzz/dice.h"

#include <gst/gst.h>

namespace framequality::fuzz {

/// A segment: of any format, rate and range that gst_event_new_segment() takes.
GstEvent* random_segment(Dice& dice);

/// A gap at this time, or anywhere.
GstEvent* random_gap(Dice& dice, GstClockTime time);

/// A serialised event that says something: tags, custom ones, those by the names of our elements too, with any fields.
GstEvent* random_saying(Dice& dice);

}  // namespace framequality::fuzz
