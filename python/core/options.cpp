// SPDX-License-Identifier: LGPL-2.1-or-later
#include "python/core/options.h"

#include "python/core/errors.h"

#include <climits>
#include <cmath>
#include <cstring>
#include <string>

namespace core {

namespace {

constexpr const char* kNames[] = {
    "metric",  "prefilter",  "downscale", "normalize", "roi",   "mask",  "noise_correction",
    "limited", "interlaced", "zones",     "threads",   "order", "bayer", "channel_axis",
    "bits",    "data_range", "device"};
enum Key {
  kMetric,
  kPrefilter,
  kDownscale,
  kNormalize,
  kRoi,
  kMask,
  kNoiseCorrection,
  kLimited,
  kInterlaced,
  kZones,
  kThreads,
  kOrder,
  kBayer,
  kChannelAxis,
  kBits,
  kDataRange,
  kDevice,
  kKeys
};
static_assert(std::size(kNames) == kKeys);
PyObject* interned[kKeys];

bool has(Keywords keywords, int key) {
  if (key >= kOrder) return true;
  if (keywords == Keywords::kRead) return false;
  if (key == kZones) return keywords == Keywords::kMeasure;
  if (key == kThreads) return keywords == Keywords::kScores;
  return true;
}

int find_key(PyObject* name) {
  for (int i = 0; i < kKeys; ++i)
    if (interned[i] == name) return i;
  for (int i = 0; i < kKeys; ++i)
    if (PyUnicode_Compare(interned[i], name) == 0) return i;
  return -1;
}

/// An integer in lo...hi. False with an exception for anything else.
bool read_integer(const char* what, PyObject* value, long lo, long hi, long& out) {
  int overflow = 0;
  out = PyLong_AsLongAndOverflow(value, &overflow);
  if (out == -1 && PyErr_Occurred()) {
    if (PyErr_ExceptionMatches(PyExc_TypeError))
      PyErr_Format(PyExc_TypeError, "%s must be an integer, not %R", what, value);
    return false;
  }
  if (overflow == 0 && out >= lo && out <= hi) return true;
  PyErr_Format(PyExc_ValueError, "%s must be an integer from %ld to %ld, not %R", what, lo, hi, value);
  return false;
}

/// `count` items of a sequence of this length. Null with an exception saying `what` for anything else.
Object items_of(const char* what, PyObject* value, Py_ssize_t count) {
  Object tuple(PySequence_Check(value) && !PyUnicode_Check(value) ? PySequence_Tuple(value) : nullptr);
  if (tuple && PyTuple_Size(tuple.get()) == count) return tuple;
  PyErr_Format(PyExc_TypeError, "%s, not %R", what, value);
  return nullptr;
}

bool read_roi(PyObject* value, fq_options& o) {
  if (value == Py_None) return true;
  const Object items = items_of("roi is (x, y, width, height), in pixels", value, 4);
  if (!items) return false;
  std::int64_t* const to[] = {&o.roi.x, &o.roi.y, &o.roi.width, &o.roi.height};
  for (int i = 0; i < 4; ++i) {
    long v = 0;
    if (!read_integer("each number of roi", PyTuple_GetItem(items.get(), i), LONG_MIN / 4, LONG_MAX / 4, v))
      return false;
    *to[i] = v;
  }
  o.has_roi = 1;
  return true;
}

bool read_zones(PyObject* value, fq_options& o) {
  const Object items = items_of("zones is (columns, rows)", value, 2);
  long columns = 1, rows = 1;
  if (!items || !read_integer("columns of zones", PyTuple_GetItem(items.get(), 0), 1, 64, columns) ||
      !read_integer("rows of zones", PyTuple_GetItem(items.get(), 1), 1, 64, rows))
    return false;
  o.zone_columns = static_cast<std::int32_t>(columns);
  o.zone_rows = static_cast<std::int32_t>(rows);
  return true;
}

bool read_range(PyObject* value, Reading& reading) {
  if (value == Py_None) return true;
  const char* what = "data_range is (lo, hi), the values of black and white";
  const Object items = items_of(what, value, 2);
  if (!items) return false;
  reading.range.lo = PyFloat_AsDouble(PyTuple_GetItem(items.get(), 0));
  reading.range.hi = PyErr_Occurred() ? 0 : PyFloat_AsDouble(PyTuple_GetItem(items.get(), 1));
  if (PyErr_Occurred()) return false;
  if (!(reading.range.lo < reading.range.hi) || !std::isfinite(reading.range.hi - reading.range.lo)) {
    PyErr_Format(PyExc_ValueError, "%s, with lo < hi, not %R", what, value);
    return false;
  }
  reading.has_range = true;
  return true;
}

bool read_device(PyObject* value, Reading& reading) {
  if (value == Py_None) return true;
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, &length) : nullptr;
  if (text && length > 0 && length < static_cast<Py_ssize_t>(sizeof reading.device) &&
      std::strlen(text) == static_cast<std::size_t>(length)) {
    std::memcpy(reading.device, text, static_cast<std::size_t>(length) + 1);
    return true;
  }
  if (!PyErr_Occurred())
    PyErr_Format(PyUnicode_Check(value) ? PyExc_ValueError : PyExc_TypeError,
                 "device is 'cpu', 'auto', 'cuda' or 'cuda:' and a number, not %R", value);
  return false;
}

bool read_metric(PyObject* value, fq_options& o) {
  const char* name = PyUnicode_Check(value) ? PyUnicode_AsUTF8AndSize(value, nullptr) : nullptr;
  o.metric = name ? fq_find_metric(name) : -1;
  if (o.metric >= 0) return true;
  if (!PyErr_Occurred())
    raise_unknown(PyUnicode_Check(value) ? PyExc_ValueError : PyExc_TypeError, "metric", value, metric_names());
  return false;
}

bool read_flag(PyObject* value, std::int32_t& flag) {
  const int truth = PyObject_IsTrue(value);
  flag = truth > 0 ? 1 : 0;
  return truth >= 0;
}

bool read_choice(const char* what, PyObject* value, const char* known, int& choice) {
  choice = choose(what, value, known);
  return choice >= 0;
}

bool read_one(Options& o, int key, PyObject* value) {
  long number = 0;
  int choice = 0;
  switch (key) {
    case kMetric:
      return read_metric(value, o.measuring);
    case kPrefilter:
      if (!read_choice("prefilter", value, "none, binomial3, binomial5", choice)) return false;
      o.measuring.prefilter = choice;
      return true;
    case kDownscale:
      if (!read_integer("downscale", value, 0, 4, number)) return false;
      if (number == 3) {
        PyErr_SetString(PyExc_ValueError, "downscale is 1, 2 or 4, or 0 for the lowest score of the three, not 3");
        return false;
      }
      o.measuring.downscale = static_cast<std::int32_t>(number);
      return true;
    case kNormalize:
      if (!read_choice("normalize", value, "none, mean", choice)) return false;
      o.measuring.normalize = choice;
      return true;
    case kRoi:
      return read_roi(value, o.measuring);
    case kMask:
      o.mask = value == Py_None ? nullptr : value;
      return true;
    case kNoiseCorrection:
      return read_flag(value, o.measuring.noise_correction);
    case kLimited:
      return read_flag(value, o.measuring.limited);
    case kInterlaced:
      return read_flag(value, o.measuring.interlaced);
    case kZones:
      return read_zones(value, o.measuring);
    case kThreads:
      return read_integer("threads", value, 0, 4096, o.threads);
    case kOrder:
      if (!read_choice("order", value, "rgb, bgr", choice)) return false;
      o.reading.bgr = choice == 1;
      return true;
    case kBayer:
      if (value == Py_None) return true;
      if (!read_choice("bayer", value, "rggb, grbg, gbrg, bggr", choice)) return false;
      o.reading.bayer = FQ_BAYER_RGGB + choice;
      return true;
    case kChannelAxis:
      return read_integer("channel_axis", value, -3, 2, o.reading.channel_axis);
    case kBits:
      if (value == Py_None) return true;
      if (!read_integer("bits", value, 8, 16, number)) return false;
      o.reading.bits = static_cast<int>(number);
      return true;
    case kDataRange:
      return read_range(value, o.reading);
    case kDevice:
      return read_device(value, o.reading);
    default:
      return false;
  }
}

/// The names of a function's keywords, separated by ", ".
std::string names_of(Keywords keywords, const char* also) {
  std::string names;
  for (int i = 0; i < kKeys; ++i)
    if (has(keywords, i)) names += (names.empty() ? "" : ", ") + std::string(kNames[i]);
  return names + also;
}

/// fq_options_init() of every call, made once.
const fq_options& default_options() {
  static const fq_options defaults = [] {
    auto o = sized<fq_options>();
    (void)fq_options_init(&o);
    return o;
  }();
  return defaults;
}

}  // namespace

bool intern_keywords() {
  for (int i = 0; i < kKeys; ++i)
    if (!interned[i] && !(interned[i] = PyUnicode_InternFromString(kNames[i]))) return false;
  return true;
}

const char* metric_names() {
  static const std::string all_names = [] {
    std::string all;
    for (int i = 0; i < fq_metric_count(); ++i) all += (i ? ", " : "") + std::string(fq_metric_name(i));
    return all;
  }();
  return all_names.c_str();
}

int choose(const char* what, PyObject* name, const char* known) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8AndSize(name, &length) : nullptr;
  if (text) {
    const char* at = known;
    for (int i = 0;; ++i) {
      const char* end = std::strchr(at, ',');
      const std::size_t size = end ? static_cast<std::size_t>(end - at) : std::strlen(at);
      if (size == static_cast<std::size_t>(length) && std::memcmp(at, text, size) == 0) return i;
      if (!end) break;
      at = end + 2;
    }
  }
  if (!PyErr_Occurred()) raise_unknown(text ? PyExc_ValueError : PyExc_TypeError, what, name, known);
  return -1;
}

bool parse(Options& options, Keywords keywords, const char* function, Py_ssize_t positional, PyObject* const* args,
           Py_ssize_t count, PyObject* names, const char* also) {
  options.measuring = default_options();
  if (count != positional) {
    if (positional == 1)
      PyErr_Format(PyExc_TypeError, "%s() takes one image, and options by name only; it got %zd positional arguments",
                   function, count);
    else
      PyErr_Format(PyExc_TypeError, "%s() takes %zd positional arguments, not %zd", function, positional, count);
    return false;
  }
  const Py_ssize_t given = names ? PyTuple_Size(names) : 0;
  for (Py_ssize_t i = 0; i < given; ++i) {
    PyObject* name = PyTuple_GetItem(names, i);
    const int key = find_key(name);
    if (key < 0 || !has(keywords, key)) {
      const std::string what = std::string("option of ") + function + "()";
      raise_unknown(PyExc_TypeError, what.c_str(), name, names_of(keywords, also).c_str());
      return false;
    }
    if (!read_one(options, key, args[count + i])) return false;
  }
  return true;
}

}  // namespace core
