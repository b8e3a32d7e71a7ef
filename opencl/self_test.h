// SPDX-License-Identifier: LGPL-2.1-or-later
// Proof that a device computes what the CPU computes. No OpenCL headers.
#pragma once

#include <string>

namespace framequality::opencl {

/// Measures a small image on device `id`, until it has once been right; the other programs are tried when they are
/// first asked for. Empty, or why the device cannot be used and what to do. Never throws.
std::string self_test(int id);

}  // namespace framequality::opencl
