// SPDX-License-Identifier: LGPL-2.1-or-later
// The properties of an element as a table that binds each to a member of the element's settings: one line determines
// type, default, range, flags, locking and the check for changes that come too late.
#pragma once

#include "gst/object/shared.h"

#include <gst/gst.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace framequality {

/// When a property may change.
enum class Mutable {
  kPlaying,    ///< any time, with effect on the next frame
  kReady,      ///< in READY and NULL; later a warning is posted and the value is kept
  kNextStart,  ///< any time, with effect from the next change to PAUSED on
};

inline constexpr auto kReadable = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
constexpr GParamFlags flags_of(Mutable when) {
  return static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                  (when == Mutable::kPlaying ? GST_PARAM_MUTABLE_PLAYING : GST_PARAM_MUTABLE_READY));
}

/// True, with a warning, if a property that is read on the way to PAUSED can no longer be changed.
bool is_too_late(GObject* object, const GParamSpec* spec);

/// Warns if a time is above 0 and below a millisecond: a user who sets 1 probably means another unit than ns.
void warn_if_tiny(GObject* object, const char* property, guint64 time);

/// A value of an enum type: its description in gst-inspect-1.0, and its name.
template <class E>
struct EnumValue {
  E value;
  const char* text;
  const char* nick;
};

/// Registers an enum type with GLib. values: literals. Call it once.
template <class E, std::size_t kCount>
GType register_enum(const char* name, const EnumValue<E> (&values)[kCount]) {
  auto* list = new GEnumValue[kCount + 1]();  // GLib keeps it forever
  for (std::size_t i = 0; i < kCount; ++i)
    list[i] = {static_cast<int>(values[i].value), values[i].text, values[i].nick};
  return g_enum_register_static(name, list);
}

/// Converts between a member of settings and a GValue; spec() makes the GParamSpec. T: bool, int, double, std::string,
/// std::uint32_t, std::uint64_t; std::int64_t stands for a time that is never negative and is a uint64 outside.
template <class T>
struct PropertyType;
template <>
struct PropertyType<bool> {
  static GParamSpec* spec(const char* name, const char* nick, const char* blurb, GParamFlags flags, bool standard) {
    return g_param_spec_boolean(name, nick, blurb, standard, flags);
  }
  static bool get(const GValue* v) { return g_value_get_boolean(v); }
  static void set(GValue* v, bool b) { g_value_set_boolean(v, b); }
};
template <>
struct PropertyType<int> {
  static GParamSpec* spec(const char* name, const char* nick, const char* blurb, GParamFlags flags, int standard,
                          int least, int most) {
    return g_param_spec_int(name, nick, blurb, least, most, standard, flags);
  }
  static int get(const GValue* v) { return g_value_get_int(v); }
  static void set(GValue* v, int i) { g_value_set_int(v, i); }
};
template <>
struct PropertyType<double> {
  static GParamSpec* spec(const char* name, const char* nick, const char* blurb, GParamFlags flags, double standard,
                          double least, double most) {
    return g_param_spec_double(name, nick, blurb, least, most, standard, flags);
  }
  static double get(const GValue* v) { return g_value_get_double(v); }
  static void set(GValue* v, double d) { g_value_set_double(v, d); }
};
template <>
struct PropertyType<std::uint32_t> {
  static GParamSpec* spec(const char* name, const char* nick, const char* blurb, GParamFlags flags,
                          std::uint32_t standard, std::uint32_t least, std::uint32_t most) {
    return g_param_spec_uint(name, nick, blurb, least, most, standard, flags);
  }
  static std::uint32_t get(const GValue* v) { return g_value_get_uint(v); }
  static void set(GValue* v, std::uint32_t u) { g_value_set_uint(v, u); }
};
template <std::integral T>
requires(sizeof(T) == 8) struct PropertyType<T> {
  static GParamSpec* spec(const char* name, const char* nick, const char* blurb, GParamFlags flags, T standard,
                          guint64 least, guint64 most) {
    return g_param_spec_uint64(name, nick, blurb, least, most, static_cast<guint64>(standard), flags);
  }
  static T get(const GValue* v) { return static_cast<T>(g_value_get_uint64(v)); }
  static void set(GValue* v, T u) { g_value_set_uint64(v, static_cast<guint64>(u)); }
};
/// Empty is null as a GValue.
template <>
struct PropertyType<std::string> {
  static GParamSpec* spec(const char* name, const char* nick, const char* blurb, GParamFlags flags,
                          const std::string& standard) {
    return g_param_spec_string(name, nick, blurb, standard.empty() ? nullptr : standard.c_str(), flags);
  }
  static std::string get(const GValue* v) { return g_value_get_string(v) ? g_value_get_string(v) : ""; }
  static void set(GValue* v, const std::string& s) { g_value_set_string(v, s.empty() ? nullptr : s.c_str()); }
};

/// Parts of a member: In{&Settings::search}(&Search::step) is settings.search.step.
template <class Outer, class Inner>
struct In {
  template <class T>
  struct Part {
    Inner Outer::*outer;
    T part;
    auto& operator()(auto& settings) const { return std::invoke(part, settings.*outer); }
  };
  template <class T>
  Part<T> operator()(T part) const {
    return {outer, part};
  }
  Inner Outer::*outer;
};
template <class Outer, class Inner>
In(Inner Outer::*) -> In<Outer, Inner>;  // clang before 17 needs it

/// The properties that class Object adds to its parent's. Object: the instance's struct. Settings: a value type; each
/// instance has a Shared of it.
template <class Object, class Settings>
class Properties {
 public:
  using Store = Shared<Settings>& (*)(Object*);

  /// An empty table that handles gets and sets from now on; for class_init. store: an instance's settings. defaults:
  /// their initial values.
  static Properties& install(void* klass, Store store, const Settings& defaults = {}) {
    table_ = new Properties(G_OBJECT_CLASS(klass), store, defaults);  // classes live forever
    table_->klass_->set_property = set_property;
    table_->klass_->get_property = get_property;
    return *table_;
  }

  /// A property for the member, or other part, that std::invoke(part, settings) returns. range: least and largest
  /// value of numbers.
  template <class Part, class... Range>
  Properties& add(Part part, const char* name, const char* nick, const char* blurb, Range... range) {
    return add(Mutable::kPlaying, part, name, nick, blurb, range...);
  }
  template <class Part, class... Range>
  Properties& add(Mutable when, Part part, const char* name, const char* nick, const char* blurb, Range... range) {
    using Type = PropertyType<std::remove_cvref_t<std::invoke_result_t<Part, Settings&>>>;
    return add(
        when, Type::spec(name, nick, blurb, flags_of(when), std::invoke(part, defaults_), range...),
        [part](const Settings& s, GValue* v) { Type::set(v, std::invoke(part, s)); },
        [part](Object*, Settings& s, const GValue* v) {
          std::invoke(part, s) = Type::get(v);
          return true;
        });
  }
  /// The same for a time in ns, from `least` on. A tiny one is accepted with a warning.
  template <class Part>
  Properties& add_time(Part part, const char* name, const char* nick, const char* blurb, guint64 least) {
    using T = std::remove_cvref_t<std::invoke_result_t<Part, Settings&>>;
    const auto most = static_cast<guint64>(std::numeric_limits<T>::max());
    return add(
        Mutable::kPlaying,
        PropertyType<T>::spec(name, nick, blurb, flags_of(Mutable::kPlaying), std::invoke(part, defaults_), least,
                              most),
        [part](const Settings& s, GValue* v) { PropertyType<T>::set(v, std::invoke(part, s)); },
        [part, name](Object* object, Settings& s, const GValue* v) {
          std::invoke(part, s) = PropertyType<T>::get(v);
          warn_if_tiny(reinterpret_cast<GObject*>(object), name, g_value_get_uint64(v));
          return true;
        });
  }
  /// The same for an enum type, for a part that is an enum or int.
  template <class Part>
  Properties& add(Part part, GType type, const char* name, const char* nick, const char* blurb) {
    return add(Mutable::kPlaying, part, type, name, nick, blurb);
  }
  template <class Part>
  Properties& add(Mutable when, Part part, GType type, const char* name, const char* nick, const char* blurb) {
    using T = std::remove_cvref_t<std::invoke_result_t<Part, Settings&>>;
    gst_type_mark_as_plugin_api(type, static_cast<GstPluginAPIFlags>(0));
    return add(
        when,
        g_param_spec_enum(name, nick, blurb, type, static_cast<int>(std::invoke(part, defaults_)), flags_of(when)),
        [part](const Settings& s, GValue* v) { g_value_set_enum(v, static_cast<int>(std::invoke(part, s))); },
        [part](Object*, Settings& s, const GValue* v) {
          std::invoke(part, s) = static_cast<T>(g_value_get_enum(v));
          return true;
        });
  }
  /// Any property of the settings. spec has flags_of(when), and is taken over. set: returns false, after reporting
  /// why, if the value is kept.
  using Get = std::function<void(const Settings&, GValue*)>;
  using Set = std::function<bool(Object*, Settings&, const GValue*)>;
  Properties& add(Mutable when, GParamSpec* spec, Get get, Set set) {
    return add(Entry{when, std::move(get), std::move(set), nullptr, nullptr}, spec);
  }
  /// A property outside the settings; set: null if it can only be read.
  Properties& add(GParamSpec* spec, void (*get)(Object*, GValue*), void (*set)(Object*, const GValue*) = nullptr) {
    return add(Entry{Mutable::kPlaying, nullptr, nullptr, get, set}, spec);
  }

  /// Called before settings change; returns false, after reporting why, to keep the old ones.
  Properties& accept_if(bool (*accepts)(Object*, const Settings& wanted)) {
    accepts_ = accepts;
    return *this;
  }
  /// Called after a change, with no lock held.
  Properties& when_changed(void (*changed)(Object*, const Settings& before, const Settings& now)) {
    changed_ = changed;
    return *this;
  }

 private:
  struct Entry {
    Mutable when;
    Get get;
    Set set;
    void (*get_other)(Object*, GValue*);
    void (*set_other)(Object*, const GValue*);
  };

  Properties(GObjectClass* klass, Store store, const Settings& defaults)
      : klass_(klass), store_(store), defaults_(defaults) {}

  Properties& add(Entry entry, GParamSpec* spec) {
    entries_.push_back(std::move(entry));
    g_object_class_install_property(klass_, static_cast<guint>(entries_.size()), spec);
    return *this;
  }

  static const Entry* find(GObject* object, guint id, GParamSpec* spec) {
    if (id >= 1 && id <= table_->entries_.size()) return &table_->entries_[id - 1];
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return nullptr;
  }

  static void set_property(GObject* instance, guint id, const GValue* value, GParamSpec* spec) {
    const Entry* entry = find(instance, id, spec);
    if (!entry || (entry->when == Mutable::kReady && is_too_late(instance, spec))) return;
    auto* object = reinterpret_cast<Object*>(instance);
    if (entry->set_other) return entry->set_other(object, value);
    Settings before, now;
    const bool accepted = table_->store_(object).change([&](Settings& settings) {
      before = now = settings;
      const bool accepts = entry->set(object, now, value) && (!table_->accepts_ || table_->accepts_(object, now));
      if (accepts) settings = now;
      return accepts;
    });
    if (accepted && table_->changed_) table_->changed_(object, before, now);
  }

  static void get_property(GObject* instance, guint id, GValue* value, GParamSpec* spec) {
    const Entry* entry = find(instance, id, spec);
    if (!entry) return;
    auto* object = reinterpret_cast<Object*>(instance);
    if (entry->get_other) return entry->get_other(object, value);
    entry->get(table_->store_(object).get(), value);
  }

  inline static Properties* table_ = nullptr;
  GObjectClass* klass_;
  Store store_;
  Settings defaults_;
  std::vector<Entry> entries_;
  bool (*accepts_)(Object*, const Settings&) = nullptr;
  void (*changed_)(Object*, const Settings&, const Settings&) = nullptr;
};

}  // namespace framequality
