// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled programs on disk, so that the next process need not compile them. No OpenCL headers.
#pragma once

#include <optional>
#include <string>

namespace framequality::opencl {

/// The program stored for `key`; none if it is missing, damaged, or may have been written by
/// someone else. key: everything that determines the program, of any length. Never throws.
std::optional<std::string> cached(const std::string& key) noexcept;

/// Stores a program for the next process, replacing the old one. Ignores errors, which cost a compilation
/// and nothing else. Never throws.
void cache(const std::string& key, const std::string& program) noexcept;

/// The folder: framequality/opencl below XDG_CACHE_HOME, or below .cache in HOME; empty if neither is set.
std::string cache_folder();

}  // namespace framequality::opencl
