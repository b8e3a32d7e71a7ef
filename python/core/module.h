// SPDX-License-Identifier: LGPL-2.1-or-later
// The functions and types of framequality._core.
#pragma once

#include "python/core/python.h"

namespace core {

using FastFunction = PyObject*(PyObject* module, PyObject* const* args, Py_ssize_t count, PyObject* names);

FastFunction score;    ///< (image, **options) -> float
FastFunction measure;  ///< (image, **options) -> tuple of the fields of Measurement
FastFunction scores;   ///< (images, first, **options) -> list of float; errors count from `first`
FastFunction quality;  ///< (image, channel, **reading) -> float
FastFunction denoise;  ///< (image, (method, strength, sigma, ...), **reading) -> (bytearray, shape, format, big endian)
FastFunction halftone;  ///< (image, (method, levels, packed, ...), **reading) -> (bytearray, shape)

PyObject* read_palette(PyObject* module, PyObject* path);  ///< of a file: what halftone() takes as palette

/// The type Focus: the C library's search. Null with an exception if it cannot be made.
PyObject* make_focus_type();

}  // namespace core
