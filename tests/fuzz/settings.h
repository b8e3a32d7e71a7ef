// SPDX-License-Identifier: LGPL-2.1-or-later
// An element's properties, set as nobody would.
#pragma once

#include "tests/fuzz/dice.h"

#include <gst/gst.h>

namespace framequality::fuzz {

/// Sets one property, or none, to something that its type allows, the ends of its range above all.
void set_something(Dice& dice, GstElement* element);

/// Reads all properties.
void get_everything(GstElement* element);

/// Sets what set_something() may have set of `to` to what it is of `from`.
void copy_settings(GstElement* from, GstElement* to);

}  // namespace framequality::fuzz
