// SPDX-License-Identifier: LGPL-2.1-or-later
// Ratings of photographs for other programs: XMP files beside the originals.
#pragma once

#include "apps/scan/manifest.h"
#include "apps/scan/options.h"

#include <string>
#include <vector>

namespace framequality::apps::scan {

/// The sidecar of a photograph where Lightroom, darktable and digiKam look for it: IMG_1.xmp for raw files, which is
/// the only kind that Lightroom reads one of; IMG_1.JPG.xmp for all others, so that a JPEG and a raw file of one name
/// do not share it.
std::string sidecar_path(const std::string& photograph);

/// An XMP packet with this rating, 1...5: the bytes depend on nothing else.
std::string sidecar(int rating);

/// What became of the sidecars.
struct SidecarCounts {
  std::size_t written = 0, same = 0;
  std::vector<std::string> kept;  ///< files that were there and are not ours
};

/// Five stars for the photographs that were chosen, one for the others; none for those that cannot be read, and none
/// for videos. Only a file that holds nothing but what sidecar() makes is replaced. Blocks while it writes. Throws
/// std::runtime_error with path and reason.
SidecarCounts write_sidecars(const Selected& selected);

}  // namespace framequality::apps::scan
