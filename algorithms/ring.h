// SPDX-License-Identifier: LGPL-2.1-or-later
// Ring buffer whose slots keep their memory.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace framequality {

/// First in, first out, in a fixed number of slots. Removed elements are not destroyed: slots keep them, and their
/// memory, until they are reused. Places: a container of slots, of fixed size or resizable by reserve().
template <class T, class Places = std::vector<T>>
class Ring {
 public:
  Ring() = default;
  explicit Ring(std::size_t places) : places_(places) {}

  std::size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  std::size_t capacity() const { return places_.size(); }
  bool full() const { return count_ == capacity(); }

  /// Element i, the oldest first; i <= size(), where size() is the slot behind the last: the ring must not be full
  /// then.
  T& operator[](std::size_t i) { return places_[(oldest_ + i) % places_.size()]; }
  const T& operator[](std::size_t i) const { return places_[(oldest_ + i) % places_.size()]; }
  T& front() { return (*this)[0]; }
  const T& front() const { return (*this)[0]; }
  T& back() { return (*this)[count_ - 1]; }
  const T& back() const { return (*this)[count_ - 1]; }
  /// The slot behind the last, to be filled before push().
  T& next() { return (*this)[count_]; }

  /// Appends next(). The ring must not be full.
  void push() { ++count_; }
  void push(T value) {
    next() = std::move(value);
    push();
  }
  /// Removes the oldest. The ring must not be empty.
  T& pop() {
    T& oldest = front();
    oldest_ = (oldest_ + 1) % places_.size();
    --count_;
    return oldest;
  }
  void clear() { oldest_ = count_ = 0; }

  /// All slots, in no order.
  Places& places() { return places_; }
  /// Sets the number of slots, at least size(). Allocates.
  void reserve(std::size_t places) requires requires(Places& p) { p.resize(places); }
  {
    Places grown(places);
    for (std::size_t i = 0; i < count_; ++i) grown[i] = std::move((*this)[i]);
    places_ = std::move(grown);
    oldest_ = 0;
  }

 private:
  Places places_;
  std::size_t oldest_ = 0, count_ = 0;
};

}  // namespace framequality
