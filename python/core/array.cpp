// SPDX-License-Identifier: LGPL-2.1-or-later
#include "python/core/array.h"

#include "python/core/errors.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace core {

namespace {

/// An attribute, or null without an exception if the object has none.
Object attribute(PyObject* object, const char* name) {
  Object value(PyObject_GetAttrString(object, name));
  if (!value && PyErr_ExceptionMatches(PyExc_AttributeError)) PyErr_Clear();
  return value;
}

/// The type of a struct-module format of a single element. Kind O if it is anything else.
Dtype dtype_of_format(const char* format, Py_ssize_t item_bytes) {
  Dtype type{.bits = static_cast<int>(item_bytes * 8)};
  if (*format == '>' || *format == '!') type.big_endian = item_bytes > 1;
  if (*format != '\0' && std::strchr("<>=@!", *format)) ++format;
  type.kind = 'O';
  const bool is_complex = *format == 'Z';
  if (is_complex) ++format;
  if (std::strlen(format) != 1) return type;
  if (std::strchr("efdg", *format)) type.kind = is_complex ? 'c' : 'f';
  if (std::strchr("BHILQN", *format)) type.kind = 'u';
  if (std::strchr("bhilqn", *format)) type.kind = 'i';
  if (*format == '?') type.kind = 'b';
  return type;
}

/// A type string of numpy, such as "<u2".
Dtype dtype_of_string(const char* text) {
  Dtype type;
  int bytes = 0;
  char order = 0, kind = 0;
  if (std::sscanf(text, "%c%c%d", &order, &kind, &bytes) != 3) return {.kind = 'O'};
  type.kind = std::strchr("uifcb", kind) ? kind : 'O';
  type.bits = bytes * 8;
  type.big_endian = order == '>' && bytes > 1;
  return type;
}

/// Shape or strides from a tuple of integers. Returns their number, or -1 with an exception.
int read_sizes(PyObject* tuple, Py_ssize_t* sizes) {
  const Py_ssize_t n = PyTuple_Check(tuple) ? PyTuple_Size(tuple) : -1;
  if (n < 0 || n > Array::kMostAxes) {
    PyErr_Format(PyExc_ValueError, "an array's shape and strides are tuples of at most %d integers, not %R",
                 Array::kMostAxes, tuple);
    return -1;
  }
  for (Py_ssize_t i = 0; i < n; ++i) {
    sizes[i] = PyLong_AsSsize_t(PyTuple_GetItem(tuple, i));
    if (sizes[i] == -1 && PyErr_Occurred()) return -1;
  }
  return static_cast<int>(n);
}

/// Whether the object is a masked array of numpy, whose buffer has the masked pixels too.
bool is_masked(PyObject* object) {
  static PyObject* plain = nullptr;  // last type seen that is not masked
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type == plain) return false;
  if (attribute(type, "harden_mask")) return true;
  PyErr_Clear();
  const Object last(std::exchange(plain, Py_NewRef(type)));
  return false;
}

bool raise_type(PyObject* object) {
  const bool is_text = PyUnicode_Check(object) || attribute(object, "__fspath__");
  PyErr_Clear();
  if (is_text) {
    PyErr_Format(PyExc_TypeError, "an image is an array of pixels, not the file name %R: use framequality.read(name)",
                 object);
  } else if (PyList_Check(object) || PyTuple_Check(object)) {
    PyErr_SetString(PyExc_TypeError,
                    "an image is an array of pixels, not a list or tuple: use numpy.array(image, numpy.uint8); for "
                    "several images use scores()");
  } else {
    const Object type_name(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__name__"));
    PyErr_Format(PyExc_TypeError,
                 "an image is an array of pixels, such as numpy.ndarray, torch.Tensor or PIL.Image.Image, not %S",
                 type_name ? type_name.get() : Py_None);
  }
  return false;
}

}  // namespace

const char* dtype_text(char* text, Dtype type) {
  constexpr std::size_t kRoom = 32;
  const char* name = type.kind == 'u'   ? "uint"
                     : type.kind == 'i' ? "int"
                     : type.kind == 'f' ? "float"
                     : type.kind == 'c' ? "complex"
                     : type.kind == 'B' ? "bfloat"
                                        : nullptr;
  if (name)
    std::snprintf(text, kRoom, "%s%d", name, type.bits);
  else
    std::snprintf(text, kRoom, "%s", type.kind == 'b' ? "bool" : "object");
  return text;
}

Array::~Array() {
  if (!has_gil) return;
  // A deleter may run Python code, which would lose the exception that a function is about to return with.
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  if (has_view_) PyBuffer_Release(&view_);
  if (managed_ && managed_->deleter) managed_->deleter(managed_);
  if (versioned_ && versioned_->deleter) versioned_->deleter(versioned_);
  PyErr_Restore(type, value, trace);
}

bool Array::set_contiguous(int axes, Py_ssize_t item_bytes) {
  Py_ssize_t next = item_bytes;
  for (int i = axes; i-- > 0;) {
    strides[i] = next;
    if (__builtin_mul_overflow(next, shape[i] > 0 ? shape[i] : 1, &next)) {
      PyErr_SetString(PyExc_ValueError, "the array's shape is larger than any memory");
      return false;
    }
  }
  return true;
}

bool Array::open_buffer(PyObject* object) {
  if (is_masked(object)) {
    PyErr_SetString(PyExc_TypeError,
                    "masked arrays are not supported: use score(image.data, mask=~numpy.ma.getmaskarray(image))");
    return false;
  }
  if (PyObject_GetBuffer(object, &view_, PyBUF_RECORDS_RO) != 0) {
    // numpy has no buffer format for bfloat16, datetime64 and the like.
    if (PyErr_ExceptionMatches(PyExc_BufferError) || !PyErr_ExceptionMatches(PyExc_ValueError)) return false;
    PyErr_Clear();
    const Object type = attribute(object, "dtype");
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError,
                 "pixels of dtype %S cannot be read: convert them to uint8, uint16, float16, float32 or float64",
                 type ? type.get() : Py_None);
    return false;
  }
  has_view_ = true;
  if (view_.ndim > kMostAxes) {
    PyErr_Format(PyExc_ValueError, "an image has 2 or 3 axes, this array has %d", view_.ndim);
    return false;
  }
  data = static_cast<const char*>(view_.buf);
  ndim = view_.ndim;
  for (int i = 0; i < ndim; ++i) {
    shape[i] = view_.shape[i];
    strides[i] = view_.strides[i];
  }
  dtype = dtype_of_format(view_.format ? view_.format : "B", view_.itemsize);
  return true;
}

/// The tensor of a capsule, which is used up and kept until the destructor; null with an exception set.
const dlpack::Tensor* Array::take_tensor(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor")) {
    auto* managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule, "dltensor"));
    if (PyCapsule_SetName(capsule, "used_dltensor") != 0) return nullptr;
    managed_ = managed;
    return &managed->tensor;
  }
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    PyErr_SetString(PyExc_BufferError, "__dlpack__() returned no unused DLPack capsule");
    return nullptr;
  }
  auto* versioned = static_cast<dlpack::Versioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
  if (versioned->major != 1) {
    PyErr_Format(PyExc_BufferError, "the array's DLPack version is %u, framequality reads versions below 2",
                 versioned->major);
    return nullptr;
  }
  if (PyCapsule_SetName(capsule, "used_dltensor_versioned") != 0) return nullptr;
  versioned_ = versioned;
  return &versioned->tensor;
}

bool Array::open_dlpack(PyObject* object) {
  const Object where(PyObject_CallMethod(object, "__dlpack_device__", nullptr));
  if (!where) return false;
  Py_ssize_t kind_and_id[kMostAxes];
  const int n = read_sizes(where.get(), kind_and_id);
  if (n < 0) return false;
  const Py_ssize_t kind = n == 2 ? kind_and_id[0] : 0;
  const bool on_device = kind == dlpack::kCuda || kind == dlpack::kCudaManaged;
  if (!on_device && kind != dlpack::kCpu && kind != dlpack::kCudaHost) {
    PyErr_Format(
        PyExc_ValueError,
        "the array is in the memory of a device that framequality cannot use (DLPack device type %zd): copy it "
        "to the CPU first",
        kind);
    return false;
  }
  Object capsule;
  if (on_device) {
    const Object method(PyObject_GetAttrString(object, "__dlpack__"));
    const Object none(PyTuple_New(0));
    const Object stream(Py_BuildValue("{s:i}", "stream", 1));  // the legacy default stream, which the library waits for
    if (!method || !none || !stream) return false;
    capsule.reset(PyObject_Call(method.get(), none.get(), stream.get()));
  } else {
    capsule.reset(PyObject_CallMethod(object, "__dlpack__", nullptr));
  }
  if (!capsule) return false;
  const dlpack::Tensor* tensor = take_tensor(capsule.get());
  if (!tensor) return false;
  if (tensor->ndim < 0 || tensor->ndim > kMostAxes) {
    PyErr_Format(PyExc_ValueError, "an image has 2 or 3 axes, this array has %d", static_cast<int>(tensor->ndim));
    return false;
  }
  constexpr char kKinds[] = {'i', 'u', 'f', 'O', 'B', 'c', 'b'};
  dtype.kind = tensor->dtype.code < sizeof kKinds && tensor->dtype.lanes == 1 ? kKinds[tensor->dtype.code] : 'O';
  dtype.bits = tensor->dtype.bits;
  const Py_ssize_t item_bytes = (dtype.bits + 7) / 8;
  ndim = tensor->ndim;
  for (int i = 0; i < ndim; ++i) shape[i] = static_cast<Py_ssize_t>(tensor->shape[i]);
  if (!set_contiguous(ndim, item_bytes)) return false;
  for (int i = 0; tensor->strides && i < ndim; ++i)
    strides[i] = static_cast<Py_ssize_t>(tensor->strides[i]) * item_bytes;
  data = static_cast<const char*>(tensor->data) + tensor->byte_offset;
  place = on_device ? Place::kDevice : Place::kHost;
  device = tensor->device.id;
  return true;
}

bool Array::open_interface(PyObject* object, PyObject* interface, bool on_device) {
  if (!PyDict_Check(interface)) {
    PyErr_SetString(PyExc_TypeError, "the array's interface is not a dictionary");
    return false;
  }
  const auto entry = [&](const char* name) -> PyObject* {  // borrowed
    PyObject* value = PyDict_GetItemString(interface, name);
    return value == Py_None ? nullptr : value;
  };
  PyObject *sizes = entry("shape"), *type = entry("typestr"), *memory = entry("data");
  if (!sizes || !type || !PyUnicode_Check(type)) {
    PyErr_SetString(PyExc_ValueError, "the array's interface lacks 'shape' or 'typestr'");
    return false;
  }
  if (entry("mask")) {
    PyErr_SetString(PyExc_ValueError, "arrays with an interface that has a mask are not supported: use mask=");
    return false;
  }
  const char* type_string = PyUnicode_AsUTF8AndSize(type, nullptr);
  if (!type_string) return false;
  dtype = dtype_of_string(type_string);
  if ((ndim = read_sizes(sizes, shape)) < 0 || !set_contiguous(ndim, dtype.bits / 8)) return false;
  const Py_ssize_t last_byte_of_contiguous = ndim > 0 ? strides[0] * shape[0] : 0;
  PyObject* steps = entry("strides");
  if (steps && read_sizes(steps, strides) != ndim) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "the array's interface must have as many strides as axes");
    return false;
  }
  if (memory && PyTuple_Check(memory) && PyTuple_Size(memory) == 2) {
    data = static_cast<const char*>(PyLong_AsVoidPtr(PyTuple_GetItem(memory, 0)));
    if (PyErr_Occurred()) return false;
  } else if (memory && !on_device && !steps && PyObject_CheckBuffer(memory)) {  // Pillow's are bytes
    if (PyObject_GetBuffer(memory, &view_, PyBUF_SIMPLE) != 0) return false;
    has_view_ = true;
    if (view_.len < last_byte_of_contiguous) {
      PyErr_SetString(PyExc_ValueError, "the array's interface has less data than its shape needs");
      return false;
    }
    data = static_cast<const char*>(view_.buf);
  } else {
    PyErr_SetString(PyExc_ValueError, "the array's interface has no 'data' that can be read");
    return false;
  }
  owner_ = new_reference(object);
  memory_ = new_reference(interface);
  if (!on_device) return true;
  place = Place::kCurrentDevice;
  if (PyObject* handle = entry("stream")) {
    const auto number = reinterpret_cast<std::uintptr_t>(PyLong_AsVoidPtr(handle));
    if (PyErr_Occurred()) return false;
    if (number == 0) {
      PyErr_SetString(PyExc_ValueError,
                      "stream 0 in __cuda_array_interface__ is ambiguous: use 1 for the legacy default stream");
      return false;
    }
    stream = number == 1 ? nullptr : reinterpret_cast<void*>(number);
  }
  return true;
}

/// Opens a PyTorch tensor in GPU memory, without the 13 us of __dlpack__(). False without an exception if
/// it is not one, or has to be opened the other way.
bool Array::open_torch(PyObject* object) {
  static PyObject* torch_tensor = nullptr;  // its type, once seen
  static PyObject* raw_stream = nullptr;    // used by PyTorch's own compiler to get the current stream
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  if (type != torch_tensor) {
    const Object module = attribute(type, "__module__"), name = attribute(type, "__name__");
    if (!module || !name || PyUnicode_CompareWithASCIIString(module.get(), "torch") != 0 ||
        PyUnicode_CompareWithASCIIString(name.get(), "Tensor") != 0)
      return false;
    const Object torch(PyImport_ImportModule("torch._C"));
    raw_stream = torch ? attribute(torch.get(), "_cuda_getCurrentRawStream").release() : nullptr;
    PyErr_Clear();
    torch_tensor = Py_NewRef(type);
  }
  if (!raw_stream) return false;
  const Object number(PyObject_CallMethod(object, "get_device", nullptr));
  const long index = number ? PyLong_AsLong(number.get()) : -1;
  const Object interface = index < 0 ? Object() : attribute(object, "__cuda_array_interface__");
  const Object queue(interface ? PyObject_CallFunctionObjArgs(raw_stream, number.get(), nullptr) : nullptr);
  void* handle = queue ? PyLong_AsVoidPtr(queue.get()) : nullptr;
  if (PyErr_Occurred() || !queue || !open_interface(object, interface.get(), true)) {
    PyErr_Clear();
    owner_.reset();
    memory_.reset();
    return false;
  }
  place = Place::kDevice;
  device = static_cast<int>(index);
  stream = handle;  // 0: the legacy default one
  return true;
}

bool Array::open(PyObject* object) {
  if (PyObject_CheckBuffer(object)) {
    if (open_buffer(object)) return true;
    // Some arrays in GPU memory, such as CuPy's, have a buffer interface only to refuse it.
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    const bool is_on_gpu = static_cast<bool>(attribute(object, "__cuda_array_interface__"));
    PyErr_Clear();
    if (!is_on_gpu) {
      PyErr_Restore(type, value, trace);
      return false;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
  }
  if (open_torch(object)) return true;
  if (attribute(object, "__dlpack__")) return open_dlpack(object);
  if (PyErr_Occurred()) return false;
  if (const Object interface = attribute(object, "__cuda_array_interface__"))
    return open_interface(object, interface.get(), true);
  if (PyErr_Occurred()) return false;
  if (attribute(object, "getbands")) {  // an image of Pillow, whose mode says what its numbers mean
    const Object files(PyImport_ImportModule("framequality.files"));
    const Object plain(files ? PyObject_CallMethod(files.get(), "plain", "O", object) : nullptr);
    if (!plain) return false;
    if (PyObject_CheckBuffer(plain.get())) return open_buffer(plain.get());
    const Object interface = attribute(plain.get(), "__array_interface__");
    if (!interface) return PyErr_Occurred() ? false : raise_type(object);
    return open_interface(plain.get(), interface.get(), false);
  }
  if (PyErr_Occurred()) return false;
  if (const Object interface = attribute(object, "__array_interface__"))
    return open_interface(object, interface.get(), false);
  if (PyErr_Occurred()) return false;
  if (attribute(object, "__array__")) {
    const Object array(PyObject_CallMethod(object, "__array__", nullptr));
    if (!array) return false;
    if (PyObject_CheckBuffer(array.get())) return open_buffer(array.get());
  }
  if (PyErr_Occurred()) return false;
  return raise_type(object);
}

void Array::open_item(const Array& batch, Py_ssize_t index) {
  data = batch.data + index * batch.strides[0];
  ndim = batch.ndim - 1;
  for (int i = 0; i < ndim; ++i) {
    shape[i] = batch.shape[i + 1];
    strides[i] = batch.strides[i + 1];
  }
  dtype = batch.dtype;
  place = batch.place;
  device = batch.device;
  stream = batch.stream;
}

}  // namespace core
