// SPDX-License-Identifier: LGPL-2.1-or-later
// Faults of devices: how they reach callers, and how callers continue after them.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace framequality {

enum class Fault {
  kNoDevice,     ///< no driver, a driver too old, or no usable device
  kOutOfMemory,  ///< device or pinned memory ran out; the context lives
  kDeviceLost,   ///< anything else: assume that the context is dead
};

/// A failed call of a device's interface: what() has the call, the driver's text and the source line.
class Error : public std::runtime_error {
 public:
  Error(Fault fault, const std::string& what) : std::runtime_error(what), fault(fault) {}
  Fault fault;
};

/// body()'s result or, if a device fails in it, recover(error)'s.
template <class F, class G>
auto with_recovery(F&& body, G&& recover) {
  try {
    return std::forward<F>(body)();
  } catch (const Error& e) {
    return std::forward<G>(recover)(e);
  }
}

/// body()'s result, or `failure` if it throws: for functions that return no more by contract.
template <class R, class F>
R guard(R failure, F&& body) noexcept {
  try {
    return std::forward<F>(body)();
  } catch (...) {
    return failure;
  }
}

}  // namespace framequality
