// SPDX-License-Identifier: LGPL-2.1-or-later
// Kinds of memory that hold frames: their caps features, and how they are mapped.
#pragma once

#include "device/memory.h"

#include <gst/gst.h>

namespace framequality {

/// Memory of frames with caps, or a structure of them, with these features.
Memory memory_of(const GstCapsFeatures* features);
Memory memory_of(const GstCaps* caps);

/// Flags for gst_buffer_map() besides read or write, so that the memory is mapped where it is.
GstMapFlags map_flags_of(Memory memory);

}  // namespace framequality
