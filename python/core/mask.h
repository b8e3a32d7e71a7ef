// SPDX-License-Identifier: LGPL-2.1-or-later
// The option mask: a Boolean array as the C library's mask.
#pragma once

#include "c/framequality.h"
#include "python/core/array.h"
#include "python/core/python.h"

#include <memory>

namespace core {

struct CloseMask {
  void operator()(fq_mask* mask) const { fq_mask_close(mask); }
};
using Mask = std::unique_ptr<fq_mask, CloseMask>;

/// A mask of an image of `width` x `height` pixels; null with an exception if the object is not one.
Mask open_mask(PyObject* object, int width, int height);

}  // namespace core
