// SPDX-License-Identifier: LGPL-2.1-or-later
#include "python/core/mask.h"

#include "python/core/errors.h"
#include "python/core/pixels.h"

#include <cstdint>

namespace core {

Mask open_mask(PyObject* object, int width, int height) {
  Array array;
  if (!array.open(object)) return nullptr;
  char text[128];
  if (array.place != Array::Place::kHost) {
    PyErr_SetString(PyExc_ValueError, "the mask is in GPU memory: copy it to the CPU, for example with mask.cpu()");
    return nullptr;
  }
  const bool is_mask = (array.dtype.kind == 'b' || array.dtype.kind == 'u') && array.dtype.bits == 8;
  if (!is_mask) {
    PyErr_Format(PyExc_TypeError, "a mask is a bool or uint8 array, not %s: use mask != 0",
                 dtype_text(text, array.dtype));
    return nullptr;
  }
  if (array.ndim != 2 || array.shape[0] != height || array.shape[1] != width) {
    PyErr_Format(PyExc_ValueError, "the mask has the shape %s, but the image is %d pixels high and %d wide",
                 shape_text(text, array.shape, array.ndim), height, width);
    return nullptr;
  }
  const auto* values = reinterpret_cast<const std::uint8_t*>(array.data);
  std::ptrdiff_t stride = array.strides[0];
  std::unique_ptr<char[]> copy;
  if (array.strides[1] != 1 && width > 1) {
    copy = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    copy_pixels({array.data, height, width, 1, array.strides[0], array.strides[1]}, copy.get(), width, 1, 0);
    values = reinterpret_cast<const std::uint8_t*>(copy.get());
    stride = width;
  }
  fq_mask* mask = nullptr;
  if (const int status = fq_mask_open(values, stride, width, height, &mask)) raise_status(status);
  return Mask(mask);
}

}  // namespace core
