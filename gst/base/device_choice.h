// SPDX-License-Identifier: LGPL-2.1-or-later
// Values of the property `device` and their descriptions, made from the list of backends.
#pragma once

#include <glib-object.h>

namespace framequality {

/// The other values are those of Backend::number.
enum class DeviceChoice { kAuto = 0 };

/// Description of the property `active-device`; stays valid.
const char* active_device_text();

}  // namespace framequality

GType fq_device_choice_get_type();
