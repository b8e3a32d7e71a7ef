// SPDX-License-Identifier: LGPL-2.1-or-later
// Metadata on frames as elements of others may attach it.
#pragma once

#include "tests/fuzz/dice.h"

#include <gst/video/video.h>

namespace framequality::fuzz {

/// Registers our metas as any element may before we do. Once, before add_metas().
void register_metas();

/// Adds, by chance, scores that no meter of ours would give, regions of interest and overlays. info: of the frame; may
/// be null.
void add_metas(Dice& dice, GstBuffer* buffer, const GstVideoInfo* info);

/// A number as a meter gives it, seldom an odd one.
double number(Dice& dice);

/// Sets a field to an array of so many numbers.
void set_numbers(Dice& dice, GstStructure* s, const char* field, int count);

/// Sets a field to something of any type, or removes it.
void set_odd(Dice& dice, GstStructure* s, const char* field);

}  // namespace framequality::fuzz
