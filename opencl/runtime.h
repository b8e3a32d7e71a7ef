// SPDX-License-Identifier: LGPL-2.1-or-later
// Owners of OpenCL objects, and OpenCL's error codes as exceptions.
#pragma once

#include "opencl/api.h"

#include <cstddef>
#include <string>
#include <utility>

namespace framequality::opencl {

/// Throws Error unless code is CL_SUCCESS. call: the function's name.
void check(cl_int code, const char* call);

/// An OpenCL object, released at the end.
template <class T, auto kRelease>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T object) : object_(object) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Owned() {
    if (object_) (api().*kRelease)(object_);
  }
  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T object_ = nullptr;
};
using ContextHandle = Owned<cl_context, &Api::clReleaseContext>;
using Queue = Owned<cl_command_queue, &Api::clReleaseCommandQueue>;
using Buffer = Owned<cl_mem, &Api::clReleaseMemObject>;
using Program = Owned<cl_program, &Api::clReleaseProgram>;
using Kernel = Owned<cl_kernel, &Api::clReleaseKernel>;
using Event = Owned<cl_event, &Api::clReleaseEvent>;

/// Sets a kernel's arguments, in order.
template <class... T>
void set_arguments(const Kernel& kernel, const T&... values) {
  cl_uint i = 0;
  (check(api().clSetKernelArg(kernel.get(), i++, sizeof(T), &values), "clSetKernelArg"), ...);
}

/// A launch's extent: work items in total and per group, and the offset of the third index.
struct Range {
  std::size_t global[3] = {1, 1, 1}, local[3] = {1, 1, 1};
  std::size_t first = 0;
};

/// Queues a kernel whose arguments are set. done: set to its event if not null.
inline void start(cl_command_queue queue, const Kernel& kernel, const Range& range, Event* done = nullptr) {
  cl_event event = nullptr;
  const std::size_t offset[3] = {0, 0, range.first};
  check(api().clEnqueueNDRangeKernel(queue, kernel.get(), 3, range.first > 0 ? offset : nullptr, range.global,
                                     range.local, 0, nullptr, done ? &event : nullptr),
        "clEnqueueNDRangeKernel");
  if (done) *done = Event(event);
}

/// n / each, rounded up.
constexpr std::size_t pieces(int n, int each) { return static_cast<std::size_t>((n + each - 1) / each); }

}  // namespace framequality::opencl
