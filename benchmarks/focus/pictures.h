// SPDX-License-Identifier: LGPL-2.1-or-later
// Sources of images: folders of photographs and of focus sweeps, and clips, all cut to one size.
#pragma once

#include "benchmarks/focus/score_table.h"

#include <string>
#include <utility>
#include <vector>

namespace framequality::bench {

/// False in a build without OpenCV: reading throws.
bool can_read_pictures();

/// The middle of each JPEG and PNG of a folder, by name; at most so many, evenly chosen. Pictures of twice the size or
/// more are shrunk first, smaller ones than a frame left out. Throws std::runtime_error if none can be read.
std::vector<std::pair<std::string, Pixels>> read_photographs(const std::string& folder, std::size_t most);
/// All pictures of a folder, in order of name: those of one focus sweep, from one end to the other.
std::vector<Pixels> read_sweep(const std::string& folder);
/// The first frames of a clip.
std::vector<Pixels> read_clip(const std::string& file, std::size_t most);

/// A name for a folder or file that tells no path.
std::string short_name(const std::string& path);

}  // namespace framequality::bench
