// SPDX-License-Identifier: LGPL-2.1-or-later
// Python exceptions: those of the C library's statuses, of unknown names, and of one image among many.
#pragma once

#include "python/core/python.h"

namespace core {

inline PyObject* error_type = nullptr;  ///< framequality.Error

/// Sets the exception of a failed call of the C library in this thread. Returns null.
PyObject* raise_status(int status);

/// Sets an exception that names the known ones and suggests the nearest: "unknown metric 'x': did you mean ...".
/// known: names, separated by ", ". Returns null.
PyObject* raise_unknown(PyObject* type, const char* what, PyObject* given, const char* known);

/// Puts "image 17: " before the message of the exception that is set.
void prefix_error(Py_ssize_t index);

/// "(480, 640, 3)" in `text`, which has room for 128 characters.
const char* shape_text(char* text, const Py_ssize_t* shape, int ndim);

}  // namespace core
