// SPDX-License-Identifier: LGPL-2.1-or-later
// Kinds of memory that frames come in: what their caps say, and how they are mapped.
#pragma once

#include "device/memory.h"

#include <gst/gst.h>

namespace framequality {

/// Memory of the frames that caps, or a structure of them with these features, are for.
Memory memory_of(const GstCapsFeatures* features);
Memory memory_of(const GstCaps* caps);

/// What gst_buffer_map() takes beside read or write, so that the memory is mapped where it is.
GstMapFlags map_flags_of(Memory memory);

}  // namespace framequality
