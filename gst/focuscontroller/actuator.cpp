// SPDX-License-Identifier: LGPL-2.1-or-later
// Actuator of a lens: a property of another element, a field of that property, or a control of a V4L2 device.
#include "gst/focuscontroller/actuator.h"

#include "gst/focuscontroller/v4l2_control.h"
#include "gst/object/guard.h"
#include "gst/object/owned.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace framequality {

namespace {

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using ElementPtr = std::unique_ptr<GstElement, Unref>;

[[noreturn]] void refuse(const std::string& actuator, const std::string& reason) {
  throw ElementError(GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, "actuator=" + actuator + ": " + reason);
}

/// A GValue that clears itself.
struct Value {
  GValue it = G_VALUE_INIT;
  explicit Value(GType type) { g_value_init(&it, type); }
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;
  ~Value() { g_value_unset(&it); }
};

/// The numbers that a property accepts.
struct Numbers {
  double min, max;  ///< least and largest value
  Travel travel;
  bool whole;
};

template <class T>
Numbers numbers(T min, T max) {
  using Limits = std::numeric_limits<T>;
  constexpr double kExact = 9007199254740992;  // 2^53: whole numbers up to here are exact in double
  Numbers n{static_cast<double>(min), static_cast<double>(max), {}, Limits::is_integer};
  // A type's limits say nothing about the lens.
  if (min != Limits::lowest() || !Limits::is_signed) n.travel.min = n.min;
  if (max != Limits::max()) n.travel.max = n.max;
  if (n.whole) {
    n.travel.step = 1;
    n.min = std::max(n.min, -kExact);
    n.max = std::min(n.max, kExact);
  }
  return n;
}

/// None if the property is not a number.
std::optional<Numbers> numbers_of(GParamSpec* spec) {
#define FQ_NUMBERS(TYPE)            \
  if (G_IS_PARAM_SPEC_##TYPE(spec)) \
  return numbers(G_PARAM_SPEC_##TYPE(spec)->minimum, G_PARAM_SPEC_##TYPE(spec)->maximum)
  FQ_NUMBERS(INT);
  FQ_NUMBERS(UINT);
  FQ_NUMBERS(LONG);
  FQ_NUMBERS(ULONG);
  FQ_NUMBERS(INT64);
  FQ_NUMBERS(UINT64);
  FQ_NUMBERS(FLOAT);
  FQ_NUMBERS(DOUBLE);
#undef FQ_NUMBERS
  return {};
}

bool changes_while_playing(const GParamSpec* spec) {
  constexpr guint kOnlyBefore = GST_PARAM_MUTABLE_READY | GST_PARAM_MUTABLE_PAUSED;
  const auto flags = static_cast<guint>(spec->flags);
  return flags & G_PARAM_WRITABLE && !(flags & G_PARAM_CONSTRUCT_ONLY) &&
         (!(flags & kOnlyBefore) || flags & GST_PARAM_MUTABLE_PLAYING);
}

class PropertyActuator final : public Actuator {
 public:
  PropertyActuator(ElementPtr element, GParamSpec* spec, const Numbers& numbers)
      : element_(std::move(element)), spec_(spec), numbers_(numbers) {}

  Travel travel() const override { return numbers_.travel; }

  double position() override {
    if (!(spec_->flags & G_PARAM_READABLE)) return std::nan("");
    Value value(G_TYPE_DOUBLE);
    g_object_get_property(G_OBJECT(element_.get()), spec_->name, &value.it);
    return g_value_get_double(&value.it);
  }

  void move(double position) override {
    position = std::clamp(numbers_.whole ? std::round(position) : position, numbers_.min, numbers_.max);
    Value number(G_TYPE_DOUBLE), value(G_PARAM_SPEC_VALUE_TYPE(spec_));
    g_value_set_double(&number.it, position);
    g_value_transform(&number.it, &value.it);
    g_object_set_property(G_OBJECT(element_.get()), spec_->name, &value.it);
  }

 private:
  ElementPtr element_;
  GParamSpec* spec_;
  Numbers numbers_;
};

/// Sets the whole structure again, so that the element notices: v4l2src then sends all of `extra-controls` to its
/// device.
class FieldActuator final : public Actuator {
 public:
  FieldActuator(ElementPtr element, const char* property, std::string field)
      : element_(std::move(element)), property_(property), field_(std::move(field)) {}

  Travel travel() const override { return {.step = 1}; }

  double position() override {
    const StructurePtr structure = get();
    const GValue* field = structure ? gst_structure_get_value(structure.get(), field_.c_str()) : nullptr;
    Value number(G_TYPE_DOUBLE);
    if (!field || !g_value_transform(field, &number.it)) return std::nan("");
    return g_value_get_double(&number.it);
  }

  void move(double position) override {
    StructurePtr structure = get();
    if (!structure) structure.reset(gst_structure_new_empty("controls"));
    const double whole = std::clamp(std::round(position), double{G_MININT}, double{G_MAXINT});
    gst_structure_set(structure.get(), field_.c_str(), G_TYPE_INT, static_cast<gint>(whole), nullptr);
    g_object_set(element_.get(), property_, structure.get(), nullptr);
  }

 private:
  StructurePtr get() {
    GstStructure* structure = nullptr;
    g_object_get(element_.get(), property_, &structure, nullptr);
    return StructurePtr(structure);
  }

  ElementPtr element_;
  const char* property_;  ///< of the class
  std::string field_;
};

/// Any element of the pipeline that contains `from`, at any depth; null if it has none of this name.
ElementPtr find_element(GstElement* from, const std::string& name) {
  std::unique_ptr<GstObject, Unref> top(GST_OBJECT(gst_object_ref(from)));
  while (GstObject* parent = gst_object_get_parent(top.get())) top.reset(parent);
  return ElementPtr(GST_IS_BIN(top.get()) ? gst_bin_get_by_name(GST_BIN(top.get()), name.c_str()) : nullptr);
}

/// The properties of an element that could move a lens.
std::string choice(GstElement* element) {
  std::string names;
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  for (guint i = 0; i < count; ++i)
    if (numbers_of(specs[i]) && changes_while_playing(specs[i]))
      names += (names.empty() ? "" : ", ") + std::string(specs[i]->name);
  g_free(specs);
  return names.empty() ? "it has no numeric property that can be set while playing"
                       : "its numeric properties: " + names;
}

std::unique_ptr<Actuator> find_property(const std::string& actuator, ElementPtr element, const std::string& property) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property.c_str());
  if (!spec)
    refuse(actuator, std::string(GST_OBJECT_NAME(element.get())) + " has no property \"" + property + "\"; " +
                         choice(element.get()));
  const std::optional<Numbers> numbers = numbers_of(spec);
  if (!numbers)
    refuse(actuator,
           "property \"" + property + "\" is not a number but of type " + g_type_name(spec->value_type) +
               (spec->value_type == GST_TYPE_STRUCTURE ? "; name one of its fields, as in " + actuator + ".field"
                                                       : "; " + choice(element.get())));
  if (!changes_while_playing(spec)) refuse(actuator, "property \"" + property + "\" cannot be set while playing");
  return std::make_unique<PropertyActuator>(std::move(element), spec, *numbers);
}

std::unique_ptr<Actuator> find_field(const std::string& actuator, ElementPtr element, const std::string& property,
                                     const std::string& field) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element.get()), property.c_str());
  if (!spec) refuse(actuator, std::string(GST_OBJECT_NAME(element.get())) + " has no property \"" + property + "\"");
  if (spec->value_type != GST_TYPE_STRUCTURE || !(spec->flags & G_PARAM_READABLE) || !changes_while_playing(spec))
    refuse(actuator, "property \"" + property + "\" is not a structure that can be read, and be set while playing");
  return std::make_unique<FieldActuator>(std::move(element), spec->name, field);
}

}  // namespace

std::unique_ptr<Actuator> find_actuator(GstElement* from, const std::string& name) {
  if (name.starts_with('/')) return open_v4l2_control(name);
  const std::size_t last = name.rfind('.');
  if (last == std::string::npos || last == 0 || last + 1 == name.size())
    refuse(name, "expected element.property, element.property.field or /dev/videoN");
  // Names of elements may contain dots, those of properties not.
  const std::string head = name.substr(0, last), tail = name.substr(last + 1);
  if (ElementPtr element = find_element(from, head)) return find_property(name, std::move(element), tail);
  const std::size_t first = head.rfind('.');
  if (first != std::string::npos)
    if (ElementPtr element = find_element(from, head.substr(0, first)))
      return find_field(name, std::move(element), head.substr(first + 1), tail);
  refuse(name, "the pipeline has no element \"" + head.substr(0, head.find('.')) + "\"");
}

}  // namespace framequality
