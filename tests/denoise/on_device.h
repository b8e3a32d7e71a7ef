// SPDX-License-Identifier: LGPL-2.1-or-later
// Numbers in device memory.
#pragma once

#include "cuda/runtime.h"

#include <cstddef>
#include <vector>

namespace framequality::test {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& from) : size_(from.size()) {
    memory_.reserve(size_);
    cuda::check(cudaMemcpy(memory_.get(), from.data(), size_ * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
  }
  T* get() const { return memory_.get(); }
  std::vector<T> fetched() const {
    std::vector<T> to(size_);
    cuda::check(cudaMemcpy(to.data(), memory_.get(), size_ * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return to;
  }

 private:
  std::size_t size_;
  cuda::DeviceMemory<T> memory_;
};

}  // namespace framequality::test
