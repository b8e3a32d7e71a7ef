// SPDX-License-Identifier: LGPL-2.1-or-later
#include "python/core/errors.h"

#include "c/framequality.h"

#include <cstdio>
#include <cstring>
#include <string>

namespace core {

PyObject* raise_status(int status) {
  PyObject* type = status == FQ_ERROR_ARGUMENT ? PyExc_ValueError
                   : status == FQ_ERROR_MEMORY ? PyExc_MemoryError
                                               : error_type;
  // The C library's options and images are structs; here they are keywords and arrays.
  std::string text = fq_last_error();
  for (const char* const prefix : {"options->", "image->"})
    for (std::size_t at; (at = text.find(prefix)) != std::string::npos;) text.erase(at, std::strlen(prefix));
  PyErr_SetString(type, text.c_str());
  return nullptr;
}

namespace {

/// The known name closest in spelling to the given one, or null. No exception is set.
Object nearest(PyObject* given, const char* known) {
  const Object text(PyUnicode_FromString(known));
  const Object comma(PyUnicode_FromString(", "));
  const Object names(text && comma ? PyUnicode_Split(text.get(), comma.get(), -1) : nullptr);
  const Object difflib(names ? PyImport_ImportModule("difflib") : nullptr);
  const Object matches(difflib ? PyObject_CallMethod(difflib.get(), "get_close_matches", "OOi", given, names.get(), 1)
                               : nullptr);
  Object match;
  if (matches && PyList_Check(matches.get()) && PyList_Size(matches.get()) > 0)
    match = new_reference(PyList_GetItem(matches.get(), 0));
  PyErr_Clear();
  return match;
}

}  // namespace

PyObject* raise_unknown(PyObject* type, const char* what, PyObject* given, const char* known) {
  const Object near = PyUnicode_Check(given) ? nearest(given, known) : nullptr;
  if (near) return PyErr_Format(type, "unknown %s %R: did you mean %R? Use one of: %s", what, given, near.get(), known);
  return PyErr_Format(type, "unknown %s %R: use one of: %s", what, given, known);
}

void prefix_error(Py_ssize_t index) {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  const bool is_ours = type == PyExc_ValueError || type == PyExc_TypeError || type == PyExc_MemoryError ||
                       type == PyExc_BufferError || type == error_type;
  if (!is_ours) {
    PyErr_Restore(type, value, trace);
    return;
  }
  PyErr_Format(type, "image %zd: %S", index, value ? value : Py_None);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}

const char* shape_text(char* text, const Py_ssize_t* shape, int ndim) {
  constexpr std::size_t kRoom = 128;
  std::size_t used = 1;
  text[0] = '(';
  text[1] = '\0';
  for (int i = 0; i < ndim && used < kRoom - 32; ++i) {
    const int added =
        std::snprintf(text + used, kRoom - used, "%s%lld", i ? ", " : "", static_cast<long long>(shape[i]));
    used += static_cast<std::size_t>(added > 0 ? added : 0);
  }
  std::snprintf(text + used, kRoom - used, ndim == 1 ? ",)" : ")");
  return text;
}

}  // namespace core
