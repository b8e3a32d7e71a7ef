// SPDX-License-Identifier: LGPL-2.1-or-later
// Exif metadata of an image.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace framequality::apps {

/// An EXIF block, its TIFF header first, for a frame `time` ns into a clip with these tags (may be null): date
/// and time of the clip plus the frame's, camera, place, and whatever else EXIF has a field for. Upright: images are
/// turned when they are made. In UTC, or in the time of the clip's clock. Empty if it cannot be made.
std::string exif_of(const GstTagList* clip, std::optional<std::uint64_t> time, const std::string& description);

struct UnrefTags {
  void operator()(GstTagList* tags) const { gst_tag_list_unref(tags); }
};

/// The EXIF block in a JPEG or PNG file, its TIFF header first; for TIFF files and raw files of that structure, the
/// beginning of the file. Empty if there is none, or this is not a regular file.
struct ExifBlock {
  std::string bytes;
  bool of_jpeg = false;
};
ExifBlock exif_in(const std::string& path);

/// The same from the beginning of a JPEG file, which may be cut off after the block.
std::string exif_in_jpeg(std::string_view bytes);

/// Tags of an EXIF block: orientation, camera, time and place. Null if it has none.
std::unique_ptr<GstTagList, UnrefTags> tags_of_exif(const std::string& block);

}  // namespace framequality::apps
