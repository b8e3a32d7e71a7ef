// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory, shape and type of whatever Python object holds an array.
#pragma once

#include "python/core/dlpack.h"
#include "python/core/python.h"

namespace core {

/// Kind and size of an array's elements, as in numpy's type strings.
struct Dtype {
  char kind = 0;  ///< u, i, f, c, b (bool), B (bfloat16), or O for all else
  int bits = 0;
  bool big_endian = false;
};

/// Keeps an object's memory alive, and describes it. Neither copied nor moved: Python's buffers may point into
/// themselves. All members need the GIL.
class Array {
 public:
  static constexpr int kMostAxes = 8;
  enum class Place { kHost, kDevice, kCurrentDevice };

  Array() = default;
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// Opens an object that has a buffer, __dlpack__, __cuda_array_interface__, __array_interface__ or __array__, in this
  /// order. Returns false and sets an exception if that fails, or if the type of the elements is unknown.
  bool open(PyObject* object);
  /// One item along the first axis of another array, which must outlive this one.
  void open_item(const Array& batch, Py_ssize_t index);
  /// Whether open() may succeed without first converting the object to an array.
  static bool has_buffer(PyObject* object) { return PyObject_CheckBuffer(object) != 0; }

  const char* data = nullptr;
  int ndim = 0;
  Py_ssize_t shape[kMostAxes] = {};
  Py_ssize_t strides[kMostAxes] = {};  ///< bytes
  Dtype dtype;
  Place place = Place::kHost;
  int device = 0;          ///< kDevice: number of the CUDA device
  void* stream = nullptr;  ///< on a device: its work writes the memory; null: the legacy default stream

 private:
  bool open_buffer(PyObject* object);
  bool open_dlpack(PyObject* object);
  const dlpack::Tensor* take_tensor(PyObject* capsule);
  bool open_torch(PyObject* object);
  bool open_interface(PyObject* object, PyObject* interface, bool on_device);
  bool set_contiguous(int axes, Py_ssize_t item_bytes);

  Py_buffer view_{};
  bool has_view_ = false;
  dlpack::Managed* managed_ = nullptr;
  dlpack::Versioned* versioned_ = nullptr;
  Object owner_, memory_;
};

/// "uint16", "bfloat16": the name of a type in `text`, which has room for 32 characters.
const char* dtype_text(char* text, Dtype dtype);

}  // namespace core
