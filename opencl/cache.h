// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled programs on disk, so that the next process need not compile them. No OpenCL headers.
#pragma once

#include <optional>
#include <string>

namespace framequality::opencl {

/// What belongs to `key`: what was stored for it, unless that is not there, is damaged, or may have been written by
/// someone else. key: all that makes a program what it is, of any length. Never throws.
std::optional<std::string> cached(const std::string& key) noexcept;

/// Stores it for the next process, in place of what is there. What cannot be written is left: that costs a compilation,
/// and nothing else. Never throws.
void cache(const std::string& key, const std::string& program) noexcept;

/// The folder: framequality/opencl below XDG_CACHE_HOME, or below .cache in HOME; empty if neither is set.
std::string cache_folder();

}  // namespace framequality::opencl
