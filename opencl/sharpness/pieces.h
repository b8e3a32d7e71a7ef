// SPDX-License-Identifier: LGPL-2.1-or-later
// Text that the sharpness meter's kernels have in common.
#pragma once

#include "opencl/sharpness/source.h"
#include "opencl/words.h"

#include <string>

namespace framequality::opencl {

/// A vector's type.
inline std::string vector_of(const std::string& type, int n) { return n == 1 ? type : type + str(n); }
/// Lane i of a vector.
inline std::string lane(const std::string& vector, int i) { return vector + ".s" + "0123456789abcdef"[i]; }

/// Adds up a number of each item of a group: `name`(sums, item, mine) returns the group's sum to item 0.
std::string group_sum(int items);

/// The signature of `measure`, and the variables that all its forms begin with.
std::string kernel_head(const Shape& s);

/// Adds what the items of a group have in mine[] to the cell's totals.
std::string add_all(int words, const Shape& s);

/// add64(), which adds to totals of two words each by 32-bit atomics: devices need not have wider ones.
extern const char kAdd64[];

/// The numbers that a metric's samples are computed with.
enum class Numbers { kFloat, kInt, kShort };

/// Types and what a metric asks of its numbers. On CPUs as comparisons, which compilers turn into their instructions:
/// pocl's own functions of vectors are many times slower.
std::string numbers_text(Numbers numbers, int n, bool compares);

}  // namespace framequality::opencl
