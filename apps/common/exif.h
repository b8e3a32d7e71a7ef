// SPDX-License-Identifier: LGPL-2.1-or-later
// Exif metadata of an image.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace framequality::apps {

/// An EXIF block, its TIFF header first, for a frame `time` ns into a clip that says this of itself (may be null): date
/// and time of the clip plus the frame's, camera, place, and whatever else EXIF has a field for. Upright: pictures are
/// turned when they are made. In UTC or what else the clip's clock shows. Empty if it cannot be made.
std::string exif_of(const GstTagList* clip, std::optional<std::uint64_t> time, const std::string& description);

struct UnrefTags {
  void operator()(GstTagList* tags) const { gst_tag_list_unref(tags); }
};

/// What a JPEG file says of itself in its own EXIF block, which decoders do not pass on. Null if this is another file,
/// or it says nothing.
std::unique_ptr<GstTagList, UnrefTags> tags_of_jpeg(const std::string& path);

}  // namespace framequality::apps
