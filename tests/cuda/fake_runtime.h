// SPDX-License-Identifier: LGPL-2.1-or-later
// A CUDA runtime that computes nothing and notes which kernels there are and which are launched: for tests without a
// GPU.
#pragma once

#include <map>
#include <string>

namespace framequality::test {

/// What a kernel's launches have in common.
struct FakeKernel {
  std::string name;  ///< mangled
  int launches = 0;
};

/// All kernels in the program, by their host functions.
std::map<const void*, FakeKernel>& fake_kernels();

/// The compute capability (10 * major + minor) of the one device from now on. Its limits are those of NVIDIA's tables.
void set_fake_capability(int capability);

}  // namespace framequality::test
