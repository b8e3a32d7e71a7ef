// SPDX-License-Identifier: LGPL-2.1-or-later
// Compiled by meson to check whether nvcc, its host compiler and the standard library agree on C++20.
#include <cuda_runtime.h>

#include <memory>
#include <source_location>
#include <span>
#include <string>
#include <type_traits>

template <class T>
concept Number = std::is_arithmetic_v<T>;
template <Number T>
__global__ void add(T* a) {
  a[0] = a[0] + a[1];
}
int line(std::span<const int> s, std::source_location l = std::source_location::current()) {
  add<int><<<1, 1>>>(nullptr);
  return static_cast<int>(l.line() + s.size());
}
