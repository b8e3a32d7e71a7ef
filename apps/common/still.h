// SPDX-License-Identifier: LGPL-2.1-or-later
// Photographs that GStreamer does not decode, as data that it does: HEIC and AVIF, previews in raw files.
#pragma once

#include "apps/common/owned.h"
#include "apps/common/taken.h"

#include <gst/gst.h>

#include <memory>
#include <optional>
#include <string>

namespace framequality::apps {

struct UnrefBytes {
  void operator()(GstBuffer* buffer) const { gst_buffer_unref(buffer); }
};

struct Still {
  Owned<GstCaps> caps;                          ///< raw video, upright; or image/jpeg
  std::unique_ptr<GstBuffer, UnrefBytes> data;  ///< one frame, or one file
  const char* orientation = "rotate-0";         ///< how the frame has to be turned, as in a tag
  Taken taken = {};
};

/// File types that this build reads, with libheif and with LibRaw.
extern const bool kReadsHeif, kReadsRaw;

/// The primary image of a HEIF file, known by its first bytes; the largest preview of a raw file, known by its name.
/// None if it is another file, or this build cannot read it. Throws std::runtime_error with the reason: damage, or
/// a missing package.
std::optional<Still> read_still(const std::string& path);

}  // namespace framequality::apps
