// SPDX-License-Identifier: LGPL-2.1-or-later
// Kinds of memory that hold frames.
#include "gst/memory/kinds.h"

#include "gst/memory/cuda.h"

namespace framequality {

namespace {

/// A kind besides the host's memory.
struct Kind {
  Memory memory;
  const char* feature;  ///< of caps
  guint map_flag;
};

// One line each. GST_MAP_CUDA is part of GstCuda, whose headers a build may lack.
constexpr Kind kKinds[] = {
    {Memory::kCuda, FQ_CUDA_FEATURE, GST_MAP_FLAG_LAST << 1},
};

}  // namespace

Memory memory_of(const GstCapsFeatures* features) {
  for (const Kind& kind : kKinds)
    if (features && gst_caps_features_contains(features, kind.feature)) return kind.memory;
  return Memory::kHost;
}

Memory memory_of(const GstCaps* caps) { return memory_of(gst_caps_get_features(caps, 0)); }

GstMapFlags map_flags_of(Memory memory) {
  for (const Kind& kind : kKinds)
    if (kind.memory == memory) return static_cast<GstMapFlags>(kind.map_flag);
  return static_cast<GstMapFlags>(0);
}

}  // namespace framequality
