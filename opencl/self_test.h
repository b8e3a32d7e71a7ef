// SPDX-License-Identifier: LGPL-2.1-or-later
// Proof that a device computes the same as the CPU. No OpenCL headers.
#pragma once

#include <string>

namespace framequality::opencl {

/// Measures a small image on device `id`, until it has been right once; other programs are tested at their
/// first use. Empty, or why the device cannot be used and what to do. Never throws.
std::string self_test(int id);

}  // namespace framequality::opencl
