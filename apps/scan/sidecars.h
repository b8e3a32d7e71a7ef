// SPDX-License-Identifier: LGPL-2.1-or-later
// Ratings of photographs for other programs: XMP files next to the originals.
#pragma once

#include "apps/scan/manifest.h"
#include "apps/scan/options.h"

#include <string>
#include <vector>

namespace framequality::apps::scan {

/// The sidecar of a photograph where Lightroom, darktable and digiKam look for it: IMG_1.xmp for raw files, the
/// only kind for which Lightroom reads one; IMG_1.JPG.xmp for all others, so that a JPEG and a raw file of one name
/// do not share it.
std::string sidecar_path(const std::string& photograph);

/// An XMP packet with this rating, 1...5; the same bytes for the same rating.
std::string sidecar(int rating);

/// Numbers and names of the sidecars written and kept.
struct SidecarCounts {
  std::size_t written = 0, same = 0;
  std::vector<std::string> kept;  ///< existing files of other programs
};

/// Five stars for chosen photographs, one for the others; none for unreadable ones, and none
/// for videos. Only replaces files that hold nothing but what sidecar() makes. Blocks while it writes. Throws
/// std::runtime_error with path and reason.
SidecarCounts write_sidecars(const Selected& selected);

}  // namespace framequality::apps::scan
