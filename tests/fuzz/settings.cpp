// SPDX-License-Identifier: LGPL-2.1-or-later
// Values by a property's type.
#include "tests/fuzz/settings.h"

#include <algorithm>
#include <string_view>

namespace framequality::fuzz {
namespace {

/// Not to be drawn at random: they name files, devices and GPUs, or make a case last.
bool is_left_alone(std::string_view name) {
  for (const std::string_view one : {"name", "parent", "device", "cuda-device-id", "model-location",
                                     "baseline-location", "actuator", "n-threads", "in-flight"})
    if (name == one) return true;
  return false;
}

}  // namespace

void set_something(Dice& dice, GstElement* element) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  GParamSpec* spec = specs[dice.in(0, count - 1)];
  g_free(specs);
  if (!(spec->flags & G_PARAM_WRITABLE) || spec->flags & G_PARAM_CONSTRUCT_ONLY || is_left_alone(spec->name)) return;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  const auto between = [&](auto least, auto most, auto usual) {
    using T = decltype(least);
    switch (dice.small(0, 4)) {
      case 0:
        return least;
      case 1:
        return most;
      case 2:
        return usual;
      default:
        return static_cast<T>(std::clamp(static_cast<double>(usual) + (dice.unit() - 0.3) * 40,
                                         static_cast<double>(least), static_cast<double>(most)));
    }
  };
  if (G_IS_PARAM_SPEC_INT(spec)) {
    const auto* s = G_PARAM_SPEC_INT(spec);
    g_value_set_int(&value, between(s->minimum, s->maximum, s->default_value));
  } else if (G_IS_PARAM_SPEC_UINT(spec)) {
    const auto* s = G_PARAM_SPEC_UINT(spec);
    g_value_set_uint(&value, dice.one_in(3) ? std::min(s->maximum, s->default_value + static_cast<guint>(dice.in(0, 5)))
                                            : static_cast<guint>(dice.in(
                                                  s->minimum, std::min<guint64>(s->maximum, 60ULL + s->minimum))));
  } else if (G_IS_PARAM_SPEC_UINT64(spec)) {
    const auto* s = G_PARAM_SPEC_UINT64(spec);
    g_value_set_uint64(&value, dice.of({s->minimum, s->maximum, s->default_value, guint64{40} * GST_MSECOND}));
  } else if (G_IS_PARAM_SPEC_INT64(spec)) {
    const auto* s = G_PARAM_SPEC_INT64(spec);
    g_value_set_int64(&value, dice.of({s->minimum, s->maximum, s->default_value}));
  } else if (G_IS_PARAM_SPEC_DOUBLE(spec)) {
    const auto* s = G_PARAM_SPEC_DOUBLE(spec);
    g_value_set_double(&value, between(s->minimum, s->maximum, s->default_value));
  } else if (G_IS_PARAM_SPEC_BOOLEAN(spec)) {
    g_value_set_boolean(&value, dice.one_in(2));
  } else if (G_IS_PARAM_SPEC_ENUM(spec)) {
    const GEnumClass* all = G_PARAM_SPEC_ENUM(spec)->enum_class;
    g_value_set_enum(&value, all->values[dice.in(0, all->n_values - 1)].value);
  } else if (G_IS_PARAM_SPEC_FLAGS(spec)) {
    g_value_set_flags(&value, static_cast<guint>(dice.word()) & G_PARAM_SPEC_FLAGS(spec)->flags_class->mask);
  } else if (G_IS_PARAM_SPEC_STRING(spec)) {
    g_value_set_string(&value, dice.of({"", "0,0,8,8", "1,1,3,2;5,5,100,100", "-1,-1,2,2", "9999999999,0,1,1", "a",
                                        "0,0,0,0", "0.5,0.5,0.1,0.1", ";;;", static_cast<const char*>(nullptr)}));
  } else {
    g_value_unset(&value);
    return;
  }
  g_object_set_property(G_OBJECT(element), spec->name, &value);
  g_value_unset(&value);
}

void get_everything(GstElement* element) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  // Some values are accepted only beside others, as packed frames beside a palette: what is refused at first is set
  // again.
  constexpr guint kRounds = 3;
  for (guint n = 0; n < kRounds * count; ++n) {
    const guint i = n % count;
    if (!(specs[i]->flags & G_PARAM_READABLE)) continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(element), specs[i]->name, &value);
    g_value_unset(&value);
  }
  g_free(specs);
}

void copy_settings(GstElement* from, GstElement* to) {
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(from), &count);
  // Some values are accepted only beside others, as packed frames beside a palette: what is refused at first is set
  // again.
  constexpr guint kRounds = 3;
  for (guint n = 0; n < kRounds * count; ++n) {
    const guint i = n % count;
    if (!(specs[i]->flags & G_PARAM_READABLE) || !(specs[i]->flags & G_PARAM_WRITABLE) || is_left_alone(specs[i]->name))
      continue;
    GValue value = G_VALUE_INIT;
    g_value_init(&value, specs[i]->value_type);
    g_object_get_property(G_OBJECT(from), specs[i]->name, &value);
    g_object_set_property(G_OBJECT(to), specs[i]->name, &value);
    g_value_unset(&value);
  }
  g_free(specs);
}

}  // namespace framequality::fuzz
