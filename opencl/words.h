// SPDX-License-Identifier: LGPL-2.1-or-later
// Pieces shared by the texts of all kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace framequality::opencl {

inline std::string str(std::int64_t v) { return std::to_string(v); }
inline std::string define(const std::string& name, const std::string& value) {
  return "#define " + name + " " + value + "\n";
}
inline std::string define(const std::string& name, int value) { return define(name, str(value)); }

/// The texts of numbers 0...n-1, joined.
inline std::string joined(int n, const std::string& separator, const std::function<std::string(int)>& text) {
  std::string all;
  for (int i = 0; i < n; ++i) all += (i > 0 ? separator : "") + text(i);
  return all;
}

}  // namespace framequality::opencl
