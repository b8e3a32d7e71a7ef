// SPDX-License-Identifier: LGPL-2.1-or-later
// List of the devices that the meter can measure on, with their speed.
#pragma once

namespace framequality::apps {

/// Prints a line for each device: its name, whether it can be used, and the time that it takes for a frame. Returns the
/// program's exit status. Throws std::runtime_error without the meter's element.
int print_devices();

}  // namespace framequality::apps
