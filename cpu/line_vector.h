// SPDX-License-Identifier: LGPL-2.1-or-later
// A std::vector that begins at a cache line: a vector instruction that crosses into the next line costs twice or more.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace framequality::cpu {

template <class T>
struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U>
  explicit LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};

template <class T>
using LineVector = std::vector<T, LineAllocator<T>>;

}  // namespace framequality::cpu
