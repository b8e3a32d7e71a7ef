// SPDX-License-Identifier: LGPL-2.1-or-later
// List of the devices that the meter can measure on, with their speed.
#pragma once

namespace framequality::apps {

/// Prints a line for each device: its name, whether it can be used, and its time per frame. Returns the
/// program's exit status. Throws std::runtime_error if the meter's element is missing.
int print_devices();

}  // namespace framequality::apps
