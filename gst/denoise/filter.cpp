// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parts of the denoising elements.
#include "gst/denoise/filter.h"

#include "gst/object/properties.h"

namespace framequality {

GType denoise_chroma_get_type() {
  using denoise::Chroma;
  static const GType type =
      register_enum<Chroma>("FqDenoiseChroma", {{Chroma::kNone, "copied unchanged", "none"},
                                                {Chroma::kSeparate, "filtered independently", "separate"},
                                                {Chroma::kJoint, "filtered with joint weights", "joint"}});
  return type;
}

}  // namespace framequality
