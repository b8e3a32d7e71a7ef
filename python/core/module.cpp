// SPDX-License-Identifier: LGPL-2.1-or-later
// The module framequality._core. Limited API of Python 3.11: one build serves all later versions.
#include "python/core/module.h"

#include "c/framequality.h"
#include "python/core/errors.h"
#include "python/core/handles.h"
#include "python/core/options.h"

#include <pthread.h>

namespace core {

namespace {

/// name -> summary
PyObject* metrics(PyObject*, PyObject*) {
  Object all(PyDict_New());
  for (int i = 0; all && i < fq_metric_count(); ++i) {
    const Object summary(PyUnicode_FromString(fq_metric_summary(i)));
    if (!summary || PyDict_SetItemString(all.get(), fq_metric_name(i), summary.get()) != 0) return nullptr;
  }
  return all.release();
}

/// [(name, title, usable, reason), ...]
PyObject* devices(PyObject*, PyObject*) {
  int count = 0;
  without_gil([&]() noexcept { count = fq_device_count(); });  // starts the drivers
  Object list(PyList_New(0));
  for (int i = 0; list && i < count; ++i) {
    auto info = sized<fq_device_info>();
    int status = FQ_OK;
    without_gil([&]() noexcept { status = fq_device_get(i, &info); });
    if (status != FQ_OK) return raise_status(status);
    const Object device(Py_BuildValue("(ssOs)", info.name, info.title, info.usable ? Py_True : Py_False, info.reason));
    if (!device || PyList_Append(list.get(), device.get()) != 0) return nullptr;
  }
  return list.release();
}

PyCFunction fast(FastFunction* function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr const char* kScoreDoc =
    "score($module, image, /, *, metric='tenengrad', prefilter='none', downscale=1,\n"
    "      normalize='none', roi=None, mask=None, noise_correction=False,\n"
    "      limited=False, interlaced=False, order='rgb', bayer=None,\n"
    "      channel_axis=-1, bits=None, data_range=None, device=None)\n"
    "--\n\n"
    "Return the sharpness of an image as a float. Higher is sharper.\n\n"
    "image: array of shape (H, W), (H, W, 1), (H, W, 3) or (H, W, 4), or (C, H, W)\n"
    "  with channel_axis=0; uint8, uint16, float16, float32 or float64; any strides.\n"
    "  numpy, PyTorch, CuPy, JAX, Numba, Pillow, and all with the buffer protocol or\n"
    "  DLPack. Arrays in GPU memory (uint8, uint16) are measured there.\n"
    "metric: one of METRICS.\n"
    "prefilter: 'none', 'binomial3' or 'binomial5': smooth first, against noise.\n"
    "downscale: 1, 2 or 4: measure an image that is this many times smaller; 0: the\n"
    "  lowest score of the three.\n"
    "normalize: 'mean' divides by the mean brightness (or its square), so that the\n"
    "  score does not depend on exposure.\n"
    "roi: (x, y, width, height) in pixels: measure only this rectangle.\n"
    "mask: bool or uint8 array (H, W): measure only pixels where it is not 0.\n"
    "noise_correction: subtract what noise adds to the score.\n"
    "limited: black and white are 16 and 235 instead of 0 and 255.\n"
    "interlaced: measure the two fields separately.\n"
    "order: 'rgb' or 'bgr' (OpenCV) of colour images; alpha is ignored.\n"
    "bayer: 'rggb', 'grbg', 'gbrg' or 'bggr' if the image is a raw sensor mosaic.\n"
    "bits: 8 to 16: bits that the values of a uint16 image use; default 16.\n"
    "data_range: (black, white) of a float image; default (0, 1).\n"
    "device: 'cpu', 'auto', 'cuda' or 'cuda:1'; default: the CPU, or the GPU whose\n"
    "  memory the array is in. All devices give bit-identical scores.\n\n"
    "Unit: that of the metric, in grey levels of 8 bits whatever the dtype.\n"
    "Raises ValueError, TypeError, MemoryError, or Error if a device fails.\n"
    "Releases the GIL; may be called from several threads at the same time.";

PyMethodDef methods[] = {{"score", fast(score), METH_FASTCALL | METH_KEYWORDS, kScoreDoc},
                         {"measure", fast(measure), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"scores", fast(scores), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"quality", fast(quality), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"denoise", fast(denoise), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"halftone", fast(halftone), METH_FASTCALL | METH_KEYWORDS, nullptr},
                         {"read_palette", read_palette, METH_O, nullptr},
                         {"metrics", metrics, METH_NOARGS, nullptr},
                         {"devices", devices, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

/// The module keeps objects in static variables, which interpreters must not share.
bool claim_interpreter() {
  static std::int64_t owner = -1;
  const std::int64_t mine = PyInterpreterState_GetID(PyInterpreterState_Get());
  if (owner >= 0 && owner != mine) {
    PyErr_SetString(
        PyExc_ImportError,
        "framequality supports one interpreter per process, and another one has imported it: use processes instead of "
        "subinterpreters");
    return false;
  }
  if (owner < 0) pthread_atfork(nullptr, nullptr, [] { ++generation; });
  owner = mine;
  return true;
}

int execute(PyObject* module) {
  if (!claim_interpreter() || !intern_keywords()) return -1;
  if (!error_type)
    error_type = PyErr_NewExceptionWithDoc(
        "framequality.Error", "A device failed, or an autofocus search found no peak.", PyExc_RuntimeError, nullptr);
  const Object focus(make_focus_type());
  if (!error_type || !focus || PyModule_AddObjectRef(module, "Focus", focus.get()) != 0 ||
      PyModule_AddObjectRef(module, "Error", error_type) != 0)
    return -1;
  return PyModule_AddStringConstant(module, "version", fq_version());
}

PyModuleDef_Slot slots[] = {{Py_mod_exec, reinterpret_cast<void*>(execute)}, {0, nullptr}};
PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", nullptr, 0, methods, slots, nullptr, nullptr, nullptr};

}  // namespace

}  // namespace core

PyMODINIT_FUNC PyInit__core() {  // NOLINT(readability-identifier-naming): Python looks for it
  return PyModuleDef_Init(&core::definition);
}
