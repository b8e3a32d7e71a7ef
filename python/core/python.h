// SPDX-License-Identifier: LGPL-2.1-or-later
// Python's headers, and the rules for owning objects and leaving the GIL that all sources of the module share.
#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#ifdef Py_GIL_DISABLED
#error "framequality does not support free-threaded builds of Python: compile it for a Python with the GIL"
#endif

#include <exception>
#include <memory>
#include <new>

namespace core {

/// False in a thread that works without the GIL. A daemon thread that asks for the GIL while the interpreter shuts down
/// is unwound by pthread_exit() (Python 3.11 to 3.13): destructors that run then must leave Python's objects alone.
inline thread_local bool has_gil = true;

struct Release {
  void operator()(PyObject* object) const {
    if (has_gil) Py_DECREF(object);
  }
};
/// A strong reference.
using Object = std::unique_ptr<PyObject, Release>;

inline Object new_reference(PyObject* object) { return Object(Py_XNewRef(object)); }

/// Runs work(), which must not throw, without the GIL.
template <class Work>
void without_gil(Work work) {
  PyThreadState* state = PyEval_SaveThread();
  has_gil = false;
  work();
  PyEval_RestoreThread(state);  // not in a destructor: it may unwind
  has_gil = true;
}

/// Runs the body of a function that Python calls: an exception becomes a Python error and the value `failed`. Does not
/// catch all: pthread_exit() must pass.
template <class Result, class Body>
Result guard(Result failed, Body body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    PyErr_SetString(PyExc_SystemError, e.what());
  }
  return failed;
}

}  // namespace core
