// SPDX-License-Identifier: LGPL-2.1-or-later
// How CUDA faults reach callers; no CUDA headers.
#pragma once

#include <stdexcept>
#include <string>

namespace framequality::cuda {

enum class Fault {
  kNoDevice,     ///< no driver, a driver too old, or no usable device
  kOutOfMemory,  ///< device or pinned memory ran out; the context lives
  kDeviceLost,   ///< anything else: the context must be taken for dead
};

/// A failed CUDA call: what() holds the call, CUDA's words and the source line.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& what) : std::runtime_error(what), fault(fault) {}
  Fault fault;
};

}  // namespace framequality::cuda
