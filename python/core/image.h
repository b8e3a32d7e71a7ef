// SPDX-License-Identifier: LGPL-2.1-or-later
// Arrays as images of the C library: in place if it can read them there, else copied or converted.
#pragma once

#include "c/framequality.h"
#include "python/core/array.h"
#include "python/core/options.h"
#include "python/core/pixels.h"

#include <cstddef>
#include <memory>

namespace core {

/// Memory that a thread keeps for its next image.
class Scratch {
 public:
  Scratch() = default;
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* resize(std::size_t bytes);

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t bytes_ = 0;
};

/// open() with the GIL, then prepare(), with or without it, then `picture` is valid. Neither copied nor moved.
class Image {
 public:
  enum class Use {
    kMeasure,
    kFilter  ///< `picture` then has the layout of a contiguous array of the same shape, and all channels
  };

  /// Returns false and sets an exception if the object is not an image.
  bool open(PyObject* object, const Reading& reading, Use use);
  bool open_item(const Array& batch, Py_ssize_t index, const Reading& reading);
  /// Whether prepare() takes time: it copies, converts or checks all pixels.
  [[nodiscard]] bool needs_work() const { return work_ != Work::kNone; }
  void prepare() noexcept;
  /// Whether prepare() found the pixels invalid.
  [[nodiscard]] bool is_faulty() const { return out_of_memory_ || fault_.kind != Fault::Kind::kNone; }
  /// Sets the exception that says what is invalid. Returns false.
  bool raise_fault() const;

  [[nodiscard]] bool is_on_device() const { return array_.place != Array::Place::kHost; }
  /// Name of the device to use, given the option; null with an exception if the array is on another one. Valid as
  /// long as this and the reading are.
  const char* device(const Reading& reading);

  [[nodiscard]] const Array& array() const { return array_; }
  /// The pixels of the caller.
  [[nodiscard]] const Pixels& source() const { return source_; }
  /// An array like the source at other memory, contiguous, with another type of samples.
  [[nodiscard]] Pixels contiguous(const char* data, Sample sample) const;
  /// The C library's view of pixels of integers. Returns false if it cannot express their layout. No exception.
  bool describe(const Pixels& pixels, fq_image& image) const;

  fq_image picture{};

 private:
  enum class Work { kNone, kCheck, kCopy, kConvert };

  bool read(const Reading& reading, Use use);
  bool read_axes();
  bool read_type();
  /// Whether the library may write a contiguous array of the same shape as it reads this one.
  bool has_target_layout() const;

  Array array_;
  const Reading* reading_ = nullptr;
  Use use_ = Use::kMeasure;
  Pixels source_;
  int axes_[3] = {0, 1, -1};  ///< of the array: rows, columns, channels
  Work work_ = Work::kNone;
  Fault fault_;
  bool out_of_memory_ = false;
  Scratch scratch_;
  char device_[32] = "";
};

}  // namespace core
