// SPDX-License-Identifier: LGPL-2.1-or-later
// The type Focus: an autofocus search.
#include "c/framequality.h"
#include "python/core/errors.h"
#include "python/core/module.h"
#include "python/core/options.h"

#include <vector>

namespace core {

namespace {

struct Focus {
  PyObject_HEAD fq_focus* focus;
};

fq_focus* focus_of(PyObject* self) { return reinterpret_cast<Focus*>(self)->focus; }

/// A slot of a heap type, with its function type.
template <class Function>
Function slot(PyTypeObject* type, int number) {
  return reinterpret_cast<Function>(PyType_GetSlot(type, number));
}

/// Focus(minimum, maximum, step, position, coarse_step, backlash, lag_frames, settle_frames, average_frames,
/// stop_and_go, continuous, min_certainty, goal, stack, stack_step)
PyObject* make(PyTypeObject* type, PyObject* args, PyObject*) {
  auto o = sized<fq_focus_options>();
  (void)fq_focus_options_init(&o);
  double position = 0;
  if (!PyArg_ParseTuple(args, "ddddddiiippdiid;invalid option of Autofocus()", &o.min, &o.max, &o.step, &position,
                        &o.coarse_step, &o.backlash, &o.lag_frames, &o.settle_frames, &o.average_frames, &o.stop_and_go,
                        &o.continuous, &o.min_certainty, &o.goal, &o.stack, &o.stack_step))
    return nullptr;
  fq_focus* focus = nullptr;
  if (const int status = fq_focus_open(&o, position, &focus)) return raise_status(status);
  PyObject* self = slot<allocfunc>(type, Py_tp_alloc)(type, 0);
  if (self)
    reinterpret_cast<Focus*>(self)->focus = focus;
  else
    fq_focus_close(focus);
  return self;
}

void destroy(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  fq_focus_close(focus_of(self));
  slot<freefunc>(type, Py_tp_free)(self);
  Py_DECREF(type);
}

PyObject* step_result(int moved, double position) {
  if (moved < 0) return raise_status(moved);
  return Py_BuildValue("(Od)", moved ? Py_True : Py_False, position);
}

/// next(score) -> (is to move, position)
PyObject* next(PyObject* self, PyObject* score) {
  const double value = PyFloat_AsDouble(score);
  if (PyErr_Occurred()) return nullptr;
  double position = 0;
  const int moved = fq_focus_next(focus_of(self), value, &position);
  return step_result(moved, position);
}

/// next_result(score, noise, mean, gradient_energy, gradient_noise, light_power) -> (is to move, position)
PyObject* next_result(PyObject* self, PyObject* args) {
  auto r = sized<fq_result>();
  if (!PyArg_ParseTuple(args, "dddddi", &r.score, &r.noise, &r.mean, &r.gradient_energy, &r.gradient_noise,
                        &r.light_power))
    return nullptr;
  double position = 0;
  const int moved = fq_focus_next_result(focus_of(self), &r, &position);
  return step_result(moved, position);
}

PyObject* state(PyObject* self, PyObject*) {
  constexpr const char* kNames[] = {"idle", "coarse", "fine", "settle", "focused", "failed", "tracking", "stack"};
  const int number = fq_focus_get_state(focus_of(self));
  const bool is_known = number >= 0 && number < static_cast<int>(std::size(kNames));
  return PyUnicode_FromString(is_known ? kNames[number] : "unknown");
}

/// stack_image() -> (number, 0 for none; how many there are; position)
PyObject* stack_image(PyObject* self, PyObject*) {
  std::int32_t count = 0;
  double position = 0;
  const std::int32_t number = fq_focus_stack_image(focus_of(self), &count, &position);
  return Py_BuildValue("(iid)", number, count, position);
}

PyObject* reason(PyObject* self, PyObject*) { return PyUnicode_FromString(fq_focus_reason(focus_of(self))); }

/// curve() -> (top, standard error, certainty, [(position, score), ...])
PyObject* curve(PyObject* self, PyObject*) {
  return guard<PyObject*>(nullptr, [&]() -> PyObject* {
    double top = 0, error = 0;
    const std::size_t count = fq_focus_curve(focus_of(self), nullptr, nullptr, 0, &top, &error);
    std::vector<double> positions(count), scores(count);
    (void)fq_focus_curve(focus_of(self), positions.data(), scores.data(), count, nullptr, nullptr);
    Object list(PyList_New(static_cast<Py_ssize_t>(count)));
    for (std::size_t i = 0; list && i < count; ++i) {
      PyObject* point = Py_BuildValue("(dd)", positions[i], scores[i]);
      if (!point) return nullptr;
      PyList_SetItem(list.get(), static_cast<Py_ssize_t>(i), point);
    }
    return list ? Py_BuildValue("(dddN)", top, error, fq_focus_certainty(focus_of(self)), list.release()) : nullptr;
  });
}

PyObject* trigger(PyObject* self, PyObject*) {
  if (const int status = fq_focus_trigger(focus_of(self))) return raise_status(status);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"next", next, METH_O, nullptr},
                         {"next_result", next_result, METH_VARARGS, nullptr},
                         {"state", state, METH_NOARGS, nullptr},
                         {"reason", reason, METH_NOARGS, nullptr},
                         {"curve", curve, METH_NOARGS, nullptr},
                         {"trigger", trigger, METH_NOARGS, nullptr},
                         {"stack_image", stack_image, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(make)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(destroy)},
                       {Py_tp_methods, methods},
                       {0, nullptr}};
PyType_Spec spec = {"framequality._core.Focus", sizeof(Focus), 0, Py_TPFLAGS_DEFAULT, slots};

}  // namespace

PyObject* make_focus_type() { return PyType_FromSpec(&spec); }

}  // namespace core
