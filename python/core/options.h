// SPDX-License-Identifier: LGPL-2.1-or-later
// Keyword options: from the arguments of a call to the structs of the C library.
#pragma once

#include "c/framequality.h"
#include "python/core/pixels.h"
#include "python/core/python.h"

#include <cstdint>

namespace core {

/// A struct of the C library, with its size set and all else 0.
template <class T>
T sized() {
  T t{};
  t.size = sizeof t;
  return t;
}

/// Options for reading pixels, and the device.
struct Reading {
  bool bgr = false;
  int bayer = -1;  ///< fq_format, or -1
  long channel_axis = -1;
  int bits = 0;            ///< 0: not given
  bool has_range = false;  ///< data_range was given
  Range range;
  char device[32] = "";  ///< "": not given
};

struct Options {
  Reading reading;
  fq_options measuring{};
  PyObject* mask = nullptr;  ///< borrowed
  long threads = 0;
};

/// The set of keywords that a function has.
enum class Keywords {
  kMeasure,  ///< all that measure() has
  kScore,    ///< the same without zones
  kScores,   ///< and with threads
  kRead      ///< how to read an image, and where to work on it
};

/// Reads the keywords of a METH_FASTCALL | METH_KEYWORDS call with `positional` positional arguments. also: names of
/// the function's options that Python code reads, ", " before each, for the message about an unknown one. Returns false
/// and sets an exception if an argument is missing, unknown or invalid.
bool parse(Options& options, Keywords keywords, const char* function, Py_ssize_t positional, PyObject* const* args,
           Py_ssize_t count, PyObject* names, const char* also = "");

/// Index of a name in a list separated by ", ". Returns -1 and sets an exception if it is not there.
int choose(const char* what, PyObject* name, const char* known);

/// Makes the names of keywords, once. False with an exception if that fails.
bool intern_keywords();

/// All metrics' names, separated by ", ".
const char* metric_names();

}  // namespace core
