// SPDX-License-Identifier: LGPL-2.1-or-later
// Text shared by the sharpness meter's kernels.
#pragma once

#include "opencl/sharpness/source.h"
#include "opencl/words.h"

#include <string>

namespace framequality::opencl {

/// Name of a vector type.
inline std::string vector_of(const std::string& type, int n) { return n == 1 ? type : type + str(n); }
/// Lane i of a vector.
inline std::string lane(const std::string& vector, int i) { return vector + ".s" + "0123456789abcdef"[i]; }

/// Adds up a number of each item of a group: `name`(sums, item, mine) returns the group's sum to item 0.
std::string group_sum(int items);

/// The signature of `measure`, and the variables at the beginning of all its forms.
std::string kernel_head(const Shape& s);

/// Adds mine[] of a group's items to the cell's totals.
std::string add_all(int words, const Shape& s);

/// add64(), which adds to totals of two words each by 32-bit atomics, because devices may lack 64-bit ones.
extern const char kAdd64[];

/// The number type of a metric's samples.
enum class Numbers { kFloat, kInt, kShort };

/// Types and operations of a metric's numbers. On CPUs as comparisons, which compilers turn into vector instructions:
/// pocl's own vector functions are many times slower.
std::string numbers_text(Numbers numbers, int n, bool compares);

}  // namespace framequality::opencl
