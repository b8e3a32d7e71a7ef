// SPDX-License-Identifier: LGPL-2.1-or-later
// Scores of one image.
#include "python/core/meters.h"

#include "python/core/errors.h"
#include "python/core/image.h"
#include "python/core/mask.h"
#include "python/core/module.h"

#include <cmath>
#include <limits>
#include <vector>

namespace core {

Meters& meters() {
  static thread_local Meters mine;
  return mine;
}

Meters& deep_meters() {
  static thread_local Meters mine;
  return mine;
}

void fix_exposure(const Image& image, const Options& options, fq_result& result) {
  // White is level 65280 of 16 bits, which the library does not count as clipped.
  if (is_float(image.source().sample) && !options.measuring.limited)
    result.clipped_white = std::numeric_limits<double>::quiet_NaN();
}

namespace {

struct Measured {
  fq_result result = sized<fq_result>();
  std::vector<double> zones;
  char device[32] = "";
};

/// Measures the image of a call. False with an exception if that fails.
bool measure_one(PyObject* object, Options& options, Measured& out) {
  Image image;
  if (!image.open(object, options.reading, Image::Use::kMeasure)) return false;
  const char* device = image.device(options.reading);
  if (!device) return false;
  Mask mask;
  if (options.mask) {
    const Pixels& pixels = image.source();
    mask = open_mask(options.mask, static_cast<int>(pixels.columns), static_cast<int>(pixels.rows));
    if (!mask) return false;
    options.measuring.mask = mask.get();
  }
  int status = FQ_OK;
  bool is_faulty = false;
  fq_meter* meter = nullptr;
  const auto work = [&]() noexcept {
    image.prepare();
    is_faulty = image.is_faulty();
    if (is_faulty) return;
    status = meters().get(device, 1, meter);
    if (status != FQ_OK) return;
    status = fq_meter_measure(meter, &image.picture, &options.measuring, &out.result,
                              out.zones.empty() ? nullptr : out.zones.data(), out.zones.size());
    if (options.measuring.statistics) std::snprintf(out.device, sizeof out.device, "%s", fq_meter_device(meter));
  };
  without_gil(work);
  if (is_faulty) return image.raise_fault();
  if (status != FQ_OK) {
    raise_status(status);
    meters().settle(meter, status);
    return false;
  }
  fix_exposure(image, options, out.result);
  return true;
}

const char* blur_name(int blur) {
  constexpr const char* kNames[] = {"flat", "sharp", "defocus", "motion"};
  return blur >= 0 && blur < 4 ? kNames[blur] : nullptr;
}

/// A list of lists of scores, row by row.
Object zone_rows(const std::vector<double>& zones, int columns, int rows) {
  Object all(PyList_New(rows));
  for (int j = 0; all && j < rows; ++j) {
    PyObject* row = PyList_New(columns);
    if (!row) return nullptr;
    PyList_SetItem(all.get(), j, row);  // owns it
    for (int i = 0; i < columns; ++i) {
      PyObject* score = PyFloat_FromDouble(zones[static_cast<std::size_t>(j * columns + i)]);
      if (!score) return nullptr;
      PyList_SetItem(row, i, score);
    }
  }
  return all;
}

}  // namespace

PyObject* score(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    Options options;
    Measured measured;
    if (!parse(options, Keywords::kScore, "score", 1, args, count, names) || !measure_one(args[0], options, measured))
      return nullptr;
    return PyFloat_FromDouble(measured.result.score);
  });
}

PyObject* measure(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    Options options;
    Measured measured;
    if (!parse(options, Keywords::kMeasure, "measure", 1, args, count, names)) return nullptr;
    fq_options& o = options.measuring;
    o.statistics = 1;
    measured.zones.resize(static_cast<std::size_t>(o.zone_columns) * static_cast<std::size_t>(o.zone_rows));
    if (!measure_one(args[0], options, measured)) return nullptr;
    Object zones = zone_rows(measured.zones, o.zone_columns, o.zone_rows);
    if (!zones) return nullptr;
    const fq_result& r = measured.result;
    return Py_BuildValue("(dNddddzdddKsdi)", r.score, zones.release(), r.noise, r.mean, r.clipped_black,
                         r.clipped_white, blur_name(r.blur), r.anisotropy, r.blur_angle, r.gradient_energy,
                         static_cast<unsigned long long>(r.pixels), measured.device, r.gradient_noise,
                         static_cast<int>(r.light_power));
  });
}

}  // namespace core
